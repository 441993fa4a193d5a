"""Which patterns need a relation of their own?

VALUES has rows that nobody derives; DISTINCT and GROUP BY make sets of what counts more than once below them; graphs
that are merged, and names and nodes of graphs, are sets too. Each becomes an auxiliary relation, one for each set of
variables that its solutions may bind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from everlog.errors import SparqlError
from everlog.plans.flat_rules import AUXILIARY, Attempt, FlatRule, GroupFunction, GroupRule
from everlog.rules.syntax import QUAD, Argument, Atom, Call, Constant, Expression, Variable
from everlog.sparql.branches import UNIT, Branch
from everlog.sparql.expressions import FAILS, resolved
from everlog.sparql.parsing import Algebra
from everlog.sparql.terms import argument_from, is_variable

if TYPE_CHECKING:
    from everlog.sparql.patterns import Compilation, Patterns

Branches = list[Branch]

_UNDEFINED = "UNDEF"  # how rdflib says that VALUES gives no value
_FUNCTIONS = {"Count": "COUNT", "Sum": "SUM", "Avg": "AVG", "Min": "MIN", "Max": "MAX", "Sample": "SAMPLE"}
_NEVER_FAIL = ("COUNT",)


def values(made: Compilation, rows: Sequence[Any]) -> Branches:
    """VALUES: a row's number is part of it, so that equal rows are two."""
    by_schema: dict[tuple[str, ...], list[tuple[Constant, ...]]] = defaultdict(list)
    for number, row in enumerate(rows):
        given = {str(variable): term for variable, term in row.items() if str(term) != _UNDEFINED}
        names = tuple(sorted(given))
        terms = [argument_from(given[name]) for name in names]
        by_schema[names].append((Constant(number), *(term for term in terms if isinstance(term, Constant))))
    found = []
    for names, facts in by_schema.items():
        relation = made.relation("values")
        made.rules.append(FlatRule(made.name, tuple(Atom(relation, fact) for fact in facts), ()))
        row = Variable(made.variable())
        found.append(UNIT.having(Atom(relation, (row, *map(Variable, names)))).seen_as(frozenset(names)))
    return found


def distinct(made: Compilation, branches: Branches) -> Branches:
    """Each solution once."""
    by_schema: dict[frozenset[str], Branches] = defaultdict(list)
    for branch in branches:
        by_schema[branch.bound].append(branch)
    return [
        UNIT.having(made.conclude(made.relation("distinct"), sorted(names), same)) for names, same in by_schema.items()
    ]


def groups(patterns: Patterns, pattern: Algebra) -> Branches:
    """GROUP BY with aggregates: a bag of the rows, and a relation of groups over it (plans/flat_rules.py)."""
    made = patterns.made
    below = patterns.branches(pattern.p.p)
    keys = [str(key) for key in (pattern.p.expr or [])]
    columns: list[Any] = []  # expressions of aggregates, each a column of the bag
    functions, results, from_key = [], [], {}
    for aggregate in pattern.A:
        name, result = aggregate.name.removeprefix("Aggregate_"), str(aggregate.res)
        if name == "Sample" and is_variable(aggregate.vars) and str(aggregate.vars) in keys:
            from_key[result] = str(aggregate.vars)
            continue
        column = None
        if aggregate.vars != "*":
            columns.append(patterns._translated(aggregate.vars))
            column = len(keys) + len(columns) - 1
        functions.append(_function(name, column, aggregate))
        results.append(result)
    bag = made.relation("rows")
    names = [made.variable() for _ in range(len(keys) + len(columns))]
    for branch in below:
        computed: list[Expression] = [Variable(key) if key in branch.bound else FAILS for key in keys]
        computed += [resolved(column, branch.bound) for column in columns]
        attempts = tuple(Attempt(each, Variable(name)) for each, name in zip(computed, names, strict=True))
        rows = Branch(branch.bound, branch.atoms, branch.absent, (*branch.computations, *attempts))
        made.conclude(bag, names, [rows], bag=True)
    if not below:  # a bag without rules is still one: of no rows
        made.conclude(bag, names, [_nothing(names)], bag=True)
    relation = made.relation("group")
    made.rules.append(
        GroupRule(
            made.name,
            Atom(relation, tuple(map(Variable, (*names[: len(keys)], *results)))),
            Atom(bag, tuple(map(Variable, names))),
            len(keys),
            tuple(functions),
            keep_failed=True,
        )
    )
    certain = {result for result, function in zip(results, functions, strict=True) if function.function in _NEVER_FAIL}
    certain |= {key for key in keys if all(key in branch.bound for branch in below)}
    found = [UNIT.having(Atom(relation, tuple(map(Variable, (*keys, *results)))))]
    for name in (*keys, *results):
        if name not in certain:
            found = [case for branch in found for case in _bound_or_not(branch, name, made.variable())]
    shown = frozenset((*results, *from_key))
    for result, key in from_key.items():
        found = [branch.binding(Variable(key), result) if key in branch.bound else branch for branch in found]
    return [patterns.hiding(branch, shown) for branch in found]


def _bound_or_not(branch: Branch, name: str, fresh: str) -> Branches:
    without = branch.seen_as(branch.bound - {name}).renamed({name: fresh})
    return [
        branch.where(Call("bound", (Variable(name),))),
        without.where(Call("!", (Call("bound", (Variable(fresh),)),))),
    ]


def _nothing(names: Sequence[str]) -> Branch:
    branch = UNIT.where(Constant(False))
    for name in names:
        branch = branch.binding(Constant(0), name)
    return branch


def _function(name: str, column: int | None, aggregate: Any) -> GroupFunction:
    if name == "GroupConcat":
        separator = aggregate.separator
        return GroupFunction(
            "GROUP_CONCAT", column, bool(aggregate.distinct), " " if separator is None else str(separator)
        )
    if name not in _FUNCTIONS:
        raise SparqlError(f"the aggregate {name} is not known")
    return GroupFunction(_FUNCTIONS[name], column, bool(aggregate.distinct))


# --- graphs ---------------------------------------------------------------------------------------------------------


def _once(made: Compilation, what: str) -> tuple[str, bool]:
    """The name of a relation that a query needs once, and whether its rules are still to be made."""
    name = f"{made.name}{AUXILIARY}{what}"
    return name, not any(head.relation == name for rule in made.rules for head in rule.heads)


def graph_names(made: Compilation) -> str:
    """The names of all graphs that have a triple."""
    name, missing = _once(made, "graphs")
    if missing:
        s, p, o, g = map(Variable, "spog")
        made.conclude(name, ["g"], [UNIT.having(Atom(QUAD, (s, p, o, g)))])
    return name


def graph_list(made: Compilation, graphs: Sequence[Argument]) -> str:
    """The graphs of FROM NAMED."""
    name, missing = _once(made, "named")
    if missing:
        made.rules.append(FlatRule(made.name, tuple(Atom(name, (graph,)) for graph in graphs), ()))
    return name


def merged_graphs(made: Compilation) -> str:
    """The triples of the graphs of FROM, each once."""
    name, missing = _once(made, "default")
    if missing:
        s, p, o = map(Variable, "spo")
        made.conclude(
            name, ["s", "p", "o"], [UNIT.having(Atom(QUAD, (s, p, o, graph))) for graph in made.default_graphs]
        )
    return name


def nodes(patterns: Patterns, node: Argument) -> Atom:
    """The subjects and objects of the graph that is looked at, with the graph if it is a variable."""
    made, graph = patterns.made, patterns.graph
    graphs = (graph,) if isinstance(graph, Variable) else ()
    what = "nodes" if graph is None else "named_nodes" if graphs else f"nodes_of_{graph}"
    name, missing = _once(made, what)
    if missing:
        x, p, y = (Variable(made.variable()) for _ in range(3))
        names = [x.name, *(variable.name for variable in graphs)]
        ends = [UNIT.having(patterns.triple(x, p, y)), UNIT.having(patterns.triple(y, p, x))]
        made.conclude(name, names, ends)
    return Atom(name, (node, *graphs))
