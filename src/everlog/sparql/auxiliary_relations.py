"""Which patterns need a relation of their own?

VALUES has rows that no rule derives; DISTINCT makes a set of what is a bag below it; merged graphs, and names and nodes
of graphs, are sets too. Each becomes an auxiliary relation, or one for each set of variables that solutions may bind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from everlog.facts.terms import Term
from everlog.plans.flat_rules import AUXILIARY, FlatRule
from everlog.rules.syntax import QUAD, Argument, Atom, Constant, Variable
from everlog.sparql.branches import UNIT, Branch
from everlog.sparql.terms import argument_from, is_term

if TYPE_CHECKING:
    from everlog.sparql.patterns import Compilation, Patterns

Branches = list[Branch]


def values(compilation: Compilation, rows: Sequence[Any]) -> Branches:
    """VALUES: each row includes its number, so that equal rows stay distinct."""
    by_schema: dict[tuple[str, ...], list[tuple[Constant, ...]]] = defaultdict(list)
    for number, row in enumerate(rows):
        given = {str(variable): term for variable, term in row.items() if is_term(term)}
        names = tuple(sorted(given))
        terms = [argument_from(given[name]) for name in names]
        by_schema[names].append((Constant(number), *(term for term in terms if isinstance(term, Constant))))
    found = []
    for names, facts in by_schema.items():
        relation = compilation.relation("values")
        compilation.rules.append(FlatRule(compilation.name, tuple(Atom(relation, fact) for fact in facts), ()))
        row = Variable(compilation.variable())
        found.append(UNIT.having(Atom(relation, (row, *map(Variable, names)))).seen_as(frozenset(names)))
    return found


def given(compilation: Compilation, values: Mapping[str, Term]) -> Branch:
    """Variables whose values are given; patterns see them like variables bound around EXISTS."""
    relation, names = compilation.relation("given"), frozenset(values)
    compilation.rules.append(FlatRule(compilation.name, (Atom(relation, tuple(map(Constant, values.values()))),), ()))
    return replace(UNIT.having(Atom(relation, tuple(map(Variable, values)))), outside=names)


def distinct(compilation: Compilation, branches: Branches) -> Branches:
    """Each solution once."""
    by_schema: dict[tuple[frozenset[str], frozenset[str]], Branches] = defaultdict(list)
    for branch in branches:
        by_schema[branch.bound, branch.outside].append(branch)
    return [
        replace(
            UNIT.having(compilation.conclude(compilation.relation("distinct"), sorted(names), same)), outside=outside
        )
        for (names, outside), same in by_schema.items()
    ]


# --- graphs ---------------------------------------------------------------------------------------------------------


def _once(compilation: Compilation, what: str) -> tuple[str, bool]:
    """The name of a relation that a query needs at most once, and whether it still has no rules."""
    name = f"{compilation.name}{AUXILIARY}{what}"
    return name, not any(head.relation == name for rule in compilation.rules for head in rule.heads)


def graph_names(compilation: Compilation) -> str:
    """The graphs of FROM NAMED; without it, all graphs that have a triple."""
    name, missing = _once(compilation, "graphs")
    if missing and compilation.named_graphs is not None:
        compilation.rules.append(
            FlatRule(compilation.name, tuple(Atom(name, (graph,)) for graph in compilation.named_graphs), ())
        )
    elif missing:
        s, p, o, g = map(Variable, "spog")
        compilation.conclude(name, ["g"], [UNIT.having(Atom(QUAD, (s, p, o, g)))])
    return name


def merged_graphs(compilation: Compilation) -> str:
    """The triples of the graphs of FROM, each once."""
    name, missing = _once(compilation, "default")
    if missing:
        s, p, o = map(Variable, "spo")
        compilation.conclude(
            name, ["s", "p", "o"], [UNIT.having(Atom(QUAD, (s, p, o, graph))) for graph in compilation.default_graphs]
        )
    return name


def nodes(patterns: Patterns, node: Argument) -> Atom:
    """The subjects and objects of the graph that is looked at, with the graph if it is a variable."""
    compilation, graph = patterns.compilation, patterns.graph
    graphs = (graph,) if isinstance(graph, Variable) else ()
    what = "nodes" if graph is None else "named_nodes" if graphs else f"nodes_of_{graph}"
    name, missing = _once(compilation, what)
    if missing:
        x, p, y = (Variable(compilation.variable()) for _ in range(3))
        names = [x.name, *(variable.name for variable in graphs)]
        ends = [UNIT.having(patterns.triple(x, p, y)), UNIT.having(patterns.triple(y, p, x))]
        compilation.conclude(name, names, ends)
    return Atom(name, (node, *graphs))
