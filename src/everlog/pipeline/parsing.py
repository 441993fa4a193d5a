"""How do Spark's Python workers read what Spark itself cannot?

Lines come in batches, documents as a row each that names a file. Both become rows of one schema: facts (a relation and
the keys of its terms), rejected lines, or the failure of a whole file. Readers are those of `formats`, so that a fact
is the same here and in process. A batch of lines is read at once; only where that fails is it halved, and halved again,
until the lines to blame stand alone.
"""

from __future__ import annotations

import csv
import functools
import io
import itertools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from everlog.errors import DataError, EverlogError
from everlog.facts.blocks import FactBlock
from everlog.facts.terms import key_of
from everlog.formats.csv import csv_records
from everlog.formats.fields import WrongField, typed_columns
from everlog.formats.jsonl import read_jsonl
from everlog.formats.rdf import read_rdf
from everlog.formats.reading import read_facts

Batches = Iterator[pa.RecordBatch]
Blocks = list[FactBlock]
T = TypeVar("T")
_Row = tuple[int | None, list[str]]  # the line where it is known; then the whole text and its fields

BROKEN = -1  # in `rejected`: a file that could not be read to its end; its text is a hint
PARSED = "relation string, keys array<string>, file string, line long, text string, reason string, rejected long"

_SCHEMA = pa.schema(
    [
        ("relation", pa.string()),
        ("keys", pa.list_(pa.string())),
        ("file", pa.string()),
        ("line", pa.int64()),
        ("text", pa.string()),
        ("reason", pa.string()),
        ("rejected", pa.int64()),
    ]
)
_ROWS = 1 << 16  # rows of a CSV file handled at a time


def parse_lines(batches: Batches, *, format: str, graph: str | None, samples: int) -> Batches:
    """Facts and rejects from rows of (line, file, scope), the line as bytes, of an nt, nq or jsonl file."""
    rejects = _RejectLog(samples)
    for batch in batches:
        for part in _by_file(batch):
            file, scope = part["file"][0].as_py(), part["scope"][0].as_py()
            lines = part["line"].to_pylist()
            if format == "jsonl":
                read: Callable[[list[bytes]], Blocks] = functools.partial(_jsonl_facts, file)
            else:
                read = functools.partial(_rdf_facts, file, format, graph, scope)
            for found in _halving(lines, read):
                if isinstance(found, FactBlock):
                    yield _facts(found)
                else:
                    line, error = found
                    rejects.add(file, None, line.decode("utf-8", "replace"), _reason(error))
    yield from rejects.batches()


def parse_csv_lines(
    batches: Batches, *, relation: str, width: int, delimiter: str, types: Sequence[str] | None, samples: int
) -> Batches:
    """Facts and rejects from rows of (line, file, scope), each line a row of its own."""
    rejects = _RejectLog(samples)
    for batch in batches:
        for part in _by_file(batch):
            file = part["file"][0].as_py()
            rows: list[_Row] = []
            for raw in part["line"].to_pylist():
                try:
                    line = raw.decode()
                except UnicodeDecodeError as error:
                    rejects.add(file, None, raw.decode("utf-8", "replace"), f"not UTF-8 (byte {error.start + 1})")
                    continue
                rows.append((None, [line, *split_row(line, delimiter)]))
            yield from _csv_facts(rows, file, relation, width, types, rejects)
    yield from rejects.batches()


def parse_documents(batches: Batches, *, samples: int) -> Batches:
    """Facts from rows that each name a file (see `documents` in ingest.py)."""
    rejects = _RejectLog(samples)
    for batch in batches:
        for row in batch.to_pylist():
            try:
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(row["path"])
                    if row["content"] is not None:  # from a file system that Python does not know
                        path = Path(folder) / path.name
                        path.write_bytes(row["content"])
                    yield from _document(row, path, rejects)
            except EverlogError as error:
                line = getattr(error, "line", None)
                yield _rejects([(row["path"], line, error.hint, _reason(error), BROKEN)])
    yield from rejects.batches()


def _document(row: dict[str, Any], path: Path, rejects: _RejectLog) -> Batches:
    if row["format"] in ("csv", "tsv"):
        yield from _csv_document(row, path, rejects)
        return
    blocks = read_facts(
        path,
        relation=row["relation"],
        format=row["format"],
        graph=row["graph"],
        base=row["path"] if "://" in row["path"] else None,
        scope=row["scope"],
    )
    for block in blocks:
        yield _facts(block)


def _csv_document(row: dict[str, Any], path: Path, rejects: _RejectLog) -> Batches:
    """A whole CSV or TSV file: fields may span lines, and each row knows its line."""
    delimiter = "," if row["format"] == "csv" else "\t"
    records = _closed(path, delimiter)
    first = next(records, None)
    if first is None:
        return
    width, types = len(first[1]), row["types"]
    if types is not None and len(types) != width:
        raise DataError(f"{len(types)} types are given, but the file has {count_columns(width)}", line=first[0])
    if not row["header"]:
        second = next(records, None)
        if first[1] == ["()"] and second is None and types is None:
            yield _facts(FactBlock(row["relation"], ()))
            return
        records = itertools.chain([first, second] if second else [first], records)
    while some := list(itertools.islice(records, _ROWS)):
        rows: list[_Row] = [(line, [delimiter.join(fields), *fields]) for line, fields in some]
        yield from _csv_facts(rows, row["path"], row["relation"], width, types, rejects)


def _closed(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows with their lines; an error where the last quote is never closed."""
    end = "\0end of file"  # lands in the last field where that is still open
    before: tuple[int, list[str]] | None = None
    for record in csv_records(path, delimiter, end):
        if before is not None:
            yield before
        before = record
    if before is not None and before[1] != [end]:
        raise DataError("a quote is opened in this row and never closed", line=before[0])


def _csv_facts(
    rows: list[_Row], file: str, relation: str, width: int, types: Sequence[str] | None, rejects: _RejectLog
) -> Batches:
    """Rows of (line, [text, field, …]) as facts; those of another width or with a wrong value as rejects."""
    right = []
    for line, fields in rows:
        if len(fields) == width + 1:
            right.append((line, fields))
        else:
            rejects.add(file, line, fields[0], f"{count_columns(len(fields) - 1)} where the others have {width}")

    def read(some: list[_Row]) -> Blocks:
        columns = [pa.array(column, pa.string()) for column in zip(*(fields[1:] for _, fields in some), strict=True)]
        try:
            return [FactBlock(relation, *typed_columns(columns, types))]
        except WrongField as wrong:
            raise DataError(f"column {wrong.column}: {wrong.text!r} is not {wrong.expected}") from None

    for found in _halving(right, read):
        if isinstance(found, FactBlock):
            yield _facts(found)
        else:
            (line, fields), error = found
            rejects.add(file, line, fields[0], _reason(error))


def _halving(items: list[T], read: Callable[[list[T]], Blocks]) -> Iterator[FactBlock | tuple[T, EverlogError]]:
    """The blocks read from the items, and each item that cannot be read, with its error."""
    if not items:
        return
    try:
        yield from read(items)
        return
    except EverlogError as error:
        if len(items) == 1:
            yield items[0], error
            return
    middle = len(items) // 2
    yield from _halving(items[:middle], read)
    yield from _halving(items[middle:], read)


def _rdf_facts(file: str, format: str, graph: str | None, scope: str, lines: list[bytes]) -> Blocks:
    return list(read_rdf(_joined(lines), format, path=file, graph=graph, scope=scope))


def _jsonl_facts(file: str, lines: list[bytes]) -> Blocks:
    return list(read_jsonl(_joined(lines), path=file))


def _joined(lines: list[bytes]) -> io.BytesIO:
    return io.BytesIO(b"\n".join(lines) + b"\n")


def split_row(line: str, delimiter: str) -> list[str]:
    if delimiter != "," or '"' not in line:
        return line.split(delimiter)
    return next(csv.reader([line]))


def _by_file(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The batch in runs of rows from one file."""
    if not batch.num_rows:
        return
    runs = pc.run_end_encode(batch["file"])
    start = 0
    for end in runs.run_ends.to_pylist():
        yield batch.slice(start, end - start)
        start = end


def keys_of_block(block: FactBlock) -> list[pa.Array]:
    """The columns of a block as term keys."""
    return [_keys(column) if block.form == "values" else _plain(column) for column in block.columns]


def _plain(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _keys(column: pa.Array) -> pa.Array:
    if pa.types.is_string(column.type):
        return pc.binary_join_element_wise('"', column, "")
    if pa.types.is_integer(column.type):
        return pc.binary_join_element_wise("^integer ", column.cast(pa.string()), "")
    distinct = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return pa.array([key_of(value) for value in distinct.dictionary.to_pylist()], pa.string()).take(distinct.indices)


def _facts(block: FactBlock) -> pa.RecordBatch:
    rows, width = len(block), block.arity
    if width:
        flat = pa.concat_arrays(keys_of_block(block)).take(
            pa.array(np.arange(rows * width).reshape(width, rows).T.ravel())
        )
    else:
        flat = pa.array([], pa.string())
    keys = pa.ListArray.from_arrays(pa.array(np.arange(rows + 1, dtype=np.int32) * width, pa.int32()), flat)
    nothing = pa.nulls(rows, pa.string())
    return pa.RecordBatch.from_arrays(
        [
            pa.repeat(block.relation, rows),
            keys,
            nothing,
            pa.nulls(rows, pa.int64()),
            nothing,
            nothing,
            pa.repeat(pa.scalar(0, pa.int64()), rows),
        ],
        schema=_SCHEMA,
    )


class _RejectLog:
    """The rejects of a task: the first few with their text, the others counted per file."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rows: list[tuple[str, int | None, str | None, str | None, int]] = []
        self._more: dict[str, int] = {}

    def add(self, file: str, line: int | None, text: str, reason: str) -> None:
        if len(self._rows) < self._most:
            self._rows.append((file, line, text, reason, 1))
        else:
            self._more[file] = self._more.get(file, 0) + 1

    def batches(self) -> Batches:
        rows = self._rows + [(file, None, None, None, count) for file, count in self._more.items()]
        if rows:
            yield _rejects(rows)


def _rejects(rows: Sequence[tuple[str, int | None, str | None, str | None, int]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, type_) for column, type_ in zip(columns, _SCHEMA.types[2:], strict=True)]
    nothing = pa.nulls(len(rows), pa.string()), pa.nulls(len(rows), pa.list_(pa.string()))
    return pa.RecordBatch.from_arrays([*nothing, *arrays], schema=_SCHEMA)


def _reason(error: EverlogError) -> str:
    """What is wrong, without the place."""
    if isinstance(error, DataError):
        place = error.path if error.line is None else f"{error.path or '<data>'}:{error.line}"
        return error.message.removeprefix(f"{place}: ")
    return error.message


def count_columns(width: int) -> str:
    return "1 column" if width == 1 else f"{width} columns"
