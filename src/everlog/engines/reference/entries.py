"""What does the reference engine know of a fact?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from everlog.dictionary.dictionary import Ids
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


def tuples(columns: Sequence[Ids], rows: int) -> list[Fact]:
    """The facts of columns, as tuples."""
    return list(zip(*(column.tolist() for column in columns), strict=True)) if columns else [()] * rows
