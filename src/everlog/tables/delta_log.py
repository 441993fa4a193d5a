"""How do Parquet files become part of a Delta table?

Spark or this process writes them into a new folder inside the table's; this process looks at their footers and adds
them to the table's log (`_delta_log`) with `deltalake`, in a few milliseconds. No jar is involved.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from everlog.errors import OutputError
from everlog.extras import check_extra
from everlog.tables.layout import DELTA_TYPES
from everlog.tables.places import StoredFile, TablePlace

LOG = "_delta_log"
_CHECKPOINT_EVERY = 50  # versions of a log after which reading it begins at a checkpoint

# Old versions are read by number, so their log entries stay, however old.
_CONFIGURATION: Mapping[str, str | None] = {"delta.enableExpiredLogCleanup": "false"}


@dataclass(frozen=True)
class DataFile:
    """A Parquet file with rows in it."""

    address: str
    rows: int
    size: int
    weight: int  # the sum of the column of weights, or the number of rows where there is none
    gained: int  # rows with a positive weight …
    lost: int  # … and with a negative one

    @property
    def gains_only(self) -> bool:
        """Every row is of a fact that was not there before."""
        return self.gained == self.rows


def describe(place: TablePlace, folder: str, weight: str | None = None) -> list[DataFile]:
    """The files in a folder that hold rows, from their footers."""
    files = (file for file in place.files(folder) if file.address.endswith(".parquet"))
    return [found for file in files if (found := _described(place, file, weight)) is not None]


def _described(place: TablePlace, file: StoredFile, weight: str | None) -> DataFile | None:
    """A file, unless it holds no rows."""
    import pyarrow.parquet as pq

    with place.talking(), pq.ParquetFile(place.inside(file.address), filesystem=place.filesystem()) as opened:
        rows = opened.metadata.num_rows
        if not rows:
            return None
        total, gained, lost = (rows, rows, 0) if weight is None else _weights(opened, weight)
    return DataFile(file.address, rows, file.size, total, gained, lost)


def _weights(file: Any, column: str) -> tuple[int, int, int]:
    """The sum of a column of weights, how many are positive and negative; the footer tells where all are the same."""
    import pyarrow.compute as pc

    index = file.schema_arrow.get_field_index(column)
    groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
    ranges = [group.column(index).statistics for group in groups]
    if all(each is not None and each.has_min_max and each.min == each.max for each in ranges):
        known = [(group.num_rows, each.min) for group, each in zip(groups, ranges, strict=True)]
        gained, lost = (sum(rows for rows, weight in known if weight * sign > 0) for sign in (1, -1))
        return sum(rows * weight for rows, weight in known), gained, lost
    weights = file.read(columns=[column]).column(0)
    gained, lost = pc.sum(pc.greater(weights, 0)).as_py(), pc.sum(pc.less(weights, 0)).as_py()
    return pc.sum(weights).as_py(), gained, lost


def delta_table(place: TablePlace, folder: str, version: int | None = None) -> Any:
    """A table, at a version of its log."""
    check_extra("deltalake", "a table of a pipeline")
    from deltalake import DeltaTable

    with place.talking():
        return DeltaTable(place.at(folder), version=version, storage_options=place.storage)


class DeltaLogs:
    """The logs of the tables in a place, as far as they were read: a version never changes, and opening takes time."""

    def __init__(self, place: TablePlace) -> None:
        self._place = place
        self._tables: dict[str, Any] = {}
        self._files: dict[tuple[str, int], list[str]] = {}

    def files(self, folder: str, version: int) -> list[str]:
        """The addresses of the files of a Delta version."""
        known = self._files.get((folder, version))
        if known is None:
            # Relative names, joined here: `file_uris` would give a space in the folder's name as %20.
            names = delta_table(self._place, folder, version).get_add_actions().column("path").to_pylist()
            known = self._files[folder, version] = sorted(self._place.at(folder, name) for name in names)
        return known

    def add(
        self, folder: str, base: int, types: Mapping[str, str], added: Sequence[DataFile], *, replace: bool = False
    ) -> int | None:
        """Add files to what a Delta version of a table holds; -1 stands for a table that is not there yet.

        Versions after `base` come from runs that did not commit: their files are removed first. With `replace`, the
        added files are all that the new version holds.

        Returns:
            the Delta version that holds the files wanted; None where another writer came in between.
        """
        from deltalake.exceptions import CommitFailedError, DeltaError

        known = self.files(folder, base) if base >= 0 and not replace else []
        wanted = sorted({*known, *(file.address for file in added)})
        try:
            if base < 0:
                version = self._create(folder, types, added)
            else:
                version = self._add(folder, base, types, added, replace)
        except CommitFailedError:
            self._tables.pop(folder, None)
            return None
        except DeltaError as error:
            self._tables.pop(folder, None)
            if base < 0 and "exist" in str(error):
                return None
            raise OutputError(
                f"{self._place.at(folder)}: the table's log cannot be written ({error})",
                hint="what was committed before is still there; free some room or check permissions, then run again",
            ) from error
        self._place.sync([self._place.at(folder, LOG, f"{version:020d}.json")], new_folder=False)
        if version != base + 1 and self.files(folder, version) != wanted:
            return None
        self._files[folder, version] = wanted
        self._files.pop((folder, base), None)
        return version

    def _add(self, folder: str, base: int, types: Mapping[str, str], added: Sequence[DataFile], replace: bool) -> int:
        from deltalake import CommitProperties

        table = self._tables.get(folder)
        if table is None:
            table = self._tables[folder] = delta_table(self._place, folder)
        else:
            table.update_incremental()
        if table.version() != base:
            table.restore(base)
            table.update_incremental()
        version: int = table.version() + 1
        # Without retries a version that somebody else made in between is an error, not something to build upon.
        table.create_write_transaction(
            self._actions(folder, added),
            "overwrite" if replace else "append",
            _schema(types),
            commit_properties=CommitProperties(max_commit_retries=0),
        )
        if version % _CHECKPOINT_EVERY == 0:
            delta_table(self._place, folder).create_checkpoint()
        return version

    def _create(self, folder: str, types: Mapping[str, str], added: Sequence[DataFile]) -> int:
        """A new table that holds the files; gives its first version."""
        from deltalake.transaction import create_table_with_add_actions

        self._place.make_folder(folder)
        create_table_with_add_actions(
            self._place.at(folder),
            _schema(types),
            self._actions(folder, added),
            mode="error",
            configuration=_CONFIGURATION,
            storage_options=self._place.storage,
        )
        return 0

    def _actions(self, folder: str, added: Sequence[DataFile]) -> list[Any]:
        from deltalake.transaction import AddAction

        now, before = int(time.time() * 1000), f"{folder}/"
        return [
            AddAction(
                path=self._place.name(file.address).removeprefix(before),
                size=file.size,
                partition_values={},
                modification_time=now,
                data_change=True,
                stats=json.dumps({"numRecords": file.rows}),
            )
            for file in added
        ]


def _schema(types: Mapping[str, str]) -> Any:
    from deltalake import Field, Schema
    from deltalake.schema import PrimitiveType

    return Schema([Field(name, PrimitiveType(DELTA_TYPES[type_])) for name, type_ in types.items()])
