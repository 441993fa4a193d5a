"""How does the paged engine run a sweep? As plans/sweeps.py describes it, with arrays of rows for queue and frontier.

All instances of a variant are found before any has an effect, as if they were one set; instances with the same head are
one change of it. Where a rank is given, it is the smallest that one of them allows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Ids
from everlog.engines.paged.bindings import Bindings, Carried, Evaluation, Instances
from everlog.engines.paged.relation import DEAD, Found, PagedRelation
from everlog.engines.paged.relation_runs import Glimpse
from everlog.engines.paged.stored_facts import distinct
from everlog.plans.labels import Bit, Condition, Label
from everlog.plans.operators import Plan, Read
from everlog.plans.sweeps import Effect, Ranks, Relabel, Sweep, SweepReport, SweepVariant
from everlog.rules.syntax import Atom

Array = npt.NDArray[Any]
Rows = npt.NDArray[np.int64]

_LOOKS = (32, 2048, 0)  # facts a key that are looked at, where one instance is enough; 0: all


class Sweeping:
    """Sweeps over the relations of an engine."""

    def __init__(
        self,
        relation: Callable[[str], PagedRelation],
        evaluation: Evaluation,
        plan_of: Callable[[SweepVariant], Plan],
    ) -> None:
        self._relation, self._evaluation, self._plan_of = relation, evaluation, plan_of
        self._queue: dict[str, list[Rows]] = defaultdict(list)
        self.frontier: dict[str, Rows] = {}
        self._made = 0  # bindings, before the sweep
        self._positions: dict[int, tuple[Plan, dict[int, bool]]] = {}

    def begin(self, sweep: Sweep) -> None:
        self._queue.clear()
        self.frontier.clear()
        self._made = self._evaluation.made
        for name in sweep.relations:
            self._begin(sweep, name)

    def bindings(self) -> int:
        return self._evaluation.made - self._made

    def _begin(self, sweep: Sweep, name: str) -> None:
        if not sweep.begin:
            return
        relation = self._relation(name)
        rows = relation.journal
        if not len(rows):
            return
        rows = rows[relation.matches(sweep.heads, relation.held.columns(rows), self._evaluation.constant)]
        masks, counted = relation.held.masks[rows], relation.held.weights[rows] > 0
        left = np.ones(len(rows), bool)
        for begin in sweep.begin:
            chosen = left & _holds(begin.where, masks)
            if begin.counted is not None:
                chosen &= counted == begin.counted
            left &= ~chosen
            if chosen.any():
                self._relabel(name, rows[chosen], begin.relabel)
                self._queue[name].append(rows[chosen])

    def take(self, sweep: Sweep) -> int | None:
        waiting = {name: np.unique(np.concatenate(parts)) for name, parts in self._queue.items() if parts}
        self._queue.clear()
        if not waiting:
            return None
        ranks = {name: self._relation(name).held.ranks[rows] for name, rows in waiting.items()}
        lowest = min(int(each.min()) for each in ranks.values())
        for name, rows in waiting.items():
            if sweep.by_rank:
                later = ranks[name] != lowest
                if later.any():
                    self._queue[name].append(rows[later])
                    rows = rows[~later]
            if len(rows):
                self._relabel(name, rows, sweep.enter)
                self.frontier[name] = rows
        return sum(map(len, self.frontier.values()))

    def end_round(self, sweep: Sweep) -> None:
        for name, rows in self.frontier.items():
            self._relabel(name, rows, sweep.done)
        self.frontier.clear()

    def sift(self, sweep: Sweep, survives: Condition) -> None:
        for name, rows in list(self.frontier.items()):
            survived = _holds(survives, self._relation(name).held.masks[rows])
            self._relabel(name, rows[survived], sweep.survivors)
            self._relabel(name, rows[~survived], sweep.others)
            self.frontier[name] = rows[~survived]

    def _relabel(self, name: str, rows: Rows, relabel: Relabel) -> None:
        if relabel.set or relabel.clear:
            masks = self._relation(name).held.masks
            masks[rows] = (masks[rows] | int(relabel.set)) & ~int(relabel.clear)

    # --- instances ----------------------------------------------------------------------------------------------------

    def evaluate(self, sweep: Sweep, variants: Sequence[SweepVariant], report: SweepReport, limit: int) -> None:
        for variant in variants:
            if self._is_idle(variant):
                continue
            # Where one instance is enough, a few are looked at first, and more for seeds for which none of them was.
            looks = _LOOKS if variant.enough and not variant.limited else (0,)
            for most in looks:
                glimpse = Glimpse(most) if most else None
                self._follow(sweep, variant, report, limit, glimpse)
                if glimpse is None or not glimpse.cut:
                    break

    def _follow(
        self, sweep: Sweep, variant: SweepVariant, report: SweepReport, limit: int, glimpse: Glimpse | None
    ) -> None:
        """Find instances of a variant and let them have their effect."""
        plan = self._plan_of(variant)
        own = self._own(plan, variant)
        wanted = Instances(variant.ranks, own, sweep.heads, int(variant.enough), glimpse)
        found = self._evaluation.run(plan.steps, Bindings(1), wanted)
        if variant.limited and limit and found.count:
            found = self._first_of_each_seed(variant, found, limit)
        report.applications += found.count
        if found.count:
            largest = found.columns.get(Carried.LARGEST)
            if largest is None:
                largest = np.full(found.count, -1, np.int64)
            elif variant.ranks is Ranks.BELOW_SEED:
                largest = np.maximum(largest, found.columns[Carried.SEED_RANK])
            for head in variant.rule.heads:
                columns = self._evaluation.fact_columns(head, found)
                report.effects += self._effect(head, columns, variant.effect, largest)

    def _is_idle(self, variant: SweepVariant) -> bool:
        """Is there nothing for the seed to begin with?"""
        if variant.seed is None:
            return False
        label, name = variant.labels[variant.seed], variant.rule.atoms[variant.seed].relation
        if label is Label.FRONTIER:
            return name not in self.frontier or not len(self.frontier[name])
        return bool(label.condition.want) and not len(self._relation(name).journal)

    def _own(self, plan: Plan, variant: SweepVariant) -> dict[int, bool]:
        """Which steps read atoms that the component's own facts may match."""
        known = self._positions.get(id(plan))
        if known is None or known[0] is not plan:
            known = self._positions[id(plan)] = plan, _own_steps(plan, variant)
        return known[1]

    def forget(self) -> None:
        """Plans are about to be made anew."""
        self._positions.clear()

    def _first_of_each_seed(self, variant: SweepVariant, found: Bindings, limit: int) -> Bindings:
        seeds = found.columns[Carried.SEED]
        order = np.argsort(seeds, kind="stable")
        in_order = seeds[order]
        starts = np.ones(len(order), bool)
        starts[1:] = in_order[1:] != in_order[:-1]
        first = np.flatnonzero(starts)
        number = np.arange(len(order)) - first[np.cumsum(starts) - 1]
        sated = np.unique(in_order[number >= limit])
        if len(sated):
            held = self._relation(variant.rule.atoms[0].relation).held
            held.masks[sated] |= int(Bit.SATED)
        return found.chosen(np.sort(order[number < limit]))

    # --- effects ------------------------------------------------------------------------------------------------------

    def _effect(self, head: Atom, columns: Sequence[Ids], effect: Effect, largest: Array) -> int:
        """Change the heads of instances; returns how many instances had an effect."""
        relation = self._relation(head.relation)
        first, inverse = distinct(columns)
        least = np.full(len(first), np.iinfo(np.int64).max)
        np.minimum.at(least, inverse, largest)
        instances = np.bincount(inverse, minlength=len(first))
        found = relation.look_up([column[first] for column in columns])
        concerned = _holds(effect.require, found.masks)
        if effect.above:
            concerned &= found.ranks > least
        if not effect.create:
            concerned &= _is_known(found)
        chosen = np.flatnonzero(concerned)
        if not len(chosen):
            return 0
        rows = relation.hold(found.chosen(chosen))
        relation.touch(rows)
        held = relation.held
        masks = (held.masks[rows] | int(effect.relabel.set)) & ~int(effect.relabel.clear)
        held.masks[rows] = masks
        if effect.weigh:
            held.weights[rows] += effect.weigh * instances[chosen]
        if effect.rank:
            held.ranks[rows] = least[chosen] + 1
        if effect.queue is not None:
            queued = rows[_holds(effect.queue, masks)]
            if len(queued):
                self._queue[head.relation].append(queued)
        again = _holds(effect.require, masks)
        return int(np.where(again, instances[chosen], 1).sum())


def _holds(condition: Condition, masks: Array) -> Array:
    holds: Array = (masks & condition.care) == condition.want
    return holds


def _is_known(found: Found) -> Array:
    """Which facts were there, are there, or were touched by the update?"""
    known: Array = (found.masks & (DEAD | int(Bit.TOUCHED))) != DEAD
    return known


def _own_steps(plan: Plan, variant: SweepVariant) -> dict[int, bool]:
    atoms = variant.rule.atoms
    left = list(range(len(atoms)))
    own = {}
    reads = [(number, step) for number, step in enumerate(plan.steps) if isinstance(step, Read)]
    for place, (number, step) in enumerate(reads):
        position = variant.seed if place == 0 and variant.seed is not None else None
        if position is None:
            same = [p for p in left if atoms[p] == step.atom and variant.labels[p] is step.label]
            position = next((p for p in same if atoms[p] is step.atom), same[0])
        left.remove(position)
        own[number] = variant.own[position]
    return own
