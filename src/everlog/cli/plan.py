"""`everlog plan`: in which groups, variants and orders would the rules of a program be evaluated?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from everlog.cli.knowledge_bases import RewritesOption
from everlog.cli.outcomes import outcome, print_json
from everlog.errors import OutputError, ProgramError

if TYPE_CHECKING:
    from everlog.rules.syntax import Program


def plan(
    program: Annotated[str, typer.Argument(help="A file of rules; - reads them from stdin.", metavar="PROGRAM")],
    files: Annotated[
        list[str] | None, typer.Argument(help="Data files: join orders then follow their sizes.", metavar="FILES")
    ] = None,
    dot: Annotated[bool, typer.Option("--dot", help="The graph of components in Graphviz's language.")] = False,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Draw the graph into a file.")] = None,
    rewrites: RewritesOption = True,
    as_json: Annotated[bool, typer.Option("--json", help="The graph of components and the plan as JSON.")] = False,
) -> None:
    """Print components, rules, delta variants and join orders, or draw the graph of components."""
    with outcome(as_json=as_json):
        from everlog.rules.checks import check_program
        from everlog.store.program_files import read_program

        read = read_program(program)
        problems = check_program(read, {})
        if problems:
            raise ProgramError(problems)
        if svg is not None:
            _draw(read, svg)
        if dot:
            from everlog.rules.picture import to_dot

            print(to_dot(read), end="")
        elif as_json:
            from everlog.plans.explain import explain_as_data, explain_rewrites

            components = explain_as_data(read, _counts(read, program, files), rewrites=rewrites)
            print_json({**_data(read), "rewrites": explain_rewrites(read) if rewrites else {}, "plan": components})
        elif svg is None:
            from everlog.plans.explain import explain_program

            print(explain_program(read, counts=_counts(read, program, files), rewrites=rewrites).rstrip())


def _draw(program: Program, path: Path) -> None:
    from everlog.rules.picture import to_svg

    try:
        path.write_text(to_svg(program), encoding="utf-8")
    except OSError as error:
        raise OutputError(
            f"cannot write {path}: {error.strerror}", hint="name a file in a folder that exists"
        ) from error


def _data(program: Program) -> dict[str, Any]:
    from everlog.rules.names import name_rules
    from everlog.rules.picture import rule_graph
    from everlog.rules.printer import print_rule

    named = name_rules(program.rules)
    boxes, arrows = rule_graph(named, program.prefixes)
    return {
        "components": [
            {
                "component": number,
                "recursive": box.recursive,
                "rules": [
                    {"name": named[index].name, "text": print_rule(named[index], program.prefixes)}
                    for index in box.rules
                ],
            }
            for number, box in enumerate(boxes, 1)
        ],
        "dependencies": [
            {
                "from": arrow.source + 1,
                "to": arrow.target + 1,
                "negative": arrow.negative,
                "relations": list(arrow.relations),
            }
            for arrow in arrows
        ],
    }


def _counts(program: Program, name: str, files: list[str] | None) -> dict[str, int] | None:
    """How many facts each relation has in the files, or None where there are no files to tell."""
    from everlog.store.program_files import imports, named_source, read_sources

    if not files:
        return None
    sources = [*imports(program, Path(name).parent), *(named_source(each) for each in files)]
    counts: dict[str, int] = {}
    for block in read_sources(sources):
        counts[block.relation] = counts.get(block.relation, 0) + len(block)
    for fact in program.facts:
        counts[fact.relation] = counts.get(fact.relation, 0) + 1
    return counts
