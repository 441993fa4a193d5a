"""What does the reference engine know of a fact?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from everlog.dictionary.dictionary import Ids
from everlog.engines.interface import Shape
from everlog.engines.states import FactStates
from everlog.plans.labels import Bit

_ABSENT = int(Bit.ABSENT)  # a plain number: flags take a microsecond to combine

Fact = tuple[int, ...]
Binding = dict[str, int]


@dataclass
class Entry:
    """Bits, weight and rank of a fact; all zero for a derived fact that nothing has counted or touched."""

    mask: int = 0
    weight: int = 0
    rank: int = 0

    @property
    def present(self) -> bool:
        return not self.mask & _ABSENT

    @property
    def state(self) -> tuple[int, ...]:
        """What of it outlives an update."""
        return (True, bool(self.mask & Bit.EXPLICIT), self.weight, self.rank) if self.present else (False,)


NOTHING = Entry(_ABSENT)


def states_of(shape: Shape, before: Mapping[Fact, Entry], now: Mapping[Fact, Entry]) -> FactStates:
    """What is known of some facts now, and how their presence has changed."""
    was = [before.get(fact, NOTHING) for fact in now]
    counts = [(b.weight * b.present, a.weight * a.present) for b, a in zip(was, now.values(), strict=True)]
    change = [after - then for then, after in counts]
    if not shape.bag:
        change = [a.present - b.present for b, a in zip(was, now.values(), strict=True)]
    return FactStates(
        tuple(np.array([fact[place] for fact in now]) for place in range(shape.arity)),
        np.array(change, np.int64),
        np.array([bool(entry.mask & Bit.EXPLICIT) and entry.present for entry in now.values()], bool),
        np.array([after for _, after in counts], np.int64),
        np.array([entry.rank if entry.present else 0 for entry in now.values()], np.int32),
    )


def tuples(columns: Sequence[Ids], rows: int) -> list[Fact]:
    """The facts of columns, as tuples."""
    return list(zip(*(column.tolist() for column in columns), strict=True)) if columns else [()] * rows
