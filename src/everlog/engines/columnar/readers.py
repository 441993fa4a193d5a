"""How do threads read a state while updates go on?

A *capture* is the engine's relations at a tick. It costs next to nothing to make: it remembers which relations there
are, and takes the arrays of one when somebody first reads it. Arrays are shared with the engine; what came or went
after the tick is told by the life of each row (version_kernels.py), and what explicit bits, weights and ranks were by
the engine's undo records. A *reader* is an engine of its own over a capture, for one query: what the query derives is
in relations of the reader's, and nothing is written to those of the capture.

Whatever an update does in place, it does in an order that a reader can bear: a journal entry is there before its row
changes, an undo record before the journal is cleared, a row before a table leads to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.engines.columnar import layout as at
from everlog.engines.columnar.engine import ColumnarEngine
from everlog.engines.columnar.entries import count_visible, visible_rows
from everlog.engines.columnar.relations import Index, Relation, Tables
from everlog.engines.interface import Shape
from everlog.engines.statistics import Sample, spread_rows
from everlog.facts.weighted import WeightedFacts

if TYPE_CHECKING:
    from everlog.engines.columnar.captures import Capture


class ColumnarReader(ColumnarEngine):
    """An engine whose relations are those of a capture, and new ones of its own; for one thread."""

    def __init__(self, capture: Capture, dictionary: Dictionary) -> None:
        super().__init__(dictionary)
        self._capture = capture
        self.plans_by_phase, self.outcomes = capture.plans, capture.outcomes

    def known(self, name: str) -> Relation | None:
        found = self._relations.get(name)
        if found is None:
            captured = self._capture.relation(name)
            if captured is not None:
                found = self._attach(captured)
        return found

    def _attach(self, captured: Relation) -> Relation:
        """Describe a captured relation to this reader's kernels."""
        relation = copy(captured)
        relation.number = self.tables.new_relation(relation.width)
        relation.indexes = {}
        for columns, index in captured.indexes.items():
            own = relation.indexes[columns] = copy(index)
            own.number = self.tables.new_index()
        # Not a method of this reader: it would be part of a cycle, and hold the capture until that is noticed.
        relation.on_new_index = partial(_offer, self._capture, self.tables)
        relation.describe(self.tables)
        self._relations[relation.name] = self.by_number[relation.number] = relation
        return relation

    def declare(self, shape: Shape) -> None:
        known = self.known(shape.name)
        if known is None or not known.is_read_only:
            super().declare(shape)
        else:
            assert known.arity == shape.arity, f"{shape.name} was declared otherwise"

    def count(self, relation: str, *, explicit: bool = False) -> int:
        read = self.relation(relation)
        if not read.is_read_only:
            return super().count(relation, explicit=explicit)
        if explicit:
            return len(self._rows(read, explicit=True))
        if read.tick is None:
            return read.committed
        return int(count_visible(read.lives, read.committed, np.uint64(read.tick)))

    def collect(self, relation: str, *, explicit: bool = False) -> WeightedFacts:
        read = self.relation(relation)
        if not read.is_read_only:
            return super().collect(relation, explicit=explicit)
        if not explicit and not read.bag and read.tick is None:
            return WeightedFacts.present(read.columns(0, read.committed), read.committed)
        rows = self._rows(read, explicit=explicit)
        columns = [read.facts[rows, position] for position in range(read.arity)]
        if not read.bag:
            return WeightedFacts.present(columns, len(rows))
        return WeightedFacts(columns, self._capture.weights(read)[rows])

    def contains(self, relation: str, columns: Sequence[Ids], rows: int, *, explicit: bool = False) -> Sequence[bool]:
        read = self.known(relation)
        if read is None or not read.is_read_only:
            return super().contains(relation, columns, rows, explicit=explicit)
        found = self._find(read, columns, rows)
        if explicit:
            found[self._capture.masks(read)[found] & at.EXPLICIT == 0] = -1
        return found >= 0  # type: ignore[return-value]

    def _rows(self, read: Relation, *, explicit: bool = False) -> npt.NDArray[np.int64]:
        """The rows whose fact is there at the tick that is read."""
        rows = np.arange(read.committed)
        if read.tick is not None:
            rows = rows[: visible_rows(read.lives, read.committed, np.uint64(read.tick), rows)]
        if explicit:
            rows = rows[self._capture.masks(read)[rows] & at.EXPLICIT != 0]
        return rows

    def _size_of(self, relation: str) -> int:
        read = self.known(relation)
        if read is None or not read.is_read_only:
            return super()._size_of(relation)
        return max(0, read.committed - read.dead)  # about: plans ask

    def _present(self, relation: Relation) -> Ids:
        return self._rows(relation) if relation.is_read_only else super()._present(relation)

    def _sampled_rows(self, relation: Relation) -> tuple[Ids, int]:
        if not relation.is_read_only:
            return super()._sampled_rows(relation)
        rows = self._rows(relation)
        return rows[spread_rows(len(rows))], len(rows)

    def _sample(self, relation: str) -> Sample:
        read = self.relation(relation)
        if read.origin is not None:
            read.sample = read.origin.sample
        sample = super()._sample(relation)
        if read.origin is not None:
            read.origin.sample = sample  # about the same for others
        return sample


def _offer(capture: Capture, tables: Tables, relation: Relation, index: Index) -> None:
    """A reader has built an index that others may have use for."""
    capture.offer(relation, index, int(tables.indexes[index.number, at.I_USED]))
