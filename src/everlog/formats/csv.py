"""Which facts are in the rows of a CSV or TSV file?

CSV is quoted as in RFC 4180. TSV is not quoted at all: a field is what stands between two tabs. In both a field is what
it looks like, unless a column's type says otherwise (fields.py); an empty one, in quotes or not, is no value
(facts/missing.py); blank lines are no rows; and a file with the single line ``()`` holds the one fact of a relation
without arguments.

Arrow does the reading. It knows no line numbers, so where it fails, or a value does, the file is read once more by
`csv.reader` to find the place.
"""

from __future__ import annotations

import collections
import contextlib
import csv
import io
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from everlog.errors import DataError, EverlogError, FormatError
from everlog.facts.blocks import FactBlock
from everlog.facts.missing import MissingValues
from everlog.formats.compression import open_bytes, packed_by_mistake
from everlog.formats.fields import WrongField, typed_columns

BLOCK_BYTES = 1 << 24  # what Arrow parses at a time, and so the longest row


def read_csv(
    path: Path,
    relation: str,
    *,
    delimiter: str = ",",
    types: Sequence[str] | None = None,
    header: bool = False,
    missing: MissingValues | None = None,
) -> Iterator[FactBlock]:
    """The rows of a file as facts of one relation."""
    first = next(csv_records(path, delimiter), None)
    if first is None:
        return
    width = len(first[1])
    if types is not None and len(types) != width:
        raise DataError(
            f"{len(types)} types are given, but the file has {_count(width)}",
            path=str(path),
            line=first[0],
            hint="give one type for each column",
        )
    if first[1] == ["()"] and types is None and not header and _is_nullary(path):
        yield FactBlock(relation, ())
        return
    missing = missing or MissingValues()
    rows = 0
    with _CountingQuotes(open_bytes(path)) as stream:
        for texts in _batches(path, stream, delimiter, width, header):
            whole = _whole_rows(texts)
            if whole is not None and missing.refuses:
                raise _empty_field(path, delimiter, rows + header, texts, first[1] if header else None)
            read = texts
            if whole is not None and missing.skips:
                missing.skipped += len(whole) - whole.true_count
                read = [text.filter(whole) for text in texts]
            try:
                columns, form = typed_columns(read, types)
            except WrongField as wrong:
                row = wrong.row
                if read is not texts:
                    row = pc.indices_nonzero(whole)[row].as_py()
                raise _wrong_field(path, delimiter, rows + row + header, wrong) from None
            rows += len(texts[0])
            yield FactBlock(relation, columns, form)
        # Arrow takes a quote that is never closed as closed by the end of the file.
        if delimiter == "," and stream.quotes % 2:
            _check_closed(path)


def _batches(path: Path, stream: io.RawIOBase, delimiter: str, width: int, header: bool) -> Iterator[list[pa.Array]]:
    quoted = delimiter == ","
    names = [str(position) for position in range(width)]
    try:
        reader = arrow_csv.open_csv(
            stream,
            read_options=arrow_csv.ReadOptions(column_names=names, block_size=BLOCK_BYTES),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter,
                quote_char='"' if quoted else False,
                double_quote=quoted,
                newlines_in_values=quoted,
                ignore_empty_lines=True,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types={name: pa.string() for name in names},
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
        skip = int(header)  # not Arrow's skip_rows, which counts lines where a row may have several
        for batch in reader:
            batch = batch.slice(skip)
            skip = 0
            if batch.num_rows:
                yield batch.columns
    except pa.ArrowInvalid as error:
        raise _explain(path, delimiter, width, error) from error


def _explain(path: Path, delimiter: str, width: int, error: Exception) -> EverlogError:
    """The error for what Arrow rejected, with its place."""
    if "straddl" in str(error):
        return FormatError(
            f"a row is longer than {BLOCK_BYTES >> 20} MB", path=str(path), hint="is a quote left open somewhere?"
        )
    try:
        for line, fields in csv_records(path, delimiter):
            if len(fields) != width:
                if delimiter == ",":
                    _check_closed(path)  # an open quote swallows rows, and is the better explanation
                return DataError(
                    f"this row has {_count(len(fields))}, the first has {_count(width)}",
                    path=str(path),
                    line=line,
                    hint=_ragged_hint(delimiter),
                )
    except EverlogError as found:
        return found
    return FormatError(str(error), path=str(path))


def _ragged_hint(delimiter: str) -> str:
    if delimiter == ",":
        return 'all rows of a relation have the same columns; put a field with a comma in it in quotes: "a, b"'
    return "all rows of a relation have the same columns, with one tab between each two"


def _whole_rows(texts: list[pa.Array]) -> pa.Array | None:
    """Which rows have all their values; None where all have."""
    lacking = [text for text in texts if text.null_count]
    if not lacking:
        return None
    whole = lacking[0].is_valid()
    for text in lacking[1:]:
        whole = pc.and_(whole, text.is_valid())
    return whole


def _empty_field(path: Path, delimiter: str, before: int, texts: list[pa.Array], names: list[str] | None) -> DataError:
    """The error for the first empty field; `before` is the number of rows before these."""
    firsts = [(pc.index(text.is_null(), True).as_py(), place) for place, text in enumerate(texts) if text.null_count]
    row, place = min(firsts)
    line, _ = next(itertools.islice(csv_records(path, delimiter), before + row, None))
    column = f"column {names[place]!r}" if names else f"column {place + 1}"
    return MissingValues.refusal(column, str(path), line)


def _wrong_field(path: Path, delimiter: str, row: int, wrong: WrongField) -> DataError:
    line, _ = next(itertools.islice(csv_records(path, delimiter), row, None))
    return DataError(
        f"column {wrong.column}: {wrong.text!r} is not {wrong.expected}", path=str(path), line=line, hint=wrong.hint
    )


def csv_records(
    path: Path, delimiter: str, end: str | None = None, *, quoted: bool | None = None
) -> Iterator[tuple[int, list[str]]]:
    """The rows with the line each begins on, read the slow way; `end` is one more line after the last.

    `quoted` says whether fields may stand in quotes; by default they may where a comma is between them.
    """
    with open_bytes(path) as stream, _long_fields():
        lines: Iterator[str] = _lines(stream, str(path))
        if end:
            lines = itertools.chain(lines, [end])
        if delimiter == "," if quoted is None else quoted:
            reader = csv.reader(lines, delimiter=delimiter)
        else:
            reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        while True:
            line = reader.line_num + 1
            fields = next(reader, None)
            if fields is None:
                return
            if fields:
                yield line, fields


def _lines(stream: BinaryIO, path: str) -> Iterator[str]:
    # Not a TextIOWrapper: it decodes many lines at once and so cannot say which one is wrong.
    for number, line in enumerate(_physical_lines(stream), 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            hint = packed_by_mistake(line) if number == 1 else None
            raise FormatError(
                f"this line is not UTF-8 (byte {error.start + 1})",
                path=path,
                line=number,
                hint=hint or "convert the file first, for example: iconv -f latin1 -t utf-8",
            ) from error


def _physical_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Lines with their ends, which may also be a lone carriage return."""
    for line in stream:
        if b"\r" in line:
            yield from line.splitlines(keepends=True)  # of bytes: at \n, \r and \r\n only
        else:
            yield line


def _check_closed(path: Path) -> None:
    """Raise if the last quote of a CSV file is never closed: then an appended line becomes part of its field."""
    end = "\0end of file"
    line, fields = collections.deque(csv_records(path, ",", end), maxlen=1).pop()
    if fields != [end]:
        raise FormatError(
            "a quote is opened in this row and never closed",
            path=str(path),
            line=line,
            hint='inside quotes write "" for "',
        )


def _is_nullary(path: Path) -> bool:
    with open_bytes(path) as stream:
        return stream.read(16).strip() == b"()"


@contextlib.contextmanager
def _long_fields() -> Iterator[None]:
    usual = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(usual)


class _CountingQuotes(io.RawIOBase):
    """A stream that counts the quotes read so far."""

    def __init__(self, inner: BinaryIO) -> None:
        self._inner = inner
        self.quotes = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._inner.read(size)
        self.quotes += data.count(b'"')
        return data

    def close(self) -> None:
        self._inner.close()
        super().close()


def _count(width: int) -> str:
    return "1 column" if width == 1 else f"{width} columns"
