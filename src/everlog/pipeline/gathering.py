"""What has been read from the sources so far: facts, rejects, and persisted frames?

The readers of ingest.py add everything they find to a `Gathered`, which finally gives one DataFrame per relation.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from everlog.errors import DataError, FormatError
from everlog.pipeline.parsing import BROKEN
from everlog.pipeline.rejects import Reject, Rejects, reading
from everlog.pipeline.sources import SourceFile, path_of

_MOST_COLLECTED = 1000  # samples brought to the driver from one source


@dataclass(frozen=True)
class Part:
    """Facts of one relation from one source."""

    relation: str
    frame: DataFrame
    count: int
    title: str

    @property
    def arity(self) -> int:
        return len(self.frame.columns)


@dataclass
class Gathered:
    """What has been read from the sources so far.

    Attributes:
        samples: how many malformed lines each task keeps.
        persisted: frames that are persisted until they are released.
    """

    spark: SparkSession
    samples: int
    parts: list[Part] = field(default_factory=list)
    rejects: Rejects = field(default_factory=Rejects)
    persisted: list[DataFrame] = field(default_factory=list)

    def add(self, relation: str, frame: DataFrame, count: int, title: str) -> None:
        """Add facts that Spark reads itself."""
        if count:
            self.parts.append(Part(relation, frame, count, title))

    def persist(self, frame: DataFrame) -> DataFrame:
        """The frame, computed once and stored until `release`."""
        # On disk: reading it back is as fast as from memory, which joins and aggregates need more.
        frame = frame.persist(StorageLevel.DISK_ONLY)
        self.persisted.append(frame)
        return frame

    def add_parsed(self, frame: DataFrame, title: str) -> None:
        """Add facts and rejects parsed by Python, in the schema `parsing.PARSED`; the frame is persisted."""
        frame = self.persist(frame)
        with reading(title):
            counts = (
                frame.groupBy("relation", f.size("keys").alias("width"))
                .agg(f.count("*").alias("facts"), f.sum("rejected").alias("rejected"), f.min("rejected").alias("least"))
                .collect()
            )
            if any(row["least"] == BROKEN for row in counts):
                raise _broken(frame)
            for row in sorted((row for row in counts if row["relation"] is not None), key=lambda row: row["relation"]):
                relation, width = row["relation"], row["width"]
                of_it = frame.where((f.col("relation") == relation) & (f.size("keys") == width))
                columns = [f.get("keys", f.lit(place)).alias(f"c{place + 1}") for place in range(width)]
                self.add(relation, of_it.select(*columns), row["facts"], title)
            rejected = sum(row["rejected"] for row in counts)
            if rejected:
                rows = frame.where("reason is not null").limit(_MOST_COLLECTED).collect()
                self.rejects.add(rejected, [Reject(_local(r["file"]), r["line"], r["text"], r["reason"]) for r in rows])

    def facts(self) -> dict[str, DataFrame]:
        """A frame for each relation; an error where two sources give one relation different numbers of columns."""
        parts: dict[str, list[Part]] = {}
        for part in self.parts:
            known = parts.setdefault(part.relation, [])
            if known and known[0].arity != part.arity:
                there = f"{_columns(known[0].arity)} in {known[0].title}"
                raise DataError(
                    f"{part.relation} has {_columns(part.arity)} here, but {there}",
                    path=part.title,
                    hint="all facts of a relation have the same number of terms; name the relation of one of them anew",
                )
            known.append(part)
        return {
            relation: functools.reduce(DataFrame.union, (part.frame for part in found))
            for relation, found in parts.items()
        }

    def counts(self) -> dict[str, int]:
        """How many facts of each relation were read."""
        counts: dict[str, int] = {}
        for part in self.parts:
            counts[part.relation] = counts.get(part.relation, 0) + part.count
        return counts

    def release(self) -> None:
        for frame in self.persisted:
            frame.unpersist()


def text_lines(spark: SparkSession, files: Iterable[SourceFile]) -> DataFrame:
    """The lines of text files, as (line, file); Spark splits plain and bz2 files across tasks."""
    # Not `_metadata`, which would put six columns beside each line.
    return spark.read.text([file.address for file in files]).select(
        f.col("value").alias("line"), f.input_file_name().alias("file")
    )


def _broken(frame: DataFrame) -> DataError:
    row = frame.where(f.col("rejected") == BROKEN).orderBy("file").first()
    assert row is not None
    return FormatError(row["reason"], path=_local(row["file"]), line=row["line"], hint=row["text"])


def _local(file: str | None) -> str | None:
    return None if file is None else path_of(file)


def _columns(arity: int) -> str:
    return "1 column" if arity == 1 else f"{arity} columns"
