"""What does a SPARQL query mean? Bottom-up evaluation of rdflib's algebra over bags of solution mappings.

Each operator is what section 3 of Staquet, Buelens and Van den Bussche (2026) and section 18 of SPARQL 1.1 say, in the
plainest code there is: a mapping is a frozenset of (variable, term), a bag counts them, a join looks at all pairs.
Nothing here is shared with `src/` but the parser, which is rdflib's with two mended rules of its grammar.

Where SPARQL leaves a choice, this is the one taken:

- EXISTS substitutes: inside its pattern a variable that is bound outside stands for its value wherever it can be seen
  (not below a subquery that does not show it). It still counts as bound there, so that MINUS inside EXISTS works.
- What LIMIT cuts off where ORDER BY leaves it open is decided by the rest of the row.
- SUM, AVG, MIN and MAX have no value when one of their rows has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import rdflib
from rdflib.plugins.sparql.algebra import translateQuery
from rdflib.plugins.sparql.parser import parseQuery
from tests.sparql_oracle.expressions import Expressions, Failed, compute
from tests.sparql_oracle.paths import Graph, pairs
from tests.sparql_oracle.terms import Beyond, Term, integer, order_of, term_from

from everlog.sparql.grammar import mend_grammar

Mapping_ = frozenset[tuple[str, Term]]
Bag = Counter[Mapping_]
Row = tuple[Term | None, ...]

EMPTY: Mapping_ = frozenset()
MOST = 20_000  # mappings in a bag: a random query that has more says nothing that a smaller one would not


@dataclass(frozen=True)
class Data:
    """The triples of the default graph, and of named ones."""

    default: Graph
    named: Mapping[Term, Graph] = field(default_factory=dict)


def ask(text: str, data: Data) -> bool:
    """The answer to an ASK query."""
    return bool(Patterns(data, data.default).bag(_algebra(text).p))


def select(text: str, data: Data) -> list[Row]:
    """The answer to a SELECT query, in its order if it has one."""
    algebra = _algebra(text)
    names = [str(variable) for variable in algebra.PV]
    found = Patterns(data, data.default).sequence(algebra.p)
    return [tuple(dict(mapping).get(name) for name in names) for mapping in found]


def _algebra(text: str) -> Any:
    mend_grammar()
    return translateQuery(parseQuery(text)).algebra


def merged(one: Mapping_, other: Mapping_) -> Mapping_ | None:
    """Two mappings as one, if they are compatible."""
    both = one | other
    return both if len({name for name, _ in both}) == len(both) else None


def domain(mapping: Mapping_) -> set[str]:
    return {name for name, _ in mapping}


@dataclass(frozen=True)
class Patterns:
    """Evaluates patterns on a graph, under what is bound outside of EXISTS."""

    data: Data
    graph: Graph
    outer: Mapping_ = EMPTY

    def bag(self, pattern: Any) -> Bag:
        """The solutions of a pattern."""
        if pattern.name in ("Project", "Distinct", "Reduced", "Slice", "OrderBy"):
            return Counter(self.sequence(pattern))
        found: Bag = getattr(self, "_" + pattern.name.lower())(pattern)
        if found.total() > MOST:
            raise Beyond
        return found

    def expressions(self, mapping: Mapping_) -> Expressions:
        seen = dict(self.outer) | dict(mapping)
        return Expressions(seen, lambda pattern: self._has_solution(pattern, frozenset(seen.items())))

    def _has_solution(self, pattern: Any, outer: Mapping_) -> bool:
        found = Patterns(self.data, self.graph, outer).bag(pattern)
        return any(merged(outer, mapping) is not None for mapping in found)

    # Triples

    def _bgp(self, pattern: Any) -> Bag:
        found: Bag = Counter([EMPTY])
        for triple in pattern.triples:
            found = join(found, self._triple(*triple))
        return shown(found, lambda name: not name.startswith("_:"))

    def _triple(self, subject: Any, predicate: Any, object_: Any) -> Bag:
        ends = self._given(subject), self._given(object_)
        found: Bag = Counter()
        if isinstance(predicate, rdflib.Variable):
            ways = Counter(((s, o), p) for s, p, o in self.graph)
        else:
            ways = Counter({(ends_, None): n for ends_, n in pairs(ends[0], predicate, ends[1], self.graph).items()})
        for ((s, o), p), many in ways.items():
            mapping: Mapping_ | None = EMPTY
            for node, term in ((subject, s), (predicate, p), (object_, o)):
                if mapping is not None and term is not None:
                    mapping = self._matched(mapping, node, term)
            if mapping is not None:
                found[mapping] += many
        return found

    def _given(self, node: Any) -> Term | None:
        """The term in a triple, or that a variable has outside; None if any will do."""
        if isinstance(node, rdflib.Variable):
            return dict(self.outer).get(str(node))
        return None if isinstance(node, rdflib.BNode) else term_from(node)

    def _matched(self, mapping: Mapping_, node: Any, term: Term) -> Mapping_ | None:
        given = self._given(node)
        if given is not None and given != term:
            return None
        if isinstance(node, rdflib.Variable):
            return merged(mapping, frozenset({(str(node), term)}))
        return merged(mapping, frozenset({(f"_:{node}", term)})) if isinstance(node, rdflib.BNode) else mapping

    def _graph(self, pattern: Any) -> Bag:
        if not isinstance(pattern.term, rdflib.Variable):
            graph = self.data.named.get(term_from(pattern.term))
            return Counter() if graph is None else Patterns(self.data, graph, self.outer).bag(pattern.p)
        found: Bag = Counter()
        for name, graph in self.data.named.items():
            if self._given(pattern.term) not in (None, name):
                continue
            here: Bag = Counter([frozenset({(str(pattern.term), name)})])
            found += join(Patterns(self.data, graph, self.outer).bag(pattern.p), here)
        return found

    # The algebra

    def _join(self, pattern: Any) -> Bag:
        return join(self.bag(pattern.p1), self.bag(pattern.p2))

    def _union(self, pattern: Any) -> Bag:
        return self.bag(pattern.p1) + self.bag(pattern.p2)

    def _leftjoin(self, pattern: Any) -> Bag:
        left, right = self.bag(pattern.p1), self.bag(pattern.p2)
        found: Bag = Counter()
        for mapping, many in left.items():
            matching = self._filtered(pattern.expr, join(Counter({mapping: many}), right))
            found += matching or Counter({mapping: many})
        return found

    def _minus(self, pattern: Any) -> Bag:
        left, right = self.bag(pattern.p1), self.bag(pattern.p2)

        def excludes(mapping: Mapping_, other: Mapping_) -> bool:
            return bool(domain(mapping) & domain(other)) and merged(mapping, other) is not None

        return Counter({one: many for one, many in left.items() if not any(excludes(one, other) for other in right)})

    def _filter(self, pattern: Any) -> Bag:
        return self._filtered(pattern.expr, self.bag(pattern.p))

    def _filtered(self, condition: Any, found: Bag) -> Bag:
        return Counter({one: many for one, many in found.items() if self.expressions(one).holds(condition)})

    def _extend(self, pattern: Any) -> Bag:
        found: Bag = Counter()
        for mapping, many in self.bag(pattern.p).items():
            found[self._extended(mapping, str(pattern.var), pattern.expr)] += many
        return found

    def _extended(self, mapping: Mapping_, name: str, expression: Any) -> Mapping_:
        try:
            return mapping | {(name, self.expressions(mapping).value(expression))}
        except Failed:
            return mapping

    def _tomultiset(self, pattern: Any) -> Bag:
        if pattern.p.name != "values":
            return self.bag(pattern.p)
        rows = ({str(name): value for name, value in row.items() if value != "UNDEF"} for row in pattern.p.res)
        return Counter(frozenset((name, term_from(value)) for name, value in row.items()) for row in rows)

    # Groups

    def _aggregatejoin(self, pattern: Any) -> Bag:
        keys = [str(key) for key in pattern.p.expr or []]
        groups: dict[Row, Bag] = {} if keys else {(): Counter()}
        for mapping, many in self.bag(pattern.p.p).items():
            key = tuple(dict(mapping).get(name) for name in keys)
            groups.setdefault(key, Counter())[mapping] += many
        return Counter(
            frozenset(
                (str(aggregate.res), value)
                for aggregate in pattern.A
                if (value := self._aggregate(aggregate, group)) is not None
            )
            for group in groups.values()
        )

    def _aggregate(self, aggregate: Any, group: Bag) -> Term | None:
        """The value of an aggregate; None if it has none."""
        function = aggregate.name.removeprefix("Aggregate_")
        if aggregate.vars == "*":
            return integer(len(group) if aggregate.distinct else group.total())
        terms = [self._value(aggregate.vars, mapping) for mapping in group.elements()]
        known = [term for term in terms if term is not None]
        if aggregate.distinct:
            known = list(dict.fromkeys(known))
        if function == "Count":
            return integer(len(known))
        if function == "Sample":  # rdflib asks for one of a key: all are the same
            return known[0] if known else None
        if None in terms:
            return None
        try:
            return AGGREGATES[function](known)
        except Failed:
            return None

    def _value(self, expression: Any, mapping: Mapping_) -> Term | None:
        try:
            return self.expressions(mapping).value(expression)
        except Failed:
            return None

    # What stands around a pattern: here solutions have an order

    def sequence(self, query: Any) -> list[Mapping_]:
        """The solutions in the order in which the query has them."""
        match query.name:
            case "Slice":
                start = int(query.start or 0)
                end = None if query.length is None else start + int(query.length)
                return self.sequence(query.p)[start:end]
            case "Distinct":
                return list(dict.fromkeys(self.sequence(query.p)))
            case "Reduced":
                return self.sequence(query.p)
            case "Project":
                return self._projected(query)
        return list(self.bag(query).elements())

    def _projected(self, query: Any) -> list[Mapping_]:
        names = [str(variable) for variable in query.PV]
        inside = Patterns(self.data, self.graph, frozenset(each for each in self.outer if each[0] in names))
        conditions, pattern = (query.p.expr, query.p.p) if query.p.name == "OrderBy" else ([], query.p)
        found = sorted(
            inside.bag(pattern).elements(), key=lambda one: [order_of(dict(one).get(name)) for name in names]
        )
        for condition in reversed(conditions):  # sorting is stable: the last to be sorted by is the first to count
            found.sort(
                key=lambda one, by=condition.expr: order_of(inside._value(by, one))[:2],  # 2 and 2.0 are ties
                reverse=condition.order == "DESC",
            )
        return [frozenset(each for each in mapping if each[0] in names) for mapping in found]


def join(left: Bag, right: Bag) -> Bag:
    found: Bag = Counter()
    if len(left) * len(right) > MOST * 10:
        raise Beyond
    for one, many in left.items():
        for other, more in right.items():
            both = merged(one, other)
            if both is not None:
                found[both] += many * more
    return found


def shown(found: Bag, wanted: Any) -> Bag:
    """The mappings with only some of their variables."""
    result: Bag = Counter()
    for mapping, many in found.items():
        result[frozenset(each for each in mapping if wanted(each[0]))] += many
    return result


def _sum(terms: Iterable[Term]) -> Term:
    total = integer(0)
    for term in terms:
        total = compute("+", total, term)
    return total


def _average(terms: Sequence[Term]) -> Term:
    return compute("/", _sum(terms), integer(len(terms))) if terms else integer(0)


def _first(terms: Sequence[Term]) -> Term:
    if not terms:
        raise Failed
    return terms[0]


AGGREGATES = {
    "Sum": _sum,
    "Avg": _average,
    "Min": lambda terms: _first(sorted(terms, key=order_of)),
    "Max": lambda terms: _first(sorted(terms, key=order_of, reverse=True)),
}
