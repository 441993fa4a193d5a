"""`everlog plan`: in which groups, variants and orders would the rules of a program be evaluated?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from everlog.cli.knowledge_bases import RewritesOption
from everlog.cli.limit_options import limited
from everlog.cli.outcomes import outcome, print_json
from everlog.cli.rules_graph import write_picture
from everlog.errors import ProgramError, UsageError
from everlog.limits import Limits

if TYPE_CHECKING:
    from everlog.rules.syntax import Program


@limited
def plan(
    program: Annotated[str, typer.Argument(help="A file of rules; - reads them from stdin.", metavar="PROGRAM")],
    files: Annotated[
        list[str] | None, typer.Argument(help="Data files: join orders then follow their sizes.", metavar="FILES")
    ] = None,
    dot: Annotated[bool, typer.Option("--dot", help="The graph of components in Graphviz's language.")] = False,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Draw the graph into a file.")] = None,
    rewrites: RewritesOption = True,
    engine: Annotated[
        str, typer.Option("--engine", metavar="ENGINE", help="columnar; or spark: which way each component would run.")
    ] = "columnar",
    as_json: Annotated[bool, typer.Option("--json", help="The graph of components and the plan as JSON.")] = False,
    *,
    limits: Limits,
) -> None:
    """Print components, rules, delta variants and join orders, or draw the graph of components."""
    with outcome(as_json=as_json, limits=limits):
        from everlog.rules.checks import check_program
        from everlog.rules.names import name_rules
        from everlog.rules.picture.graph import rule_graph
        from everlog.rules.planned import PlannedChange
        from everlog.store.program_files import read_program

        if engine not in ("columnar", "spark"):
            raise UsageError(f"there are no plans for the engine {engine!r}", hint="columnar or spark")
        read = read_program(program)
        problems = check_program(read, {})
        if problems:
            raise ProgramError(problems)
        graph = rule_graph(PlannedChange(name_rules(read.rules)), read.prefixes)
        if svg is not None:
            from everlog.rules.picture.svg import to_svg

            write_picture(svg, to_svg(graph))
        if dot:
            from everlog.rules.picture.dot import to_dot

            print(to_dot(graph), end="")
        elif engine == "spark":
            from everlog.pipeline.explain_ways import explain_ways, ways_as_data

            counts = _counts(read, program, files)
            if as_json:
                print_json(ways_as_data(read, counts, rewrites=rewrites))
            else:
                print("\n".join(explain_ways(read, counts, rewrites=rewrites)))
        elif as_json:
            from everlog.plans.explain import explain_as_data, explain_rewrites
            from everlog.rules.picture.listing import graph_as_data

            components = explain_as_data(read, _counts(read, program, files), rewrites=rewrites)
            print_json(
                {**graph_as_data(graph), "rewrites": explain_rewrites(read) if rewrites else {}, "plan": components}
            )
        elif svg is None:
            from everlog.plans.explain import explain_program

            print(explain_program(read, counts=_counts(read, program, files), rewrites=rewrites).rstrip())


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
