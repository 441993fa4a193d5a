"""How are the terms of a table looked up, millions of them, without reading them first?

A table has (id, key) rows whose id is a hash of the key (hashed_ids.py). Sorted by id they are a dictionary: a key is
found by its hash, an id by binary search, and the place in the order is the small number that engines in this process
work with.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from everlog.dictionary.hashed_ids import id_of_key
from everlog.dictionary.kinds import KIND_BLANK, KIND_IRI, KIND_LANGUAGE, KIND_STRING, described
from everlog.dictionary.stored_terms import StoredTerms

Array = npt.NDArray[Any]

_KINDS = np.full(256, 255, np.uint8)
for _first, _kind in (('"', KIND_STRING), ("<", KIND_IRI), ("_", KIND_BLANK), ("@", KIND_LANGUAGE)):
    _KINDS[ord(_first)] = _kind


class HashedTerms(StoredTerms):
    """The keys of the ids from 0 on; that of 0 is empty."""

    def __init__(self, hashes: npt.NDArray[np.int64], texts: Array, begins: Array) -> None:
        """`hashes` ascend; `texts` are the bytes of their keys, one after the other; `begins` says where they begin."""
        self.hashes = hashes
        self._hashes = hashes.data
        self._own = {"texts": texts, "begins": np.concatenate([begins[:1], begins])}
        self._texts, self._begins = self._own["texts"].data, self._own["begins"].data

    def __len__(self) -> int:
        return len(self.hashes) + 1

    def find(self, key: str) -> int | None:
        wanted = id_of_key(key)
        place = bisect_left(self._hashes, wanted)
        if place == len(self._hashes) or self._hashes[place] != wanted or self.key(place + 1) != key:
            return None
        return place + 1

    @cached_property
    def described(self) -> tuple[Array, Array]:
        begins, texts = self._own["begins"], self._own["texts"]
        kinds = np.full(len(self), 255, np.uint8)
        kinds[1:] = _KINDS[texts[begins[1:-1]]] if len(texts) else 255
        numbers = np.full(len(self), np.nan)
        kinds[0] = KIND_IRI  # nobody asks
        for id_ in np.flatnonzero(kinds == 255).tolist():
            kinds[id_], numbers[id_] = described(self.key(id_))
        return kinds, numbers

    @property
    def arrays(self) -> dict[str, Array]:  # type: ignore[override]
        """What a snapshot of this process keeps, which finds keys by their checksums."""
        checksums = np.fromiter((zlib.crc32(self._bytes(id_)) for id_ in range(len(self))), np.uint32, len(self))
        order = np.argsort(checksums, kind="stable")
        kinds, numbers = self.described
        ids = order.astype(np.uint32)
        return {**self._own, "checksums": checksums[order], "ids": ids, "kinds": kinds, "numbers": numbers}
