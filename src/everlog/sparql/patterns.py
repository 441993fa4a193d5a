"""Which branches does a pattern of the SPARQL algebra have?

    BGP, Join, Filter, Extend     more atoms and computations in the same bodies
    Union                         the branches of both
    Minus                         NOT a projection of each right branch that shares a variable with the left one
    LeftJoin                      the join, and the left branches with NOT a projection of what they would join with
    Graph                         atoms of `quad` in place of `triple`
    Group, Distinct, VALUES       relations of their own (groups.py, auxiliary_relations.py), which are sets
    paths                         paths.py
    EXISTS                        a relation of the outer bindings that have a solution inside

Projections under NOT are auxiliary relations; everything else is one body. So what is stored are counts of solutions,
not the joins below them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, product
from typing import Any
from uuid import uuid4

from everlog.errors import SparqlError
from everlog.expressions.dates import now
from everlog.facts.terms import Term
from everlog.plans.expressions import compile_expression, holds
from everlog.plans.flat_rules import AUXILIARY, EvaluatedRule, FlatRule, WindowRule
from everlog.rules.syntax import (
    QUAD,
    TRIPLE,
    Argument,
    Atom,
    Call,
    Constant,
    Expression,
    Variable,
    expression_variables,
)
from everlog.sparql import auxiliary_relations as auxiliary
from everlog.sparql import paths
from everlog.sparql.branches import UNIT, Branch, bound_or_not, concluding, joined, never
from everlog.sparql.expressions import Translator, always_fails, may_fail
from everlog.sparql.groups import groups
from everlog.sparql.parsing import Algebra
from everlog.sparql.terms import HIDDEN, argument_from

_MOST_BRANCHES = 256

Branches = list[Branch]


@dataclass
class Compilation:
    """The result of translating one query so far: auxiliary rules, and the fresh names in use."""

    name: str
    base: str | None = None
    default_graphs: tuple[Argument, ...] = ()  # FROM; none: the store's own default graph
    named_graphs: tuple[Argument, ...] | None = None  # FROM NAMED; None: all there are
    rules: list[EvaluatedRule] = field(default_factory=list)
    moment: Term = field(default_factory=now)  # what NOW() is
    salt: str = field(default_factory=lambda: uuid4().hex)  # so that BNODE() gives nodes that no other query has
    _numbers: Iterator[int] = field(default_factory=count)

    def relation(self, what: str) -> str:
        return f"{self.name}{AUXILIARY}{what}{next(self._numbers)}"

    def variable(self) -> str:
        return f"{HIDDEN}{next(self._numbers)}"

    def conclude(self, relation: str, names: Sequence[str], branches: Iterable[Branch], *, bag: bool = False) -> Atom:
        """Rules that fill a relation with certain variables of branches; gives its atom."""
        head = Atom(relation, tuple(Variable(name) for name in names))
        for branch in list(branches) or [never(names)]:
            own, body = concluding(head, branch)
            self.rules.append(FlatRule(self.name, (own,), body.atoms, body.absent, body.computations, bag=bag))
        return head


class Patterns:
    """Translates the patterns of one query."""

    def __init__(self, compilation: Compilation, graph: Argument | None = None, seed: Branch = UNIT) -> None:
        self.compilation = compilation
        self.graph = graph  # the current graph; None is the default graph
        self.seed = (
            seed  # bindings from outside, joined to every pattern: given values, and what is bound around EXISTS
        )
        self._exists: dict[str, tuple[Algebra, bool]] = {}

    def branches(self, pattern: Algebra) -> Branches:
        """The branches of a pattern."""
        translate: Callable[[Algebra], Branches] | None = getattr(self, f"_{pattern.name.lower()}", None)
        if pattern.name == "ServiceGraphPattern":
            raise SparqlError("SERVICE asks other servers, which Everlog never does", hint="load the data instead")
        if translate is None:
            raise SparqlError(f"the pattern {pattern.name} is not known")
        found = translate(pattern)
        if len(found) > _MOST_BRANCHES:
            raise SparqlError(
                f"OPTIONAL and UNION can be combined in more than {_MOST_BRANCHES} ways",
                hint="split the query, or put OPTIONALs that belong together into one",
            )
        return found

    # --- triples ------------------------------------------------------------------------------------------------------

    def _bgp(self, pattern: Algebra) -> Branches:
        found = [UNIT]
        for subject, predicate, object_ in pattern.triples:
            ends = argument_from(subject), argument_from(object_)
            found = self._product(found, paths.branches(self, ends[0], predicate, ends[1]))
        return self._product([self.seed], found if pattern.triples else self.in_some_graph([UNIT]))

    def triple(self, subject: Argument, predicate: Argument, object_: Argument) -> Atom:
        """The atom that matches triples of the current graph."""
        if self.graph is not None:
            return Atom(QUAD, (subject, predicate, object_, self.graph))
        if self.compilation.default_graphs:
            return Atom(auxiliary.merged_graphs(self.compilation), (subject, predicate, object_))
        return Atom(TRIPLE, (subject, predicate, object_))

    def _graph(self, pattern: Algebra) -> Branches:
        if self.compilation.named_graphs == ():  # FROM without FROM NAMED
            return []
        graph = argument_from(pattern.term)
        if isinstance(graph, Constant):
            inside = Patterns(self.compilation, graph, self.seed)
            return inside.in_some_graph(inside.branches(pattern.p))
        # Inside, the variable is not bound yet: another one stands for the graph until the pattern is matched.
        inside = Patterns(self.compilation, Variable(self.compilation.variable()), self.seed)
        return [inside._graph_named(branch, graph) for branch in inside.in_some_graph(inside.branches(pattern.p))]

    def _graph_named(self, branch: Branch, name: Variable) -> Branch:
        """A branch whose graph is the value of a variable, which the pattern may bind too."""
        assert isinstance(self.graph, Variable)
        if name.name in branch.bound:
            return branch.equating(self.graph, name.name)
        return branch.renamed({self.graph.name: name.name})

    def in_some_graph(self, found: Branches) -> Branches:
        """Inside GRAPH, a pattern is matched only in graphs that exist."""
        if self.graph is None:
            return found
        restricted = self.compilation.named_graphs is not None
        return [
            branch
            if not restricted and any(self.graph in atom.args for atom in branch.atoms)
            else branch.having(Atom(auxiliary.graph_names(self.compilation), (self.graph,)))
            for branch in found
        ]

    @property
    def graph_variable(self) -> frozenset[str]:
        """The variable of the current graph, if it has one: everything inside GRAPH depends on it."""
        return frozenset((self.graph.name,)) if isinstance(self.graph, Variable) else frozenset()

    # --- putting patterns together ------------------------------------------------------------------------------------

    def _join(self, pattern: Algebra) -> Branches:
        return self._product(self.branches(pattern.p1), self.branches(pattern.p2))

    def _product(self, left: Branches, right: Branches) -> Branches:
        return [joined(one, other, self.compilation.variable()) for one, other in product(left, right)]

    def _union(self, pattern: Algebra) -> Branches:
        return self.branches(pattern.p1) + self.branches(pattern.p2)

    def _minus(self, pattern: Algebra) -> Branches:
        left, right = self.branches(pattern.p1), self.branches(pattern.p2)
        projections = _Projections(self.compilation, "minus", right)
        return [
            one.without(
                *(
                    projections.on(n, one.bound & other.bound)
                    for n, other in enumerate(right)
                    if (one.own & other.own) - self.graph_variable
                )
            )
            for one in left
        ]

    def _leftjoin(self, pattern: Algebra) -> Branches:
        left, right = self.branches(pattern.p1), self.branches(pattern.p2)
        found: Branches = []
        projections = _Projections(self.compilation, "optional", right)
        for one in left:
            pairs = [joined(one, other, self.compilation.variable()) for other in right]
            matching = self._filtered(pattern.expr, pairs)
            found += matching
            if matching == pairs:
                found.append(one.without(*(projections.on(n, one.bound & o.bound) for n, o in enumerate(right))))
            else:
                relation = self.compilation.relation("optional")
                found.append(one.without(self.compilation.conclude(relation, sorted(one.bound), matching)))
        return found

    # --- conditions and values ----------------------------------------------------------------------------------------

    def _filter(self, pattern: Algebra) -> Branches:
        return self._filtered(pattern.expr, self.branches(pattern.p))

    def _filtered(self, condition: Any, branches: Branches) -> Branches:
        expression = self.translated(condition)
        return [passed for branch in branches for passed in self._passing(expression, branch)]

    def _passing(self, expression: Expression, branch: Branch) -> Branches:
        found = []
        for case, known in self._cases(expression, branch):
            condition = case.value(known)
            if always_fails(condition):
                continue
            if next(expression_variables(condition), None) is not None:
                found.append(case.where(condition))
            elif holds(compile_expression(condition, []), []):
                found.append(case)
        return found

    def _extend(self, pattern: Algebra) -> Branches:
        expression, name = self.translated(pattern.expr), str(pattern.var)
        found = []
        for branch in self.branches(pattern.p):
            if name in branch.own and isinstance(expression, Variable):
                found.append(branch)  # the key of a group, which rdflib gives its own name again
                continue
            for case, known in self._cases(expression, branch):
                value = case.value(known)
                if always_fails(value):
                    found.append(case)
                    continue
                found.append(case.equating(value, name) if name in case.bound else case.binding(value, name))
                if may_fail(value):
                    found.append(case.failing(value, self.compilation.variable()))
        return found

    def translated(self, expression: Any) -> Expression:
        return Translator(self._exists_variable, self.compilation).translate(expression)

    # --- EXISTS -------------------------------------------------------------------------------------------------------

    def _exists_variable(self, pattern: Algebra, wanted: bool) -> Expression:
        name = f"{HIDDEN}exists{len(self._exists)}"
        self._exists[name] = pattern, wanted
        return Variable(name)

    def _cases(self, expression: Expression, branch: Branch) -> Iterator[tuple[Branch, Expression]]:
        """A branch for each combination of truth values of the EXISTS in an expression, and the expression then."""
        asked = [v.name for v in expression_variables(expression) if v.name in self._exists]
        cases = [(branch, expression)]
        for name in dict.fromkeys(asked):
            pattern, wanted = self._exists[name]
            found = self._exists_atom(pattern, branch)
            cases = [
                (
                    case.having(found, binding=False) if there else case.without(found),
                    _put(name, there == wanted, known),
                )
                for case, known in cases
                for there in (True, False)
            ]
        yield from cases

    def _exists_atom(self, pattern: Algebra, outer: Branch) -> Atom:
        """The atom of the outer bindings for which a pattern has a solution."""
        inner = {str(v) for v in mentioned(pattern)} | self.graph_variable
        shared = sorted(outer.bound & inner)
        inside = Patterns(self.compilation, self.graph, self._seed(outer, shared))
        return self.compilation.conclude(self.compilation.relation("exists"), shared, inside.branches(pattern))

    def _seed(self, outer: Branch, names: Sequence[str]) -> Branch:
        """Some variables of a branch, as patterns inside EXISTS see them."""
        if not names:
            return UNIT
        atom = self.compilation.conclude(self.compilation.relation("outer"), names, [outer])
        return replace(UNIT.having(atom), outside=frozenset(names))

    # --- relations of their own ---------------------------------------------------------------------------------------

    def _tomultiset(self, pattern: Algebra) -> Branches:
        if pattern.p.name == "values":
            return self._product([self.seed], auxiliary.values(self.compilation, pattern.p.res))
        if self.seed is UNIT:
            return self._subquery(pattern.p)
        names = self.seed.bound & (self.graph_variable | _open_variables(pattern.p))
        inside = Patterns(self.compilation, self.graph, self._seed(self.seed, sorted(names)))
        return self._product([self.seed], inside._subquery(pattern.p))

    def _subquery(self, query: Algebra) -> Branches:
        """The branches of a SELECT inside another; hidden variables are renamed."""
        if query.name == "Slice":
            return self._cut(query)
        if query.name in ("OrderBy", "Reduced"):
            return self._subquery(query.p)
        if query.name == "Distinct":
            return auxiliary.distinct(self.compilation, self._subquery(query.p))
        if query.name != "Project":
            return self.branches(query)
        inner = query.p.p if query.p.name == "OrderBy" else query.p
        shown = frozenset(str(variable) for variable in query.PV)
        return [self.hiding(branch, shown) for branch in self.branches(inner)]

    def _cut(self, query: Algebra) -> Branches:
        """A subquery with LIMIT or OFFSET: a relation of the solutions it shows."""
        from everlog.sparql.query import cut_query

        answer, ordering, bag, always = cut_query(query, self)
        number = self.compilation.variable()
        shown = [v.name for v in answer.variables()][: ordering.width]
        head = Atom(self.compilation.relation("cut"), tuple(map(Variable, (number, *shown))))
        self.compilation.rules.append(WindowRule(self.compilation.name, head, answer, ordering, bag))
        found = [UNIT.having(head)]
        for name in shown:
            if name not in always:
                found = [case for branch in found for case in bound_or_not(branch, name, self.compilation.variable())]
        return [branch.seen_as(branch.bound - {number}) for branch in found]

    def hiding(self, branch: Branch, shown: frozenset[str]) -> Branch:
        """A branch of which only some variables are visible."""
        own, shown = self.compilation.variable(), shown | self.graph_variable
        names = {name: f"{own}{name}" for name in branch.variables() if name not in shown}
        return branch.renamed(names).seen_as(shown)

    _project = _distinct = _reduced = _slice = _orderby = _subquery

    def _aggregatejoin(self, pattern: Algebra) -> Branches:
        return groups(self, pattern)


class _Projections:
    """Projections of branches as relations, each made once."""

    def __init__(self, compilation: Compilation, what: str, branches: Branches) -> None:
        self._compilation, self._what, self._branches = compilation, what, branches
        self._known: dict[tuple[int, frozenset[str]], Atom] = {}

    def on(self, number: int, names: frozenset[str]) -> Atom:
        key = number, names
        if key not in self._known:
            relation = self._compilation.relation(self._what)
            self._known[key] = self._compilation.conclude(relation, sorted(names), [self._branches[number]])
        return self._known[key]


def _open_variables(query: Algebra) -> frozenset[str]:
    """The variables of a subquery that have their values from around EXISTS: those that it shows, and groups by if it
    groups. With LIMIT there are none, since what is cut off must not depend on them.
    """
    found: frozenset[str] = frozenset()
    while query.name in ("Distinct", "Reduced", "Project", "OrderBy", "Extend", "Filter", "AggregateJoin"):
        if query.name == "AggregateJoin":
            return found & {str(key) for key in query.p.expr or []}
        if query.name == "Project":
            found = frozenset(str(variable) for variable in query.PV)
        query = query.p
    return found


def _put(name: str, value: bool, expression: Expression) -> Expression:
    """An expression with a variable replaced by a truth value."""
    if isinstance(expression, Variable):
        return Constant(value) if expression.name == name else expression
    if isinstance(expression, Call):
        return replace(expression, args=tuple(_put(name, value, argument) for argument in expression.args))
    return expression


def mentioned(pattern: Any) -> Iterator[Any]:
    """Every variable that a pattern mentions, also in expressions and inside further EXISTS."""
    import rdflib
    from rdflib.paths import Path
    from rdflib.plugins.sparql.parserutils import CompValue

    if isinstance(pattern, rdflib.Variable):
        yield pattern
    elif isinstance(pattern, CompValue):
        for key in pattern:
            if key != "_vars":
                yield from mentioned(getattr(pattern, key))
    elif isinstance(pattern, dict):
        yield from mentioned(list(pattern))
    elif isinstance(pattern, list | tuple | set) and not isinstance(pattern, Path):
        for each in pattern:
            yield from mentioned(each)
