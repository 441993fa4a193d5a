"""Where are the data sets that benchmarks read?"""

from __future__ import annotations

import os
from pathlib import Path

from everlog.errors import NotFoundError

_REPOSITORY = Path(__file__).resolve().parents[3]


def shared_data(folder: str, file: str = "") -> Path:
    """A file of the shared data sets: in `$EVERLOG_DATA`, else in `../shared/data` beside the repository."""
    home = Path(os.environ.get("EVERLOG_DATA") or _REPOSITORY.parent / "shared" / "data")
    path = home / folder / file
    if not path.exists():
        raise NotFoundError(
            f"the data of this benchmark is missing: {folder}/{file}",
            hint="set EVERLOG_DATA to the folder that holds the data sets",
        )
    return path
