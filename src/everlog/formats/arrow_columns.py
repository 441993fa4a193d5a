"""Which facts do Arrow columns hold?

A column keeps its type: integers are integers, floats doubles, timestamps dateTimes, and so on. Columns of lists,
structs or bytes are refused; what becomes of nulls is said in facts/missing.py.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from everlog.errors import DataError
from everlog.facts.arrays import keys_of_values
from everlog.facts.blocks import FactBlock
from everlog.facts.missing import MissingValues

_EMPTY = '"'  # the key of the empty string


def fact_block(
    relation: str,
    names: Sequence[str],
    columns: Sequence[pa.Array],
    missing: MissingValues,
    *,
    path: str | None = None,
    row: int = 1,
) -> FactBlock:
    """The rows of columns as facts; `row` is the number of the first."""
    columns = [c.cast(pa.string()) if pa.types.is_string_view(c.type) else c for c in columns]  # which none can filter
    lacking = [(name, column) for name, column in zip(names, columns, strict=True) if column.null_count]
    if lacking and missing.refuses:
        name, column = lacking[0]
        at = row + pc.index(column.is_null(), True).as_py()
        raise missing.refusal(f"column {name!r} in row {at}", path)
    if lacking and missing.skips:
        whole = columns[0].is_valid()
        for column in columns[1:]:
            whole = pc.and_(whole, column.is_valid())
        missing.skipped += len(whole) - whole.true_count
        columns, lacking = [column.filter(whole) for column in columns], []
    if not lacking:
        return FactBlock(relation, tuple(value_column(c, n, path) for n, c in zip(names, columns, strict=True)))
    keys = (_keys(column, name, path) for name, column in zip(names, columns, strict=True))
    return FactBlock(relation, tuple(column.fill_null(_EMPTY) for column in keys), "keys")


def _keys(column: pa.Array, name: str, path: str | None) -> pa.Array:
    """The keys of a column of values; null where there is none."""
    there = column.is_valid()
    keys = keys_of_values(value_column(column.filter(there), name, path))
    return pc.replace_with_mask(pa.nulls(len(column), pa.string()), there, keys)


def value_column(column: pa.Array, name: str, path: str | None = None) -> pa.Array:
    """A column without nulls in a type that the dictionary knows."""
    type_ = column.type
    plain = type_.value_type if pa.types.is_dictionary(type_) else type_
    target = value_type(plain)
    if target is None:
        if pa.types.is_null(plain) and not len(column):
            return column.cast(pa.string())
        raise DataError(
            f"column {name!r} holds {plain}, which is no type of term",
            path=path,
            hint="leave the column out, or make it strings, numbers, booleans, dates or times",
        )
    if pa.types.is_dictionary(type_):
        if pa.types.is_string(plain) and column.dictionary.null_count == 0:
            return column
        return value_column(column.dictionary_decode(), name, path)
    if type_ == target:
        return column
    try:
        return column.cast(target)
    except pa.ArrowInvalid as error:
        raise DataError(
            f"column {name!r} holds a value that no {target} can say ({error})",
            path=path,
            hint="times are kept to the microsecond: round them first",
        ) from error


def value_type(type_: pa.DataType) -> pa.DataType | None:
    """The type to read a column as; None where there is none."""
    types = pa.types
    if types.is_integer(type_):
        return type_ if types.is_uint64(type_) else pa.int64()
    if types.is_floating(type_):
        return pa.float64()
    if types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_):
        return pa.string()
    if types.is_boolean(type_) or types.is_decimal(type_):
        return type_
    if types.is_date(type_):
        return pa.date32()
    if types.is_timestamp(type_):
        return pa.timestamp("us", type_.tz)
    if types.is_time(type_):
        return pa.time64("us")
    return None
