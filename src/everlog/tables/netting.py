"""Which facts does a table hold, given its base and the changes since then?

The last row of a fact says whether it is there. Changes are few: their last rows are found by sorting, and the base is
read past the facts that are among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from everlog.tables.commits import TableState
from everlog.tables.layout import BAG, DERIVATIONS, PLAIN, VERSION, WEIGHT, arrow_schema
from everlog.tables.places import TablePlace
from everlog.tables.table_store import TableFiles

_AT_ONCE = 1 << 20  # rows, of a table that is not read as a whole


def read_files(place: TablePlace, files: Sequence[str], state: TableState) -> pa.Table:
    """All rows of some files of a table."""
    if not files:
        return arrow_schema(state.all_types).empty_table()
    with place.talking():
        return _dataset(place, files, state).to_table()


def read_batches(place: TablePlace, files: Sequence[str], state: TableState) -> Iterator[pa.Table]:
    """The same, some rows at a time."""
    if files:
        with place.talking():
            for batch in _dataset(place, files, state).to_batches(batch_size=_AT_ONCE):
                if batch.num_rows:
                    yield pa.Table.from_batches([batch])


def _dataset(place: TablePlace, files: Sequence[str], state: TableState) -> ds.Dataset:
    names = [place.inside(file) for file in files]
    return ds.dataset(names, schema=arrow_schema(state.all_types), format="parquet", filesystem=place.filesystem())


def present_rows(place: TablePlace, files: TableFiles, state: TableState) -> pa.Table:
    """The rows of the facts that are there."""
    base, changes = read_files(place, files.base, state), read_files(place, files.changes, state)
    return pa.concat_tables(_present([base], changes, state))


def present_batches(place: TablePlace, files: TableFiles, state: TableState) -> Iterator[pa.Table]:
    """The same, some at a time: nothing but the changes is in memory as a whole."""
    return _present(read_batches(place, files.base, state), read_files(place, files.changes, state), state)


def _present(base: Iterable[pa.Table], changes: pa.Table, state: TableState) -> Iterator[pa.Table]:
    last = changes if _is_whole(changes, state) else last_rows(changes, state.columns)
    for rows in base:
        yield untouched_rows(rows, last, state)
    yield changed_rows(last, state)


def _is_whole(changes: pa.Table, state: TableState) -> bool:
    """Does every row of base and changes stand for itself?"""
    return state.kind == PLAIN or state.gains_only or not changes.num_rows


def untouched_rows(base: pa.Table, changes: pa.Table, state: TableState) -> pa.Table:
    """The rows of a base, or a part of one, that no change is about."""
    if _is_whole(changes, state):
        return base
    if not state.columns:  # there is one fact, and the changes are about it
        return base.slice(0, 0)
    keys = last_rows(changes, state.columns).select(list(state.columns))
    return base.join(keys, list(state.columns), join_type="left anti").select(base.column_names)


def changed_rows(changes: pa.Table, state: TableState) -> pa.Table:
    """The rows of the facts that are there by a change."""
    if _is_whole(changes, state):
        return changes
    last = last_rows(changes, state.columns)
    return _as_base(last.filter(is_there(last, state)), state)


def _as_base(rows: pa.Table, state: TableState) -> pa.Table:
    """Rows that say of themselves that the fact is there, not what became of it."""
    weights = rows[DERIVATIONS] if state.kind == BAG else pa.array(np.ones(rows.num_rows, np.int64))
    return rows.set_column(rows.column_names.index(WEIGHT), WEIGHT, weights)


def is_there(rows: pa.Table, state: TableState) -> Any:
    """Whether the fact of each row is there after it."""
    if state.kind == BAG:
        return pc.greater(rows[DERIVATIONS], 0)
    return pc.greater_equal(rows[WEIGHT], 0)


def last_rows(rows: pa.Table, columns: Sequence[str]) -> pa.Table:
    """The last row of each fact."""
    versions = rows[VERSION].to_numpy()
    keys = [rows[name].to_numpy() for name in columns]
    order = np.lexsort((versions, *keys[::-1]))
    is_last = np.ones(len(order), bool)
    differs = [key[order[1:]] != key[order[:-1]] for key in keys]
    is_last[:-1] = np.logical_or.reduce(differs) if differs else False
    return rows.take(pa.array(order[is_last]))


def change_rows(place: TablePlace, files: Sequence[str], state: TableState) -> pa.Table:
    """The rows that brought or took a fact, in the order of their versions."""
    rows = read_files(place, files, state)
    rows = rows.filter(pc.not_equal(rows[WEIGHT], 0)) if state.kind != PLAIN else rows
    return rows.sort_by(VERSION)
