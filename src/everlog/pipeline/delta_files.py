"""How do Parquet files that Spark wrote become part of a Delta table?

Spark writes them into a new folder inside the table's; the driver looks at their footers and adds them to the table's
log (`_delta_log`) with `deltalake`, in a few milliseconds. No jar is involved, and rows never come to the driver.
"""

from __future__ import annotations

import errno
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everlog.errors import EverlogError, OutputError
from everlog.pipeline.commits import unwritable
from everlog.store.disk import sync

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LOG = "_delta_log"

# Spark's names of types in ours and Delta's.
DELTA_TYPES = {"bigint": "long", "int": "integer", "string": "string", "double": "double", "boolean": "boolean"}

# Old versions are read by number, so their log entries stay, however old.
_CONFIGURATION: Mapping[str, str | None] = {"delta.enableExpiredLogCleanup": "false"}


@dataclass(frozen=True)
class DataFile:
    """A Parquet file with rows in it."""

    path: Path
    rows: int
    size: int
    weight: int  # the sum of the column of weights, or the number of rows where there is none
    losses: bool


def spark_path(path: Path) -> str:
    """A local path for Spark, whatever its default file system is."""
    return f"file://{path}"


def write(frame: DataFrame, place: Path) -> None:
    """Let Spark write Parquet files into a new folder.

    Raises:
        OutputError: there is no room, or no permission.
    """
    with_our_errors(lambda: frame.write.parquet(spark_path(place)), place)


def with_our_errors(action: Any, place: Path) -> None:
    """Run something that makes Spark write to a place; what the disk refuses becomes an `OutputError`.

    Anything else that stops a job (an error in a rule's expression, a killed worker) is not about writing and passes.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        action()
    except EverlogError:
        raise
    except (Py4JJavaError, PySparkException) as error:
        text = str(error)
        for sign, number in _REFUSALS.items():
            if sign in text:
                raise unwritable(place.parent, OSError(number, sign)) from error
        raise
    except OSError as error:
        raise unwritable(place.parent, error) from error


_REFUSALS = {
    "No space left on device": errno.ENOSPC,
    "Disk quota exceeded": errno.EDQUOT,
    "Permission denied": errno.EACCES,
    "Read-only file system": errno.EROFS,
    "Mkdirs failed to create": errno.EACCES,
    "Unable to create directory": errno.EACCES,
    "Not a directory": errno.ENOTDIR,
}


def describe(place: Path, weight: str | None = None) -> list[DataFile]:
    """The files in a folder that hold rows, from their footers."""
    import pyarrow.parquet as pq

    found = []
    for path in sorted(place.glob("*.parquet")):
        with pq.ParquetFile(path) as file:
            rows = file.metadata.num_rows
            if not rows:
                continue
            total, losses = (rows, False) if weight is None else _weights(file, weight)
        found.append(DataFile(path, rows, path.stat().st_size, total, losses))
    return found


def _weights(file: Any, column: str) -> tuple[int, bool]:
    """The sum of a column of weights and whether any is negative; the footer tells where all are the same."""
    import pyarrow.compute as pc

    index = file.schema_arrow.get_field_index(column)
    groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
    ranges = [group.column(index).statistics for group in groups]
    if all(each is not None and each.has_min_max and each.min == each.max for each in ranges):
        total = sum(group.num_rows * each.min for group, each in zip(groups, ranges, strict=True))
        return total, any(each.min < 0 for each in ranges)
    weights = file.read(columns=[column]).column(0)
    return pc.sum(weights).as_py(), pc.min(weights).as_py() < 0


def sync_all(files: Sequence[DataFile]) -> None:
    """Wait until the files are on disk."""
    for file in files:
        sync(file.path)
    for folder in {file.path.parent for file in files}:
        sync(folder)
        sync(folder.parent)


def files(folder: Path, version: int) -> list[str]:
    """The files of a Delta version, as absolute paths."""
    from deltalake import DeltaTable

    # Relative names, joined here: `file_uris` would give a space in the folder's name as %20.
    names = DeltaTable(str(folder), version=version).get_add_actions().column("path").to_pylist()
    return sorted(str(folder / name) for name in names)


def append(folder: Path, base: int, types: Mapping[str, str], added: Sequence[DataFile]) -> int | None:
    """Add files to what a Delta version of a table holds; -1 stands for a table that is not there yet.

    Versions after `base` come from runs that did not commit: their files are removed first.

    Returns:
        the Delta version that holds the files of `base` and the added ones; None where another writer came in between.
    """
    from deltalake import CommitProperties, DeltaTable
    from deltalake.exceptions import CommitFailedError, DeltaError

    known = files(folder, base) if base >= 0 else []
    actions, schema = _actions(folder, added), _schema(types)
    try:
        if base < 0:
            version = create(folder, types, added)
        else:
            table = DeltaTable(str(folder))
            if table.version() != base:
                table.restore(base)
                table.update_incremental()
            version = table.version() + 1
            # Without retries a version that somebody else made in between is an error, not something to build upon.
            table.create_write_transaction(
                actions, "append", schema, commit_properties=CommitProperties(max_commit_retries=0)
            )
    except CommitFailedError:
        return None
    except DeltaError as error:
        if base < 0 and "exist" in str(error):
            return None
        raise OutputError(
            f"{folder}: the table's log cannot be written ({error})",
            hint="what was committed before is still there; free some room or check permissions, then run again",
        ) from error
    sync(folder / LOG / f"{version:020d}.json")
    sync(folder / LOG)
    wanted = {*known, *(str(file.path) for file in added)}
    return version if set(files(folder, version)) == wanted else None


def create(folder: Path, types: Mapping[str, str], added: Sequence[DataFile]) -> int:
    """A new table that holds the files; gives its first version."""
    from deltalake.transaction import create_table_with_add_actions

    folder.mkdir(parents=True, exist_ok=True)
    create_table_with_add_actions(
        str(folder), _schema(types), _actions(folder, added), mode="error", configuration=_CONFIGURATION
    )
    return 0


def overwrite(folder: Path, types: Mapping[str, str], added: Sequence[DataFile]) -> None:
    """Make the files the whole content of a table, new or not; readers see all of it or what was there before."""
    from deltalake import DeltaTable

    if not DeltaTable.is_deltatable(str(folder)):
        create(folder, types, added)
        return
    DeltaTable(str(folder)).create_write_transaction(_actions(folder, added), "overwrite", _schema(types))


def _schema(types: Mapping[str, str]) -> Any:
    from deltalake import Field, Schema
    from deltalake.schema import PrimitiveType

    return Schema([Field(name, PrimitiveType(DELTA_TYPES[type_])) for name, type_ in types.items()])


def _actions(folder: Path, added: Sequence[DataFile]) -> list[Any]:
    from deltalake.transaction import AddAction

    now = int(time.time() * 1000)
    return [
        AddAction(
            path=file.path.relative_to(folder).as_posix(),
            size=file.size,
            partition_values={},
            modification_time=now,
            data_change=True,
            stats=json.dumps({"numRecords": file.rows}),
        )
        for file in added
    ]
