"""How does Spark make the ids of terms, and take integers out of them? See dictionary/hashed_ids.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everlog.dictionary.hashed_ids import (
    BLANK,
    INTEGER,
    IRI,
    MOST,
    OTHER,
    STRING,
    UNBOUND_ID,
    id_of_key,
    integer_of_id,
)

if TYPE_CHECKING:
    from pyspark.sql import Column

__all__ = [
    "BLANK", "INTEGER", "IRI", "OTHER", "STRING", "UNBOUND_ID", "id_column", "id_of_key", "inline_key_column",
    "integer_of_id", "is_inline_column",
]  # fmt: skip


def id_column(key: Column) -> Column:
    """The same on Spark: the column of ids of a column of keys."""
    from pyspark.sql import functions as f

    kind = f.when(key.startswith("<"), IRI).when(key.startswith('"'), STRING).when(key.startswith("_"), BLANK)
    hashed = f.xxhash64(key).bitwiseAND(f.lit(~7)).bitwiseOR(kind.otherwise(OTHER).cast("long"))
    value = _value_column(key)
    inline = f.shiftleft(value, 3).bitwiseOR(f.lit(INTEGER).cast("long"))
    return f.when((value > -MOST) & (value < MOST), inline).otherwise(hashed)


def is_inline_column(key: Column) -> Column:
    """Whether a key is that of an integer that lives in its id."""
    from pyspark.sql import functions as f

    value = _value_column(key)
    return f.coalesce((value > -MOST) & (value < MOST), f.lit(False))


def _value_column(key: Column) -> Column:
    """The value of an integer in canonical form, null for any other term."""
    from pyspark.sql import functions as f

    # Comparing the first bytes is much cheaper than a regular expression, and most keys are no integers. The digits are
    # null for those, since a cast that fails costs a Java exception; only beyond 64 bits does it fail.
    canonical = key.startswith("^integer ") & key.rlike(r"\A\^integer (?:0|-?[1-9][0-9]{0,18})\z")
    return f.when(canonical, f.substring(key, 10, 20)).try_cast("long")


def inline_key_column(id_: Column) -> Column:
    """The key of an integer that lives in its id; null for every other id."""
    from pyspark.sql import functions as f

    return f.when(
        id_.bitwiseAND(f.lit(7)) == INTEGER, f.concat(f.lit("^integer "), f.shiftright(id_, 3).cast("string"))
    )
