"""Which columns do the folders of a Hive-partitioned source stand for?

    readings/year=2024/place=north/part-0.parquet        year is 2024, place is "north"

Values are integers or dates where all values of a column look like it, else strings; `__HIVE_DEFAULT_PARTITION__` is no
value. Spark would find them too, but takes the bytes of an escaped letter (`%C3%BC`) for two letters.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from everlog.addresses import without_scheme
from everlog.errors import DataError
from everlog.facts.terms import Term, key_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from everlog.pipeline.source_files import SourceFile

Partition = tuple[tuple[str, str | None], ...]  # a name and a key for each column; None where there is no value

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"

_FOLDER = re.compile(r"([^=/]+)=([^/]*)")


def path_partitions(within: Mapping[str, str]) -> dict[str, Partition]:
    """The partition of each file, by its path within the source.

    >>> path_partitions({"/d/y=2024/a.csv": "y=2024/a.csv", "/d/y=2025/a.csv": "y=2025/a.csv"})["/d/y=2025/a.csv"]
    (('y', '^integer 2025'),)
    """
    found = {}
    for path, inside in within.items():
        folders = PurePosixPath(inside).parts[:-1]
        pairs = [(match[1], match[2]) for folder in folders if (match := _FOLDER.fullmatch(folder))]
        found[path] = [(unquote(name), None if value == NO_VALUE else unquote(value)) for name, value in pairs]
    return typed_partitions(found, {}, same_names=True)


def typed_partitions(
    texts: Mapping[str, Sequence[tuple[str, str | None]]],
    readers: Mapping[str, Callable[[str], Term]],
    *,
    same_names: bool = False,
) -> dict[str, Partition]:
    """Partitions with texts for values, as keys of terms; `readers` know the types of some columns."""
    names: list[str] = []
    for path, pairs in texts.items():
        here = [name for name, _ in pairs]
        if same_names and names and here != names:
            there = ", ".join(names)
            raise DataError(
                f"its folders are named after {', '.join(here) or 'nothing'}, those of other files after {there}",
                path=path,
                hint="give files with other columns a source of their own",
            )
        names = here or names
    readers = {
        name: readers.get(name) or _reader([dict(pairs).get(name) for pairs in texts.values()]) for name in names
    }
    return {
        path: tuple((name, None if value is None else key_of(readers[name](value))) for name, value in pairs)
        for path, pairs in texts.items()
    }


def _reader(values: Iterable[str | None]) -> Callable[[str], Term]:
    there = [value for value in values if value is not None]
    for reader, pattern in ((int, r"-?[0-9]{1,18}"), (dt.date.fromisoformat, r"[0-9]{4}-[0-9]{2}-[0-9]{2}")):
        try:
            if there and all(re.fullmatch(pattern, value) and reader(value) is not None for value in there):
                return reader
        except ValueError:
            continue  # 2024-02-31 looks like a date
    return str


def partition_names(files: Sequence[SourceFile]) -> tuple[str, ...]:
    return tuple(name for name, _ in files[0].partition) if files else ()


def with_partitions(frame: DataFrame, files: Sequence[SourceFile], address: str) -> DataFrame:
    """The frame with a column of keys, `__p0`, `__p1`, …, for each column of the partitions of its files.

    Args:
        address: the column with the files' addresses.
    """
    from pyspark.sql import functions as f

    from everlog.pipeline.source_files import path_column

    names = partition_names(files)
    if not names:
        return frame
    if len({file.partition for file in files}) == 1:
        keys = [f.lit(key).cast("string").alias(f"__p{place}") for place, (_, key) in enumerate(files[0].partition)]
        return frame.select("*", *keys)
    rows = [(without_scheme(file.path), *(key for _, key in file.partition)) for file in files]
    schema = ", ".join(["__path string", *(f"__p{place} string" for place in range(len(names)))])
    known = frame.sparkSession.createDataFrame(rows, schema)
    return frame.withColumn("__path", path_column(f.col(address))).join(f.broadcast(known), "__path").drop("__path")
