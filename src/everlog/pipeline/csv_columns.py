"""How are CSV and TSV files read without leaving Spark?

A line without quotes is a row, cut at the delimiter. A line with quotes is one too if it is well formed by itself; if
all lines of a file are of these two kinds, no field spans lines, and the file may be split anywhere. Any other file is
read by one task. Cells without a value, and those that are not strings or plain integers, are left to Python
(row_parsing.py), where `fields` knows their rules.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from everlog.addresses import path_of
from everlog.formats.compression import open_bytes
from everlog.formats.fields import MAYBE_NO_STRING
from everlog.pipeline.documents import gather_documents, parsed_lines
from everlog.pipeline.gathering import Gathered, text_lines
from everlog.pipeline.partitions import partition_names, with_partitions
from everlog.pipeline.picking import SIGNS, Picked, named_csv
from everlog.pipeline.rejects import reading
from everlog.pipeline.row_parsing import RowReader, parse_csv_lines, split_row
from everlog.pipeline.source_files import SourceFile
from everlog.pipeline.sources import InputSource

# What a line is. UNSPLITTABLE: the whole file must be read by one task.
NOTHING, PLAIN, FOR_PYTHON, UNSPLITTABLE, HEADER = 0, 1, 2, 3, 4

_FIELD = r'(?:"[^"]*+(?:""[^"]*+)*+"|[^"{0}]*+)'
_INTEGER = r"\A[+-]?[0-9]{1,18}\z"  # more digits than 64 bits hold are left to Python
_LOOKS_INTEGER = r"\A(?:0|-?[1-9][0-9]{0,17})\z"
_LOOKS_OTHER = rf"\A(?:{MAYBE_NO_STRING})"


@dataclass(frozen=True)
class _Rows:
    """Files with rows of one shape."""

    relation: str
    format: str
    width: int
    header: str | None
    picked: Picked


def gather_csv(gathered: Gathered, source: InputSource, files: list[SourceFile]) -> None:
    """The facts of CSV and TSV files."""
    groups: dict[_Rows, list[SourceFile]] = {}
    whole: list[SourceFile] = []
    for file in files:
        delimiter, quoted = source.cell_delimiter(file.format), file.format == "csv"
        first = _first_line(gathered, file)
        if first is None:
            continue  # no rows, no facts
        if first == "()" or (quoted and not well_formed(first, delimiter)):
            whole.append(file)
            continue
        fields = split_row(first, delimiter, quoted)
        chosen = named_csv(source, fields, partition_names([file]), file.path)
        rows = _Rows(file.relation, file.format, len(fields), first if source.header else None, chosen)
        groups.setdefault(rows, []).append(file)
    for rows, some in groups.items():
        whole += _gather_rows(gathered, source, some, rows)
    if whole:
        gather_documents(gathered, source, whole)


def _gather_rows(gathered: Gathered, source: InputSource, files: list[SourceFile], rows: _Rows) -> list[SourceFile]:
    """Add the facts of files with rows of one shape; returns those that cannot be split."""
    kind = f.col("kind")
    with reading(source.title):
        lines = gathered.persist(_cut(text_lines(gathered.spark, files), source, files, rows))
        counts = lines.groupBy("file", "kind", "sign").count().collect()
    # A header is recognised by its text, so a file in which another row looks the same is read whole.
    unsplittable = {row["file"] for row in counts if row["kind"] == UNSPLITTABLE}
    if rows.header is not None:
        once = {path_of(row["file"]) for row in counts if row["kind"] == HEADER and row["count"] == 1}
        more = {file.path for file in files} - once
        unsplittable |= {row["file"] for row in counts if path_of(row["file"]) in more}
    here = [row for row in counts if row["file"] not in unsplittable]
    some = lines.where(~f.col("file").isin(*unsplittable)) if unsplittable else lines
    inserted, deleted = (
        sum(row["count"] for row in here if row["kind"] == PLAIN and row["sign"] == sign) for sign in (1, -1)
    )
    names = [f"c{place + 1}" for place in range(len(rows.picked.arguments))]
    plain = some.where(kind == PLAIN)
    if source.kind == "changes":
        gathered.add_changes(rows.relation, plain.select(*names, "sign"), inserted, deleted, source.title)
    else:
        gathered.add(rows.relation, plain.select(*names), inserted, source.title)
    if any(row["kind"] == FOR_PYTHON for row in here):
        by_path = {file.path: file.partition for file in files}
        parse = functools.partial(
            parse_csv_lines,
            reader=RowReader(source, rows.relation, rows.picked, by_path),
            width=rows.width,
            format=rows.format,
            samples=gathered.samples,
        )
        gathered.add_parsed(parsed_lines(some.where(kind == FOR_PYTHON), f.lit(""), parse), source.title)
    whole = {path_of(address) for address in unsplittable}
    return [file for file in files if file.path in whole]


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


def _cut(lines: DataFrame, source: InputSource, files: list[SourceFile], rows: _Rows) -> DataFrame:
    """What each line is, its keys in columns where it is PLAIN, and its text where Python must see it."""
    line, kind, cells = f.col("line"), f.col("kind"), f.col("cells")
    delimiter = source.cell_delimiter(rows.format)
    told = f.when(line == "", NOTHING)
    if rows.header is not None:
        told = told.when(line == rows.header, HEADER)
    if rows.format == "csv":
        quoted = line.contains('"')
        told = told.when(quoted & ~line.rlike(_well_formed(delimiter)), UNSPLITTABLE).when(quoted, FOR_PYTHON)
    told = told.when(_plain(source, rows), PLAIN).otherwise(FOR_PYTHON)
    # A column for each step: Spark then computes it once.
    step = with_partitions(lines, files, "file")
    step = step.withColumn("cells", f.split(line, re.escape(delimiter), -1)).withColumn("kind", told)
    keys = []
    types = iter(source.types or ["any"] * len(rows.picked.cells))
    for number, place in enumerate(rows.picked.arguments, 1):
        if place < 0:
            key = f.col(f"__p{-place - 1}")
        else:
            key = _key(f.get(cells, f.lit(place)), next(types))
        keys.append(f.when(kind == PLAIN, key).alias(f"c{number}"))
    sign = f.when(kind == PLAIN, _sign(rows.picked)).alias("sign")
    return step.select("kind", "file", sign, *keys, f.when(kind == FOR_PYTHON, line).alias("line"))


def _key(cell: Column, type_: str) -> Column:
    """The key of a cell in a row that is PLAIN."""
    text = f.concat(f.lit('"'), cell)
    if type_ == "integer":
        return f.concat(f.lit("^integer "), cell.cast("long").cast("string"))
    return (
        text
        if type_ == "string"
        else f.when(cell.rlike(_LOOKS_INTEGER), f.concat(f.lit("^integer "), cell)).otherwise(text)
    )


def _plain(source: InputSource, rows: _Rows) -> Column:
    """Whether a row of cells needs no Python: its width is right, and each cell has a value of a simple type."""
    cells = f.col("cells")
    types = source.types or ["any"] * len(rows.picked.cells)
    if not set(types) <= {"string", "integer", "any"}:
        return f.lit(False)
    plain = (f.size(cells) == rows.width) & f.is_valid_utf8(f.col("line"))
    for place, type_ in zip(rows.picked.cells, types, strict=True):
        cell = f.get(cells, f.lit(place))
        plain = plain & f.coalesce(cell != "", f.lit(False))
        if type_ == "integer":
            plain = plain & cell.rlike(_INTEGER)
        if type_ == "any":
            plain = plain & (cell.rlike(_LOOKS_INTEGER) | ~cell.rlike(_LOOKS_OTHER))
        if source.null is not None:
            plain = plain & (cell != source.null)
    for place in rows.picked.arguments:
        if place < 0:
            plain = plain & f.col(f"__p{-place - 1}").isNotNull()
    return plain if rows.picked.change is None else plain & _sign(rows.picked).isNotNull()


def _sign(picked: Picked) -> Column:
    """1 where a row is inserted, -1 where it is deleted, null where its change column says neither."""
    if picked.change is None:
        return f.lit(1)
    return sign_column(f.get(f.col("cells"), f.lit(picked.change)))


def sign_column(said: Column) -> Column:
    """The signs that a column of changes says; null where it says none."""
    text = f.lower(f.trim(said.cast("string")))
    inserts, deletes = ([word for word, sign in SIGNS.items() if sign == which] for which in (1, -1))
    return f.when(text.isin(*inserts), 1).when(text.isin(*deletes), -1)


def _well_formed(delimiter: str) -> str:
    field = _FIELD.format(re.escape(delimiter))
    return rf"\A{field}(?:{re.escape(delimiter)}{field})*+\z"


def well_formed(line: str, delimiter: str) -> bool:
    """Whether a line is a whole row by itself.

    >>> well_formed('a,"b, c"', ","), well_formed('a,"b', ",")
    (True, False)
    """
    return bool(re.match(_well_formed(delimiter).replace(r"\z", r"\Z"), line))
