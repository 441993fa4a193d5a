"""How is a view kept for all knowledge bases of a fleet at once, and read for one?

Its rules have the key before every atom (plans/keyed_rules.py), so that the answer relation holds the answers of all.
ORDER BY, LIMIT and OFFSET of the query itself are applied to the answers of one key, when that is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from everlog.dictionary.dictionary import Dictionary
from everlog.facts.terms import Term, keys_of
from everlog.facts.weighted import WeightedFacts, consolidated
from everlog.plans.flat_rules import is_auxiliary, rule_reads
from everlog.plans.keyed_rules import keyed_view_rules
from everlog.rules.keyed import KEY
from everlog.rules.syntax import Atom
from everlog.sparql.graphs import Graph, constructed
from everlog.sparql.solutions import Solutions, Truth
from everlog.store.view_queries import ViewQuery, view_query

Row = tuple[Term | None, ...]


@dataclass(frozen=True, eq=False)
class FleetView:
    """A view as a knowledge base of its own would have it, and as the shared engine keeps it."""

    single: ViewQuery
    keyed: ViewQuery

    @classmethod
    def of(cls, name: str, text: str, prefixes: Mapping[str, str]) -> FleetView:
        single = view_query(name, text, prefixes, 0)
        query = single.query
        answer = Atom(query.answer.relation, (KEY, *query.answer.args))
        keyed = replace(
            query,
            rules=tuple(keyed_view_rules(query.rules, answer.relation)),
            answer=answer,
            shown=(KEY.name, *query.shown),
            order=(),
            offset=0,
            limit=None,
        )
        return cls(single, replace(single, query=keyed))

    @property
    def name(self) -> str:
        return self.single.name

    @property
    def text(self) -> str:
        return self.single.text

    @property
    def relation(self) -> str:
        """Where the shared engine has the answers."""
        return self.keyed.relation

    @cached_property
    def reads(self) -> dict[str, int]:
        """The user's relations that the view reads, without the key."""
        return {
            atom.relation: len(atom.args)
            for rule in self.single.query.rules
            for atom, _ in rule_reads(rule)
            if not is_auxiliary(atom.relation)
        }

    def answer(self, facts: WeightedFacts, dictionary: Dictionary) -> Solutions | Truth | Graph:
        """The answer of one knowledge base, given its part of the answer relation."""
        query = self.single.query
        solutions = self._solutions(facts, dictionary)
        if query.form == "ask":
            return Truth(bool(len(solutions)))
        return constructed(query, solutions) if query.form == "construct" else solutions

    def _solutions(self, facts: WeightedFacts, dictionary: Dictionary) -> Solutions:
        return Solutions.of(self.single.query, dictionary, facts.columns[1:], facts.weights)

    @property
    def shows_all(self) -> bool:
        """Is what comes and goes of the answer relation what comes and goes of the answer?"""
        return not self.single.is_cut and len(self.single.query.columns) == len(self.single.query.shown)

    def shown_change(self, now: WeightedFacts, change: WeightedFacts, dictionary: Dictionary) -> list[tuple[Row, int]]:
        """What came and went of what one knowledge base shows, given its answer relation and that one's change."""
        before = consolidated([now, change.negated()])
        assert before is not None
        rows: dict[tuple[str, ...], Row] = {}
        counts: Counter[tuple[str, ...]] = Counter()  # by the keys of terms: to Python 1 and True are equal
        for facts, sign in ((now, 1), (before, -1)):
            for row in self._solutions(facts, dictionary):
                rows[keys_of(row)] = row
                counts[keys_of(row)] += sign
        return [(rows[keys], many) for keys, many in counts.items() if many]
