"""What facts are in the DataFrames that somebody hands in?

A value that is missing makes no fact. Frames are looked at in one job, which counts their rows and the nulls in each
column; where no job may run, the null is found by the job that meets it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from everlog.errors import DataError, UsageError
from everlog.facts.missing import NULLS
from everlog.pipeline.column_flow import Types, type_of_column
from everlog.pipeline.output_names import names_problem
from everlog.pipeline.row_parsing import EMPTY
from everlog.pipeline.value_keys import key_column

_HINT = 'fill them, or say nulls="skip" to leave such rows out, or nulls="empty" to read an empty string'


class GivenFrames:
    """Frames by relation.

    Attributes:
        arities: how many arguments each relation has.
        skipped: how many rows were left out; known once somebody has looked.
    """

    def __init__(self, frames: Mapping[str, DataFrame], nulls: str, *, lazy: bool) -> None:
        if nulls not in NULLS:
            raise UsageError(f"{nulls!r} is no way to treat nulls", hint=f"there are {', '.join(NULLS)}")
        for name, frame in frames.items():
            if not isinstance(frame, DataFrame):
                raise UsageError(
                    f"{name}: {type(frame).__name__} is no DataFrame", hint="spark.createDataFrame makes one"
                )
            if frame.isStreaming:
                raise UsageError(
                    f"{name}: a streaming frame has no end, and rules need all of it",
                    hint="derive inside foreachBatch, or let a pipeline follow the stream: everlog pipeline stream",
                )
        self._nulls, self._lazy = nulls, lazy
        # By position from here on: two columns may have one name.
        self._names = {name: tuple(frame.columns) for name, frame in frames.items()}
        self._schemas = {name: [field.dataType for field in frame.schema] for name, frame in frames.items()}
        self._frames = {
            name: frame.toDF(*(f"v{place}" for place in range(1, len(frame.columns) + 1)))
            for name, frame in frames.items()
        }
        self.arities = {name: len(names) for name, names in self._names.items()}
        self.skipped: dict[str, int] = {}

    def names(self, relation: str) -> tuple[str, ...] | None:
        """What the columns of a given frame are called, where they can be told apart."""
        names = self._names.get(relation)
        return names if names and names_problem(names, "csv") is None else None

    def types(self, relation: str) -> Types:
        """The types that values of a given frame have when they come out again."""
        types = tuple(map(type_of_column, self._schemas[relation]))
        if self._nulls != "empty":
            return types
        return tuple(type_ if type_ == "string" else None for type_ in types)  # an empty string may be among them

    def look(self) -> dict[str, int]:
        """How many facts each frame makes. Raises where a value is missing that must not be."""
        looks = [
            frame.agg(
                f.lit(name).alias("name"),
                f.count(f.lit(1)).alias("rows"),
                f.count_if(self._any_null(frame)).alias("without"),
                f.array(*(f.count_if(f.col(column).isNull()) for column in frame.columns))
                .cast("array<bigint>")
                .alias("nulls"),
            )
            for name, frame in self._frames.items()
        ]
        rows = reduce(DataFrame.unionAll, looks).collect() if looks else []
        if self._nulls == "refuse":
            for row in rows:
                for column, nulls in zip(self._names[row["name"]], row["nulls"], strict=True):
                    if nulls:
                        raise DataError(
                            f"{row['name']}: column {column!r} has no value in {nulls:,} of {row['rows']:,} rows",
                            hint=_HINT,
                        )
        skips = self._nulls == "skip"
        self.skipped = {row["name"]: row["without"] for row in rows if skips and row["without"]}
        return {row["name"]: row["rows"] - self.skipped.get(row["name"], 0) for row in rows}

    def keys(self) -> dict[str, DataFrame]:
        """The facts as frames of term keys."""
        return {name: self._keys(name, frame) for name, frame in self._frames.items()}

    def _keys(self, relation: str, frame: DataFrame) -> DataFrame:
        kept = frame.where(~self._any_null(frame)) if self._nulls == "skip" else frame
        return kept.select(*(self._key(relation, place).alias(f"c{place + 1}") for place in range(len(frame.columns))))

    def _key(self, relation: str, place: int) -> Column:
        name, type_ = self._names[relation][place], self._schemas[relation][place]
        value = f.col(f"v{place + 1}")
        key = key_column(value, type_)
        if key is None:
            raise DataError(
                f"{relation}: column {name!r} holds {type_.simpleString()}, which is no type of term",
                hint="leave the column out, or make it strings, numbers, booleans, dates or times",
            )
        if self._nulls == "empty":
            return f.coalesce(key, f.lit(EMPTY))
        if self._nulls == "refuse" and self._lazy:
            told = f"everlog: {relation}: column {name!r} has no value in some row; {_HINT}"
            return f.when(value.isNull(), f.raise_error(f.lit(told))).otherwise(key)
        return key

    def _any_null(self, frame: DataFrame) -> Column:
        return reduce(Column.__or__, [f.col(column).isNull() for column in frame.columns], f.lit(False))
