"""`everlog rules graph`: how do rules depend on each other, and what would a change of them affect?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from everlog.cli.knowledge_bases import JsonOption, read_kb
from everlog.cli.limit_options import limited
from everlog.cli.outcomes import outcome, print_json
from everlog.errors import OutputError
from everlog.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from everlog.rules.picture.graph import RuleGraph
    from everlog.rules.syntax import Program


@limited
def graph(
    source: Annotated[
        Path, typer.Argument(help="The folder of a knowledge base, or a file of rules.", metavar="KB|PROGRAM")
    ],
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Draw it into a file.")] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="A page to move around in, in one file.")
    ] = None,
    if_adding: Annotated[
        list[str] | None, typer.Option("--if-adding", metavar="FILE", help="Show what these rules would concern.")
    ] = None,
    if_removing: Annotated[
        list[str] | None,
        typer.Option("--if-removing", metavar="NAME", help="Show what it would concern if this rule went."),
    ] = None,
    as_json: JsonOption = False,
    *,
    limits: Limits,
) -> None:
    """Draw or list the components of rules, and mark what a planned change would affect; nothing is changed."""
    with outcome(as_json=as_json, limits=limits):
        drawn = _graph(source, if_adding or (), if_removing or (), limits)
        if svg is not None:
            from everlog.rules.picture.svg import to_svg

            write_picture(svg, to_svg(drawn))
        if html is not None:
            from everlog.rules.picture.page import to_html

            write_picture(html, to_html(drawn, title=f"Rules of {source.name}"))
        if as_json:
            from everlog.rules.picture.listing import graph_as_data

            print_json(graph_as_data(drawn))
        elif svg is None and html is None:
            from everlog.rules.picture.listing import to_text

            print(to_text(drawn), end="")


def _graph(source: Path, adding: Sequence[str], removing: Sequence[str], limits: Limits) -> RuleGraph:
    """The graph of a knowledge base, which has sizes, or of a program, which has none."""
    from everlog.store.program_files import read_program
    from everlog.store.sizes import extent_sizes

    if not source.is_dir():
        program = read_program(str(source))
        return _planned(program, adding, removing, {})
    with read_kb(source, limits) as kb:
        given = {relation.name: relation.arity for relation in kb.relations() if relation.explicit}
        drawn = _planned(kb.program, adding, removing, given)
        return replace(drawn, sizes=extent_sizes(kb, drawn.extents()))


def _planned(program: Program, adding: Sequence[str], removing: Sequence[str], arities: dict[str, int]) -> RuleGraph:
    from everlog.rules.picture.graph import rule_graph
    from everlog.rules.planned import planned_change
    from everlog.store.program_files import as_one, read_program

    added = as_one([read_program(name, program.prefixes) for name in adding])
    change = planned_change(program, added, removing, arities)
    return rule_graph(change, {**program.prefixes, **added.prefixes})


def write_picture(path: Path, text: str) -> None:
    """Write a drawing to the file that a user named."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(
            f"cannot write {path}: {error.strerror}", hint="name a file in a folder that exists"
        ) from error
