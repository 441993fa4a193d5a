"""How do Python workers turn rows of values into facts: CSV rows, JSON objects?

A row has its place, its text, and a value for each argument that the file has; None where there is none. `RowReader`
knows the rest: the relation, types, what a missing value means, and which rows are inserted or deleted.
"""

from __future__ import annotations

import csv
import datetime as dt
import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from everlog.addresses import path_of
from everlog.errors import DataError
from everlog.facts.blocks import FactBlock
from everlog.formats.fields import WrongField, typed_columns
from everlog.formats.jsonl import decode_json, key_of_json
from everlog.pipeline.parsing import Batches, Blocks, RowLog, by_file, facts_of, halving, keys_of_block, reason_of
from everlog.pipeline.partitions import Partition
from everlog.pipeline.picking import SIGNS_TOLD, Picked, count_columns, sign_of
from everlog.pipeline.sources import InputSource

EMPTY = '"'  # the key of the empty string

_DATES: dict[str, Callable[[dt.datetime], str]] = {
    "date": lambda at: at.date().isoformat(),
    "dateTime": lambda at: at.isoformat().replace("+00:00", "Z"),
    "time": lambda at: at.timetz().isoformat().replace("+00:00", "Z"),
}


@dataclass(frozen=True)
class Row:
    """A row of a file: its line where that is known, its text, its values, and whether it is inserted or deleted."""

    line: int | None
    text: str
    values: Sequence[Any]
    sign: int = 1


@dataclass(frozen=True)
class RowReader:
    """Makes facts of rows.

    Attributes:
        picked: which columns are arguments.
        partitions: the values of partition columns, by the file's path.
        untyped: the type of texts where the source says none: JSON, other than CSV, says what is a string.
    """

    source: InputSource
    relation: str
    picked: Picked
    partitions: Mapping[str, Partition] = field(default_factory=dict)
    untyped: str = "any"

    def facts(self, rows: Sequence[Row], file: str, log: RowLog) -> Batches:
        """Rows of one file as facts; those without a value, or with a wrong one, go to the log."""
        partition = [key for _, key in self.partitions.get(path_of(file), ())]
        by_sign: dict[int, list[Row]] = {}
        for row in rows:
            missing = self._missing(row, partition)
            if missing is None or self.source.nulls == "empty":
                by_sign.setdefault(row.sign, []).append(row)
            else:
                log.null(file, row.line, row.text, f"column {missing!r} has no value")
        for sign, some in by_sign.items():
            for found in halving(some, functools.partial(self._read, partition)):
                if isinstance(found, FactBlock):
                    yield facts_of(found, sign)
                else:
                    row, error = found
                    log.reject(file, row.line, row.text, reason_of(error))

    def _missing(self, row: Row, partition: Sequence[str | None]) -> str | None:
        values = iter(row.values)
        for name, place in zip(self.picked.names, self.picked.arguments, strict=True):
            if (next(values) if place >= 0 else partition[-place - 1]) is None:
                return name
        return None

    def _read(self, partition: Sequence[str | None], rows: list[Row]) -> Blocks:
        columns = iter(zip(*(row.values for row in rows), strict=True))
        keys: list[pa.Array] = []
        cell = 0
        for name, place in zip(self.picked.names, self.picked.arguments, strict=True):
            if place < 0:
                keys.append(pa.repeat(partition[-place - 1] or EMPTY, len(rows)))
                continue
            type_ = self.source.types[cell] if self.source.types is not None else self.untyped
            keys.append(self._column(next(columns), type_, name, place + 1))
            cell += 1
        return [FactBlock(self.relation, tuple(keys), "keys")]

    def _column(self, values: Sequence[Any], type_: str, name: str, place: int) -> pa.Array:
        """The keys of a column: texts by their type, other values as they are; an empty string for none."""
        texts = all(value is None or isinstance(value, str) for value in values)
        if not texts:
            return pa.array([EMPTY if v is None else self._key(v, type_, name, place) for v in values], pa.string())
        array = pa.array(values, pa.string())
        there = array.drop_null()
        try:
            if self.source.date_format is not None and type_ in _DATES:
                there = self._dates(there, type_)
            columns, form = typed_columns([there], [type_])
        except WrongField as wrong:
            where = f"column {name!r}" if self.source.columns is not None or self.source.header else f"column {place}"
            raise DataError(f"{where}: {wrong.text!r} is not {wrong.expected}") from None
        keys = keys_of_block(FactBlock("", columns, form))[0]
        if not array.null_count:
            return keys
        return pc.replace_with_mask(pa.repeat(EMPTY, len(array)), array.is_valid(), keys)

    def _key(self, value: Any, type_: str, name: str, place: int) -> str:
        if isinstance(value, str):
            found: str = self._column([value], type_, name, place)[0].as_py()
            return found
        try:
            return key_of_json(value)
        except ValueError as error:
            raise DataError(f"column {name!r}: {str(error).partition('; ')[0]}") from None

    def _dates(self, texts: pa.Array, type_: str) -> pa.Array:
        assert self.source.date_format is not None
        distinct = texts.dictionary_encode()
        written = []
        for place, text in enumerate(distinct.dictionary.to_pylist()):
            try:
                written.append(_DATES[type_](dt.datetime.strptime(text, self.source.date_format)))
            except ValueError:
                raise WrongField(pc.index(distinct.indices, place).as_py(), 0, text, type_) from None
        return pa.array(written, pa.string()).take(distinct.indices)


def csv_row(reader: RowReader, line: int | None, text: str, fields: Sequence[str]) -> Row:
    """A row of cells, of which empty ones have no value; a DataError where its change column says nothing of use."""
    picked, null = reader.picked, reader.source.null
    cells = [fields[place] for place in picked.cells]
    values = [None if not cell or cell == null else cell for cell in cells]
    return Row(line, text, values, 1 if picked.change is None else _sign(fields[picked.change]))


def object_row(reader: RowReader, line: int | None, raw: bytes) -> Row:
    """A row of the values of a JSON object, found by name; a DataError where it is none."""
    try:
        text = raw.decode()
        found = decode_json(text)
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 (byte {error.start + 1})") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"this is not JSON ({error})") from None
    if not isinstance(found, dict):
        raise DataError(f"not an object: {json.dumps(found)[:80]}")
    picked, columns = reader.picked, reader.source.columns or ()
    names = [name for name in columns if name != reader.source.change_column]
    values = [_named(found, name) for name, place in zip(names, picked.arguments, strict=True) if place >= 0]
    sign = 1 if reader.source.change_column is None else _sign(found.get(reader.source.change_column))
    if "\\u" in text:
        _check_characters(values)
    return Row(line, text, values, sign)


def parse_csv_lines(batches: Batches, *, reader: RowReader, width: int, format: str, samples: int) -> Batches:
    """Facts and rejects from rows of (line, file, scope), each line a row of its own with `width` cells."""
    log = RowLog(samples)
    delimiter, quoted = reader.source.cell_delimiter(format), format == "csv"
    for batch in batches:
        for part in by_file(batch):
            file = part["file"][0].as_py()
            rows: list[Row] = []
            for raw in part["line"].to_pylist():
                try:
                    line = raw.decode()
                except UnicodeDecodeError as error:
                    log.reject(file, None, raw.decode("utf-8", "replace"), f"not UTF-8 (byte {error.start + 1})")
                    continue
                rows += checked_row(reader, None, line, split_row(line, delimiter, quoted), width, file, log)
            yield from reader.facts(rows, file, log)
    yield from log.batches()


def checked_row(
    reader: RowReader, line: int | None, text: str, fields: Sequence[str], width: int, file: str, log: RowLog
) -> Iterator[Row]:
    """The row, or nothing where it is one for the log."""
    if len(fields) != width:
        log.reject(file, line, text, f"{count_columns(len(fields))} where the others have {width}")
        return
    try:
        yield csv_row(reader, line, text, fields)
    except DataError as error:
        log.reject(file, line, text, error.message)


def parse_object_lines(batches: Batches, *, reader: RowReader, samples: int) -> Batches:
    """Facts and rejects from rows of (line, file, scope), each line a JSON object."""
    log = RowLog(samples)
    for batch in batches:
        for part in by_file(batch):
            file = part["file"][0].as_py()
            lines = ((None, raw) for raw in part["line"].to_pylist())
            yield from reader.facts(list(object_rows(reader, lines, file, log)), file, log)
    yield from log.batches()


def object_rows(reader: RowReader, lines: Iterator[tuple[int | None, bytes]], file: str, log: RowLog) -> Iterator[Row]:
    """A row for each line that is not blank and holds an object."""
    for number, raw in lines:
        if not raw.strip():
            continue
        try:
            yield object_row(reader, number, raw.removeprefix(b"\xef\xbb\xbf"))
        except DataError as error:
            log.reject(file, number, raw.decode("utf-8", "replace").rstrip("\r\n"), error.message)


def split_row(line: str, delimiter: str, quoted: bool) -> list[str]:
    if not quoted or '"' not in line:
        return line.split(delimiter)
    return next(csv.reader([line], delimiter=delimiter))


def _sign(said: Any) -> int:
    sign = sign_of(said) if isinstance(said, str | int) and not isinstance(said, bool) else None
    if sign is None:
        raise DataError(f"a change is {SIGNS_TOLD}, not {said!r}")
    return sign


def _named(found: dict[str, Any], column: str) -> Any:
    if column in found:
        return found[column]
    before, renaming, _ = column.rpartition(" as ")
    return found.get(before.strip()) if renaming else None


def _check_characters(values: Sequence[Any]) -> None:
    """An escape may name half a surrogate pair, which no text can hold."""
    try:
        json.dumps(values, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise DataError("half a surrogate pair is not a character") from None
