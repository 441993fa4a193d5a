"""Until when is a plan as good as a new one?

Plans follow sizes. They are kept, since making them takes longer than most of them run, while the relations that they
read have about as many facts as when they were made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from everlog.plans.operators import Plan

Sizes = Mapping[str, int]  # how many facts relations have

_GROWTH, _FEW = 2, 64  # so many times more facts, and more than a few, make another plan worth a look


@dataclass(frozen=True)
class KeptPlans:
    """Plans, and the sizes of the relations that they read when they were made."""

    plans: list[Plan]
    sizes: Sizes


def still_fits(before: Sizes, now: Sizes) -> bool:
    """Would a plan be much the same now?"""
    return all(
        facts <= _GROWTH * before[name] + _FEW and before[name] <= _GROWTH * facts + _FEW for name, facts in now.items()
    )
