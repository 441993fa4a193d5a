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

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from everlog.errors import DataError
from everlog.formats.compression import open_bytes
from everlog.pipeline import parsing
from everlog.pipeline.documents import gather_documents, parsed_lines
from everlog.pipeline.gathering import Gathered, text_lines
from everlog.pipeline.rejects import reading
from everlog.pipeline.sources import InputSource, SourceFile, path_of

# What a line is.
NOTHING, PLAIN, FOR_PYTHON, UNSPLITTABLE, HEADER = (
    0,
    1,
    2,
    3,
    4,
)  # UNSPLITTABLE: the whole file must be read by one task

_FIELD = r'(?:"[^"]*+(?:""[^"]*+)*+"|[^",]*+)'
_WELL_FORMED = rf"\A{_FIELD}(?:,{_FIELD})*+\z"
_INTEGER = r"\A[+-]?[0-9]{1,18}\z"  # more digits than 64 bits hold are left to Python


def gather_csv(gathered: Gathered, source: InputSource, files: list[SourceFile]) -> None:
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
    source: InputSource,
    files: list[SourceFile],
    relation: str,
    delimiter: str,
    width: int,
    header: str | None,
) -> list[SourceFile]:
    """Add the facts of files with rows of one width and one header; returns those that cannot be split."""
    kind = f.col("kind")
    with reading(source.title):
        lines = gathered.persist(_cut(text_lines(gathered.spark, files), delimiter, width, source.types, header))
        counts = lines.groupBy("file", "kind").count().collect()
    # A header is recognised by its text, so a file in which another row looks the same is read whole.
    unsplittable = {row["file"] for row in counts if row["kind"] == UNSPLITTABLE}
    if header is not None:
        once = {path_of(row["file"]) for row in counts if row["kind"] == HEADER and row["count"] == 1}
        more = {file.path for file in files} - once
        unsplittable |= {row["file"] for row in counts if path_of(row["file"]) in more}
    here = [row for row in counts if row["file"] not in unsplittable]
    rows = lines.where(~f.col("file").isin(*unsplittable)) if unsplittable else lines
    plain = sum(row["count"] for row in here if row["kind"] == PLAIN)
    names = [f"c{place + 1}" for place in range(width)]
    gathered.add(relation, rows.where(kind == PLAIN).select(*names), plain, source.title)
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


def _cut(lines: DataFrame, delimiter: str, width: int, types: Sequence[str] | None, header: str | None) -> DataFrame:
    """What each line is, its keys in columns where it is PLAIN, and its text where Python must see it."""
    line, kind, cells = f.col("line"), f.col("kind"), f.col("cells")
    typed = ["string"] * width if types is None else list(types)
    plain = (f.size(cells) == width) & f.is_valid_utf8(line)
    if not set(typed) <= {"string", "integer"}:
        plain = f.lit(False)
    for place, type_ in enumerate(typed):
        if type_ == "integer":
            plain = plain & f.coalesce(f.get(cells, f.lit(place)).rlike(_INTEGER), f.lit(False))
    told = f.when(line == "", NOTHING)
    if header is not None:
        told = told.when(line == header, HEADER)
    if delimiter == ",":
        quoted = line.contains('"')
        told = told.when(quoted & ~line.rlike(_WELL_FORMED), UNSPLITTABLE).when(quoted, FOR_PYTHON)
    told = told.when(plain, PLAIN).otherwise(FOR_PYTHON)
    # A column for each step: Spark then computes it once.
    step = lines.withColumn("cells", f.split(line, delimiter, -1)).withColumn("kind", told)
    keys = []
    for place, type_ in enumerate(typed):
        cell = f.get(cells, f.lit(place))
        key = f.concat(f.lit('"'), cell)
        if type_ == "integer":
            key = f.concat(f.lit("^integer "), cell.cast("long").cast("string"))
        keys.append(f.when(kind == PLAIN, key).alias(f"c{place + 1}"))
    return step.select("kind", "file", *keys, f.when(kind == FOR_PYTHON, line).alias("line"))


def well_formed(line: str, delimiter: str) -> bool:
    """Whether a line is a whole row by itself.

    >>> well_formed('a,"b, c"', ","), well_formed('a,"b', ",")
    (True, False)
    """
    return delimiter != "," or bool(re.match(_WELL_FORMED.replace(r"\z", r"\Z"), line))
