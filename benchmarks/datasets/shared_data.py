"""Where are the data sets that benchmarks read?"""

from __future__ import annotations

import os
from pathlib import Path

from everlog.errors import NotFoundError

_REPOSITORY = Path(__file__).resolve().parents[2]


class DataMissing(NotFoundError):
    """The files of a benchmark are not on this machine."""


def shared_data(folder: str, file: str = "") -> Path:
    """A file of the shared data sets: in `$EVERLOG_DATA`, else in `../shared/data` beside the repository."""
    home = Path(os.environ.get("EVERLOG_DATA") or _REPOSITORY.parent / "shared" / "data")
    path = home / folder / file
    if not path.exists():
        raise DataMissing(
            f"the data of this benchmark is missing: {folder}/{file}",
            hint="set EVERLOG_DATA to the folder that holds the data sets",
        )
    return path
