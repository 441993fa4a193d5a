"""How are bindings dropped if a negated body has an instance for them?

Only for bodies that need the bindings of a recursive rule itself (plans/flat_rules.py, Refuted). The distinct
bindings of a batch go into the seed relation, the body runs over them with the kernel, and what it concludes is
dropped. The relations it reads are complete, so an outcome is remembered for as long as the phase lasts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from everlog.dictionary.dictionary import Ids
from everlog.engines.columnar.expressions import Booleans

Fact = tuple[int, ...]


class RefuteStep:
    """A refuted body of a plan, with the outcomes seen so far."""

    output: int | None = None

    def __init__(self, slots: Sequence[int], hits: Callable[[list[Fact]], set[Fact]]) -> None:
        self.slots = list(slots)
        self._hits = hits  # of some bindings, those for which the body has an instance
        self._goes_on: dict[Fact, bool] = {}

    def forget(self) -> None:
        """What the body reads may have changed."""
        self._goes_on.clear()

    def apply(self, columns: Sequence[Ids], count: int) -> tuple[Ids | None, Booleans]:
        bindings: list[Fact] = (
            list(zip(*(column.tolist() for column in columns), strict=True)) if columns else [()] * count
        )
        unknown = [binding for binding in dict.fromkeys(bindings) if binding not in self._goes_on]
        if unknown:
            hits = self._hits(unknown)
            self._goes_on.update((binding, binding not in hits) for binding in unknown)
        return None, np.array([self._goes_on[binding] for binding in bindings], bool)
