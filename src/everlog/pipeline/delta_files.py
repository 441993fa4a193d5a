"""How does Spark write Parquet files, and what do we say when it cannot?"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everlog.errors import EverlogError, StorageError
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
    with_our_errors(lambda: frame.write.parquet(spark_path(place)), lambda error: unwritable(place.parent, error))


def with_our_errors(action: Any, failure: Callable[[OSError], EverlogError]) -> None:
    """Run something that makes Spark write to a place; what the place refuses becomes the error that `failure` makes.

    What a task says of an object store is told as if it had been said here.

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
        refused = _OF_STORES.search(text)
        if refused:
            raise StorageError(refused[1], hint=refused[2]) from error
        for sign, number in _REFUSALS.items():
            if sign in text:
                raise failure(OSError(number, sign)) from error
        raise
    except OSError as error:
        raise failure(error) from error


_OF_STORES = re.compile(r"everlog\.errors\.StorageError: (.*)\n\s*= help: (.*)")
_REFUSALS = {
    "No space left on device": errno.ENOSPC,
    "Disk quota exceeded": errno.EDQUOT,
    "Permission denied": errno.EACCES,
    "Read-only file system": errno.EROFS,
    "Mkdirs failed to create": errno.EACCES,
    "Unable to create directory": errno.EACCES,
    "Not a directory": errno.ENOTDIR,
}
