"""`everlog query`: what are the answers?"""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from everlog.cli.knowledge_bases import JsonOption, KbArgument, StrictOption, read_kb, text_of
from everlog.cli.limit_options import limited
from everlog.cli.outcomes import outcome, print_json
from everlog.errors import UsageError
from everlog.limits import Limits

if TYPE_CHECKING:
    from everlog.cli.display import Answer


class AnswerFormat(StrEnum):
    """How answers are written: json, xml, csv and tsv for rows and truth values, the others for graphs."""

    json = "json"
    xml = "xml"
    csv = "csv"
    tsv = "tsv"
    ttl = "ttl"
    nt = "nt"
    rdf = "rdf"
    jsonld = "jsonld"


@limited
def query(
    kb: KbArgument,
    queries: Annotated[
        list[str] | None,
        typer.Argument(help="SPARQL, or literals: 'path(a, ?y), ?y != b'.", metavar="[QUERY]...", show_default=False),
    ] = None,
    files: Annotated[
        list[Path] | None, typer.Option("-f", "--file", metavar="FILE", help="A file with a query; `-` is stdin.")
    ] = None,
    format: Annotated[
        AnswerFormat | None, typer.Option("--format", help="Write the answer to stdout in a format.")
    ] = None,
    strict: StrictOption = False,
    as_json: JsonOption = False,
    *,
    limits: Limits,
) -> None:
    """Print the answers to queries in SPARQL or Datalog."""
    with outcome(as_json=as_json, limits=limits):
        from everlog.cli import display

        asked: list[tuple[str, str | None]] = [(text, None) for text in queries or []]
        asked += [text_of(file) for file in files or []]
        if not asked:
            raise UsageError("there is no query", hint="give one: everlog query KB 'SELECT …', or -f query.rq")
        if format is not None and len(asked) > 1:
            raise UsageError("a format is for one query", hint="ask them one by one")
        with read_kb(kb, limits, strict=strict) as opened:
            answers = [(text, opened.query(text, base=base)) for text, base in asked]
            if format is not None:
                sys.stdout.write(_written(answers[0][1], format.value))
                return
            if as_json:
                data = [display.answer_as_data(text, answer) for text, answer in answers]
                print_json({"version": opened.version, "queries": data})
                return
            prefixes = opened.program.prefixes
            for text, answer in answers:
                display.print_answer(text, answer, prefixes=prefixes, titled=len(asked) > 1)


def _written(answer: Answer, format: str) -> str:
    from everlog.sparql.serialising import solutions_text
    from everlog.store.rows import Rows

    if isinstance(answer, Rows):
        return solutions_text(answer.names, answer.sorted(), format)
    return answer.serialize(format)
