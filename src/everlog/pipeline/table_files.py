"""How does Spark get at the files of tables, where they are local and where they are in an object store?

Spark reads and writes local files itself. Object stores are reached by Python tasks, with the libraries and options of
this process: no jar is needed, and nobody has to tell Spark of credentials.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from everlog.engines.spark.local_frames import local_frame
from everlog.pipeline.delta_files import spark_path, with_our_errors
from everlog.tables.commits import TableState
from everlog.tables.local_place import LocalPlace
from everlog.tables.places import TablePlace

if TYPE_CHECKING:
    import pyarrow as pa

# What tasks tell that wrote files: of which relation, the file, and how many rows are in it.
WRITTEN = StructType(
    [StructField("relation", IntegerType()), StructField("file", StringType()), StructField("rows", LongType())]
)

_MOST_TASKS = 64  # that read one table: each opens connections of its own


def frame_of_files(spark: SparkSession, place: TablePlace, state: TableState, files: Sequence[str]) -> DataFrame:
    """The rows of some files of a table."""
    # The schema is given, not read from a file: no job is needed, and a table without files still has columns.
    schema = ", ".join(f"`{name}` {type_}" for name, type_ in state.all_types.items())
    if not files:
        return local_frame(spark, [], schema)
    if isinstance(place, LocalPlace):
        base = spark_path(place.folder / state.folder)
        return spark.read.schema(schema).option("basePath", base).parquet(*(spark_path(Path(file)) for file in files))
    groups = [files[first::_MOST_TASKS] for first in range(min(len(files), _MOST_TASKS))]

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from everlog.tables.netting import read_batches

        for batch in batches:
            for group in batch.column(0).to_pylist():
                for rows in read_batches(place, groups[group], state):
                    yield from rows.to_batches()

    return spark.range(0, len(groups), 1, len(groups)).mapInArrow(read, schema)


def write_files(frame: DataFrame, place: TablePlace, folder: str, state: TableState) -> list[str] | None:
    """Let Spark write rows of a table into a new folder; gives the names of the files that count, if not all do."""
    if isinstance(place, LocalPlace):
        target = spark_path(place.folder / folder)
        with_our_errors(lambda: frame.write.parquet(target), place.failure)
        return None
    written: list[str] = []

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from everlog.pipeline.table_tasks import write_rows

        return write_rows(batches, place, folder, state)

    def run() -> None:
        written.extend(row["file"] for row in frame.mapInArrow(write, WRITTEN).collect())

    with_our_errors(run, place.failure)
    return written
