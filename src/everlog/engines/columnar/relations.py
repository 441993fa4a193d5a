"""How are the facts of a relation laid out in memory?

Facts one after the other, each a few 32-bit ids side by side, so that looking at a fact costs one cache line; a mask
of label bits per row, a weight per row where weights are kept; a hash table over whole facts that gives the row; and
indexes over the columns that plans ask for, each giving a chain of rows, newest first. Rows are only ever added;
arrays double when full, and so do tables. Indexes are kept, not rebuilt.

Growing takes a while where there is much, and Ctrl-C may come meanwhile. So new arrays are made first and then put in
place at once; whoever undoes an update describes them to kernels anew.

Readers of an older state (readers.py) look at the same arrays while updates go on. Rows are never moved in place, and
hash tables lead to rows that fit the arrays which were there with them: where rows outgrow their arrays, tables that a
reader has are replaced too. `Tables.replacing` is held while arrays are exchanged, for as long as that takes, which is
microseconds, so that a reader gets all of them from before or all from after.

    bytes per fact of a binary relation: 8 ids, 2 mask, 17 to 34 table; per index 4 chain, 17 to 34 per key
    bytes per triple:                   12 ids, 2 mask, 10 to 20 table; per index the same
    and from the first update on 8 for its life
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Ids
from everlog.engines.columnar import layout as at
from everlog.engines.columnar.entries import index_rows, rebuild, refill_packed, refill_wide
from everlog.engines.columnar.reserved import larger_capacity, lengthened
from everlog.engines.statistics import Sample

Descriptors = npt.NDArray[np.int64]

_LOAD, _WIDE_LOAD = 0.7, 0.8  # linear probing stays short up to here; tags lie eight to a cache line, so more is fine
_GROWTH = 2.0  # a table is at least 0.35 full after growing
_JOURNAL_ARRAYS = ("rows", "masks", "weights", "ranks", "queue", "frontier")
_LEAST = 64  # slots of the smallest table: there may be many, most of them empty
_FIRST = at.BATCH * 2  # slots of one that has to grow: room for a batch


class HashTable:
    """Keys to rows; see hash_tables.py for the two kinds."""

    def __init__(self, *, wide: bool = False) -> None:
        self.wide = wide
        self._load = _WIDE_LOAD if wide else _LOAD
        self.keys = np.zeros(_LEAST, np.uint64)  # all EMPTY
        self.rows = np.empty(0 if wide else _LEAST, np.int32)

    @property
    def slots(self) -> int:
        return len(self.keys)

    def with_room(self, keys: int) -> HashTable:
        """This table, or a larger one with the same entries where so many keys do not fit."""
        needed = int(keys / self._load) + 1
        if needed <= self.slots:
            return self
        larger = HashTable.__new__(HashTable)
        larger.wide, larger._load = self.wide, self._load
        slots = max(needed, int(self.slots * _GROWTH), _FIRST)
        larger.keys, larger.rows = np.zeros(slots, np.uint64), self.rows
        if self.wide:
            refill_wide(self.keys, larger.keys)
        else:
            larger.rows = np.empty(slots, np.int32)
            refill_packed(self.keys, self.rows, larger.keys, larger.rows)
        return larger

    def copy(self) -> HashTable:
        other = HashTable.__new__(HashTable)
        other.wide, other._load, other.keys, other.rows = self.wide, self._load, self.keys.copy(), self.rows.copy()
        return other

    def emptied(self) -> HashTable:
        """An empty table of the same size."""
        other = HashTable.__new__(HashTable)
        other.wide, other._load = self.wide, self._load
        other.keys, other.rows = np.zeros_like(self.keys), np.empty_like(self.rows)
        return other

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

    def emptied(self, capacity: int) -> Index:
        """The same for so many rows, of which none is in it yet."""
        other = Index(self.number, self.columns)
        other.table, other.next = self.table.emptied(), lengthened(self.next, capacity, 0)
        return other


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


class Undo(NamedTuple):
    """What the rows that an update touched were before it."""

    tick: int  # of that update
    rows: Ids
    masks: npt.NDArray[np.uint16] | None
    weights: npt.NDArray[np.int64] | None
    ranks: Ids | None


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
        self.lives: npt.NDArray[np.uint64] | None = None  # see version_kernels.py; none while every row has been there
        self.newer: npt.NDArray[np.int32] | None = None  # one more than the row that took the fact up again, or 0
        self.filled_at = 0  # the tick before which there were no facts
        self.committed = 0  # rows when the last update was complete
        self.changed_at = 0  # the tick of the last update that changed something here
        self.moved = 0  # how often rows have got new numbers
        self.shared = False  # a reader has these tables
        self.undo: list[Undo] = []  # what rows were before, for readers of older ticks
        self.writes = 0  # odd while an update is at work here
        self.is_read_only = False  # a reader's
        self.origin: Relation | None = None  # the engine's, of a reader's
        self.on_new_index: Callable[[Relation, Index], None] | None = None
        self.tick: int | None = None  # what a reader reads, where it must look which rows were there then

    def has_absent(self, tables: Tables) -> bool:
        """May there be rows whose fact is absent?"""
        return self.dead > 0 or int(tables.relations[self.number, at.R_JOURNAL_SIZE]) > 0

    def weight_changes(self, tables: Tables) -> tuple[Ids, npt.NDArray[np.int64]]:
        """The rows whose weight the update at work has changed, and by how much."""
        touched = int(tables.relations[self.number, at.R_JOURNAL_SIZE])
        rows = self.journal.rows[:touched]
        changes = self.weights[rows] - self.journal.weights[:touched]
        return rows[changes != 0], changes[changes != 0]

    def journaled(self, entries: int, tick: int) -> Undo:
        """What the rows of the journal were before the update at work."""
        journal = self.journal
        return Undo(
            tick,
            journal.rows[:entries].copy(),
            journal.masks[:entries].copy(),
            journal.weights[:entries].copy() if self.weighted else None,
            journal.ranks[:entries].copy() if self.ranked else None,
        )

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
        needed, grows = size + room, size + room > self.capacity
        longer: dict[str, Any] = {}
        chains: dict[Index, Ids] = {}
        if grows:
            capacity = larger_capacity(needed, self.capacity)
            names = ["facts", "masks", *["weights"] * self.weighted, *["ranks"] * self.ranked]
            names += ["witnesses", "derived"] * self.witnessed
            names += [name for name in ("lives", "newer") if getattr(self, name) is not None]
            longer = {name: lengthened(getattr(self, name), capacity, size) for name in names}
            longer["capacity"] = capacity
            chains = {index: lengthened(index.next, capacity, size) for index in self.indexes.values()}
        while True:
            outgrown = grows and self.shared  # the tables are about to lead to rows that a reader's arrays do not have
            table = _with_room(self.table, needed, outgrown)
            larger = {
                index: _with_room(index.table, int(tables.indexes[index.number, at.I_USED]) + room, outgrown)
                for index in self.indexes.values()
            }
            with tables.replacing:
                if grows and self.shared and not outgrown:
                    continue  # a reader has come meanwhile
                vars(self).update(longer, table=table)
                for index, chain in chains.items():
                    index.next = chain
                for index, index_table in larger.items():
                    index.table = index_table
                self.shared = self.shared and not outgrown
                break
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

    def follow_rows(self, tables: Tables) -> None:
        """From now on rows come and go while others read."""
        if self.lives is None:
            self.lives = lengthened(np.empty(0, np.uint64), self.capacity, 0)
            tables.relations[self.number, at.R_LIVES] = self.lives.ctypes.data

    def record_witnesses(self, size: int, tables: Tables) -> None:
        """Remember from now on what facts came from; of those that are there it is not known."""
        if not self.witnessed:
            self.witnesses = _filled(self.witnesses, self.capacity, size, -1)
            self.derived = _filled(self.derived, self.capacity, size, -1)
            self.witnessed = True
            self.describe(tables)

    def keep_rows(self, rows: npt.NDArray[np.int64], tables: Tables) -> None:
        """Move these rows to the front, in new arrays, since the old ones may be in others' hands."""
        count, renewed = len(rows), copy(self)
        renewed.dead, renewed.newer, renewed.committed, renewed.moved = 0, None, count, self.moved + 1
        renewed.undo = []  # readers that are older have the arrays of their time
        for name in ("facts", "masks", "weights", "ranks", "lives"):
            array = getattr(self, name)
            if array is not None and len(array):
                moved = lengthened(array, self.capacity, 0)
                moved[:count] = array[rows]
                setattr(renewed, name, moved)
        self._become(renewed, count, tables)

    def truncate(self, size: int, tables: Tables) -> None:
        """Forget the rows from some number on, which no reader has seen."""
        if self.lives is not None:
            self.lives[size : int(tables.relations[self.number, at.R_SIZE])] = 0
        self._become(copy(self), size, tables)

    def _become(self, renewed: Relation, size: int, tables: Tables) -> None:
        """Take over what another has, once its new table and indexes lead to its rows; readers find ours until then."""
        row = tables.relations[self.number]
        before = int(row[at.R_SIZE])
        renewed.shared, renewed.table = False, self.table.emptied()
        renewed.indexes = {columns: index.emptied(self.capacity) for columns, index in self.indexes.items()}
        try:
            row[at.R_SIZE] = size
            renewed.describe(tables)
            rebuild(tables.relations, tables.indexes, self.number, np.empty(at.BATCH, np.uint64))
            with tables.replacing:
                vars(self).update(vars(renewed))
        except BaseException:
            row[at.R_SIZE] = before
            self.describe(tables)
            raise

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
        row[at.R_LIVES] = self.lives.ctypes.data if self.lives is not None else 0
        row[at.R_NEWER] = self.newer.ctypes.data if self.newer is not None else 0
        if self.is_read_only:
            row[at.R_SIZE] = row[at.R_LOW] = row[at.R_HIGH] = self.committed
            row[at.R_TICK] = 1 + (self.tick or 0)
            if self.tick is None:
                row[at.R_LIVES] = 0
        sibling = -1
        for index in self.indexes.values():
            self._describe_index(index, sibling, tables)
            sibling = index.number
        row[at.R_FIRST_INDEX] = sibling

    def _describe_index(self, index: Index, sibling: int, tables: Tables) -> None:
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

    def index_on(self, columns: tuple[int, ...], tables: Tables) -> Index:
        """The index over these columns, built if it is not kept yet."""
        index = self.indexes.get(columns)
        if index is None:
            index = Index(tables.new_index(), columns)
            index.next = lengthened(index.next, self.capacity, 0)
            self._add_index(index, 0, tables)
            if self.on_new_index is not None:
                self.on_new_index(self, index)
        return index

    def adopt(self, index: Index, used: int, rows: int, tables: Tables) -> None:
        """Take over an index that was built over the first rows of this relation."""
        own = Index(tables.new_index(), index.columns)
        own.table, own.next = index.table, index.next
        if len(own.next) < self.capacity:  # others have that one, and it is too short for the rows to come
            own.table, own.next = own.table.copy(), lengthened(own.next, self.capacity, rows)
        else:
            self.shared = True
        tables.indexes[own.number, at.I_USED] = used
        self._add_index(own, rows, tables)

    def _add_index(self, index: Index, done: int, tables: Tables) -> None:
        """Index the rows from some number on, and then keep the index: half of it would be taken for the whole."""
        before = self.indexes
        try:
            self._extend(index, done, tables)
            self.indexes = {**before, index.columns: index}  # another one: a reader may be going through the old
            self.describe(tables)
        except BaseException:
            self.indexes = before
            tables.drop_index(index.number)
            self.describe(tables)
            raise

    def _extend(self, index: Index, done: int, tables: Tables) -> None:
        size = int(tables.relations[self.number, at.R_SIZE])
        keys = np.empty(at.BATCH, np.uint64)
        # Distinct keys are not known before they are counted, so the build goes piece by piece.
        while done < size:
            piece = min(size, done + max(at.BATCH, int(tables.indexes[index.number, at.I_USED])))
            index.table = index.table.with_room(int(tables.indexes[index.number, at.I_USED]) + piece - done)
            self._describe_index(index, -1, tables)
            index_rows(tables.relations, tables.indexes, self.number, index.number, done, piece, keys)
            done = piece

    def nbytes(self, size: int) -> int:
        """Memory that `size` facts of this relation take, indexes included."""
        per_row = 4 * self.width + 2 + 8 + 8 * self.weighted + 4 * self.ranked + 4 * len(self.indexes)
        return size * per_row + self.table.nbytes + sum(index.table.nbytes for index in self.indexes.values())


class Tables:
    """The descriptor tables that kernels read: a row per relation, a row per index."""

    def __init__(self) -> None:
        self.relations: Descriptors = np.zeros((16, at.R_FIELDS), np.int64)
        self.indexes: Descriptors = np.zeros((16, at.I_COLUMNS + 4), np.int64)
        self.relation_count = 0
        self.index_count = 0
        self.replacing = threading.Lock()  # held while arrays of relations are exchanged, and by readers who take them
        self._free_relations: list[int] = []
        self._free_indexes: list[int] = []

    def new_relation(self, arity: int) -> int:
        # Indexes may have as many key columns as the widest relation.
        self.indexes = _enlarged(self.indexes, self.index_count, at.I_COLUMNS + arity)
        if self._free_relations:
            number = self._free_relations.pop()
        else:
            self.relations = _enlarged(self.relations, self.relation_count, at.R_FIELDS)
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
        self.indexes = _enlarged(self.indexes, self.index_count, self.indexes.shape[1])
        self.indexes[self.index_count] = 0
        self.index_count += 1
        return self.index_count - 1


def _with_room(table: HashTable, keys: int, copied: bool) -> HashTable:
    """A table with room for so many keys; another one in any case if `copied`."""
    larger = table.with_room(keys)
    return table.copy() if copied and larger is table else larger


def _filled(array: npt.NDArray[Any], capacity: int, size: int, value: int) -> npt.NDArray[Any]:
    longer = lengthened(array, capacity, 0)
    longer[:size] = value
    return longer


def _enlarged(table: Descriptors, used: int, width: int) -> Descriptors:
    rows, columns = table.shape
    if used < rows and width <= columns:
        return table
    larger = np.zeros((rows if used < rows else 2 * rows, max(columns, width)), np.int64)
    larger[:rows, :columns] = table
    return larger
