"""`everlog compact`, `backup`, `export`, `import`: tidy a knowledge base up, and take it elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from everlog.cli.knowledge_bases import JsonOption, KbArgument, kept_kb, open_kb, place, read_kb
from everlog.cli.limit_options import limited
from everlog.cli.outcomes import outcome, print_json
from everlog.limits import Limits


@limited
def compact(kb: KbArgument, as_json: JsonOption = False, *, limits: Limits) -> None:
    """Write a snapshot, so that opening need not read the log before it; nobody else may be writing.

    Tables of a pipeline get new bases, in which the changes since the last ones are.
    """
    with outcome(as_json=as_json, limits=limits), open_kb(kb, limits=limits) as opened:
        path = opened.compact()
        size = path.stat().st_size if isinstance(path, Path) and path.is_file() else None
        if as_json:
            print_json({"snapshot": str(path), "version": opened.version, "bytes": size})
        else:
            print(f"{path}: version {opened.version}" + (f", {size:,} bytes" if size is not None else ""))


@limited
def backup(
    kb: KbArgument,
    target: Annotated[Path, typer.Argument(help="A new folder.", metavar="FOLDER")],
    as_json: JsonOption = False,
    *,
    limits: Limits,
) -> None:
    """Copy a knowledge base into a new folder, which can be opened; others may be writing to it meanwhile."""
    with outcome(as_json=as_json, limits=limits), read_kb(kb, limits) as opened:
        opened.backup(target)
        said = {"backup": str(target), "version": opened.version}
        print_json(said) if as_json else print(f"{target}: version {opened.version}")


@limited
def export(
    kb: KbArgument,
    target: Annotated[
        str, typer.Argument(help="A new folder, or a place in an object store.", metavar="FOLDER", parser=place)
    ],
    tables: Annotated[bool, typer.Option("--tables", help="As tables, for a pipeline to go on with.")] = False,
    as_json: JsonOption = False,
    *,
    limits: Limits,
) -> None:
    """Write program, explicit facts and views as text files."""
    with outcome(as_json=as_json, limits=limits), read_kb(kb, limits) as opened:
        files = opened.export(target, format="tables" if tables else "text")
        if as_json:
            print_json({"files": [str(file) for file in files], "version": opened.version})
        else:
            print("\n".join(map(str, files)))


@limited
def import_(
    kb: KbArgument,
    source: Annotated[Path, typer.Argument(help="A folder that `everlog export` made.", metavar="FOLDER")],
    as_json: JsonOption = False,
    *,
    limits: Limits,
) -> None:
    """Add the program, facts and views of an export, as one update; KB is made if it is not there."""
    with outcome(as_json=as_json, limits=limits), kept_kb(kb, limits=limits) as opened:
        change = opened.import_from(source)
        if as_json:
            print_json({"version": change.version, "changes": change.counts()})
        else:
            for relation, (gained, lost) in change.counts().items():
                print(f"{relation}\t+{gained:,}" + (f" -{lost:,}" if lost else ""))
            print(f"version {change.version}")
