"""How does Spark read tables, and write many of them in one job?

Reading: the last row of each changed fact, and the base without those facts. Changes are few, so they are sent to every
task, and the base is read once and shuffled never.

Writing: facts of all relations go through one tagged frame (engines/spark/tagged.py), and each task writes a Parquet
file for each relation that it meets. A task that is run twice writes other files; the driver takes those of the one
that came through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from everlog.engines.spark.local_frames import local_frame
from everlog.engines.spark.tagged import RELATION, id_columns, tag
from everlog.pipeline.bulk_facts import Batches
from everlog.pipeline.delta_files import with_our_errors
from everlog.pipeline.table_files import WRITTEN, frame_of_files, write_files
from everlog.store.table_folders import DICTIONARY
from everlog.tables.commits import Commit, TableState
from everlog.tables.layout import BAG, DERIVATIONS, EXPLICIT, PLAIN, RANK, STATE, VERSION, WEIGHT, fact_columns
from everlog.tables.table_store import TableFiles, TableStore
from everlog.tables.writing import NewFiles, TableTransaction

if TYPE_CHECKING:
    import pyarrow as pa

Mapped = Callable[[Batches, StructType], DataFrame]  # what a function makes of the batches of tagged rows


# --- reading ----------------------------------------------------------------------------------------------------------


def read_table(spark: SparkSession, store: TableStore, table: str, version: int | None = None) -> DataFrame:
    """The rows of the facts that a version holds, with all that is known of them; of a plain table, its rows."""
    state = store.state(table, version)
    return read_files(spark, store, state, store.files_of(state))


def read_so_far(spark: SparkSession, transaction: TableTransaction, table: str) -> DataFrame:
    """The same of a table as a transaction has it."""
    state = transaction.tables[table]
    return read_files(spark, transaction.store, state, transaction.files(table))


def read_dictionary(spark: SparkSession, store: TableStore, commit: Commit) -> DataFrame:
    """The terms of a version, (id, key, …); none before the first one."""
    return read_table(spark, store, DICTIONARY, commit.version) if DICTIONARY in commit.tables else no_terms(spark)


def no_terms(spark: SparkSession) -> DataFrame:
    """A dictionary without terms."""
    return local_frame(spark, [], "id bigint, key string")


def read_files(spark: SparkSession, store: TableStore, state: TableState, files: TableFiles) -> DataFrame:
    base = frame_of_files(spark, store.place, state, files.base)
    if not files.changes:
        return base
    changes = frame_of_files(spark, store.place, state, files.changes)
    if state.kind == PLAIN or state.gains_only:
        return base.unionAll(changes)
    names = list(state.columns)
    last = changes.groupBy(*names).agg(f.max_by(f.struct(*STATE), VERSION).alias("last")).select(*names, "last.*")
    there = last.where(_is_there(state))
    weight = f.col(DERIVATIONS) if state.kind == BAG else f.lit(1).cast("long")
    there = there.withColumn(WEIGHT, weight)
    if not names:  # there is one fact, and the changes are about it
        return there
    return base.join(f.broadcast(last.select(*names)), on=names, how="left_anti").unionAll(there.select(*base.columns))


def _is_there(state: TableState) -> Column:
    return f.col(DERIVATIONS) > 0 if state.kind == BAG else f.col(WEIGHT) >= 0


def read_changes(spark: SparkSession, store: TableStore, table: str, since: int, until: int | None = None) -> DataFrame:
    """What happened to a table after a version: its rows with a weight."""
    files, state = store.change_files(table, since, until)
    frame = frame_of_files(spark, store.place, state, files)
    return frame if state.kind == PLAIN else frame.where(f.col(WEIGHT) != 0)


# --- writing ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """A relation that is written, by its tag."""

    table: str
    arity: int
    kind: str


def append_plain(transaction: TableTransaction, table: str, frame: DataFrame, columns: Mapping[str, str]) -> int:
    """Let Spark write rows of a plain table; returns how many."""
    place = transaction.begin_write(table, columns, PLAIN)
    written = write_plain(transaction, plain_rows(transaction, frame, columns), place)
    return transaction.end_write(place, written)


def plain_rows(transaction: TableTransaction, frame: DataFrame, columns: Mapping[str, str]) -> DataFrame:
    """Rows of a plain table as a transaction writes them."""
    return frame.select(*columns, f.lit(transaction.version).cast("long").alias(VERSION))


def write_plain(transaction: TableTransaction, rows: DataFrame, place: NewFiles) -> list[str] | None:
    """Let Spark write rows into a place; gives the names of the files that count, if not all do."""
    return write_files(rows, transaction.store.place, place.folder, place.state)


def append_tagged(transaction: TableTransaction, mapped: Mapped, targets: Sequence[Target]) -> dict[str, int]:
    """Write facts of many relations, in one job; returns how many rows each table got.

    `mapped` hands the function that writes to whatever has the rows: `frame.mapInArrow`, or tasks that derive them. The
    weight of a row says what this version does to its fact.
    """
    places = [transaction.begin_write(target.table, fact_columns(target.arity), target.kind) for target in targets]
    for place in places:
        transaction.store.place.make_folder(place.folder)
    written: dict[int, list[str]] = {}
    rows: dict[int, int] = dict.fromkeys(range(len(targets)), 0)
    write = _writer(transaction, places, targets)

    def run() -> None:
        for row in mapped(write, WRITTEN).collect():
            written.setdefault(row["relation"], []).append(row["file"])
            rows[row["relation"]] += row["rows"]

    with_our_errors(run, transaction.store.place.failure)
    for number, place in enumerate(places):
        transaction.end_write(place, written.get(number, []))
    return {target.table: rows[number] for number, target in enumerate(targets)}


def _writer(transaction: TableTransaction, places: Sequence[NewFiles], targets: Sequence[Target]) -> Batches:
    where, version, folders = transaction.store.place, transaction.version, [place.folder for place in places]
    columns = [id_columns(target.arity) for target in targets]

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from everlog.pipeline.table_tasks import write_batches

        return write_batches(batches, where, folders, columns, version)

    return write


def tagged_changes(new: DataFrame, old: DataFrame, width: int, bags: Sequence[int]) -> DataFrame:
    """What turns the facts of one tagged frame into those of another: a row for each fact of which anything differs."""
    about = [EXPLICIT, DERIVATIONS, RANK]
    is_bag = f.col(RELATION).isin(list(bags)) if bags else f.lit(False)
    names = [RELATION, *id_columns(width)]

    def half(frame: DataFrame, mine: str, other: str) -> DataFrame:
        state = f.struct(f.when(is_bag, f.col(WEIGHT)).otherwise(f.lit(1)).cast("long").alias(WEIGHT), *about)
        nothing = f.lit(None).cast("struct<weight:bigint,explicit:boolean,derivations:bigint,rank:int>")
        columns = {mine: state, other: nothing}
        return frame.select(*names, columns["now"].alias("now"), columns["then"].alias("then"))

    both = half(new, "now", "then").unionAll(half(old, "then", "now"))
    compared = both.groupBy(*names).agg(
        f.first("now", ignorenulls=True).alias("now"), f.first("then", ignorenulls=True).alias("then")
    )
    differs = f.col("now").isNull() | f.col("then").isNull() | (f.col("now") != f.col("then"))
    weight = f.coalesce(f.col("now.weight"), f.lit(0)) - f.coalesce(f.col("then.weight"), f.lit(0))
    return compared.where(differs).select(
        *names,
        weight.cast("long").alias(WEIGHT),
        f.coalesce(f.col("now.explicit"), f.lit(False)).alias(EXPLICIT),
        f.coalesce(f.col("now.derivations"), f.lit(0)).cast("long").alias(DERIVATIONS),
        f.coalesce(f.col("now.rank"), f.lit(0)).cast("int").alias(RANK),
    )


def tagged_rows(frame: DataFrame, number: int, arity: int, width: int) -> DataFrame:
    """Rows of a relation's table as a tagged frame."""
    return tag(
        frame,
        number,
        arity,
        width,
        explicit=f.col(EXPLICIT),
        weight=f.col(WEIGHT),
        derivations=f.col(DERIVATIONS),
        rank=f.col(RANK),
    )


def union(frames: Sequence[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionAll, frames)


def explicit_facts(frame: DataFrame, arity: int) -> DataFrame:
    """The explicit facts among the rows of a table."""
    return frame.where(f.col(EXPLICIT)).select(*id_columns(arity))
