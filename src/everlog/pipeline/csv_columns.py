"""How are CSV and TSV files read without leaving Spark?

A line without quotes is a row, cut at the delimiter. A line with quotes is one too if it is well formed by itself; if
all lines of a file are of these two kinds, no field spans lines, and the file may be split anywhere. Any other file is
read by one task. Typed columns other than strings and plain integers are made by Python (parsing.py), where `fields`
knows their rules.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import Column
from pyspark.sql import functions as f

from everlog.errors import DataError
from everlog.formats.compression import open_bytes
from everlog.pipeline import parsing
from everlog.pipeline.documents import gather_documents, parsed_lines
from everlog.pipeline.gathering import Gathered, computed_once, text_lines
from everlog.pipeline.rejects import reading
from everlog.pipeline.sources import Source, SourceFile, path_of

# What a line is.
NOTHING, PLAIN, FOR_PYTHON, UNSPLITTABLE = 0, 1, 2, 3

_FIELD = r'(?:"[^"]*+(?:""[^"]*+)*+"|[^",]*+)'
_WELL_FORMED = rf"\A{_FIELD}(?:,{_FIELD})*+\z"
_INTEGER = r"\A[+-]?[0-9]{1,18}\z"  # more digits than 64 bits hold are left to Python


def gather_csv(gathered: Gathered, source: Source, files: list[SourceFile]) -> None:
    """The facts of CSV and TSV files."""
    groups: dict[tuple[str, str, int, str | None], list[SourceFile]] = {}
    whole: list[SourceFile] = []
    for file in files:
        delimiter = "," if file.format == "csv" else "\t"
        first = _first_line(gathered, file)
        if first is None:
            continue  # no rows, no facts
        if first == "()" or not well_formed(first, delimiter):
            whole.append(file)
            continue
        width = len(parsing.split_row(first, delimiter))
        if source.types is not None and len(source.types) != width:
            raise DataError(
                f"{len(source.types)} types are given, but the file has {parsing.count_columns(width)}",
                path=file.path,
                hint="give one type for each column",
            )
        groups.setdefault((file.relation, delimiter, width, first if source.header else None), []).append(file)
    for (relation, delimiter, width, header), some in groups.items():
        whole += _gather_rows(gathered, source, some, relation, delimiter, width, header)
    if whole:
        gather_documents(gathered, source, whole)


def _gather_rows(
    gathered: Gathered,
    source: Source,
    files: list[SourceFile],
    relation: str,
    delimiter: str,
    width: int,
    header: str | None,
) -> list[SourceFile]:
    """Add the facts of files with rows of one width and one header; those that cannot be split are handed back."""
    line, kind = f.col("line"), f.col("kind")
    is_header = f.lit(False) if header is None else line == header
    told = computed_once(line_kind(line, delimiter, width, source.types))
    with reading(source.title):
        lines = text_lines(gathered.spark, files).withColumn("kind", told)
        counts = lines.groupBy("file", "kind", is_header.alias("header")).count().collect()
    # A header is known by its text, so a file in which a row looks just like it is read whole.
    unsplittable = {path_of(row["file"]) for row in counts if row["kind"] == UNSPLITTABLE}
    if header is not None:
        once = {path_of(row["file"]) for row in counts if row["header"] and row["count"] == 1}
        unsplittable |= {file.path for file in files} - once
    whole = [file for file in files if file.path in unsplittable]
    split = [file for file in files if file.path not in unsplittable]
    if not split:
        return whole
    rows = (text_lines(gathered.spark, split).withColumn("kind", told) if whole else lines).where(~is_header)
    here = [row for row in counts if not row["header"] and path_of(row["file"]) not in unsplittable]
    plain = sum(row["count"] for row in here if row["kind"] == PLAIN)
    columns = [key.alias(f"c{place}") for place, key in enumerate(row_keys(line, delimiter, width, source.types), 1)]
    gathered.add(relation, rows.where(kind == PLAIN).select(*columns), plain, source.title)
    if any(row["kind"] == FOR_PYTHON for row in here):
        parse = functools.partial(
            parsing.parse_csv_lines,
            relation=relation,
            width=width,
            delimiter=delimiter,
            types=source.types,
            samples=gathered.samples,
        )
        gathered.add_parsed(parsed_lines(rows.where(kind == FOR_PYTHON), f.lit(""), parse), source.title)
    return whole


def _first_line(gathered: Gathered, file: SourceFile) -> str | None:
    """The first line that is not blank."""
    if not file.is_local:
        with reading(file.path):
            row = text_lines(gathered.spark, [file]).where("line != ''").first()
        return None if row is None else str(row["line"])
    with open_bytes(Path(file.path)) as stream:
        for number, raw in enumerate(stream):
            for line in raw.splitlines():
                if line:
                    return line.decode("utf-8-sig" if number == 0 else "utf-8", "replace")
    return None


def line_kind(line: Column, delimiter: str, width: int, types: Sequence[str] | None) -> Column:
    """What a line is: NOTHING, PLAIN, FOR_PYTHON, or UNSPLITTABLE, which says so of its whole file."""
    plain = (f.size(_cells(line, delimiter)) == width) & f.is_valid_utf8(line)
    if types is not None:
        if not set(types) <= {"string", "integer"}:
            plain = f.lit(False)
        for place, type_ in enumerate(types):
            if type_ == "integer":
                plain = plain & f.coalesce(_cell(line, delimiter, place).rlike(_INTEGER), f.lit(False))
    kind = f.when(line == "", NOTHING)
    if delimiter == ",":
        quoted = line.contains('"')
        kind = kind.when(quoted & ~line.rlike(_WELL_FORMED), UNSPLITTABLE).when(quoted, FOR_PYTHON)
    return kind.when(plain, PLAIN).otherwise(FOR_PYTHON)


def row_keys(line: Column, delimiter: str, width: int, types: Sequence[str] | None) -> list[Column]:
    """The keys of the cells of a PLAIN line."""
    keys = []
    for place in range(width):
        cell = _cell(line, delimiter, place)
        if types is not None and types[place] == "integer":
            keys.append(f.concat(f.lit("^integer "), cell.cast("long").cast("string")))
        else:
            keys.append(f.concat(f.lit('"'), cell))
    return keys


def well_formed(line: str, delimiter: str) -> bool:
    """Whether a line is a whole row by itself.

    >>> well_formed('a,"b, c"', ","), well_formed('a,"b', ",")
    (True, False)
    """
    return delimiter != "," or bool(re.match(_WELL_FORMED.replace(r"\z", r"\Z"), line))


def _cells(line: Column, delimiter: str) -> Column:
    return f.split(line, delimiter, -1)


def _cell(line: Column, delimiter: str, place: int) -> Column:
    return f.get(_cells(line, delimiter), f.lit(place))
