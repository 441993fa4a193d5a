"""How do facts of a relation become a file?

The extension says the format, as in reading.py. What each format keeps:

    .jsonl .ndjson          everything; reading gives back the same facts
    .nt .nq .ttl .trig      everything, of the relations `triple` and `quad` only
    .parquet .arrow         the types of columns whose terms are all of one type; other terms as text
    .csv .tsv               the text of terms: no types, no languages, IRIs without brackets

TSV has no quoting, so a value with a tab or a line end in it is refused rather than changed. Facts are written in the
order in which they come. The file appears under its name when it is complete, or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, repeat
from pathlib import Path

from everlog.errors import EverlogError, OutputError, UsageError
from everlog.formats.compression import replacing
from everlog.formats.reading import format_of

WRITABLE = ("csv", "tsv", "jsonl", "parquet", "arrow", "nt", "nq", "ttl", "trig")

_LINES_AT_ONCE = 1 << 14  # lines joined before they are encoded and written


def write_facts(
    path: str | Path,
    relation: str,
    columns: Sequence[Sequence[str]],
    *,
    format: str | None = None,
    rows: int | None = None,
    header: Sequence[str] | None = None,
) -> None:
    """Write columns of term keys.

    Args:
        relation: whose facts these are.
        columns: the keys of each argument; none for a relation without arguments, which holds `rows` facts (0 or 1).
        format: how to write, where the extension does not say.
        header: names for the columns; a first row in CSV and TSV.
    """
    path = Path(path)
    name = format_of(path, format)
    count = len(columns[0]) if columns else int(bool(rows))
    if header is not None and len(header) != len(columns):
        raise UsageError(f"{len(header)} names are given for {len(columns)} columns")
    if name not in WRITABLE:
        raise OutputError(f"{path}: the format {name} can be read but not written", hint="write .ttl or .nt instead")
    try:
        with replacing(path) as stream:
            if name in ("parquet", "arrow"):
                from everlog.formats.parquet import write_parquet

                write_parquet(stream, columns, header, name)
                return
            lines = text_lines(name, relation, columns, count, header)
            while batch := "".join(islice(lines, _LINES_AT_ONCE)):
                stream.write(batch.encode())
    except UnicodeEncodeError as error:
        raise OutputError(f"{path}: {relation} holds a string that is not valid Unicode ({error.reason})") from error
    except EverlogError as error:
        if not error.message.startswith(str(path)):
            raise OutputError(f"{path}: {error.message}", hint=error.hint) from error
        raise


def text_lines(
    format: str, relation: str, columns: Sequence[Sequence[str]], count: int, header: Sequence[str] | None = None
) -> Iterator[str]:
    """The lines of a file in one of the formats that are text."""
    if format == "jsonl":
        from everlog.formats.jsonl import jsonl_lines

        return jsonl_lines(relation, columns, count)
    if format in ("csv", "tsv"):
        return _table_lines(format, columns, count, header)
    from everlog.formats.rdf_writing import rdf_lines

    return rdf_lines(format, relation, columns)


def _table_lines(
    format: str, columns: Sequence[Sequence[str]], count: int, header: Sequence[str] | None
) -> Iterator[str]:
    from everlog.facts.arrays import text_of_key

    delimiter, field = (",", _csv_field) if format == "csv" else ("\t", _tsv_field)
    if not columns:
        return repeat("()\n", count)
    alone = len(columns) == 1
    as_field = _remembered(lambda key: _alone(field(text_of_key(key)), format) if alone else field(text_of_key(key)))
    return _rows(delimiter, as_field, columns, [field(name) for name in header] if header else None)


def _rows(
    delimiter: str, field: Callable[[str], str], columns: Sequence[Sequence[str]], header: list[str] | None
) -> Iterator[str]:
    if header:
        yield delimiter.join(header) + "\n"
    for row in zip(*columns, strict=True):
        yield delimiter.join(map(field, row)) + "\n"


def _remembered(function: Callable[[str], str]) -> Callable[[str], str]:
    """The function, evaluated once for each distinct argument, since columns repeat their values."""

    class Known(dict[str, str]):
        def __missing__(self, key: str) -> str:
            value = self[key] = function(key)
            return value

    return Known().__getitem__


_SPECIAL_IN_CSV = re.compile('[",\r\n\ufeff]')  # the last would be taken for a byte order mark at the start of a file
_SPECIAL_IN_TSV = re.compile("[\t\r\n]")


def _csv_field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _SPECIAL_IN_CSV.search(text) else text


def _tsv_field(text: str) -> str:
    if _SPECIAL_IN_TSV.search(text) or text.startswith("\ufeff"):
        raise OutputError(
            f"{text[:60]!r} holds a tab, a line end or a byte order mark, which TSV cannot say",
            hint="write .csv or .jsonl instead",
        )
    return text


def _alone(field: str, format: str) -> str:
    """A field that is a whole line: a blank one would be skipped, and `()` be a fact without arguments."""
    if field not in ("", "()"):
        return field
    if format == "csv":
        return f'"{field}"'
    raise OutputError(f"the line {field!r} would not be read as a string", hint="write .csv or .jsonl instead")
