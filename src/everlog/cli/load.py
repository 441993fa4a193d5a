"""`everlog load`: how do rules and data get into a knowledge base?

All files make one update: programs (`.dl`) bring their rules, facts and imports, all others are data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from everlog.cli.knowledge_bases import (
    JsonOption,
    KbArgument,
    NullsOption,
    StrictOption,
    component_progress,
    kept_kb,
    tell_skipped,
)
from everlog.cli.limit_options import limited
from everlog.cli.outcomes import outcome, print_json
from everlog.cli.progress import Progress
from everlog.limits import Limits

if TYPE_CHECKING:
    from everlog.store.changes import Change


@limited
def load(
    kb: KbArgument,
    files: Annotated[
        list[str],
        typer.Argument(
            help="Programs (.dl), RDF, JSON lines, tables named like their relation (or REL=FILE).", metavar="FILES"
        ),
    ],
    header: Annotated[bool, typer.Option("--header", help="The first line of each table names its columns.")] = False,
    nulls: NullsOption = "refuse",
    strict: StrictOption = False,
    as_json: JsonOption = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Say on stderr what is going on.")] = False,
    *,
    limits: Limits,
) -> None:
    """Add files to a knowledge base, which is made if it is not there; where loading fails, it is not."""
    with outcome(as_json=as_json, limits=limits), Progress(verbose=verbose, quiet=as_json) as progress:
        from everlog.facts.missing import MissingValues
        from everlog.store.program_files import named_source, read_programs, read_sources, typed_sources

        program, imported, others = read_programs([], files)
        sources = [*imported, *(named_source(each, header=header) for each in others)]
        with kept_kb(kb, limits=limits, strict=strict) as opened:
            missing = MissingValues(nulls)
            sources = typed_sources(sources, (*opened.program.declarations, *program.declarations))
            opened.progress, opened.on_progress = False, component_progress(progress)  # the command has a bar itself
            change = opened.update(insert=read_sources(sources, progress, missing), add_rules=program)
            change.report.skipped += missing.skipped
        progress.close()
        if as_json:
            print_json({"version": change.version, "relations": _counts(change), **change.report.as_data()})
        else:
            _print(change)
            tell_skipped(change.report.skipped)


def _counts(change: Change) -> dict[str, dict[str, int]]:
    return {name: {"gained": gained, "lost": lost} for name, (gained, lost) in change.counts().items()}


def _print(change: Change) -> None:
    for name, (gained, lost) in change.counts().items():
        print(f"{name}\t+{gained}" + (f"\t-{lost}" if lost else ""))
    report = change.report
    print(f"version {change.version}: {report.inserted:,} facts new, {report.already_there:,} were there already")
