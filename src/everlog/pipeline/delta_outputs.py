"""How do Parquet files become the content of a Delta table that others read?

The files are moved into the table's folder and take the place of all others by one entry of its log, which `deltalake`
writes. Readers see what was there before or all of what is new, and older versions can still be read.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everlog.disk import sync
from everlog.errors import OutputError

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from pyspark.sql.types import StructType


def replace_content(table: Path, files: Path, schema: StructType) -> None:
    """Make the Parquet files of a folder the whole content of a table, new or not.

    Raises:
        OutputError: the table's log cannot be written.
    """
    from deltalake import DeltaTable, Schema
    from deltalake.exceptions import DeltaError
    from deltalake.transaction import create_table_with_add_actions

    table.mkdir(exist_ok=True)
    place = table / uuid.uuid4().hex
    os.rename(files, place)
    columns = Schema.from_json(schema.json())
    try:
        actions = _actions(table, place)
        if DeltaTable.is_deltatable(str(table)):
            there = DeltaTable(str(table))
            if any(field.dataType.typeName() == "timestamp_ntz" for field in schema):
                _allow_local_times(there)
            there.create_write_transaction(actions, "overwrite", columns)
        else:
            create_table_with_add_actions(str(table), columns, actions, mode="error")
    except DeltaError as error:
        raise OutputError(
            f"{table}: the Delta table cannot be written ({str(error).strip().splitlines()[0]})",
            hint="choose another path, or remove the table",
        ) from error


def _allow_local_times(table: DeltaTable) -> None:
    """Times without a zone are a feature that a table must say it uses; one that is made with them says so."""
    from deltalake import TableFeatures

    if "timestampNtz" not in (table.protocol().writer_features or ()):
        table.alter.add_feature(TableFeatures.TimestampWithoutTimezone, allow_protocol_versions_increase=True)
        table.update_incremental()


def _actions(table: Path, place: Path) -> list[Any]:
    import pyarrow.parquet as pq
    from deltalake.transaction import AddAction

    actions = []
    for path in sorted(place.glob("*.parquet")):
        rows = pq.read_metadata(path).num_rows
        if not rows:
            path.unlink()
            continue
        sync(path)
        actions.append(
            AddAction(
                path=path.relative_to(table).as_posix(),
                size=path.stat().st_size,
                partition_values={},
                modification_time=int(time.time() * 1000),
                data_change=True,
                stats=json.dumps({"numRecords": rows}),
            )
        )
    sync(place)
    return actions
