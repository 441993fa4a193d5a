"""For how long is a plan as good as a new one?

Plans depend on sizes. Since making one takes longer than most of them run, plans are cached, and used for as long as
about as many facts match the atoms that they read as when they were made.

A component's own facts come while it runs, round by round. What a round reads is there when it begins, so that plans
which fit by then are as good as any made with hindsight: between rounds, once a good many facts are new, those that no
longer fit are made anew (runs.py), and the others stay.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from everlog.engines.interface import Phase
from everlog.plans.delta_variants import Variant
from everlog.plans.operators import Plan
from everlog.plans.sweeps import SweepVariant
from everlog.rules.syntax import Atom

Sizes = Mapping[Atom, float]  # how many facts have the constants of an atom
AnyVariant = Variant | SweepVariant
MakePlans = Callable[[AnyVariant], Sequence[Plan]]  # more than one where variants share their seeds between plans

_GROWTH, _FEW = 2, 64  # a plan is made anew where facts have grown or shrunk by this factor, and by more than a few


@dataclass(frozen=True)
class CachedPlans:
    """The plans of some variants, and how much there was to read when they were made."""

    variants: Sequence[AnyVariant]
    by_variant: Sequence[Sequence[Plan]]
    sizes: Sizes

    @classmethod
    def made(cls, variants: Sequence[AnyVariant], sizes: Sizes, make: MakePlans) -> CachedPlans:
        return cls(variants, [make(variant) for variant in variants], sizes)

    @property
    def plans(self) -> list[Plan]:
        return [plan for plans in self.by_variant for plan in plans]

    def made_again(self, now: Sizes, make: MakePlans, growth: float = _GROWTH) -> CachedPlans:
        """With new plans for the variants that read atoms whose sizes have changed by a factor; itself if none has."""
        changed = {atom for atom, facts in now.items() if not _about(self.sizes[atom], facts, growth)}
        if not changed:
            return self
        plans = [
            known if changed.isdisjoint(variant.rule.atoms) else make(variant)
            for variant, known in zip(self.variants, self.by_variant, strict=True)
        ]
        return CachedPlans(self.variants, plans, {**self.sizes, **{atom: now[atom] for atom in changed}})


def read_atoms(variants: Sequence[AnyVariant]) -> set[Atom]:
    """The atoms whose sizes decide on plans."""
    return {atom for variant in variants for atom in variant.rule.atoms}


class PlansByPhase:
    """The plans of phases that somebody still knows, for all threads that run them."""

    def __init__(self) -> None:
        self._plans: WeakKeyDictionary[Phase, CachedPlans] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def get(self, phase: Phase) -> CachedPlans | None:
        with self._lock:
            return self._plans.get(phase)

    def known(self) -> list[CachedPlans]:
        """All plans that are known."""
        with self._lock:
            return list(self._plans.values())

    def put(self, phase: Phase, plans: CachedPlans) -> None:
        with self._lock:
            self._plans[phase] = plans


def still_fits(before: Sizes, now: Sizes) -> bool:
    """Would a plan be much the same now?"""
    return all(_about(before[atom], facts, _GROWTH) for atom, facts in now.items())


def _about(before: float, now: float, growth: float) -> bool:
    return now <= growth * before + _FEW and before <= growth * now + _FEW
