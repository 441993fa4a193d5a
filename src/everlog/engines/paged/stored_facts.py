"""In which form do facts with all that is kept of them go into files and come out?

As arrays: a column of ids for each argument, then whether each fact is explicit, how many derivations it has (in a bag:
how many times it is there) and its rank. A fact may also be *gone*: a newer run says so of a fact in an older one. A
relation without arguments has one column of zeros, so that there is something to sort by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Ids

Array = npt.NDArray[Any]
EXPLICIT, GONE = 1, 2  # bits of a state


class StoredFacts(NamedTuple):
    """Facts of one relation as they stand in runs."""

    columns: tuple[Ids, ...]
    states: npt.NDArray[np.uint8]
    weights: npt.NDArray[np.int64]
    ranks: npt.NDArray[np.int32]

    @property
    def rows(self) -> int:
        return len(self.states)

    @property
    def explicit(self) -> npt.NDArray[np.bool_]:
        found: npt.NDArray[np.bool_] = (self.states & EXPLICIT) != 0
        return found

    @property
    def gone(self) -> npt.NDArray[np.bool_]:
        found: npt.NDArray[np.bool_] = (self.states & GONE) != 0
        return found

    def chosen(self, which: Array | slice) -> StoredFacts:
        """Some of the facts, by a mask or by their numbers."""
        columns = tuple(column[which] for column in self.columns)
        return StoredFacts(columns, self.states[which], self.weights[which], self.ranks[which])


def no_facts(width: int, dtype: Any) -> StoredFacts:
    columns = tuple(np.empty(0, dtype) for _ in range(width))
    return StoredFacts(columns, np.empty(0, np.uint8), np.empty(0, np.int64), np.empty(0, np.int32))


def concatenated(parts: Sequence[StoredFacts]) -> StoredFacts:
    """Facts of one relation, one part after the other; at least one."""
    if len(parts) == 1:
        return parts[0]
    columns = tuple(np.concatenate(columns) for columns in zip(*(part.columns for part in parts), strict=True))
    rest = (np.concatenate([part[field] for part in parts]) for field in range(1, len(StoredFacts._fields)))
    return StoredFacts(columns, *rest)


def starts_of(columns: Sequence[Ids], order: Array) -> npt.NDArray[np.bool_]:
    """Which of sorted rows differ from the one before."""
    starts = np.ones(len(order), bool)
    if len(order) > 1:
        starts[1:] = False
        for column in columns:
            values = column[order]
            starts[1:] |= values[1:] != values[:-1]
    return starts


def distinct(columns: Sequence[Ids]) -> tuple[Array, Array]:
    """The number of one row for each distinct one, in sorted order, and for every row which of those it equals."""
    if len(columns) == 1:
        _, first, inverse = np.unique(columns[0], return_index=True, return_inverse=True)
        return first, inverse
    order = np.lexsort(tuple(columns)[::-1])
    starts = starts_of(columns, order)
    inverse = np.empty(len(order), np.int64)
    inverse[order] = np.cumsum(starts) - 1
    return order[starts], inverse
