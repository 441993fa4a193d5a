"""How are millions of terms looked up without reading them first?

The keys of terms stand one after the other in one buffer, with the place where each begins, and beside them their
checksums in order, each with its id: a key is found by its checksum, and then compared. All of it is arrays, so that a
dictionary may be mapped from a file and costs nothing until somebody asks.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
_ERRORS = "surrogatepass"  # half a surrogate pair comes back as it was


class StoredTerms:
    """The keys of the ids from 0 on."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self.arrays = dict(arrays)
        self._texts, self._begins = arrays["texts"].data, arrays["begins"].data
        self._checksums, self._ids = arrays["checksums"].data, arrays["ids"].data

    def __len__(self) -> int:
        return len(self._begins) - 1

    @property
    def described(self) -> tuple[Array, Array]:
        """How each term compares, and its value as a double."""
        return self.arrays["kinds"], self.arrays["numbers"]

    def key(self, id_: int) -> str:
        return self._bytes(id_).decode("utf-8", _ERRORS)

    def _bytes(self, id_: int) -> bytes:
        return self._texts[self._begins[id_] : self._begins[id_ + 1]].tobytes()

    def find(self, key: str) -> int | None:
        wanted = key.encode("utf-8", _ERRORS)
        checksum = zlib.crc32(wanted)
        place = bisect_left(self._checksums, checksum)
        while place < len(self._checksums) and self._checksums[place] == checksum:
            id_: int = self._ids[place]
            if self._bytes(id_) == wanted:
                return id_
            place += 1
        return None


def stored_terms(before: StoredTerms | None, keys: Sequence[str], kinds: Array, numbers: Array) -> StoredTerms:
    """The terms that are stored already, and more of them, whose ids follow."""
    encoded = [key.encode("utf-8", _ERRORS) for key in keys]
    first = 0 if before is None else len(before)
    texts = np.frombuffer(b"".join(encoded), np.uint8)
    begins = np.zeros(len(keys) + 1, np.uint64)
    np.cumsum(np.fromiter(map(len, encoded), np.uint64, len(keys)), out=begins[1:])
    checksums = np.fromiter(map(zlib.crc32, encoded), np.uint32, len(keys))
    ids = np.arange(first, first + len(keys), dtype=np.uint32)
    if before is not None:
        old = before.arrays
        begins = np.concatenate([old["begins"][:-1], begins + old["begins"][-1]])
        texts = np.concatenate([old["texts"], texts])
        checksums, ids = np.concatenate([old["checksums"], checksums]), np.concatenate([old["ids"], ids])
    order = np.argsort(checksums, kind="stable")
    arrays: dict[str, Array] = {"texts": texts, "begins": begins, "checksums": checksums[order], "ids": ids[order]}
    return StoredTerms({**arrays, "kinds": kinds, "numbers": numbers})
