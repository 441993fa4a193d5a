"""`everlog facts`: which facts does a relation have?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from everlog.cli.knowledge_bases import JsonOption, KbArgument, read_kb
from everlog.cli.limit_options import limited
from everlog.cli.outcomes import outcome, print_json
from everlog.cli.run import FormatName
from everlog.errors import UsageError
from everlog.limits import Limits


@limited
def facts(
    kb: KbArgument,
    relation: Annotated[str, typer.Argument(help="The relation; `triple` and `quad` hold RDF.", metavar="RELATION")],
    format: Annotated[FormatName | None, typer.Option("--format", help="Write a file's format, to stdout.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write a file.")] = None,
    as_json: JsonOption = False,
    *,
    limits: Limits,
) -> None:
    """Print or write the facts of a relation, explicit and derived."""
    with outcome(as_json=as_json, limits=limits):
        from everlog.cli import display
        from everlog.formats.writing import text_lines, write_facts

        with read_kb(kb, limits) as opened:
            rows, prefixes = opened.facts(relation), opened.program.prefixes
        name = format.value if format else None
        if output is not None:
            write_facts(output, relation, rows.keys(), format=name, rows=len(rows))
            print(output)
        elif as_json:
            print_json({"relation": relation, "facts": display.rows_as_data(rows.sorted())})
        elif name == FormatName.parquet.value:
            raise UsageError("Parquet is not for a terminal", hint="name a file: -o FILE")
        elif name is not None:
            sys.stdout.writelines(text_lines(name, relation, rows.keys(), len(rows)))
        else:
            display.print_rows(rows.sorted(), rows.names, prefixes=prefixes)
