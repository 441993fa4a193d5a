"""For how long is a plan as good as a new one?

Plans depend on sizes. Since making one takes longer than most of them run, plans are cached, and used for as long as
about as many facts match the atoms that they read as when they were made.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from everlog.engines.interface import Phase
from everlog.plans.operators import Plan
from everlog.rules.syntax import Atom

Sizes = Mapping[Atom, float]  # how many facts have the constants of an atom

_GROWTH, _FEW = 2, 64  # a plan is made anew where facts have grown or shrunk by this factor, and by more than a few


@dataclass(frozen=True)
class CachedPlans:
    """Plans, and how much there was to read when they were made."""

    plans: list[Plan]
    sizes: Sizes


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
    return all(
        facts <= _GROWTH * before[atom] + _FEW and before[atom] <= _GROWTH * facts + _FEW for atom, facts in now.items()
    )
