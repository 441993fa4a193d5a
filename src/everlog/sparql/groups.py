"""What do GROUP BY and aggregates become?

The solutions that are grouped fill a bag: a column for each key, then one for each expression that is aggregated. A
relation of groups over it has the keys and the results (GroupRule, plans/flat_rules.py). COUNT(DISTINCT *) has a bag
of its own, in which each solution occurs once.

A key or a result may have no value, so there is a branch for each set of those that have one. Inside GRAPH ?g each
graph is grouped alone. Without GROUP BY there is one group even over no solutions, inside GRAPH ?g one for each graph.
The engine computes the results of such a group, except for AVG, which SPARQL defines as 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from everlog.errors import SparqlError
from everlog.facts.terms import Term
from everlog.plans.flat_rules import Attempt, GroupFunction, GroupRule
from everlog.rules.syntax import Atom, Constant, Expression, Variable
from everlog.sparql import auxiliary_relations as auxiliary
from everlog.sparql.branches import UNIT, Branch, bound_or_not
from everlog.sparql.expressions import FAILS
from everlog.sparql.parsing import Algebra
from everlog.sparql.terms import HIDDEN, is_variable

if TYPE_CHECKING:
    from everlog.sparql.patterns import Patterns

Branches = list[Branch]

_FUNCTIONS = {
    "Count": "COUNT",
    "Sum": "SUM",
    "Avg": "AVG",
    "Min": "MIN",
    "Max": "MAX",
    "Median": "MEDIAN",
    "Sample": "SAMPLE",
    "GroupConcat": "GROUP_CONCAT",
}
_NEVER_FAIL = ("COUNT",)
_OF_NOTHING: dict[str, Term] = {
    "COUNT": 0,
    "SUM": 0,
    "AVG": 0,
    "GROUP_CONCAT": "",
}  # the others have no value over no solutions


@dataclass
class _Results:
    """Aggregates over one bag of solutions."""

    columns: list[Any] = field(default_factory=list)  # the expressions that are aggregated
    functions: list[GroupFunction] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    rows: Atom | None = None  # the bag, once it is made

    def add(self, function: str, column: int | None, aggregate: Any) -> None:
        separator = " " if aggregate.separator is None else str(aggregate.separator)
        distinct = bool(aggregate.distinct) and column is not None
        self.functions.append(GroupFunction(function, column, distinct, separator))
        self.names.append(str(aggregate.res))


def groups(patterns: Patterns, pattern: Algebra) -> Branches:
    """The branches of a pattern that is grouped."""
    compilation = patterns.compilation
    below = patterns.branches(pattern.p.p)
    keys = [str(key) for key in (pattern.p.expr or [])]
    grouped_by = [*keys, *sorted(patterns.graph_variable)]
    results, of_distinct, aliases = _Results(), _Results(), {}
    for aggregate in pattern.A:
        function, argument = _function(aggregate), aggregate.vars
        if function == "SAMPLE" and is_variable(argument) and str(argument) in keys:
            aliases[str(aggregate.res)] = str(argument)
        elif argument != "*":
            results.columns.append(patterns.translated(argument))
            results.add(function, len(grouped_by) + len(results.columns) - 1, aggregate)
        else:
            (of_distinct if aggregate.distinct else results).add(function, None, aggregate)
    atoms = []
    if results.names or not of_distinct.names:
        atoms.append(_relation(patterns, below, grouped_by, results))
    if of_distinct.names:
        seen = [patterns.hiding(b, frozenset(n for n in b.bound if not n.startswith(HIDDEN))) for b in below]
        atoms.append(_relation(patterns, auxiliary.distinct(compilation, seen), grouped_by, of_distinct))
    functions = dict(zip(results.names, results.functions, strict=True))
    functions |= zip(of_distinct.names, of_distinct.functions, strict=True)
    found = [UNIT.having(*atoms)]
    for name in keys:
        if not all(name in branch.bound for branch in below):
            found = [case for branch in found for case in bound_or_not(branch, name, compilation.variable())]
    for name, each in functions.items():
        if each.function not in _NEVER_FAIL:
            found = [case for branch in found for case in bound_or_not(branch, name, compilation.variable())]
    if not keys and (patterns.graph_variable or any(each.function == "AVG" for each in functions.values())):
        rows = results.rows or of_distinct.rows
        assert rows is not None
        found = _with_nothing(patterns, rows, found, functions)
    for alias, key in aliases.items():
        found = [branch.binding(Variable(key), alias) if key in branch.bound else branch for branch in found]
    return [patterns.hiding(branch, frozenset((*keys, *functions, *aliases))) for branch in found]


def _relation(patterns: Patterns, below: Branches, keys: Sequence[str], results: _Results) -> Atom:
    """The relation of groups over a bag of solutions."""
    compilation = patterns.compilation
    bag = compilation.relation("rows")
    names = [compilation.variable() for _ in range(len(keys) + len(results.columns))]
    rows = [_row(branch, keys, results.columns, names) for branch in below]
    source = compilation.conclude(bag, names, rows, bag=True)
    results.rows = source
    relation = compilation.relation("group")
    head = Atom(relation, tuple(map(Variable, (*names[: len(keys)], *results.names))))
    compilation.rules.append(
        GroupRule(compilation.name, head, source, len(keys), tuple(results.functions), keep_failed=True)
    )
    return Atom(relation, tuple(map(Variable, (*keys, *results.names))))


def _row(branch: Branch, keys: Sequence[str], columns: Sequence[Expression], names: Sequence[str]) -> Branch:
    values: list[Expression] = [Variable(key) if key in branch.bound else FAILS for key in keys]
    values += [branch.value(column) for column in columns]
    attempts = tuple(Attempt(each, Variable(name)) for each, name in zip(values, names, strict=True))
    return Branch(branch.bound, branch.atoms, branch.absent, (*branch.computations, *attempts))


def _with_nothing(patterns: Patterns, rows: Atom, found: Branches, functions: dict[str, GroupFunction]) -> Branches:
    """Groups with solutions as the engine has them, and groups without as SPARQL defines them."""
    compilation = patterns.compilation
    relation, graphs = compilation.relation("some"), rows.args[: len(patterns.graph_variable)]
    compilation.conclude(relation, [graph.name for graph in graphs if isinstance(graph, Variable)], [UNIT.having(rows)])
    nothing, some = UNIT, Atom(relation, ())
    if isinstance(patterns.graph, Variable):
        nothing = UNIT.having(Atom(auxiliary.graph_names(compilation), (patterns.graph,)))
        some = Atom(relation, (patterns.graph,))
    for name, each in functions.items():
        if each.function in _OF_NOTHING:
            nothing = nothing.binding(Constant(_OF_NOTHING[each.function]), name)
    return [*(branch.having(some, binding=False) for branch in found), nothing.without(some)]


def _function(aggregate: Any) -> str:
    name = aggregate.name.removeprefix("Aggregate_")
    if name not in _FUNCTIONS:
        raise SparqlError(f"the aggregate {name} is not known")
    return _FUNCTIONS[name]
