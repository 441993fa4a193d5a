"""`everlog load`: how do rules and data get into a knowledge base?

All files make one update: programs (`.dl`) bring their rules, facts and imports, all others are data.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from everlog.cli.knowledge_bases import JsonOption, KbArgument, StrictOption, component_progress, open_kb
from everlog.cli.outcomes import outcome, print_json
from everlog.cli.progress import Progress

if TYPE_CHECKING:
    from everlog.rules.syntax import Program
    from everlog.store.changes import Change
    from everlog.store.program_files import FactFile


def load(
    kb: KbArgument,
    files: Annotated[
        list[str],
        typer.Argument(help="Programs (.dl), RDF, JSON lines, tables named like their relation (or REL=FILE)."),
    ],
    header: Annotated[bool, typer.Option("--header", help="The first line of each table names its columns.")] = False,
    strict: StrictOption = False,
    as_json: JsonOption = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Say on stderr what is going on.")] = False,
) -> None:
    """Add files to a knowledge base, which is made if it is not there."""
    with outcome(as_json=as_json), Progress(verbose=verbose, quiet=as_json) as progress:
        program, sources = _read(files, header)
        with open_kb(kb, make=True, strict=strict) as opened:
            from everlog.store.program_files import read_sources

            opened.on_progress = component_progress(progress)
            change = opened.update(insert=read_sources(sources, progress), add_rules=program)
        progress.close()
        if as_json:
            print_json({"version": change.version, "relations": _counts(change), **change.report.as_data()})
        else:
            _print(change)


def _read(files: list[str], header: bool) -> tuple[Program, list[FactFile]]:
    """All programs as one, and the data files, those that programs import first."""
    from everlog.store import program_files

    names = [each for each in files if Path(each).suffix == ".dl"]
    programs = [program_files.read_program(name) for name in names]
    imported = [program_files.imports(read, Path(name).parent) for name, read in zip(names, programs, strict=True)]
    named = [program_files.named_source(each, header=header) for each in files if each not in names]
    return program_files.as_one(programs), [*chain.from_iterable(imported), *named]


def _counts(change: Change) -> dict[str, dict[str, int]]:
    return {name: {"gained": gained, "lost": lost} for name, (gained, lost) in change.counts().items()}


def _print(change: Change) -> None:
    for name, (gained, lost) in change.counts().items():
        print(f"{name}\t+{gained}" + (f"\t-{lost}" if lost else ""))
    report = change.report
    print(f"version {change.version}: {report.inserted:,} facts new, {report.already_there:,} were there already")
