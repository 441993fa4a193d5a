"""Which terms do the columns of a DataFrame hold?

    string                      a string
    byte, short, int, long      an integer
    decimal, boolean, date      the same
    float, double               a double
    timestamp                   a dateTime in UTC
    timestamp_ntz, time         a dateTime, a time without a zone

Keys are made by Spark's own functions. Doubles are the exception: Java and Python write them differently, and a key
must be what facts/terms.py says, so each distinct value goes through Python. So do timestamps that keep their zone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as f
from pyspark.sql import types as t
from pyspark.sql.pandas.functions import arrow_udf

from everlog.facts.terms import key_of


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
    return _python_keys(column, lambda values: values)


def zoned_keys(column: Column, zone: str) -> Column:
    """The keys of timestamps that are written in a zone."""
    return _python_keys(column, lambda values: values.cast(pa.timestamp("us", zone)))


def _python_keys(column: Column, prepared: Callable[[pa.Array], pa.Array]) -> Column:
    def keys(values: pa.Array) -> pa.Array:
        distinct = prepared(values).dictionary_encode()
        texts: list[Any] = [None if value is None else key_of(value) for value in distinct.dictionary.to_pylist()]
        return pa.array(texts, pa.string()).take(distinct.indices)

    # Spark infers the kind of function from its annotations, which its own type hints do not cover.
    made: Column = arrow_udf(keys, "string")(column)  # type: ignore[call-overload]
    return made
