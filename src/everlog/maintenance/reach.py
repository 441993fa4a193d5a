"""Which components may an update reach?

A program may have as many components as an ontology has axioms, and most updates reach a few of them. So nobody asks
each: edited facts are looked up among the heads and atoms of all rules (rules/atom_index.py), by their values in the
columns where rules have constants; from there on the dependency graph says who reads what a component concludes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import TypeVar

from everlog.engines.interface import MaintainingEngine
from everlog.plans.flat_rules import EvaluatedRule
from everlog.rules.atom_index import AtomIndex, Entry
from everlog.rules.hypergraph import Hypergraph
from everlog.rules.syntax import Atom

K = TypeVar("K")


class Reach:
    """The components that are still to be looked at, in the order of evaluation, by their places in the graph."""

    def __init__(self, engine: MaintainingEngine, graph: Hypergraph[EvaluatedRule]) -> None:
        self._engine, self._graph = engine, graph
        self._waiting: list[int] = []
        self._known: set[int] = set()

    def owners(self, relation: str) -> tuple[Atom, ...]:
        """The heads that may conclude edited facts of a relation, whose components are to be looked at."""
        found = list(self._matching(self._graph.atoms.heads, relation, edited=True))
        self.add(self._graph.places[number] for number, _ in found)
        return tuple(dict.fromkeys(head for _, head in found))

    def add_readers(self, relation: str) -> None:
        """Whoever reads what has changed in a relation is to be looked at."""
        found = self._matching(self._graph.atoms.reads, relation, edited=False)
        self.add(self._graph.places[number] for (number, _), _ in found)

    def add_fed_by(self, place: int) -> None:
        """Whoever reads what a component concludes is to be looked at."""
        self.add(self._graph.fed_by(place))

    def add(self, places: Iterable[int]) -> None:
        for place in places:
            if place not in self._known:
                self._known.add(place)
                heappush(self._waiting, place)

    def __iter__(self) -> Iterator[int]:
        while self._waiting:
            yield heappop(self._waiting)

    def _matching(self, index: AtomIndex[K], relation: str, *, edited: bool) -> Iterator[Entry[K]]:
        """The atoms that some fact which was changed, or edited, has the constants of."""
        key = self._engine.dictionary.key
        for group in index.groups(relation):
            if not group.columns:
                yield from group.having(())
                continue
            for values in self._engine.touched_values(relation, group.columns, edited=edited):
                yield from group.having(tuple(map(key, values)))
