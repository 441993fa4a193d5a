"""`everlog query`: what are the answers?"""

from __future__ import annotations

from typing import Annotated

import typer

from everlog.cli.knowledge_bases import JsonOption, KbArgument, open_kb
from everlog.cli.outcomes import outcome, print_json


def query(
    kb: KbArgument,
    queries: Annotated[list[str], typer.Argument(help="Literals: 'path(a, ?y), ?y != b'.", metavar="QUERY...")],
    as_json: JsonOption = False,
) -> None:
    """Print the answers to Datalog queries, a line each."""
    with outcome(as_json=as_json):
        from everlog.cli import tables

        with open_kb(kb) as opened:
            if as_json:
                print_json({"version": opened.version, "queries": tables.answers_as_data(opened, queries)})
                return
            prefixes = opened.program.prefixes
            for text in queries:
                tables.print_answers(opened, text, prefixes=prefixes, titled=len(queries) > 1)
