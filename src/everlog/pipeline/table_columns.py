"""Which terms do the columns of a DataFrame hold?

    string                      a string
    byte, short, int, long      an integer
    decimal, boolean, date      the same
    float, double               a double
    timestamp                   a dateTime in UTC
    timestamp_ntz, time         a dateTime, a time without a zone

Keys are made by Spark's own functions. Doubles are the exception: Java and Python write them differently, and a key
must be what facts/terms.py says, so each distinct value goes through Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as t
from pyspark.sql.pandas.functions import arrow_udf

from everlog.errors import DataError, FormatError, UsageError
from everlog.facts.terms import double_text
from everlog.formats.compression import open_bytes
from everlog.pipeline.gathering import Gathered
from everlog.pipeline.rejects import Reject, reading
from everlog.pipeline.sources import InputSource, SourceFile, path_of


def gather_frame(gathered: Gathered, source: InputSource) -> None:
    """The facts of a DataFrame. It is evaluated more than once, and must give the same rows each time."""
    frame = source.data
    if not isinstance(frame, DataFrame):
        raise UsageError(f"{frame!r} is no source", hint="give a path, a glob, a folder or a DataFrame")
    if source.relation is None:
        raise UsageError("a DataFrame has no name", hint="say the relation that its rows go to: relation='edge'")
    _gather(gathered, source, source.relation, frame, f.lit(None).cast("string"), frozenset())


def gather_parquet(gathered: Gathered, source: InputSource, files: list[SourceFile]) -> None:
    """The facts of Parquet files."""
    for relation in sorted({file.relation for file in files}):
        some = [file for file in files if file.relation == relation]
        unsigned = _check_schemas([file for file in some if file.is_local])
        with reading(source.title):
            frame = gathered.spark.read.parquet(*[file.address for file in some])
        _gather(gathered, source, relation, frame, f.col("_metadata.file_path"), unsigned)


def _gather(
    gathered: Gathered, source: InputSource, relation: str, frame: DataFrame, file: Column, unsigned: frozenset[str]
) -> None:
    names = chosen_columns(frame, source.columns, source.title)
    nulls = f.lit(False)
    keys = []
    for place, name in enumerate(names, 1):
        column = frame[_quoted(name)]
        nulls = nulls | column.isNull()
        key = key_column(column, frame.schema[name].dataType)
        if name in unsigned:  # Spark has no such type and makes them decimals
            key = f.concat(f.lit("^integer "), column.cast("string"))
        assert key is not None
        keys.append(key.alias(f"c{place}"))
    with reading(source.title):
        counts = frame.agg(f.count("*").alias("rows"), f.count_if(nulls).alias("nulls")).first()
        assert counts is not None
        gathered.add(relation, frame.where(~nulls).select(*keys), counts["rows"] - counts["nulls"], source.title)
        if counts["nulls"]:
            row_text = f.to_json(f.struct(*[frame[_quoted(name)] for name in names]), {"ignoreNullFields": "false"})
            rows = frame.where(nulls).select(file.alias("file"), row_text.alias("text")).limit(gathered.samples)
            samples = [
                Reject(
                    path_of(row["file"]) if row["file"] else source.title, None, row["text"], "a column has no value"
                )
                for row in rows.collect()
            ]
            gathered.rejects.add(counts["nulls"], samples)


def _check_schemas(files: Sequence[SourceFile]) -> frozenset[str]:
    """Raise where two files of a relation have different columns; the names of those of unsigned 64-bit integers."""
    first: pa.Schema | None = None
    for file in files:
        open_bytes(Path(file.path)).close()  # raises an error if the file itself cannot be read
        try:
            schema = pq.read_schema(file.path)
        except (pa.ArrowException, OSError) as error:
            raise FormatError(
                f"this is not a whole Parquet file ({str(error).strip().splitlines()[0]})",
                path=file.path,
                hint="it may be cut short: write or copy it again",
            ) from error
        if first is None:
            first = schema
        for name in first.names:
            if name not in schema.names:
                raise DataError(f"there is no column {name!r} here, but there is in {files[0].path}", path=file.path)
            if schema.field(name).type != first.field(name).type:
                here, there = schema.field(name).type, first.field(name).type
                raise DataError(f"column {name!r} holds {here} here, but {there} in {files[0].path}", path=file.path)
        for name in schema.names:
            if name not in first.names:
                raise DataError(f"there is a column {name!r} here, but not in {files[0].path}", path=file.path)
    return frozenset() if first is None else frozenset(field.name for field in first if pa.types.is_uint64(field.type))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def chosen_columns(frame: DataFrame, columns: Sequence[str] | None, title: str) -> list[str]:
    """The names of the columns to read; an error where one is not there or of no type of term."""
    there = frame.columns
    for name in columns or ():
        if name not in there:
            raise DataError(f"there is no column {name!r}; there are {', '.join(there)}", path=title)
    chosen = list(columns) if columns is not None else list(there)
    if len(set(chosen)) < len(chosen):
        raise DataError(f"two columns have one name among {', '.join(chosen)}", path=title, hint="rename one")
    for name in chosen:
        type_ = frame.schema[name].dataType
        if key_column(f.lit(None), type_) is None:
            raise DataError(
                f"column {name!r} holds {type_.simpleString()}, which is no type of term",
                path=title,
                hint="leave the column out, or make it strings, numbers, booleans, dates or times",
            )
    return chosen


def key_column(column: Column, type_: t.DataType) -> Column | None:
    """The keys of a column of values, or None where its type is no type of term."""
    text = column.cast("string")
    if isinstance(type_, t.StringType | t.CharType | t.VarcharType):
        return f.concat(f.lit('"'), text)
    if isinstance(type_, t.ByteType | t.ShortType | t.IntegerType | t.LongType):
        return f.concat(f.lit("^integer "), text)
    if isinstance(type_, t.BooleanType):
        return f.concat(f.lit("^boolean "), text)
    if isinstance(type_, t.DateType):
        return f.concat(f.lit("^date "), text)
    if isinstance(type_, t.DecimalType):
        return f.concat(f.lit("^decimal "), _decimal_text(column, type_))
    if isinstance(type_, t.FloatType | t.DoubleType):
        return _double_keys(column.cast("double"))
    if isinstance(type_, t.TimestampType):
        # Through microseconds: the session's time zone must not matter.
        epoch = f.lit("1970-01-01 00:00:00").cast("timestamp_ntz")
        local = f.timestamp_add("MICROSECOND", f.unix_micros(column), epoch)
        return f.concat(f.lit("^dateTime "), f.replace(local.cast("string"), f.lit(" "), f.lit("T")), f.lit("Z"))
    if isinstance(type_, t.TimestampNTZType):
        return f.concat(f.lit("^dateTime "), f.replace(text, f.lit(" "), f.lit("T")))
    if isinstance(type_, t.TimeType):
        return f.concat(f.lit("^time "), text)
    return None


def _decimal_text(column: Column, type_: t.DecimalType) -> Column:
    """No exponent, no needless zeros, at least one digit after the point."""
    if type_.scale <= 0:
        return f.concat(column.cast(t.DecimalType(38, 0)).cast("string"), f.lit(".0"))
    whole_and_point = f.regexp_replace(_plain_digits(column, type_), r"0+\z", "")
    return f.concat(whole_and_point, f.when(whole_and_point.endswith("."), "0").otherwise(""))


def _plain_digits(column: Column, type_: t.DecimalType) -> Column:
    # `format_number` gives plain digits, with commas between thousands; a cast may give 1E-10.
    return f.replace(f.format_number(column, type_.scale), f.lit(","), f.lit(""))


def _double_keys(column: Column) -> Column:
    def keys(values: pa.Array) -> pa.Array:
        distinct = values.dictionary_encode()
        texts = [
            None if value is None else f"^double {double_text(value)}" for value in distinct.dictionary.to_pylist()
        ]
        return pa.array(texts, pa.string()).take(distinct.indices)

    # Spark infers the kind of function from its annotations, which its own type hints do not cover.
    made: Column = arrow_udf(keys, "string")(column)  # type: ignore[call-overload]
    return made
