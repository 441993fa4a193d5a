"""Which native types do the columns of a Parquet or Delta output have?

    all integers that 64 bits hold       bigint          all dates                     date
    all decimals of up to 38 digits      decimal         all dateTimes in UTC          timestamp
    all doubles                          double          all dateTimes without zone    timestamp_ntz
    all booleans                         boolean         anything else                 string

A literal that is not in canonical form (`007`) has no native value, so its column holds texts, as it does in process
(formats/arrays.py); so do columns with terms of several kinds, and dateTimes of several zones. IRIs, blank nodes and
strings are strings anyway. A cell without a term, of a view, has no say. One scan finds the kinds of all columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from everlog.pipeline import key_texts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_TEXT = "text"  # terms that are strings in any case
_ODD = "odd"  # literals without a native value
_CANONICAL = {
    "^integer": r"\A(?:0|-?[1-9][0-9]{0,17})\z",
    "^decimal": r"\A-?(?:0|[1-9][0-9]*)\.(?:0|[0-9]*[1-9])\z",
    "^double": r"\A(?:-?[0-9](?:\.[0-9]+)?E-?[0-9]+|-?INF|NaN)\z",
    "^boolean": r"\A(?:true|false)\z",
    "^date": r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}\z",
    "^dateTime": r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?Z?\z",
}
_TYPES = {
    "^integer": "bigint",
    "^double": "double",
    "^boolean": "boolean",
    "^date": "date",
    "^dateTime": "timestamp_ntz",
    "^dateTimeZ": "timestamp",
}
_DIGITS = 38  # of a decimal, at most


def native_types(keys: DataFrame) -> list[str]:
    """The type of each column of term keys; "mixed" for one whose texts do not tell what its terms are."""
    from pyspark.sql import functions as f

    columns = [f.col(name) for name in keys.columns]
    if not columns:
        return []
    found = keys.agg(
        *[f.collect_set(_kind(key)).alias(f"kinds{place}") for place, key in enumerate(columns)],
        *[f.max(_digits(key, 1)).alias(f"whole{place}") for place, key in enumerate(columns)],
        *[f.max(_digits(key, 2)).alias(f"part{place}") for place, key in enumerate(columns)],
    ).first()
    assert found is not None, "an aggregate without groups is one row"
    return [
        _type(set(found[f"kinds{place}"]), found[f"whole{place}"], found[f"part{place}"])
        for place in range(len(columns))
    ]


def _type(kinds: set[str], whole: int | None, part: int | None) -> str:
    if kinds <= {_TEXT}:
        return "string"
    if kinds == {"^decimal"} and whole is not None and part is not None:
        return f"decimal({whole + part},{part})" if whole + part <= _DIGITS else "mixed"
    return _TYPES.get(next(iter(kinds)), "mixed") if len(kinds) == 1 else "mixed"


def native_column(key: Column, type_: str) -> Column:
    """The values of a column of keys whose type is known."""
    if type_ in ("string", "mixed"):
        return key_texts.text(key)
    return key_texts.lexical(key).cast(type_)


def _kind(key: Column) -> Column:
    from pyspark.sql import functions as f

    tag, lexical = f.substring_index(key, " ", 1), key_texts.lexical(key)
    kind = f.when(~key.startswith("^"), f.when(key.startswith("@"), _ODD).otherwise(_TEXT))
    for name, pattern in _CANONICAL.items():
        valid = lexical.rlike(pattern)
        if name in ("^date", "^dateTime"):  # 2024-02-31 only looks like one
            valid = valid & lexical.try_cast("timestamp_ntz" if name == "^dateTime" else "date").isNotNull()
        what = f.when(lexical.endswith("Z"), "^dateTimeZ").otherwise(name) if name == "^dateTime" else f.lit(name)
        kind = kind.when((tag == name) & valid, what)
    return f.when(key.isNotNull(), kind.otherwise(_ODD))


def _digits(key: Column, group: int) -> Column:
    """How many digits a decimal has before its point, or after it."""
    from pyspark.sql import functions as f

    digits = f.regexp_extract(key_texts.lexical(key), r"\A-?([0-9]+)\.([0-9]+)\z", group)
    return f.when(key.startswith("^decimal "), f.length(digits))
