"""How are the facts of a relation laid out in memory?

Facts one after the other, each a few 32-bit ids side by side, so that looking at a fact costs one cache line; a mask
of label bits per row, a weight per row where weights are kept; a hash table over whole facts that gives the row; and
indexes over the columns that plans ask for, each giving a chain of rows, newest first. Rows are only ever added;
arrays double when full, and so do tables. Indexes are kept, not rebuilt.

Growing takes a while where there is much, and Ctrl-C may come meanwhile. So new arrays are made first and then put in
place at once; whoever undoes an update describes them to kernels anew.

    bytes per fact of a binary relation: 8 ids, 2 mask, 17 to 34 table; per index 4 chain and 17 to 34 per distinct key
    bytes per triple:                   12 ids, 2 mask, 10 to 20 table; per index the same
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Ids
from everlog.engines.columnar import layout as at
from everlog.engines.columnar.fact_kernels import index_rows
from everlog.engines.columnar.hash_tables import refill_packed, refill_wide
from everlog.engines.columnar.reserved import larger_capacity, lengthened
from everlog.engines.columnar.statistics import Sample

Descriptors = npt.NDArray[np.int64]

_LOAD, _WIDE_LOAD = 0.7, 0.8  # linear probing stays short up to here; tags lie eight to a cache line, so more is fine
_GROWTH = 2.0  # a table is at least 0.35 full after growing
_JOURNAL_ARRAYS = ("rows", "masks", "weights", "ranks", "queue", "frontier")
_LEAST = at.BATCH * 2  # slots of the smallest table: room for a batch


class HashTable:
    """Keys to rows; see hash_tables.py for the two kinds."""

    def __init__(self, *, wide: bool = False) -> None:
        self.wide = wide
        self._load = _WIDE_LOAD if wide else _LOAD
        self.slots = 0
        self.keys = np.empty(0, np.uint64)
        self.rows = np.empty(0, np.int32)
        self.reserve(0)

    def reserve(self, keys: int) -> None:
        """Make room for so many keys in all."""
        needed = int(keys / self._load) + 1
        if needed <= self.slots:
            return
        slots = max(needed, int(self.slots * _GROWTH), _LEAST)
        larger, rows = np.zeros(slots, np.uint64), self.rows  # all EMPTY
        if self.wide:
            refill_wide(self.keys, larger)
        else:
            rows = np.empty(slots, np.int32)
            refill_packed(self.keys, self.rows, larger, rows)
        self.slots, self.keys, self.rows = slots, larger, rows

    @property
    def limit(self) -> int:
        """How many keys there is room for."""
        return int(self.slots * self._load)

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + self.rows.nbytes


class Index:
    """Chains of rows by key columns."""

    def __init__(self, number: int, columns: tuple[int, ...]) -> None:
        self.number = number
        self.columns = columns
        self.table = HashTable()
        self.next = np.empty(0, np.int32)


class Journal:
    """What an update has touched, and the rows it works on now and later."""

    def __init__(self) -> None:
        self.limit = 0
        self.rows = np.empty(0, np.int32)
        self.masks = np.empty(0, np.uint16)
        self.weights = np.empty(0, np.int64)
        self.ranks = np.empty(0, np.int32)
        self.queue = np.empty(0, np.int32)
        self.frontier = np.empty(0, np.int32)

    def reserve(self, entries: int) -> None:
        if entries <= self.limit:
            return
        limit = max(entries, 2 * self.limit)
        longer = {name: lengthened(getattr(self, name), limit, self.limit) for name in _JOURNAL_ARRAYS}
        vars(self).update(longer, limit=limit)

    def describe(self, row: Descriptors, weighted: bool, ranked: bool) -> None:
        row[at.R_JOURNAL_LIMIT] = self.limit
        row[at.R_JOURNAL] = self.rows.ctypes.data
        row[at.R_OLD_MASKS] = self.masks.ctypes.data
        row[at.R_OLD_WEIGHTS] = self.weights.ctypes.data if weighted else 0
        row[at.R_OLD_RANKS] = self.ranks.ctypes.data if ranked else 0
        row[at.R_QUEUE] = self.queue.ctypes.data
        row[at.R_FRONTIER] = self.frontier.ctypes.data


class Relation:
    """The facts of one relation; `row` of the relation table describes it to kernels."""

    def __init__(self, name: str, arity: int, number: int, bag: bool, weighted: bool, ranked: bool) -> None:
        self.name, self.arity, self.number, self.bag = name, arity, number, bag
        self.weighted, self.ranked = weighted or bag, ranked
        self.width = max(1, arity)  # a nullary relation stores a zero
        self.facts: Ids = np.empty((0, self.width), np.int32)
        self.masks = np.empty(0, np.uint16)
        self.weights = np.empty(0, np.int64)
        self.table = HashTable(wide=self.width > 2)
        self.indexes: dict[tuple[int, ...], Index] = {}
        self.ranks = np.empty(0, np.int32)
        self.witnesses = np.empty(0, np.int64)
        self.derived = np.empty(0, np.int64)
        self.witnessed = False
        self.capacity = 0
        self.dead = 0  # rows whose fact is absent
        self.journal = Journal()
        self.sample: Sample | None = None  # for estimates

    def has_absent(self, tables: Tables) -> bool:
        """May there be rows whose fact is absent?"""
        return self.dead > 0 or int(tables.relations[self.number, at.R_JOURNAL_SIZE]) > 0

    def weight_changes(self, tables: Tables) -> tuple[Ids, npt.NDArray[np.int64]]:
        """The rows whose weight the update at work has changed, and by how much."""
        touched = int(tables.relations[self.number, at.R_JOURNAL_SIZE])
        rows = self.journal.rows[:touched]
        changes = self.weights[rows] - self.journal.weights[:touched]
        return rows[changes != 0], changes[changes != 0]

    def presence_changes(self, tables: Tables) -> tuple[Ids, npt.NDArray[np.int64]]:
        """The rows whose fact the update at work has brought, with 1, or taken away, with -1."""
        rows = self.journal.rows[: int(tables.relations[self.number, at.R_JOURNAL_SIZE])]
        masks = self.masks[rows]
        changes = ((masks & at.WAS_ABSENT) != 0).astype(np.int64) - ((masks & at.ABSENT) != 0)
        return rows[changes != 0], changes[changes != 0]

    def columns(self, first: int, last: int) -> list[Ids]:
        """The arguments of rows [first, last), column by column: views, since rows that are there never change."""
        return [self.facts[first:last, position] for position in range(self.arity)]

    def reserve(self, size: int, room: int, tables: Tables) -> None:
        """Make room for `room` more rows than `size`, in columns, table and indexes; and describe it all anew."""
        needed = size + room
        if needed > self.capacity:
            capacity = larger_capacity(needed, self.capacity)
            names = ["facts", "masks", *["weights"] * self.weighted, *["ranks"] * self.ranked]
            names += ["witnesses", "derived"] * self.witnessed
            longer = {name: lengthened(getattr(self, name), capacity, size) for name in names}
            for index in self.indexes.values():
                index.next = lengthened(index.next, capacity, size)
            vars(self).update(longer, capacity=capacity)
        self.table.reserve(needed)
        for index in self.indexes.values():
            index.table.reserve(int(tables.indexes[index.number, at.I_USED]) + room)
        self.describe(tables)

    def reserve_journal(self, entries: int, tables: Tables) -> None:
        """Make room for so many entries of the journal in all."""
        if entries > self.journal.limit:
            self.journal.reserve(entries)
            self.describe(tables)

    def keep(self, size: int, tables: Tables, *, weights: bool, ranks: bool) -> None:
        """Keep weights and ranks from now on, if not kept yet; they are zero, also before the update at work."""
        if weights and not self.weighted:
            self.journal.weights.fill(0)
            self.weighted, self.weights = True, _filled(self.weights, self.capacity, size, 0)
        if ranks and not self.ranked:
            self.journal.ranks.fill(0)
            self.ranked, self.ranks = True, _filled(self.ranks, self.capacity, size, 0)
        self.describe(tables)

    def record_witnesses(self, size: int, tables: Tables) -> None:
        """Remember from now on what facts came from; of those that are there it is not known."""
        if not self.witnessed:
            self.witnesses = _filled(self.witnesses, self.capacity, size, -1)
            self.derived = _filled(self.derived, self.capacity, size, -1)
            self.witnessed = True
            self.describe(tables)

    def keep_rows(self, rows: npt.NDArray[np.int64]) -> None:
        """Move these rows to the front, in new arrays, since the old ones may be in others' hands."""
        count = len(rows)
        for name in ("facts", "masks", "weights", "ranks"):
            array = getattr(self, name)
            if len(array):
                moved = lengthened(array, self.capacity, 0)
                moved[:count] = array[rows]
                setattr(self, name, moved)
        self.dead = 0

    def describe(self, tables: Tables) -> None:
        row = tables.relations[self.number]
        row[at.R_ARITY] = self.width
        row[at.R_LIMIT] = min(self.capacity, self.table.limit)
        row[at.R_MASKS] = self.masks.ctypes.data
        row[at.R_WEIGHTS] = self.weights.ctypes.data if self.weighted else 0
        row[at.R_RANKS] = self.ranks.ctypes.data if self.ranked else 0
        row[at.R_WITNESSES] = self.witnesses.ctypes.data if self.witnessed else 0
        row[at.R_DERIVED] = self.derived.ctypes.data if self.witnessed else 0
        self.journal.describe(row, self.weighted, self.ranked)
        row[at.R_SLOTS] = self.table.slots
        row[at.R_KEYS] = self.table.keys.ctypes.data
        row[at.R_ROWS] = 0 if self.table.wide else self.table.rows.ctypes.data
        row[at.R_FACTS] = self.facts.ctypes.data
        sibling = -1
        for index in self.indexes.values():
            entry = tables.indexes[index.number]
            entry[at.I_RELATION] = self.number
            entry[at.I_WIDTH] = len(index.columns)
            entry[at.I_SLOTS] = index.table.slots
            entry[at.I_LIMIT] = index.table.limit
            entry[at.I_KEYS] = index.table.keys.ctypes.data
            entry[at.I_HEADS] = index.table.rows.ctypes.data
            entry[at.I_NEXT] = index.next.ctypes.data
            entry[at.I_SIBLING] = sibling
            entry[at.I_COLUMNS : at.I_COLUMNS + len(index.columns)] = index.columns
            sibling = index.number
        row[at.R_FIRST_INDEX] = sibling

    def index_on(self, columns: tuple[int, ...], tables: Tables) -> Index:
        """The index over these columns, built if it is not kept yet."""
        index = self.indexes.get(columns)
        if index is None:
            index = self.indexes[columns] = Index(tables.new_index(), columns)
            try:
                self._build(index, tables)
            except BaseException:
                del self.indexes[columns]  # half an index would be taken for a whole one
                tables.drop_index(index.number)
                self.describe(tables)
                raise
        return index

    def _build(self, index: Index, tables: Tables) -> None:
        size = int(tables.relations[self.number, at.R_SIZE])
        index.next = lengthened(index.next, self.capacity, 0)
        # Distinct keys are not known before they are counted, so the build goes piece by piece.
        done, keys = 0, np.empty(at.BATCH, np.uint64)
        while done < size:
            piece = min(size, done + max(at.BATCH, int(tables.indexes[index.number, at.I_USED])))
            index.table.reserve(int(tables.indexes[index.number, at.I_USED]) + piece - done)
            self.describe(tables)
            index_rows(tables.relations, tables.indexes, self.number, index.number, done, piece, keys)
            done = piece
        self.describe(tables)

    def nbytes(self, size: int) -> int:
        """Memory that `size` facts of this relation take, indexes included."""
        per_row = 4 * self.width + 2 + 8 * self.weighted + 4 * self.ranked + 4 * len(self.indexes)
        return size * per_row + self.table.nbytes + sum(index.table.nbytes for index in self.indexes.values())


class Tables:
    """The descriptor tables that kernels read: a row per relation, a row per index."""

    def __init__(self) -> None:
        self.relations: Descriptors = np.zeros((16, at.R_FIELDS), np.int64)
        self.indexes: Descriptors = np.zeros((16, at.I_COLUMNS + 4), np.int64)
        self.relation_count = 0
        self.index_count = 0
        self._free_relations: list[int] = []
        self._free_indexes: list[int] = []

    def new_relation(self, arity: int) -> int:
        # Indexes may have as many key columns as the widest relation.
        self.indexes = _with_room(self.indexes, self.index_count, at.I_COLUMNS + arity)
        if self._free_relations:
            number = self._free_relations.pop()
        else:
            self.relations = _with_room(self.relations, self.relation_count, at.R_FIELDS)
            number, self.relation_count = self.relation_count, self.relation_count + 1
        self.relations[number] = 0
        self.relations[number, at.R_FIRST_INDEX] = -1
        return number

    def drop_relation(self, relation: Relation) -> None:
        """Forget a relation; its number is given to another one later."""
        self.relations[relation.number] = 0
        self._free_relations.append(relation.number)
        self._free_indexes += [index.number for index in relation.indexes.values()]

    def drop_index(self, number: int) -> None:
        self._free_indexes.append(number)

    def new_index(self) -> int:
        if self._free_indexes:
            number = self._free_indexes.pop()
            self.indexes[number] = 0
            return number
        self.indexes = _with_room(self.indexes, self.index_count, self.indexes.shape[1])
        self.indexes[self.index_count] = 0
        self.index_count += 1
        return self.index_count - 1


def _filled(array: npt.NDArray[Any], capacity: int, size: int, value: int) -> npt.NDArray[Any]:
    longer = lengthened(array, capacity, 0)
    longer[:size] = value
    return longer


def _with_room(table: Descriptors, used: int, width: int) -> Descriptors:
    rows, columns = table.shape
    if used < rows and width <= columns:
        return table
    larger = np.zeros((rows if used < rows else 2 * rows, max(columns, width)), np.int64)
    larger[:rows, :columns] = table
    return larger
