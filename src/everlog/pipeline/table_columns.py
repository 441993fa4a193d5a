"""How are tables read, Parquet files, Delta tables and DataFrames, without leaving Spark?

Terms are those of value_keys.py. A file with a column that Spark reads otherwise than the in-process reader does, or
not at all (times, timestamps in nanoseconds), is read in Python instead. Timestamps of a zone other
than UTC keep it where the file says it (Arrow writes it there), as they do in process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from everlog.addresses import path_of
from everlog.errors import DataError, UsageError
from everlog.formats.arrow_columns import value_type
from everlog.pipeline.csv_columns import sign_column
from everlog.pipeline.delta_sources import delta_schema
from everlog.pipeline.documents import gather_documents
from everlog.pipeline.gathering import Gathered
from everlog.pipeline.parquet_footers import Footers, read_footers
from everlog.pipeline.partitions import partition_names, with_partitions
from everlog.pipeline.picking import SIGNS_TOLD, Picked, picked
from everlog.pipeline.rejects import Reject, reading
from everlog.pipeline.row_parsing import EMPTY
from everlog.pipeline.source_files import SourceFile
from everlog.pipeline.sources import InputSource, check_options
from everlog.pipeline.value_keys import key_column, zoned_keys

_ADDRESS, _ROW = "__address", "__row"  # of a row: its file, and its place there


def gather_frame(gathered: Gathered, source: InputSource) -> None:
    """The facts of a DataFrame. It is evaluated more than once, and must give the same rows each time."""
    frame = source.data
    if not isinstance(frame, DataFrame):
        raise UsageError(f"{frame!r} is no source", hint="give a path, a glob, a folder or a DataFrame")
    if source.relation is None:
        raise UsageError("a DataFrame has no name", hint="say the relation that its rows go to: relation='edge'")
    check_options(source, "parquet")
    _gather(gathered, source, source.relation, _Table(frame))


def gather_parquet(gathered: Gathered, source: InputSource, files: list[SourceFile]) -> None:
    """The facts of Parquet files, and of Delta tables."""
    for relation in sorted({file.relation for file in files}):
        some = [file for file in files if file.relation == relation]
        local = not some[0].table and all(file.is_local for file in some)
        footers = read_footers(some) if local else None
        schema = None if footers is None else footers.schema
        partitions = partition_names(some)
        if schema is not None and _needs_python(schema, picked(source, schema.names, partitions, source.title)):
            gather_documents(gathered, source, some)
            continue
        with reading(source.title):
            reader = gathered.spark.read
            if some[0].table:
                stored = [field for field in delta_schema(some[0].table) if field.name not in partitions]
                reader = reader.schema(StructType(stored))
            elif footers is not None and (known := footers.spark_schema()) is not None:
                reader = reader.schema(known)
            frame = reader.parquet(*[file.address for file in some])
            placed = frame.select(
                "*", f.col("_metadata.file_path").alias(_ADDRESS), f.col("_metadata.row_index").alias(_ROW)
            )
            table = _Table(with_partitions(placed, some, _ADDRESS), frame.columns, partitions, footers)
        _gather(gathered, source, relation, table)


class _Table:
    """A frame, what its columns are, and what the schema of its files says of them."""

    def __init__(
        self,
        frame: DataFrame,
        columns: Sequence[str] | None = None,
        partitions: Sequence[str] = (),
        footers: Footers | None = None,
    ) -> None:
        self.frame = frame
        self.columns = frame.columns if columns is None else list(columns)
        self.partitions = partitions
        self.files = columns is not None
        self.footers = footers
        fields = {} if footers is None else {field.name: field.type for field in footers.schema}
        # Spark has no unsigned integers of 64 bits and makes them decimals.
        self.unsigned = {name for name, type_ in fields.items() if pa.types.is_uint64(type_)}
        self.zones: Mapping[str, str] = {
            name: type_.tz for name, type_ in fields.items() if pa.types.is_timestamp(type_) and type_.tz
        }

    def value(self, place: int) -> Column:
        if place < 0:
            return f.col(f"__p{-place - 1}")
        return self.frame[_quoted(self.columns[place])]

    def key(self, place: int, title: str) -> Column:
        """The keys of a column."""
        column = self.value(place)
        if place < 0:
            return column  # the keys themselves
        name = self.columns[place]
        if name in self.unsigned:
            return f.concat(f.lit("^integer "), column.cast("string"))
        type_ = self.frame.schema[name].dataType
        if self.zones.get(name, "UTC") not in ("UTC", "Etc/UTC", "Z", "+00:00"):
            return zoned_keys(column, self.zones[name])
        key = key_column(column, type_)
        if key is None:
            raise DataError(
                f"column {name!r} holds {type_.simpleString()}, which is no type of term",
                path=title,
                hint="leave the column out, or make it strings, numbers, booleans, dates or times",
            )
        return key


def _gather(gathered: Gathered, source: InputSource, relation: str, table: _Table) -> None:
    chosen = picked(source, table.columns, table.partitions, source.title)
    nulls, sign = f.lit(False), f.lit(1)
    keys = []
    for number, place in enumerate(chosen.arguments, 1):
        nulls = nulls | table.value(place).isNull()
        key = table.key(place, source.title)
        keys.append((f.coalesce(key, f.lit(EMPTY)) if source.nulls == "empty" else key).alias(f"c{number}"))
    if chosen.change is not None:
        sign = sign_column(table.value(chosen.change))
    if source.nulls == "empty":
        nulls = f.lit(False)
    frame = table.frame
    wrong = sign.isNull()
    told = _told_count(table, chosen)
    if told is not None and source.kind != "changes":
        gathered.add(relation, frame.select(*keys), told, source.title)
        return
    with reading(source.title):
        counts = frame.agg(
            f.count_if(~nulls & (sign == 1)).alias("inserted"),
            f.count_if(~nulls & (sign == -1)).alias("deleted"),
            f.count_if(nulls).alias("nulls"),
            f.count_if(wrong & ~nulls).alias("wrong"),
        ).first()
        assert counts is not None
        good = frame.where(~nulls & ~wrong)
        if source.kind == "changes":
            changes = good.select(*keys, sign.alias("sign"))
            gathered.add_changes(relation, changes, counts["inserted"], counts["deleted"], source.title)
        else:
            gathered.add(relation, good.select(*keys), counts["inserted"], source.title)
        if counts["nulls"]:
            samples = _samples(gathered, source, table, chosen, nulls)
            gathered.rejects.add_nulls(counts["nulls"], samples)
        if counts["wrong"]:
            samples = _samples(gathered, source, table, chosen, wrong & ~nulls, f"a change is {SIGNS_TOLD}")
            gathered.rejects.add(counts["wrong"], samples)


def _told_count(table: _Table, chosen: Picked) -> int | None:
    """How many rows there are, if footers say that a value is missing in none."""
    if table.footers is None or chosen.change is not None or any(place < 0 for place in chosen.arguments):
        return None
    return table.footers.rows_without_nulls([table.columns[place] for place in chosen.arguments])


def _samples(
    gathered: Gathered, source: InputSource, table: _Table, chosen: Picked, which: Column, reason: str | None = None
) -> list[Reject]:
    """Some of the rows that make no fact."""
    shown = chosen.arguments if chosen.change is None else (*chosen.arguments, chosen.change)
    named = {place: name for place, name in enumerate(table.columns)}
    named |= {-place: name for place, name in enumerate(table.partitions, 1)}
    text = f.to_json(
        f.struct(*[table.value(place).alias(named[place]) for place in shown]), {"ignoreNullFields": "false"}
    )
    missing = f.coalesce(*[f.when(table.value(p).isNull(), f.lit(named[p])) for p in chosen.arguments])
    places = [f.col(_ADDRESS), f.col(_ROW)] if table.files else [f.lit(None).alias(_ADDRESS), f.lit(None).alias(_ROW)]
    rows = table.frame.where(which).select(*places, text.alias("text"), missing.alias("missing"))
    found = []
    for row in rows.limit(gathered.samples).collect():
        where = "" if row[_ROW] is None else f" in row {row[_ROW] + 1}"
        told = f"{reason}{where}" if reason else f"column {row['missing']!r} has no value{where}"
        found.append(Reject(path_of(row[_ADDRESS]) if row[_ADDRESS] else source.title, None, row["text"], told))
    return sorted(found, key=lambda reject: (reject.file or "", reject.reason))


def _needs_python(schema: pa.Schema, chosen: Picked) -> bool:
    """Whether a column is of a type that Spark does not read, or one that is used of a type that it reads otherwise."""
    return any(_is_unreadable(field.type) for field in schema) or any(
        value_type(_plain(schema.field(place).type)) is None or pa.types.is_float16(schema.field(place).type)
        for place in chosen.cells
    )


def _is_unreadable(type_: pa.DataType) -> bool:
    type_ = _plain(type_)
    return bool(pa.types.is_time(type_) or (pa.types.is_timestamp(type_) and type_.unit == "ns"))


def _plain(type_: pa.DataType) -> pa.DataType:
    return type_.value_type if pa.types.is_dictionary(type_) else type_


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
