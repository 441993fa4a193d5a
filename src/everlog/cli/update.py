"""`everlog update`: what does a request in SPARQL Update change?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from everlog.cli.knowledge_bases import JsonOption, KbArgument, open_kb, text_of
from everlog.cli.limit_options import limited
from everlog.cli.outcomes import outcome, print_json
from everlog.errors import UsageError
from everlog.limits import Limits

if TYPE_CHECKING:
    from everlog.store.changes import Change


@limited
def update(
    kb: KbArgument,
    requests: Annotated[
        list[str] | None,
        typer.Argument(
            help="INSERT DATA {…}, DELETE … WHERE {…} and so on.", metavar="[REQUEST]...", show_default=False
        ),
    ] = None,
    files: Annotated[
        list[Path] | None, typer.Option("-f", "--file", metavar="FILE", help="A file with a request; `-` is stdin.")
    ] = None,
    load_from: Annotated[
        Path | None, typer.Option("--load-from", metavar="DIR", help="Where LOAD may read files: in this folder.")
    ] = None,
    as_json: JsonOption = False,
    *,
    limits: Limits,
) -> None:
    """Apply requests in SPARQL Update, each as one version; a request that fails changes nothing."""
    with outcome(as_json=as_json, limits=limits):
        asked: list[tuple[str, str | None]] = [(text, None) for text in requests or []]
        asked += [text_of(file) for file in files or []]
        if not asked:
            raise UsageError(
                "there is no request", hint="give one: everlog update KB 'INSERT DATA { … }', or -f request.ru"
            )
        with open_kb(kb, limits=limits) as opened:
            before = opened.version
            for text, base in asked:
                opened.sparql_update(text, base=base, load_from=load_from)
            changes = opened.changes(since=before)
        if as_json:
            print_json({"version": opened.version, "changes": [_as_data(change) for change in changes]})
            return
        for change in changes:
            print_change(change)


def print_change(change: Change) -> None:
    """A line for each relation that has changed, and one for the version."""
    for name, (gained, lost) in change.counts().items():
        print("\t".join([name, *([f"+{gained}"] if gained else []), *([f"-{lost}"] if lost else [])]))
    print(f"version {change.version}" + ("" if change else ": nothing has changed"))


def _as_data(change: Change) -> dict[str, object]:
    counts = {name: {"gained": gained, "lost": lost} for name, (gained, lost) in change.counts().items()}
    return {"version": change.version, "relations": counts}
