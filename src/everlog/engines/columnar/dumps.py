"""How do columnar relations get to a file and back, hash tables and indexes included?

A relation is dumped from a capture, while updates go on: its facts at that tick go into arrays without gaps, and a
table and the indexes are built over those. It comes back as it is: arrays that are mapped from a file are used in
place, and copied page by page as updates write to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from everlog.engines.columnar import layout as at
from everlog.engines.columnar.entries import rebuild, visible_rows
from everlog.engines.columnar.relations import HashTable, Index, Relation, Tables
from everlog.engines.dumps import RelationDump
from everlog.engines.interface import Shape

if TYPE_CHECKING:
    from everlog.engines.columnar.captures import Capture
    from everlog.engines.columnar.engine import ColumnarEngine

LAYOUT = 1  # changes with the form of tables and indexes; others are built anew


def dump(capture: Capture) -> Iterator[RelationDump]:
    """The relations of a capture, one after the other."""
    for name in capture.names():
        taken = capture.relation(name)
        assert taken is not None
        yield _dump_relation(capture, taken)


def _dump_relation(capture: Capture, taken: Relation) -> RelationDump:
    rows: Any = slice(taken.committed)
    if taken.tick is not None:
        listed = np.empty(taken.committed, np.int64)
        rows = listed[: visible_rows(taken.lives, taken.committed, np.uint64(taken.tick), listed)]
    facts = np.ascontiguousarray(taken.facts[rows])
    shape = Shape(taken.name, taken.arity, taken.bag, taken.weighted, taken.ranked)
    own, about = _tables(taken, facts)
    return RelationDump(
        shape,
        facts,
        (capture.masks(taken)[rows] & at.EXPLICIT) != 0,
        capture.weights(taken)[rows] if taken.weighted else None,
        capture.ranks(taken)[rows] if taken.ranked else None,
        own,
        about,
    )


def _tables(taken: Relation, facts: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A hash table and indexes over facts."""
    tables, size = Tables(), len(facts)
    relation = Relation(taken.name, taken.arity, tables.new_relation(taken.width), taken.bag, False, False)
    relation.facts, relation.capacity = facts, size
    relation.table = relation.table.with_room(size)
    for columns, index in taken.indexes.items():
        own = relation.indexes[columns] = Index(tables.new_index(), columns)
        own.table, own.next = HashTable().with_room(index.table.limit), np.empty(size, np.int32)
    relation.describe(tables)
    tables.relations[relation.number, at.R_SIZE] = size
    rebuild(tables.relations, tables.indexes, relation.number, np.empty(at.BATCH, np.uint64))
    arrays = {"keys": relation.table.keys, "rows": relation.table.rows}
    indexes = []
    for number, index in enumerate(relation.indexes.values()):
        arrays |= {f"{number}.keys": index.table.keys, f"{number}.rows": index.table.rows, f"{number}.next": index.next}
        indexes.append([list(index.columns), int(tables.indexes[index.number, at.I_USED])])
    return arrays, {"layout": LAYOUT, "indexes": indexes}


def load_dump(engine: ColumnarEngine, dumped: RelationDump) -> None:
    """Make a relation of an engine what was dumped."""
    size, tables = len(dumped.facts), engine.tables
    weighted, ranked = dumped.weights is not None, dumped.ranks is not None  # some engines keep them without being told
    shape = replace(dumped.shape, weighted=weighted or dumped.shape.weighted, ranked=ranked or dumped.shape.ranked)
    if not size:
        engine.declare(shape)  # with room for facts, as every relation has that is looked at
        return
    relation = engine.new_relation(shape)
    relation.facts, relation.capacity, relation.committed = dumped.facts, size, size
    relation.masks = np.where(dumped.explicit, at.EXPLICIT, 0).astype(np.uint16)
    if relation.weighted:
        relation.weights = dumped.weights if dumped.weights is not None else np.zeros(size, np.int64)
    if relation.ranked:
        relation.ranks = dumped.ranks if dumped.ranks is not None else np.zeros(size, np.int32)
    if dumped.about.get("layout") == LAYOUT:
        _take_tables(relation, dumped, tables)
        relation.describe(tables)
        tables.relations[relation.number, at.R_SIZE] = size
    else:
        relation.table = relation.table.with_room(size)
        relation.describe(tables)
        tables.relations[relation.number, at.R_SIZE] = size
        rebuild(tables.relations, tables.indexes, relation.number, engine.keys)
    engine.settle_rows(relation)


def _take_tables(relation: Relation, dumped: RelationDump, tables: Tables) -> None:
    own = dumped.own
    relation.table.keys, relation.table.rows = own["keys"], own["rows"]
    for number, (columns, used) in enumerate(dumped.about["indexes"]):
        index = Index(tables.new_index(), tuple(columns))
        index.table.keys, index.table.rows = own[f"{number}.keys"], own[f"{number}.rows"]
        index.next = own[f"{number}.next"]
        tables.indexes[index.number, at.I_USED] = used
        relation.indexes[index.columns] = index
