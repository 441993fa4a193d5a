"""How do a few rows of the driver become a frame?

As Arrow columns they are part of the plan: Spark's optimizer sees how few they are, and takes what is joined with none
away. Rows given as Python objects would be read by tasks, in a job of their own where they are sent to others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TYPES = {
    "long": pa.int64(),
    "bigint": pa.int64(),
    "int": pa.int32(),
    "boolean": pa.bool_(),
    "string": pa.string(),
}


def local_frame(spark: SparkSession, rows: Iterable[Sequence[Any]], schema: str) -> DataFrame:
    """Rows as a frame; the schema is written as Spark does: "id long, key string"."""
    columns = [column.rsplit(" ", 1) for column in schema.split(", ")]
    arrow = pa.schema([(name.strip("`"), _TYPES[type_]) for name, type_ in columns])
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    arrays = [pa.array(some, field.type) for some, field in zip(values, arrow, strict=True)]
    table = pa.Table.from_arrays(arrays, schema=arrow)
    # Connect refuses to read the columns off a table without rows, so they are said.
    return spark.createDataFrame(table, schema) if not table.num_rows else spark.createDataFrame(table)
