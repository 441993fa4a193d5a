"""`everlog run`: what follows from programs and files?

1. read the programs, then the data of their `@import` lines and of the command line; 2. one update with all of it,
which materialises once; 3. write files (`-o`, `@export`), print counts (`--count`), answers (`--query`), or sum up.
"""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from everlog.cli.knowledge_bases import NullsOption, RewritesOption, StrictOption
from everlog.cli.limit_options import limited
from everlog.cli.outcomes import outcome, print_json
from everlog.cli.progress import Progress
from everlog.limits import Limits

if TYPE_CHECKING:
    from everlog.rules.syntax import Program
    from everlog.store.store import KnowledgeBase


class EngineName(StrEnum):
    """Where facts live and rules are evaluated."""

    columnar = "columnar"
    reference = "reference"


class FormatName(StrEnum):
    """How a relation is written."""

    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    parquet = "parquet"
    nt = "nt"
    ttl = "ttl"


@limited
def run(
    program: Annotated[str, typer.Argument(help="A file of rules; - reads them from stdin.", metavar="PROGRAM")],
    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="More programs (.dl), and data: RDF, JSON lines, tables named like their relation (or REL=FILE).",
            metavar="FILES",
        ),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option("--data", metavar="REL=FILE", help="A table for a relation; REL(string,integer)=FILE types it."),
    ] = None,
    header: Annotated[bool, typer.Option("--header", help="The first line of each table names its columns.")] = False,
    nulls: NullsOption = "refuse",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Write relations here, one file each.")
    ] = None,
    format: Annotated[FormatName | None, typer.Option("--format", help="The format of those files.")] = None,
    count: Annotated[bool, typer.Option("--count", help="Print how many facts each defined relation has.")] = False,
    query: Annotated[
        list[str] | None, typer.Option("--query", "-q", metavar="ATOM", help="Print answers: 'path(a, ?y)'.")
    ] = None,
    engine: Annotated[EngineName, typer.Option("--engine", help="What evaluates the rules.")] = EngineName.columnar,
    rewrites: RewritesOption = True,
    strict: StrictOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Results and errors as JSON on stdout.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Say on stderr what is going on.")] = False,
    *,
    limits: Limits,
) -> None:
    """Materialise programs over files and write, count or show what was derived."""
    with outcome(as_json=as_json, limits=limits), Progress(verbose=verbose, quiet=as_json) as progress:
        progress(f"reading {program}")
        from everlog.cli.knowledge_bases import materialised
        from everlog.store import program_files

        read, imported, others = program_files.read_programs([program], files or [])
        if output is not None:
            program_files.prepare_folder(output)
        started = time.perf_counter()
        kb = materialised(
            read,
            imported,
            others,
            progress,
            data=data or [],
            header=header,
            nulls=nulls,
            engine=engine.value,
            limits=limits,
            rewrites=rewrites,
            strict=strict,
        )
        seconds = time.perf_counter() - started
        wanted = program_files.targets(read, output, format.value if format else None)
        if output is None and (count or query):
            wanted = []
        written = program_files.write_targets(kb, wanted, progress)
        progress.close()
        _show(kb, read, written, counted=count, queries=query or [], as_json=as_json, seconds=seconds)


def _show(
    kb: KnowledgeBase,
    program: Program,
    written: list[Path],
    *,
    counted: bool,
    queries: list[str],
    as_json: bool,
    seconds: float,
) -> None:
    from everlog.cli import display
    from everlog.store.program_files import defined_relations

    defined = defined_relations(program)
    if as_json:
        print_json(display.as_data(kb, defined, queries, [str(path) for path in written], seconds))
        return
    if counted:
        sizes = {relation.name: relation.facts for relation in kb.relations()}
        for name in defined:
            print(f"{name}\t{sizes.get(name, 0)}")
    for text in queries:
        display.print_answer(text, kb.query(text), prefixes=program.prefixes, titled=len(queries) > 1)
    if not counted and not queries:
        if written:
            for path in written:
                print(path)
        else:
            display.print_summary(kb, defined, prefixes=program.prefixes, seconds=seconds)
