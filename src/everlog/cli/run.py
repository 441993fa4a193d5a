"""`everlog run`: what follows from a program and files?

1. read the program, then the data of its `@import` lines and of the command line; 2. one update with all of it, which
materialises once; 3. write files (`-o`, `@export`), print counts (`--count`), answer queries (`--query`), or sum up.
"""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from everlog.cli.knowledge_bases import RewritesOption, StrictOption
from everlog.cli.outcomes import outcome, print_json
from everlog.cli.progress import Progress
from everlog.errors import UsageError

if TYPE_CHECKING:
    from everlog.limits import Limits
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


def run(
    program: Annotated[str, typer.Argument(help="A file of rules; - reads them from stdin.", metavar="PROGRAM")],
    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="Data files: RDF, JSON lines, or tables named like their relation (or REL=FILE).", metavar="FILES"
        ),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option("--data", metavar="REL=FILE", help="A table for a relation; REL(string,integer)=FILE types it."),
    ] = None,
    header: Annotated[bool, typer.Option("--header", help="The first line of each table names its columns.")] = False,
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
    limit_rounds: Annotated[int | None, typer.Option(help="Stop a recursion after so many rounds.", min=1)] = None,
    limit_facts: Annotated[int | None, typer.Option(help="Stop above so many facts.", min=1)] = None,
    limit_seconds: Annotated[float | None, typer.Option(help="Stop after so much time.", min=0.0)] = None,
    limit_memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Stop above so much memory: 500M, 4G.")
    ] = None,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Say on stderr what is going on.")] = False,
) -> None:
    """Materialise a program over files and write, count or show what was derived."""
    with outcome(as_json=as_json), Progress(verbose=verbose, quiet=as_json) as progress:
        limits = _limits(limit_rounds, limit_facts, limit_seconds, limit_memory)
        progress(f"reading {program}")
        from everlog.cli.knowledge_bases import materialised
        from everlog.store import program_files

        read = program_files.read_program(program)
        if output is not None:
            program_files.prepare_folder(output)
        started = time.perf_counter()
        kb = materialised(
            program,
            read,
            files or [],
            progress,
            data=data or [],
            header=header,
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


def _limits(rounds: int | None, facts: int | None, seconds: float | None, memory: str | None) -> Limits:
    """The limits that were given; the others keep their defaults."""
    from everlog.limits import Limits

    given: dict[str, Any] = {"rounds": rounds, "facts": facts, "seconds": seconds}
    if memory is not None:
        given["memory"] = bytes_of(memory)
    return Limits(**{name: value for name, value in given.items() if value is not None})


def bytes_of(size: str) -> int:
    """A size as people write it, in bytes.

    >>> bytes_of("4G"), bytes_of("1.5 MiB"), bytes_of("100")
    (4294967296, 1572864, 100)
    """
    text = size.strip().upper().removesuffix("B").removesuffix("I")
    power = "KMGT".find(text[-1:]) + 1 if text else 0
    try:
        number = float(text[:-1] if power else text)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise UsageError(f"{size!r} is not a size", hint="write 500M or 4G")
    return int(number * 1024**power)
