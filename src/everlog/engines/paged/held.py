"""Which facts of a relation are in memory, with the bits of the update that works on them?

Those that differ from what the runs say, or that an update has touched: each has a row. Rows are only added, so that
who holds on to a state shares everything with it but the bits, weights and ranks. Rows are found by fact, and by the
columns that somebody has asked for, in Python dictionaries: there are few of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Ids
from everlog.engines.paged.relation_runs import Columns

Array = npt.NDArray[Any]
Rows = npt.NDArray[np.int64]
Key = tuple[int, ...]

_FIRST_ROOM = 64


class _Index:
    """The rows by the values of some columns, up to a row."""

    def __init__(self, columns: Columns) -> None:
        self.columns, self.upto = columns, 0
        self.rows: dict[Key, list[int]] = {}


class Held:
    """Rows of facts with bits, weights and ranks."""

    def __init__(self, width: int, dtype: type[np.signedinteger[Any]]) -> None:
        self.width, self.dtype, self.size = width, dtype, 0
        self._columns: list[Ids] = [np.empty(_FIRST_ROOM, dtype) for _ in range(width)]
        self.masks: Array = np.empty(_FIRST_ROOM, np.int32)
        self.weights: Array = np.empty(_FIRST_ROOM, np.int64)
        self.ranks: Array = np.empty(_FIRST_ROOM, np.int64)
        self._row_of: dict[Key, int] = {}
        self._indexes: dict[Columns, _Index] = {}

    def frozen(self) -> Held:
        """The same as it is now."""
        copy = object.__new__(Held)
        copy.width, copy.dtype, copy.size = self.width, self.dtype, self.size
        copy._columns, copy._row_of, copy._indexes = list(self._columns), self._row_of, {}
        copy.masks, copy.weights, copy.ranks = (
            values[: self.size].copy() for values in (self.masks, self.weights, self.ranks)
        )
        return copy

    def columns(self, rows: Array | slice) -> list[Ids]:
        """The facts in some rows."""
        return [column[: self.size][rows] for column in self._columns]

    def rows_of(self, columns: Sequence[Ids]) -> Rows:
        """The row of each fact, -1 where there is none."""
        if not self.size:
            return np.full(len(columns[0]), -1, np.int64)
        find = self._row_of.get
        facts = zip(*(column.tolist() for column in columns), strict=True)
        rows = np.fromiter((find(fact, -1) for fact in facts), np.int64, len(columns[0]))
        rows[rows >= self.size] = -1  # came after this was frozen
        return rows

    def append(self, columns: Sequence[Ids], masks: Array, weights: Array, ranks: Array) -> Rows:
        """Rows for facts that have none."""
        first, size = self.size, self.size + len(columns[0])
        self._make_room(size)
        for column, values in zip(self._columns, columns, strict=True):
            column[first:size] = values
        self.masks[first:size], self.weights[first:size], self.ranks[first:size] = masks, weights, ranks
        self._row_of.update(
            zip(zip(*(column.tolist() for column in columns), strict=True), range(first, size), strict=True)
        )
        self.size = size
        return np.arange(first, size)

    def _make_room(self, size: int) -> None:
        room = len(self.masks)
        if size <= room:
            return
        room = max(size, 2 * room)

        def longer(values: Array) -> Array:
            new = np.empty(room, values.dtype)
            new[: self.size] = values[: self.size]
            return new

        self._columns = [longer(column) for column in self._columns]  # not in place: others may share them
        self.masks, self.weights, self.ranks = longer(self.masks), longer(self.weights), longer(self.ranks)

    def matching(self, columns: Columns, keys: Sequence[Ids]) -> tuple[Rows, Rows]:
        """The rows with these keys, each with the number of its key."""
        nothing = np.empty(0, np.int64)
        if not self.size:
            return nothing, nothing
        if len(columns) == self.width:
            rows = self.rows_of(keys)
            there = np.flatnonzero(rows >= 0)
            return there, rows[there]
        index = self._index(columns)
        find = index.rows.get
        which: list[int] = []
        found: list[int] = []
        for number, key in enumerate(zip(*(column.tolist() for column in keys), strict=True)):
            rows_there = find(key)
            if rows_there:
                found += rows_there
                which += [number] * len(rows_there)
        return np.array(which, np.int64), np.array(found, np.int64)

    def _index(self, columns: Columns) -> _Index:
        index = self._indexes.get(columns)
        if index is None:
            index = self._indexes[columns] = _Index(columns)
        if index.upto < self.size:
            new = [self._columns[column][index.upto : self.size].tolist() for column in columns]
            for row, key in enumerate(zip(*new, strict=True), index.upto):
                index.rows.setdefault(key, []).append(row)
            index.upto = self.size
        return index
