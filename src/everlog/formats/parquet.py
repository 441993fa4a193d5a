"""Which facts are in the rows of a Parquet or Arrow file, and how are facts written to one?

Columns become facts as in arrow_columns.py: each keeps its type.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from everlog.errors import FormatError, OutputError
from everlog.facts.arrays import array_of_keys
from everlog.facts.blocks import FactBlock
from everlog.facts.missing import MissingValues
from everlog.formats.arrow_columns import fact_block
from everlog.formats.compression import open_bytes, split_name

BLOCK_ROWS = 1 << 20


def read_parquet(path: Path, relation: str, *, format: str, missing: MissingValues) -> Iterator[FactBlock]:
    """The rows of a Parquet (`format` "parquet") or Arrow IPC ("arrow") file as facts of one relation."""
    row = 1
    for part in read_rows(path, format):
        yield fact_block(relation, part.schema.names, part.columns, missing, path=str(path), row=row)
        row += part.num_rows


def read_rows(path: Path, format: str) -> Iterator[pa.RecordBatch]:
    """The rows of a Parquet or Arrow file as they are, in batches of bounded size."""
    with _translated(path, format), contextlib.ExitStack() as stack:
        for batch in _batches(path, format, stack):
            for start in range(0, batch.num_rows, BLOCK_ROWS):
                yield batch.slice(start, BLOCK_ROWS)


def write_parquet(
    stream: BinaryIO, columns: Sequence[Sequence[str]], header: Sequence[str] | None, format: str
) -> None:
    """Columns of term keys as a file, each column with a type of its own where all its terms have one."""
    if not columns:
        raise OutputError("a relation without arguments has no columns", hint="write it as .jsonl or .csv")
    names = list(header) if header else [f"c{place}" for place in range(1, len(columns) + 1)]
    table = pa.table([_array(column) for column in columns], names=names)
    if format == "parquet":
        pq.write_table(table, stream, compression="zstd")
        return
    with pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)


def _array(keys: Sequence[str]) -> pa.Array:
    distinct = pa.array(keys, pa.string()).dictionary_encode()
    return array_of_keys(distinct.dictionary.to_pylist()).take(distinct.indices)


def _batches(path: Path, format: str, stack: contextlib.ExitStack) -> Iterator[pa.RecordBatch]:
    source: Any
    if split_name(path)[2]:
        # Both formats are read from their end backwards, so a packed one is unpacked in memory.
        with open_bytes(path) as stream:
            source = pa.BufferReader(stream.read())
    else:
        open_bytes(path).close()  # raises an error if the file itself cannot be read
        source = pa.OSFile(str(path))
    stack.enter_context(source)
    if source.size() == 0:
        return
    if format == "parquet":
        yield from pq.ParquetFile(source).iter_batches(batch_size=BLOCK_ROWS)
        return
    magic = source.read(6)
    source.seek(0)
    if magic == b"ARROW1":
        reader = pa.ipc.open_file(source)
        for place in range(reader.num_record_batches):
            yield reader.get_batch(place)
    else:
        yield from pa.ipc.open_stream(source)


@contextlib.contextmanager
def _translated(path: Path, format: str) -> Iterator[None]:
    kind = "Parquet" if format == "parquet" else "Arrow"
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        reason = str(error).strip().split("\n")[0].rstrip(".")
        raise FormatError(
            f"this is not a whole {kind} file ({reason})",
            path=str(path),
            hint="it may be cut short: write or copy it again",
        ) from error
