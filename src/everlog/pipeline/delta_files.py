"""How does Spark write Parquet files, and what do we say when it cannot?"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everlog.errors import EverlogError
from everlog.tables.commits import unwritable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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
