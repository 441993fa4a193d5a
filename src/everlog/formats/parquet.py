"""Which facts are in the rows of a Parquet or Arrow file, and how are facts written to one?

A column keeps its type: integers are integers, floats doubles, timestamps dateTimes, and so on. Columns of lists,
structs or bytes are refused, and so are nulls: a fact has all its terms.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
import pyarrow.parquet as pq

from everlog.errors import DataError, FormatError, OutputError
from everlog.facts.blocks import FactBlock
from everlog.formats.arrays import array_of_keys
from everlog.formats.compression import open_bytes, split_name

BLOCK_ROWS = 1 << 20


def read_parquet(path: Path, relation: str, *, format: str) -> Iterator[FactBlock]:
    """The rows of a Parquet (`format` "parquet") or Arrow IPC ("arrow") file as facts of one relation."""
    row = 1
    for part in read_rows(path, format):
        columns = tuple(
            value_column(column, name, path, row) for name, column in zip(part.schema.names, part.columns, strict=True)
        )
        yield FactBlock(relation, columns)
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


def value_column(column: pa.Array, name: str, path: Path, row: int) -> pa.Array:
    """A column in a type that the dictionary knows, without nulls."""
    type_ = column.type
    plain = type_.value_type if pa.types.is_dictionary(type_) else type_
    target = value_type(plain)
    if target is None:
        raise DataError(
            f"column {name!r} holds {plain}, which is no type of term",
            path=str(path),
            hint="leave the column out, or make it strings, numbers, booleans, dates or times",
        )
    if column.null_count:
        at = row + pc.index(column.is_null(), True).as_py()
        raise DataError(
            f"column {name!r} has no value in row {at}",
            path=str(path),
            hint="a fact has all its terms: drop or fill nulls",
        )
    if pa.types.is_dictionary(type_):
        if pa.types.is_string(plain) and column.dictionary.null_count == 0:
            return column
        column = column.dictionary_decode()
        return value_column(column, name, path, row)
    if type_ == target:
        return column
    try:
        return column.cast(target)
    except pa.ArrowInvalid as error:
        raise DataError(
            f"column {name!r} holds a value that no {target} can say ({error})",
            path=str(path),
            hint="times are kept to the microsecond: round them first",
        ) from error


def value_type(type_: pa.DataType) -> pa.DataType | None:
    """The type to read a column as; None where there is none."""
    types = pa.types
    if types.is_integer(type_):
        return type_ if types.is_uint64(type_) else pa.int64()
    if types.is_floating(type_):
        return pa.float64()
    if types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_):
        return pa.string()
    if types.is_boolean(type_) or types.is_decimal(type_):
        return type_
    if types.is_date(type_):
        return pa.date32()
    if types.is_timestamp(type_):
        return pa.timestamp("us", type_.tz)
    if types.is_time(type_):
        return pa.time64("us")
    return None
