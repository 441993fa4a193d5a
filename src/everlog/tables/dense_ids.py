"""How do the 64-bit ids of tables become the small ones of this process, and back?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from everlog.dictionary.dictionary import INLINE_LEAST, INLINE_MOST, INLINE_OFFSET, UNBOUND, Dictionary, Ids
from everlog.dictionary.hashed_ids import INTEGER, MOST, UNBOUND_ID, id_of_key
from everlog.dictionary.hashed_terms import HashedTerms
from everlog.errors import DataError

Hashes = npt.NDArray[np.int64]


def terms_of(rows: pa.Table) -> HashedTerms:
    """The terms of a dictionary table."""
    rows = rows.select(["id", "key"]).combine_chunks().sort_by("id")
    hashes = rows["id"].to_numpy()
    keys = pc.cast(rows["key"], pa.large_string()).combine_chunks()
    if isinstance(keys, pa.ChunkedArray):
        keys = keys.chunk(0) if keys.num_chunks else pa.array([], pa.large_string())
    _, offsets, data = keys.buffers() if len(keys) else (None, None, None)
    begins = np.frombuffer(offsets, np.int64)[: len(keys) + 1] if offsets is not None else np.zeros(1, np.int64)
    texts = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    return HashedTerms(hashes, texts, begins.astype(np.uint64))


def no_terms() -> HashedTerms:
    """What a dictionary begins with."""
    return HashedTerms(np.empty(0, np.int64), np.empty(0, np.uint8), np.zeros(1, np.uint64))


class DenseIds:
    """The ids of a dictionary of this process that began with the terms of a table."""

    def __init__(self, terms: HashedTerms, dictionary: Dictionary | None = None) -> None:
        """`dictionary`: one that is there already, which begins with the same terms."""
        self._terms = terms
        self.dictionary = Dictionary(terms) if dictionary is None else dictionary
        self._first_new = len(terms)
        self._new = np.empty(64, np.int64)  # hashes of the terms that came later, by their ids …
        self._new_count = 0  # … and how many there are: arrays double, so that a stream does not copy them each time
        self._known_new: dict[int, str] = {}

    # --- from tables --------------------------------------------------------------------------------------------------

    def local(self, hashes: Hashes) -> Ids:
        """The ids of this process."""
        integers = (hashes & 7) == INTEGER
        if not integers.any():
            return self._dense_terms(hashes)
        found = np.empty(len(hashes), np.int32)
        found[integers] = self.dictionary.encode_integers(hashes[integers] >> 3)
        found[~integers] = self._dense_terms(hashes[~integers])
        return found

    def _dense_terms(self, hashes: Hashes) -> Ids:
        encoded = pa.array(hashes).dictionary_encode()  # by hashing: sorting would take ten times as long
        distinct = encoded.dictionary.to_numpy()
        places = np.searchsorted(self._terms.hashes, distinct)
        inside = np.minimum(places, max(0, len(self._terms.hashes) - 1))
        known = self._terms.hashes[inside] == distinct if len(self._terms.hashes) else np.zeros(len(distinct), bool)
        ids = np.where(known, inside + 1, UNBOUND).astype(np.int32)
        for place in np.flatnonzero(~known & (distinct != UNBOUND_ID)).tolist():
            ids[place] = self._learned(int(distinct[place]))
        found: Ids = ids[encoded.indices.to_numpy(zero_copy_only=False)]
        return found

    def _learned(self, hash_: int) -> int:
        key = self._known_new.get(hash_)
        if key is None:
            raise DataError(f"the id {hash_} is in no dictionary", hint="a part of the table `dictionary` is missing")
        return self.dictionary.encode_key(key)

    def learn(self, hash_: int, key: str) -> None:
        """A term that came after the table was read."""
        known = self.dictionary.find_key(key)
        if known is None:
            self._check(hash_, key)
            self._known_new[hash_] = key

    # --- to tables ----------------------------------------------------------------------------------------------------

    def hashed(self, ids: Ids) -> Hashes:
        """The ids of tables."""
        self._hash_new()
        ids = np.asarray(ids, np.int64)
        found = np.empty(len(ids), np.int64)
        inline, unbound, stored = ids < 0, ids == UNBOUND, (ids > 0) & (ids < self._first_new)
        found[inline] = ((ids[inline] + INLINE_OFFSET) << 3) | INTEGER
        found[unbound] = UNBOUND_ID
        found[stored] = self._terms.hashes[ids[stored] - 1] if stored.any() else 0
        new = ids >= self._first_new
        if new.any():
            found[new] = self._new[ids[new] - self._first_new]
        return found

    def _hash_new(self) -> None:
        for id_ in range(self._first_new + self._new_count, len(self.dictionary)):
            key = self.dictionary.key(id_)
            hash_ = id_of_key(key)
            self._check(hash_, key)
            self._known_new[hash_] = key
            if self._new_count == len(self._new):
                self._new = np.concatenate([self._new, np.empty_like(self._new)])
            self._new[self._new_count] = hash_
            self._new_count += 1

    def _check(self, hash_: int, key: str) -> None:
        place = int(np.searchsorted(self._terms.hashes, hash_))
        other = self._known_new.get(hash_)
        if other is None and place < len(self._terms.hashes) and self._terms.hashes[place] == hash_:
            other = self._terms.key(place + 1)
        if other is not None and other != key:
            raise DataError(f"two terms have the same 64-bit id: {other!r} and {key!r}", hint="rename one of the two")

    def terms_since(self, count: int) -> tuple[list[tuple[int, str]], int]:
        """The terms that came after so many new ones, as (id, key) rows, and how many new ones there are now."""
        self._hash_new()
        rows = [
            (hash_, self.dictionary.key(self._first_new + place))
            for place, hash_ in enumerate(self._new[count : self._new_count].tolist(), start=count)
        ]
        # Integers that are small enough there live in their ids.
        return [(hash_, key) for hash_, key in rows if hash_ & 7 != INTEGER], self._new_count


assert INLINE_LEAST > -MOST and INLINE_MOST < MOST, "integers in the ids of this process are in those of tables too"
