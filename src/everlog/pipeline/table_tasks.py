"""How does a task write facts of many relations into the Parquet files of their tables?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from everlog.engines.spark.tagged import RELATION
from everlog.tables.layout import STATE, VERSION, arrow_schema, fact_columns

_GATHERED = 1 << 18  # rows of a relation that are gathered before they are written
# A dictionary of a column's values pays while they are few: of ids that hardly repeat it would take half the time.
_DICTIONARY_BYTES = 1 << 18


def write_batches(
    batches: Iterable[pa.RecordBatch], places: Sequence[str], columns: Sequence[Sequence[str]], version: int
) -> Iterator[pa.RecordBatch]:
    """Write tagged facts below the place of their relation; tells which files have how many rows."""
    from pyspark import TaskContext

    context = TaskContext.get()
    name = f"part-{context.partitionId():05d}-{context.taskAttemptId()}.parquet" if context else "part-0.parquet"
    files: dict[int, _File] = {}
    for batch in batches:
        for number, rows in _by_relation(batch):
            if number not in files:
                files[number] = _File(Path(places[number]) / name, columns[number], version)
            files[number].add(rows)
    written = [(number, files[number].close()) for number in sorted(files)]
    yield pa.RecordBatch.from_pydict(
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

    def __init__(self, path: Path, columns: Sequence[str], version: int) -> None:
        self._path, self._columns, self._version = path, list(columns), version
        self._schema = arrow_schema({**fact_columns(len(columns)), **STATE})
        self._writer: pq.ParquetWriter | None = None
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._written = 0

    def add(self, batch: pa.RecordBatch) -> None:
        self._waiting.append(batch)
        self._rows += batch.num_rows
        if self._rows - self._written >= _GATHERED:
            self._write()

    def _write(self) -> None:
        if not self._waiting:
            return
        table = pa.Table.from_batches(self._waiting)
        versions = pa.array(np.full(table.num_rows, self._version, np.int64))
        names = [name for name in self._schema.names if name != VERSION]
        table = table.select(names).append_column(VERSION, versions).cast(self._schema)
        if self._writer is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = pq.ParquetWriter(self._path, self._schema, dictionary_pagesize_limit=_DICTIONARY_BYTES)
        self._writer.write_table(table)
        self._waiting, self._written = [], self._rows

    def close(self) -> int:
        self._write()
        if self._writer is not None:
            self._writer.close()
        return self._rows
