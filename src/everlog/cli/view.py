"""`everlog view`: which answers are kept true, what are they, and how do they change?"""

from __future__ import annotations

import json
import queue
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from everlog.cli.knowledge_bases import JsonOption, KbArgument, open_kb, read_kb, text_of
from everlog.cli.limit_options import limited
from everlog.cli.outcomes import outcome, print_json
from everlog.cli.query import AnswerFormat
from everlog.errors import UsageError
from everlog.limits import Limits

if TYPE_CHECKING:
    from everlog.store.views import View, ViewChange

view = typer.Typer(
    name="view",
    help="SPARQL queries whose answers are kept: add, drop, list, show, watch.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

_Name = Annotated[str, typer.Argument(help="The name of a view.", metavar="NAME")]


@view.command()
@limited
def add(
    kb: KbArgument,
    name: _Name,
    query: Annotated[
        str | None, typer.Argument(help="The query, in SPARQL.", metavar="[QUERY]", show_default=False)
    ] = None,
    file: Annotated[
        Path | None, typer.Option("-f", "--file", metavar="FILE", help="A file with the query; `-` is stdin.")
    ] = None,
    as_json: JsonOption = False,
    *,
    limits: Limits,
) -> None:
    """Keep the answer to a SPARQL query true from now on."""
    with outcome(as_json=as_json, limits=limits):
        if (query is None) == (file is None):
            raise UsageError("a view has one query", hint="everlog view add KB NAME 'SELECT …', or -f query.rq")
        text = query if query is not None else text_of(file or Path())[0]
        with open_kb(kb, limits=limits) as opened:
            rows = _rows(opened.view(name, text))
            version = opened.version
        if as_json:
            print_json({"view": name, "version": version, "rows": rows})
        else:
            print(f"version {version}: view {name}" + (f", {rows:,} rows" if rows is not None else ""))


@view.command()
@limited
def drop(kb: KbArgument, name: _Name, as_json: JsonOption = False, *, limits: Limits) -> None:
    """Stop keeping a view."""
    with outcome(as_json=as_json, limits=limits):
        with open_kb(kb, limits=limits) as opened:
            opened.drop_view(name)
            version = opened.version
        if as_json:
            print_json({"view": name, "version": version})
        else:
            print(f"version {version}: no view {name} any more")


@view.command(name="list")
@limited
def list_views(kb: KbArgument, as_json: JsonOption = False, *, limits: Limits) -> None:
    """Print every view with its query."""
    with outcome(as_json=as_json, limits=limits), read_kb(kb, limits) as opened:
        found = opened.views()
        if as_json:
            print_json([{"view": each.name, "query": each.text, "rows": _rows(each)} for each in found])
            return
        for each in found:
            print(f"{each.name}\t{' '.join(each.text.split())}")


@view.command()
@limited
def show(
    kb: KbArgument,
    name: _Name,
    format: Annotated[
        AnswerFormat | None, typer.Option("--format", help="Write the answer to stdout in a format.")
    ] = None,
    as_json: JsonOption = False,
    *,
    limits: Limits,
) -> None:
    """Print the answer of a view as it is now; nothing is computed for it."""
    with outcome(as_json=as_json, limits=limits), read_kb(kb, limits) as opened:
        from everlog.cli import display

        found = opened.view(name)
        answer = found.rows()
        if format is not None:
            sys.stdout.write(answer.serialize(format.value))
        elif as_json:
            print_json({"version": opened.version, "view": name, **display.answer_as_data(found.text, answer)})
        else:
            display.print_answer(name, answer, prefixes=opened.program.prefixes, titled=False)


@view.command()
@limited
def watch(
    kb: KbArgument,
    name: _Name,
    changes: Annotated[
        int | None, typer.Option("-n", "--changes", metavar="N", help="End after so many changes.", min=1)
    ] = None,
    since: Annotated[
        int | None, typer.Option("--since", metavar="VERSION", help="Begin with what has changed after a version.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A line of JSON for each change, and errors.")] = False,
    *,
    limits: Limits,
) -> None:
    """Print what changes in a view, as other processes update the knowledge base; Ctrl-C or --timeout ends it."""
    with outcome(as_json=as_json):
        until = None if limits.seconds is None else time.monotonic() + limits.seconds
        with read_kb(kb, replace(limits, seconds=None), follow=True) as opened:
            found = opened.view(name)
            coming: queue.SimpleQueue[ViewChange] = queue.SimpleQueue()
            stop = found.on_change(coming.put)
            version = opened.version if since is None else since
            past = found.changes(version)
            try:
                for change in islice(_after(version, past, coming, until), changes):
                    _print(change, found.query.shown, as_json)
                    sys.stdout.flush()
            finally:
                stop()


def _after(
    version: int, past: list[ViewChange], coming: queue.SimpleQueue[ViewChange], until: float | None
) -> Iterator[ViewChange]:
    """The changes after a version, each once: those of the past, then those that come, until it is late."""
    for change in chain(past, _arriving(coming, until)):
        if change.version > version:
            version = change.version
            yield change


def _arriving(coming: queue.SimpleQueue[ViewChange], until: float | None) -> Iterator[ViewChange]:
    while until is None or time.monotonic() < until:
        # Wait in parts: not everywhere does a thread that waits forever hear Ctrl-C.
        left = 1.0 if until is None else min(1.0, max(0.0, until - time.monotonic()))
        with suppress(queue.Empty):
            yield coming.get(timeout=left)


def _print(change: ViewChange, names: Sequence[str], as_json: bool) -> None:
    from everlog.answers.showing import shown
    from everlog.cli.display import rows_as_data

    if as_json:
        said = {
            "version": change.version,
            "variables": list(names),
            "gained": rows_as_data(change.gained.sorted()),
            "lost": rows_as_data(change.lost.sorted()),
        }
        print(json.dumps(said, ensure_ascii=False))
        return
    print(f"# version {change.version}")
    for sign, rows in (("-", change.lost), ("+", change.gained)):
        for row in rows.sorted():
            print("\t".join([sign, *("" if term is None else shown(term) for term in row)]))


def _rows(found: View) -> int | None:
    """How many rows or triples a view has; None for a truth value."""
    answer = found.rows()
    return len(answer) if hasattr(answer, "__len__") else None
