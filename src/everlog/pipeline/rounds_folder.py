"""Where are rounds written while tables are derived (engines/spark/written_rounds.py), and for how long?

Beside the tables, which all executors can write to, unless the settings name another folder; and only where an executor
can be lost and the driver go on: in local mode they are one process. Spark itself writes them, so that tables in an
object store have none unless a folder is named. The folder goes with the block that uses it,
whatever ends that; what a killed driver left goes when the next one begins.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from everlog.addresses import is_remote, local_text
from everlog.pipeline.delta_files import spark_path
from everlog.tables.places import TablePlace

ROUNDS = "_rounds"


@contextmanager
def rounds_folder(spark: SparkSession, tables: TablePlace, wanted: str | None) -> Iterator[str | None]:
    """The folder for rounds while the block runs, as Spark names it, or None where none is needed.

    Args:
        tables: where the tables are, which the caller is writing.
        wanted: the folder that the settings name; rounds are then written in local mode too.
    """
    if wanted is None and (is_local(spark) or is_remote(str(tables))):
        yield None
        return
    folder = tables.at(ROUNDS) if wanted is None else f"{wanted}/{_name(tables)}"
    _remove(spark, folder)
    try:
        yield folder if is_remote(folder) else spark_path(Path(local_text(folder)).absolute())
    finally:
        _remove(spark, folder)


def is_local(spark: SparkSession) -> bool:
    """Whether tasks run in the driver's own process."""
    return re.fullmatch(r"local(\[.*\])?", spark.conf.get("spark.master", "") or "") is not None


def _name(tables: TablePlace) -> str:
    """Pipelines may share a folder for rounds; each has a folder there, the same one each time if it is alone."""
    return f"rounds-{hashlib.sha256(str(tables).encode()).hexdigest()[:16]}" + (
        "" if tables.has_lock else f"-{uuid.uuid4().hex[:8]}"
    )


def _remove(spark: SparkSession, folder: str) -> None:
    if not is_remote(folder):
        shutil.rmtree(local_text(folder), ignore_errors=True)
        return
    context = spark.sparkContext
    path = context._jvm.org.apache.hadoop.fs.Path(folder)  # type: ignore[union-attr]
    path.getFileSystem(context._jsc.hadoopConfiguration()).delete(path, True)
