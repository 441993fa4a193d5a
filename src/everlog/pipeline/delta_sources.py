"""Which files does the current version of a Delta table hold, and what do its rows look like?

The log says it (`_delta_log`), read by `deltalake`: files in the folder that it does not name were overwritten or
deleted, or are not committed yet. Values of partition columns are in the log too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from everlog.errors import DataError, FormatError
from everlog.facts.terms import Term
from everlog.formats.fields import READERS
from everlog.pipeline.partitions import Partition, typed_partitions

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_READERS = {
    "string": "string",
    "integer": "integer",
    "long": "integer",
    "short": "integer",
    "byte": "integer",
    "boolean": "boolean",
    "date": "date",
    "float": "double",
    "double": "double",
}


def is_delta(folder: str) -> bool:
    return os.path.isdir(os.path.join(folder, "_delta_log"))


def delta_files_of(folder: str) -> dict[str, Partition]:
    """The files of the current version, with their values of partition columns."""
    table = _table(folder)
    actions = table.get_add_actions(flatten=False)
    paths = [_path(folder, name) for name in actions.column("path").to_pylist()]
    columns = table.metadata().partition_columns
    if not columns:
        return {path: () for path in paths}
    values = actions.column("partition").to_pylist()
    texts = {
        path: [(name, None if each[name] is None else _text(each[name])) for name in columns]
        for path, each in zip(paths, values, strict=True)
    }
    types = {field.name: field.dataType.typeName() for field in delta_schema(folder) if field.name in columns}
    readers: dict[str, Callable[[str], Term]] = {}
    for name, type_ in types.items():
        if type_ not in _READERS:
            raise DataError(
                f"column {name!r} holds {type_}, by which a table cannot be partitioned here",
                path=folder,
                hint="partition the table by strings, integers, booleans or dates",
            )
        readers[name] = READERS[_READERS[type_]]
    return typed_partitions(texts, readers)


def delta_schema(folder: str) -> StructType:
    """The columns of a table, as Spark describes them."""
    from pyspark.sql.types import StructType

    return StructType.fromJson(json.loads(_table(folder).schema().to_json()))


def _table(folder: str) -> Any:
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        table = DeltaTable(folder)
    except (DeltaError, OSError) as error:
        raise FormatError(
            f"the log of this Delta table cannot be read ({str(error).strip().splitlines()[0]})",
            path=folder,
            hint="copy the table again, with its folder _delta_log",
        ) from error
    what = None
    if table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none":
        what = "other names for columns in its files"
    elif "deletionVectors" in (table.protocol().reader_features or ()):
        what = "deletion vectors"  # rows of its files that are none of the table's
    if what is not None:
        raise DataError(
            f"this Delta table uses {what}, which are not read here",
            path=folder,
            hint="write a copy of the table without them, or hand in its DataFrame as a source",
        )
    return table


def _path(folder: str, name: str) -> str:
    """Where a file of the log is: names in it are escaped like those of addresses."""
    for path in (os.path.join(folder, unquote(name)), os.path.join(folder, name)):
        if os.path.exists(path):
            return path
    raise DataError(
        f"the log of this Delta table names a file that is not there, {name}",
        path=folder,
        hint="copy the table again, with all its files",
    )


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
