"""`everlog bench`: how fast is Everlog on this machine? One command for each folder in benchmarks/experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from everlog.cli.bench_programs import experiment
from everlog.cli.bench_updates import COMMANDS
from everlog.cli.outcomes import outcome, print_json
from everlog.cli.progress import Progress
from everlog.errors import UsageError

bench = typer.Typer(
    name="bench",
    help="Measure Everlog on this machine.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


for command in COMMANDS:
    bench.command()(command)


@bench.command()
def pipeline(
    sizes: Annotated[
        str, typer.Option("--sizes", metavar="LIST", help="Millions of triples, a run for each, with commas between.")
    ] = "0.1,1,10",
    data: Annotated[
        str, typer.Option("--data", metavar="LIST", help="Which data: graph, lubm, or both.")
    ] = "graph,lubm",
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where results go; other sizes that are in it stay.")
    ] = Path("out/bench"),
    seed: Annotated[int, typer.Option("--seed", help="Of the generated data.")] = 1,
    master: Annotated[str, typer.Option("--master", metavar="URL", help="Where Spark runs.")] = "local[*]",
    memory: Annotated[str, typer.Option("--memory", metavar="SIZE", help="Java's, as Spark takes it.")] = "4g",
    as_json: Annotated[bool, typer.Option("--json", help="Every figure as JSON on stdout.")] = False,
) -> None:
    """Rows a second of each stage of the Spark pipeline, and the memory it takes.

    Writes pipeline.md, pipeline.png and pipeline.json. Ten million triples take some minutes and 10 GB of disk.
    """
    with outcome(as_json=as_json), Progress(verbose=not as_json, quiet=as_json) as progress:
        run = experiment("pipeline", "pyspark", "matplotlib")
        names = _listed(data)
        unknown = [name for name in names if name not in run.WORKLOADS]
        if unknown:
            raise UsageError(f"there is no data {unknown[0]!r}; there are {', '.join(run.WORKLOADS)}")
        triples = [round(run.MILLION * _positive(size)) for size in _listed(sizes)]
        conditions = run.Conditions(seed, master, memory)
        results = run.bench_pipeline(names, triples, out.absolute(), conditions, progress)
        progress.close()
        if as_json:
            print_json(results)
        else:
            print((out / "pipeline.md").read_text(encoding="utf-8"), end="")


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _positive(text: str) -> float:
    try:
        size = float(text)
    except ValueError:
        size = 0.0
    if not size > 0:
        raise UsageError(f"--sizes: {text!r} is not a number of millions", hint="for example --sizes 0.1,1,10")
    return size
