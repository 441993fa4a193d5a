"""`everlog pipeline`: how is data brought through Spark, from files to tables of derived facts?

`run` does it, `stream` applies updates as they arrive, `show` prints what a run would do. All of them read a
pipeline.toml, described in pipeline/settings.py; mistakes in it and in its program are reported before Spark starts.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from everlog.cli.outcomes import outcome, print_json
from everlog.cli.pipeline_tables import changes, history, vacuum
from everlog.cli.progress import Progress
from everlog.limits import Limits

if TYPE_CHECKING:
    from everlog.pipeline.job import PipelineReport

pipeline = typer.Typer(
    name="pipeline",
    help="The data pipeline on Spark.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

_File = Annotated[str, typer.Argument(help="A pipeline.toml.", metavar="PIPELINE")]
_Master = Annotated[
    str | None, typer.Option("--master", metavar="URL", help="Where Spark runs: local[4], spark://host:7077, yarn.")
]


@pipeline.command()
def run(
    file: _File,
    master: _Master = None,
    as_json: Annotated[bool, typer.Option("--json", help="The report, or the error, as JSON on stdout.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No lines of progress on stderr.")] = False,
    timeout: Annotated[float | None, typer.Option("--timeout", help="Stop after so many seconds.", min=0.0)] = None,
) -> None:
    """Ingest, encode, materialise and publish; a second run adds a version."""
    with (
        outcome(as_json=as_json, limits=Limits(seconds=timeout)),
        Progress(verbose=not quiet and not as_json, quiet=quiet or as_json) as progress,
    ):
        from everlog.pipeline.settings import read_settings

        settings = read_settings(file)
        from everlog.pipeline.job import run_pipeline

        report = run_pipeline(settings, progress=progress, master=master)
        progress.close()
        if as_json:
            print_json(report.as_data())
        else:
            _print(report)


@pipeline.command()
def stream(
    file: _File,
    master: _Master = None,
    as_json: Annotated[bool, typer.Option("--json", help="A report of each batch as JSON on stdout.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No lines of progress on stderr.")] = False,
) -> None:
    """Apply updates as they land in the folder of [stream], each as a version of the tables; Ctrl-C ends it."""
    with outcome(as_json=as_json), Progress(verbose=not quiet and not as_json, quiet=quiet or as_json) as progress:
        from everlog.pipeline.settings import read_settings

        settings = read_settings(file)
        from everlog.pipeline.stream import run_stream

        reports = run_stream(settings, says=progress, master=master)
        progress.close()
        if as_json:
            print_json([report.as_data() for report in reports])
        else:
            applied, aside = sum(each.updates for each in reports), sum(each.set_aside for each in reports)
            print(f"{applied:,} updates in {len(reports):,} batches" + (f", {aside:,} set aside" if aside else ""))


@pipeline.command()
def show(
    file: _File,
    master: _Master = None,
    as_json: Annotated[bool, typer.Option("--json", help="The plan as JSON on stdout.")] = False,
) -> None:
    """Print sources, components, tables and outputs, without starting Spark."""
    with outcome(as_json=as_json):
        from everlog.pipeline.settings import read_settings
        from everlog.pipeline.show import show_as_data, show_pipeline

        settings = read_settings(file)
        if master is not None:
            settings = dataclasses.replace(settings, master=master)
        if as_json:
            print_json(show_as_data(settings))
        else:
            print(show_pipeline(settings), end="")


pipeline.command()(history)
pipeline.command()(changes)
pipeline.command()(vacuum)


def _print(report: PipelineReport) -> None:
    views = [dataclasses.replace(view, name=f"view {view.name}") for view in report.views]
    width = max(len(each.name) for each in (*report.relations, *views)) if report.relations or views else 0
    width = max(width, len("relation"))
    print(f"{'relation':<{width}} {'facts':>14} {'gained':>14} {'lost':>14}")
    for each in (*report.relations, *views):
        print(f"{each.name:<{width}} {each.facts:>14,} {each.gained:>14,} {each.lost:>14,}")
    print(f"the way: {report.way}")
    what = "version" if report.committed else "nothing new, still version"
    rejects = f", {report.rejects:,} lines rejected (table `rejects`)" if report.rejects else ""
    print(f"{what} {report.version}, {report.terms:,} terms, {report.seconds:.2f} s{rejects}")
    for path in report.written:
        print(path)
