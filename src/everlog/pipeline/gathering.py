"""What has been read from the sources so far: facts, rejects, and persisted frames?

The readers of ingest.py add everything they find to a `Gathered`, which finally gives one DataFrame per relation: of
the facts inserted, and of those deleted.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from everlog.addresses import path_of
from everlog.errors import DataError, FormatError
from everlog.pipeline.parsing import BROKEN
from everlog.pipeline.picking import count_columns
from everlog.pipeline.rejects import Reject, Rejects, reading
from everlog.pipeline.source_files import SourceFile
from everlog.pipeline.sources import InputSource

_MOST_COLLECTED = 1000  # samples brought to the driver from one source
ORDER = ("file", "line")  # of the changes in update files


@dataclass(frozen=True)
class Part:
    """Facts of one relation from one source.

    Attributes:
        frame: keys in columns c1, c2, …; with `sign` where it holds changes, and `file` and `line` where their order
            matters.
        count: its rows that are inserted.
        deletions: its rows that are deleted.
    """

    relation: str
    frame: DataFrame
    count: int
    title: str
    arity: int
    deletions: int = 0


@dataclass
class Gathered:
    """What has been read from the sources so far.

    Attributes:
        samples: how many malformed lines each task keeps.
        persisted: frames that are persisted until they are released.
        source: the source that is being read.
        rejects: what was rejected of it so far.
    """

    spark: SparkSession
    samples: int
    source: InputSource | None = None
    parts: list[Part] = field(default_factory=list)
    rejects: Rejects = field(default_factory=Rejects)
    persisted: list[DataFrame] = field(default_factory=list)

    def add(self, relation: str, frame: DataFrame, count: int, title: str) -> None:
        """Add facts that Spark reads itself."""
        if count:
            self.parts.append(Part(relation, frame, count, title, len(frame.columns)))

    def add_changes(self, relation: str, frame: DataFrame, inserted: int, deleted: int, title: str) -> None:
        """Add changes: facts with a column `sign`, and `file` and `line` where their order matters."""
        if inserted or deleted:
            width = len([name for name in frame.columns if name not in ("sign", *ORDER)])
            self.parts.append(Part(relation, frame, inserted, title, width, deleted))

    def persist(self, frame: DataFrame) -> DataFrame:
        """The frame, computed once and stored until `release`."""
        # On disk: reading it back is as fast as from memory, which joins and aggregates need more.
        frame = frame.persist(StorageLevel.DISK_ONLY)
        self.persisted.append(frame)
        return frame

    def add_parsed(self, frame: DataFrame, title: str) -> None:
        """Add facts and rejects parsed by Python, in the schema `parsing.PARSED`; the frame is persisted."""
        frame = self.persist(frame)
        changes = self.source is not None and self.source.kind == "changes"
        ordered = changes and self.source is not None and self.source.change_column is None
        with reading(title):
            counts = (
                frame.groupBy("relation", f.size("keys").alias("width"))
                .agg(
                    f.count_if(f.col("sign") > 0).alias("facts"),
                    f.count_if(f.col("sign") < 0).alias("deletions"),
                    f.sum("rejected").alias("rejected"),
                    f.min("rejected").alias("least"),
                    f.sum("nulls").alias("nulls"),
                )
                .collect()
            )
            if any(row["least"] == BROKEN for row in counts):
                raise _broken(frame)
            for row in sorted((row for row in counts if row["relation"] is not None), key=lambda row: row["relation"]):
                relation, width = row["relation"], row["width"]
                of_it = frame.where((f.col("relation") == relation) & (f.size("keys") == width))
                columns = [f.get("keys", f.lit(place)).alias(f"c{place + 1}") for place in range(width)]
                if changes:
                    kept = of_it.select(*columns, "sign", *(ORDER if ordered else ()))
                    self.add_changes(relation, kept, row["facts"], row["deletions"], title)
                else:
                    self.add(relation, of_it.select(*columns), row["facts"], title)
            rejected, nulls = (sum(row[name] for row in counts) for name in ("rejected", "nulls"))
            if rejected or nulls:
                self._sample(frame, rejected, nulls)

    def _sample(self, frame: DataFrame, rejected: int, nulls: int) -> None:
        for count, column, add in (
            (rejected, "rejected", self.rejects.add),
            (nulls, "nulls", self.rejects.add_nulls),
        ):
            if count:
                rows = frame.where(f"reason is not null and {column} > 0").limit(_MOST_COLLECTED).collect()
                add(count, [Reject(_local(r["file"]), r["line"], r["text"], r["reason"]) for r in rows])

    def facts(self) -> dict[str, DataFrame]:
        """A frame of what is inserted for each relation."""
        found: dict[str, DataFrame] = {}
        for relation, parts in self.by_relation().items():
            if any("sign" in part.frame.columns for part in parts):
                if any(part.count for part in parts):
                    found[relation] = _last(parts, 1)
            else:
                found[relation] = functools.reduce(DataFrame.union, (part.frame for part in parts))
        return found

    def deleted(self) -> dict[str, DataFrame]:
        """A frame of what is deleted, and not inserted too, for each relation that loses facts."""
        return {
            relation: _last(parts, -1)
            for relation, parts in self.by_relation().items()
            if any(part.deletions for part in parts)
        }

    def by_relation(self) -> dict[str, list[Part]]:
        """The parts of each relation; an error where two sources give one relation different numbers of columns."""
        parts: dict[str, list[Part]] = {}
        for part in self.parts:
            known = parts.setdefault(part.relation, [])
            if known and known[0].arity != part.arity:
                there = f"{count_columns(known[0].arity)} in {known[0].title}"
                raise DataError(
                    f"{part.relation} has {count_columns(part.arity)} here, but {there}",
                    path=part.title,
                    hint="all facts of a relation have the same number of terms; name the relation of one of them anew",
                )
            known.append(part)
        return parts

    def counts(self) -> dict[str, int]:
        """How many facts of each relation were read."""
        counts: dict[str, int] = {}
        for part in self.parts:
            if part.count:
                counts[part.relation] = counts.get(part.relation, 0) + part.count
        return counts

    def release(self) -> None:
        for frame in self.persisted:
            frame.unpersist()


def _last(parts: Sequence[Part], sign: int) -> DataFrame:
    """The facts whose last change is of a sign.

    Changes of update files have an order, by file and line; those of tables have none, and there insertion wins, as it
    does within one line and between a table and update files.
    """
    names = [f"c{place + 1}" for place in range(parts[0].arity)]
    whole: list[DataFrame] = []
    ordered = [part.frame for part in parts if "line" in part.frame.columns]
    if ordered:
        together = functools.reduce(DataFrame.union, ordered)
        last = f.max_by("sign", f.struct("file", "line", "sign"))
        whole.append(together.groupBy(*names).agg(last.alias("sign")).select(*names, "sign"))
    whole += [part.frame.select(*names, "sign") for part in parts if "line" not in part.frame.columns]
    signs = functools.reduce(DataFrame.union, whole).groupBy(*names).agg(f.max("sign").alias("sign"))
    return signs.where(f.col("sign") == sign).select(*names)


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
