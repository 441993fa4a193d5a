"""How do Parquet files become the content of a Delta table that others read?

The files are moved into the table's folder and take the place of all others, or are added to them, by one entry of its
log, which `deltalake` writes. Readers see what was there before or all of what is new, and older versions can still be
read. The entry may say up to which version of our tables it goes, as Delta's writers of streams do: whoever looks there
before writing more writes nothing twice.
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


_WRITER = "everlog"


def put_content(
    table: Path, files: Path, schema: StructType, *, append: bool = False, version: int | None = None
) -> None:
    """Make the Parquet files of a folder the whole content of a table, new or not, or add them to it.

    Args:
        version: of our tables, up to which the content then goes.

    Raises:
        OutputError: the table's log cannot be written.
    """
    from deltalake import CommitProperties, DeltaTable, Schema, Transaction
    from deltalake.exceptions import DeltaError
    from deltalake.transaction import create_table_with_add_actions

    table.mkdir(exist_ok=True)
    place = table / uuid.uuid4().hex
    os.rename(files, place)
    columns = Schema.from_json(schema.json())
    said = None if version is None else CommitProperties(app_transactions=[Transaction(_WRITER, version)])
    try:
        actions = _actions(table, place)
        if DeltaTable.is_deltatable(str(table)):
            there = DeltaTable(str(table))
            if any(field.dataType.typeName() == "timestamp_ntz" for field in schema):
                _allow_local_times(there)
            mode = "append" if append else "overwrite"
            there.create_write_transaction(actions, mode, columns, commit_properties=said)
        else:
            create_table_with_add_actions(str(table), columns, actions, mode="error", commit_properties=said)
    except DeltaError as error:
        raise OutputError(
            f"{table}: the Delta table cannot be written ({str(error).strip().splitlines()[0]})",
            hint="choose another path, or remove the table",
        ) from error


def content_version(table: Path) -> int | None:
    """The version of our tables up to which a Delta table goes; None where it does not say."""
    from deltalake import DeltaTable

    if not DeltaTable.is_deltatable(str(table)):
        return None
    found: int | None = DeltaTable(str(table)).transaction_version(_WRITER)
    return found


def content_types(table: Path) -> dict[str, str]:
    """The columns of a Delta table, with Spark's names of their types."""
    from deltalake import DeltaTable
    from pyspark.sql.types import StructType

    schema = StructType.fromJson(json.loads(DeltaTable(str(table)).schema().to_json()))
    return {field.name: field.dataType.simpleString() for field in schema}


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
