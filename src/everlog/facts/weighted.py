"""What is a weighted set of facts?

Facts of one relation as columns of ids, each fact with a weight. A change of a set has weights 1 (gained) and -1
(lost); a change of a bag says how many times a fact came or went; a bag itself has its multiplicities. Changes add up:
put one after the other and consolidated, they are the change of both (DESIGN 2.5). The same type goes from an
engine's update through the log to whoever follows a relation or a view.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.signedinteger[Any]]  # ids: how wide they are is the dictionary's business
Weights = npt.NDArray[np.int64]
Fact = tuple[int, ...]
_ONES = np.ones(4096, np.int64)
_ONES.flags.writeable = False


class WeightedFacts:
    """Facts of one relation and their weights, at a version."""

    __slots__ = ("columns", "version", "weights")

    def __init__(self, columns: Sequence[Column], weights: Weights, version: int = 0) -> None:
        self.columns, self.weights, self.version = tuple(columns), weights, version

    @classmethod
    def present(cls, columns: Sequence[Column], rows: int, version: int = 0) -> WeightedFacts:
        """Facts that are there once each."""
        few = rows <= len(_ONES)
        return cls(columns, _ONES[:rows] if few else np.broadcast_to(_ONES[0], rows), version)  # without making any

    @classmethod
    def gone(cls, columns: Sequence[Column], rows: int) -> WeightedFacts:
        """Facts that went, once each."""
        return cls(columns, -_ONES[:rows] if rows <= len(_ONES) else np.full(rows, -1, np.int64))

    @classmethod
    def of(cls, counts: Mapping[Fact, int], arity: int, dtype: type[np.signedinteger[Any]]) -> WeightedFacts:
        """Facts with their weights; those with weight zero are left out."""
        changed = [(fact, count) for fact, count in counts.items() if count]
        columns = zip(*(fact for fact, _ in changed), strict=True) if changed else [()] * arity
        weights = np.array([count for _, count in changed], np.int64)
        return cls([np.array(column, dtype) for column in columns], weights)

    @classmethod
    def concatenated(cls, parts: Sequence[WeightedFacts]) -> WeightedFacts:
        """Facts of one relation, one part after the other; a fact may stand there more than once."""
        columns = [np.concatenate([part.columns[place] for part in parts]) for place in range(parts[0].arity)]
        return cls(columns, np.concatenate([part.weights for part in parts]), max(part.version for part in parts))

    @property
    def rows(self) -> int:
        return len(self.weights)

    @property
    def arity(self) -> int:
        return len(self.columns)

    def __len__(self) -> int:
        return len(self.weights)

    def chosen(self, which: npt.NDArray[Any]) -> WeightedFacts:
        """Some of the facts: by a mask or by their numbers."""
        return WeightedFacts([column[which] for column in self.columns], self.weights[which], self.version)

    def gained(self) -> WeightedFacts:
        """The facts that came."""
        which = self.weights > 0
        return self if which.all() else self.chosen(which)

    def lost(self) -> WeightedFacts:
        """The facts that went, with positive weights."""
        return self.chosen(self.weights < 0).negated()

    def negated(self) -> WeightedFacts:
        """What undoes a change."""
        return WeightedFacts(self.columns, -self.weights, self.version)

    def repeated(self) -> list[Column]:
        """Columns in which each fact stands as many times as its weight says."""
        return [np.repeat(column, self.weights) for column in self.columns]

    def facts(self) -> Iterator[tuple[Fact, int]]:
        rows = zip(*(column.tolist() for column in self.columns), strict=True) if self.columns else [()] * self.rows
        return zip(rows, self.weights.tolist(), strict=True)


def consolidated(parts: Iterable[WeightedFacts]) -> WeightedFacts | None:
    """The sum of weighted facts of one relation: equal facts are one, and those with weight zero are gone.

    >>> a, b = np.array([1, 2]), np.array([2, 3])
    >>> total = consolidated([WeightedFacts([a], np.array([1, -1])), WeightedFacts([b], np.array([1, 1]))])
    >>> list(total.facts())
    [((1,), 1), ((3,), 1)]
    """
    listed = list(parts)
    if len(listed) <= 1:
        return listed[0] if listed else None
    total = WeightedFacts.concatenated(listed)
    columns, weights, version = total.columns, total.weights, total.version
    if not columns:
        return WeightedFacts((), weights.sum(keepdims=True), version).chosen(np.array([weights.sum() != 0]))
    order = np.lexsort(columns[::-1])
    starts = np.ones(len(order), bool)
    if len(order):
        starts[1:] = np.logical_or.reduce([column[order[1:]] != column[order[:-1]] for column in columns])
    sums = np.add.reduceat(weights[order], np.flatnonzero(starts)) if len(order) else weights
    first = order[starts]
    return WeightedFacts([column[first] for column in columns], sums, version).chosen(sums != 0)
