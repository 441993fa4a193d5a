"""What do those who write tables need to know of the ids of a process?"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Ids

Hashes = npt.NDArray[np.int64]


class TableIds(Protocol):
    """Ids of tables and ids of this process: small ones (dense_ids.py), or the same (store/paged_tables.py)."""

    def local(self, hashes: Hashes) -> Ids:
        """The ids of this process."""

    def hashed(self, ids: Ids) -> Hashes:
        """The ids of tables."""

    def learn(self, hash_: int, key: str) -> None:
        """A term that came after the tables were read."""

    def terms_since(self, count: int) -> tuple[list[tuple[int, str]], int]:
        """The terms that came after so many new ones, as (id, key) rows, and how many new ones there are now."""
