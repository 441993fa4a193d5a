"""In which order does the paged engine read the atoms of a rule?

As any engine does (plans/join_order.py), by sizes that it knows and samples that stand in the files. A plan is made
when it is first asked for, and kept while facts are about as many.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from everlog.dictionary.dictionary import Dictionary
from everlog.engines.paged.relation import PagedRelation
from everlog.engines.statistics import Sample, SampledStatistics, spread_rows
from everlog.plans.delta_variants import Variant
from everlog.plans.join_order import Statistics, plan_variant
from everlog.plans.operators import Plan
from everlog.plans.sweeps import Sweep, SweepVariant

_GROWTH = 1.25  # plans and samples are made anew when there are so many times more facts, or fewer


class Planning:
    """The plans of an engine, and what they are made from."""

    def __init__(self, relations: Mapping[str, PagedRelation], dictionary: Dictionary) -> None:
        self._relations, self._dictionary = relations, dictionary
        self._plans: dict[int, tuple[object, Plan]] = {}  # by the identity of a variant
        self._planned_for = 0  # facts
        self._samples: dict[str, tuple[int, Sample]] = {}

    def plan_of(self, variant: Variant | SweepVariant) -> Plan:
        """The plan of a variant."""
        known = self._plans.get(id(variant))
        if known is None or known[0] is not variant:
            known = self._plans[id(variant)] = variant, plan_variant(variant, self.statistics())
        return known[1]

    def outdate(self) -> None:
        """Forget plans that were made for other sizes."""
        facts = sum(relation.facts for relation in self._relations.values())
        if not _about(self._planned_for, facts):
            self._planned_for = facts
            self._plans.clear()

    def forget(self, sweeps: Iterable[Sweep]) -> None:
        """These sweeps will not be run again."""
        for sweep in sweeps:
            for variant in (*sweep.first, *sweep.check, *sweep.loop):
                self._plans.pop(id(variant), None)

    def drop(self, relation: str) -> None:
        """A relation is gone; another may get its name."""
        self._samples.pop(relation, None)

    def statistics(self) -> Statistics:
        return SampledStatistics(self._size, self._sample, self._dictionary)

    def _size(self, name: str) -> int:
        relation = self._relations[name]
        return max(relation.facts, len(relation.journal))

    def _sample(self, name: str) -> Sample:
        size, known = self._size(name), self._samples.get(name)
        if known is None or not _about(known[0], size):
            relation = self._relations[name]
            columns = relation.runs.sample()
            if len(columns[0]) < relation.held.size:
                columns = relation.held.columns(slice(None))
            facts = np.stack(columns, axis=1)
            known = self._samples[name] = size, Sample(facts, spread_rows(len(facts)), size)
        return known[1]


def _about(before: int, now: int) -> bool:
    return before <= _GROWTH * now and now <= _GROWTH * before
