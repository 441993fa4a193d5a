"""How does a task write facts of many relations into the Parquet files of their tables?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from everlog.engines.spark.tagged import RELATION
from everlog.tables.commits import TableState
from everlog.tables.layout import STATE, VERSION, arrow_schema, fact_columns
from everlog.tables.places import TablePlace

_GATHERED = 1 << 18  # rows of a relation that are gathered before they are written
# A dictionary of a column's values pays while they are few: of ids that hardly repeat it would take half the time.
_DICTIONARY_BYTES = 1 << 18


def write_batches(
    batches: Iterable[pa.RecordBatch],
    place: TablePlace,
    folders: Sequence[str],
    columns: Sequence[Sequence[str]],
    version: int,
) -> Iterator[pa.RecordBatch]:
    """Write tagged facts into the folder of their relation; tells which files have how many rows."""
    name, files = _file_name(), dict[int, _File]()
    for batch in batches:
        for number, rows in _by_relation(batch):
            if number not in files:
                schema = arrow_schema({**fact_columns(len(columns[number])), **STATE})
                files[number] = _File(place, folders[number], name, schema, version)
            files[number].add(rows)
    yield _told(name, [(number, files[number].close()) for number in sorted(files)])


def write_rows(
    batches: Iterable[pa.RecordBatch], place: TablePlace, folder: str, state: TableState
) -> Iterator[pa.RecordBatch]:
    """Write rows of one table, with all of its columns, into a folder; tells the same."""
    name = _file_name()
    file = _File(place, folder, name, arrow_schema(state.all_types))
    for batch in batches:
        file.add(batch)
    rows = file.close()
    yield _told(name, [(0, rows)] if rows else [])


def _file_name() -> str:
    """A name that no other task, or try of this one, has."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return f"part-{context.partitionId():05d}-{context.taskAttemptId()}.parquet" if context else "part-0.parquet"


def _told(name: str, written: Sequence[tuple[int, int]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "relation": pa.array([number for number, _ in written], pa.int32()),
            "file": pa.array([name for _ in written], pa.string()),
            "rows": pa.array([rows for _, rows in written], pa.int64()),
        }
    )


def _by_relation(batch: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    tags = batch.column(batch.schema.get_field_index(RELATION)).to_numpy()
    found = np.unique(tags)
    for number in found.tolist():
        yield number, batch if len(found) == 1 else batch.filter(pa.array(tags == number))


class _File:
    """A Parquet file that is being written."""

    def __init__(
        self, place: TablePlace, folder: str, name: str, schema: pa.Schema, version: int | None = None
    ) -> None:
        """`version`: of all rows, where they do not say it themselves."""
        self._place, self._folder, self._name = place, folder, name
        self._schema, self._version = schema, version
        self._writer: pq.ParquetWriter | None = None
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._written = 0

    def add(self, batch: pa.RecordBatch) -> None:
        self._waiting.append(batch)
        self._rows += batch.num_rows
        if self._rows - self._written >= _GATHERED:
            self._write()

    def _write(self) -> None:
        if self._rows == self._written:
            return
        table = pa.Table.from_batches(self._waiting)
        if self._version is not None:
            table = table.append_column(VERSION, pa.array(np.full(table.num_rows, self._version, np.int64)))
        with self._place.talking():
            if self._writer is None:
                self._place.make_folder(self._folder)
                self._writer = pq.ParquetWriter(
                    self._place.inside(self._place.at(self._folder, self._name)),
                    self._schema,
                    filesystem=self._place.filesystem(),
                    dictionary_pagesize_limit=_DICTIONARY_BYTES,
                )
            self._writer.write_table(table.select(self._schema.names).cast(self._schema))
        self._waiting, self._written = [], self._rows

    def close(self) -> int:
        self._write()
        if self._writer is not None:
            with self._place.talking():
                self._writer.close()
        return self._rows
