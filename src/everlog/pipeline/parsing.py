"""How do Spark's Python workers read what Spark itself cannot?

Lines come in batches, documents as a row each that names a file. Both become rows of one schema: facts (a relation and
the keys of its terms, and whether they are inserted or deleted), rejected lines, rows without a value, or the failure
of a whole file. Readers are those of `formats`, so that a fact is the same here and in process. A batch of lines is
read at once; only where that fails is it halved, and halved again, until the lines to blame stand alone.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from everlog.errors import DataError, EverlogError
from everlog.facts.arrays import keys_of_values
from everlog.facts.blocks import FactBlock
from everlog.formats.jsonl import read_jsonl
from everlog.formats.rdf import read_rdf

Batches = Iterator[pa.RecordBatch]
Blocks = list[FactBlock]
T = TypeVar("T")
_Log = tuple[str, int | None, str | None, str | None, int, int]

BROKEN = -1  # in `rejected`: a file that could not be read to its end; its text is a hint
PARSED = (
    "relation string, keys array<string>, file string, line long, text string, reason string, rejected long, "
    "nulls long, sign int"
)

_SCHEMA = pa.schema(
    [
        ("relation", pa.string()),
        ("keys", pa.list_(pa.string())),
        ("file", pa.string()),  # of facts, only where their order matters
        ("line", pa.int64()),
        ("text", pa.string()),
        ("reason", pa.string()),
        ("rejected", pa.int64()),  # how many lines this row stands for
        ("nulls", pa.int64()),  # how many rows without a value
        ("sign", pa.int32()),  # 1 inserted, -1 deleted
    ]
)


def parse_lines(batches: Batches, *, format: str, graph: str | None, samples: int) -> Batches:
    """Facts and rejects from rows of (line, file, scope), the line as bytes, of an nt, nq or jsonl file."""
    log = RowLog(samples)
    for batch in batches:
        for part in by_file(batch):
            file, scope = part["file"][0].as_py(), part["scope"][0].as_py()
            lines = part["line"].to_pylist()
            if format == "jsonl":
                read: Callable[[list[bytes]], Blocks] = functools.partial(_jsonl_facts, file)
            else:
                read = functools.partial(_rdf_facts, file, format, graph, scope)
            for found in halving(lines, read):
                if isinstance(found, FactBlock):
                    yield facts_of(found)
                else:
                    line, error = found
                    log.reject(file, None, line.decode("utf-8", "replace"), reason_of(error))
    yield from log.batches()


def halving(items: list[T], read: Callable[[list[T]], Blocks]) -> Iterator[FactBlock | tuple[T, EverlogError]]:
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
    yield from halving(items[:middle], read)
    yield from halving(items[middle:], read)


def _rdf_facts(file: str, format: str, graph: str | None, scope: str, lines: list[bytes]) -> Blocks:
    return list(read_rdf(_joined(lines), format, path=file, graph=graph, scope=scope))


def _jsonl_facts(file: str, lines: list[bytes]) -> Blocks:
    return list(read_jsonl(_joined(lines), path=file))


def _joined(lines: list[bytes]) -> io.BytesIO:
    return io.BytesIO(b"\n".join(lines) + b"\n")


def by_file(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
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
    return [keys_of_values(column) if block.form == "values" else _plain(column) for column in block.columns]


def _plain(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def facts_of(block: FactBlock, sign: int = 1, file: str | None = None, line: int | None = None) -> pa.RecordBatch:
    """A block as rows; `file` and `line` say which of two changes of a fact is the later."""
    rows, width = len(block), block.arity
    if width:
        flat = pa.concat_arrays(keys_of_block(block)).take(
            pa.array(np.arange(rows * width).reshape(width, rows).T.ravel())
        )
    else:
        flat = pa.array([], pa.string())
    keys = pa.ListArray.from_arrays(pa.array(np.arange(rows + 1, dtype=np.int32) * width, pa.int32()), flat)
    nothing, none = pa.nulls(rows, pa.string()), pa.repeat(pa.scalar(0, pa.int64()), rows)
    return pa.RecordBatch.from_arrays(
        [
            pa.repeat(block.relation, rows),
            keys,
            nothing if file is None else pa.repeat(file, rows),
            pa.repeat(pa.scalar(line, pa.int64()), rows),
            nothing,
            nothing,
            none,
            none,
            pa.repeat(pa.scalar(sign, pa.int32()), rows),
        ],
        schema=_SCHEMA,
    )


class RowLog:
    """What of a task's rows makes no fact: the first few with their text, the others counted per file."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rows: list[_Log] = []
        self._more: dict[tuple[str, bool], int] = {}

    def reject(self, file: str, line: int | None, text: str, reason: str) -> None:
        """A row that is malformed."""
        self._add(file, line, text, reason, False)

    def null(self, file: str, line: int | None, text: str, reason: str) -> None:
        """A row in which a value is missing."""
        self._add(file, line, text, reason, True)

    def _add(self, file: str, line: int | None, text: str, reason: str, null: bool) -> None:
        if len(self._rows) < self._most:
            self._rows.append((file, line, text, reason, int(not null), int(null)))
        else:
            self._more[file, null] = self._more.get((file, null), 0) + 1

    def batches(self) -> Batches:
        rows: list[_Log] = list(self._rows)
        for (file, null), count in self._more.items():
            rows.append((file, None, None, None, 0 if null else count, count if null else 0))
        if rows:
            yield _logged(rows)


def broken(file: str, error: EverlogError) -> pa.RecordBatch:
    """The failure of a whole file."""
    return _logged([(file, getattr(error, "line", None), error.hint, reason_of(error), BROKEN, 0)])


def _logged(rows: Sequence[_Log]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, type_) for column, type_ in zip(columns, _SCHEMA.types[2:8], strict=True)]
    nothing = pa.nulls(len(rows), pa.string()), pa.nulls(len(rows), pa.list_(pa.string()))
    return pa.RecordBatch.from_arrays([*nothing, *arrays, pa.nulls(len(rows), pa.int32())], schema=_SCHEMA)


def reason_of(error: EverlogError) -> str:
    """What is wrong, without the place."""
    if isinstance(error, DataError):
        place = error.path if error.line is None else f"{error.path or '<data>'}:{error.line}"
        return error.message.removeprefix(f"{place}: ")
    return error.message
