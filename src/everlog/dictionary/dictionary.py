"""Which integer stands for which term?

Engines see 32-bit integers only. An id is one of three things:

    id > 0      a row of the dictionary, in order of first use
    id = 0      UNBOUND: no term; where an expression inside an aggregate failed
    id < 0      a small integer in the id itself: value = id + 2**30, for -2**30 <= value < 2**30 - 1

so that integer arithmetic and comparison need no look-up. Beside the keys stand arrays by id, extended as terms come:
`kinds` (how a term compares) and `numbers` (its value as a double), for kernels that filter without leaving them.

>>> d = Dictionary()
>>> a, seven = d.encode("a"), d.encode(7)
>>> d.decode(a), d.decode(seven), seven < 0
('a', 7, True)
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from everlog.dictionary.kinds import KIND_OTHER, described
from everlog.dictionary.stored_terms import StoredTerms, stored_terms
from everlog.errors import LimitError
from everlog.facts.terms import Term, key_of, term_of

Ids: TypeAlias = npt.NDArray[np.signedinteger[Any]]  # of 32 bits in process, of 64 on Spark

UNBOUND = 0
INLINE_OFFSET = 1 << 30
INLINE_LEAST, INLINE_MOST = -INLINE_OFFSET, INLINE_OFFSET - 2  # id -1 stays free: hash tables use it for "empty"
MOST_TERMS = (1 << 31) - 1
_TURN = 1 << 12  # terms that are added before others get to add theirs


class Dictionary:
    """Terms to ids and back, for any number of threads. Only grows; ids never change."""

    dtype: type[np.signedinteger[Any]] = np.int32  # of ids
    unbound: int = UNBOUND  # the id that stands for no term

    def __init__(self, stored: StoredTerms | None = None) -> None:
        """`stored`: terms that are there already, in a file, say."""
        self._stored = stored
        self._first = 0 if stored is None else len(stored)  # the first id that is not stored
        self._ids: dict[str, int] = {"": UNBOUND}
        self._keys: list[str] = [""] if stored is None else []  # of ids from the first on
        self._terms: dict[int, Term] = {}  # decoded so far
        self._arrays = np.full(16, KIND_OTHER, np.uint8), np.full(16, np.nan, np.float64)  # kinds, numbers
        self._described = 1  # kinds and numbers are filled up to here
        if stored is not None:
            self._arrays, self._described = stored.described, len(stored)
        self._describing, self._adding = threading.Lock(), threading.Lock()

    def __len__(self) -> int:
        return self._first + len(self._keys)

    # --- terms to ids -----------------------------------------------------------------------------------------------

    def encode(self, term: Term) -> int:
        """The id of a term, made if there is none."""
        if type(term) is int and INLINE_LEAST <= term <= INLINE_MOST:
            return term - INLINE_OFFSET
        return self.encode_key(key_of(term))

    def encode_key(self, key: str) -> int:
        found = self.find_key(key)
        if found is None:
            with self._adding:
                found = self._added(key)
        return found

    def _added(self, key: str) -> int:
        """The id of a key that had none, unless another thread has just given it one; `_adding` is held."""
        found = self.find_key(key)
        if found is None:
            found = self._first + len(self._keys)
            if found >= MOST_TERMS:
                raise LimitError(
                    "more than two billion distinct terms", hint="use the Spark engine for data of this size"
                )
            self._keys.append(key)  # before the id is known: others may be reading
            self._ids[key] = found
        return found

    def encode_keys(self, keys: Sequence[str]) -> Ids:
        """The ids of many keys; whoever else wants to add some gets a turn now and then."""
        ids, known = np.empty(len(keys), np.int32), self._ids.get
        for start in range(0, len(keys), _TURN):
            part = keys[start : start + _TURN]
            with self._adding:
                found = [self._added(key) if (id_ := known(key)) is None else id_ for key in part]
            ids[start : start + len(part)] = found
        return ids

    def encode_integers(self, values: npt.NDArray[np.signedinteger[Any]]) -> Ids:
        """The ids of integers of at most 64 bits."""
        small = (values >= INLINE_LEAST) & (values <= INLINE_MOST)
        if small.all():
            return (values.astype(np.int64) - INLINE_OFFSET).astype(np.int32)
        ids = np.empty(len(values), np.int32)
        ids[small] = values[small].astype(np.int64) - INLINE_OFFSET
        large, places = np.unique(values[~small], return_inverse=True)
        ids[~small] = self.encode_keys([f"^integer {value}" for value in large.tolist()])[places]
        return ids

    def find(self, term: Term) -> int | None:
        """The id of a term, or None where the dictionary has not seen it."""
        if type(term) is int and INLINE_LEAST <= term <= INLINE_MOST:
            return term - INLINE_OFFSET
        return self.find_key(key_of(term))

    def find_key(self, key: str) -> int | None:
        """The same for the key of a term."""
        found = self._ids.get(key)
        if found is None and key.startswith("^integer "):
            found = inline_integer(key)
        return self._find_stored(key) if found is None and self._stored is not None else found

    def _find_stored(self, key: str) -> int | None:
        assert self._stored is not None
        found = self._stored.find(key)
        if found is not None:
            self._ids[key] = found  # who asks once asks again
        return found

    # --- ids to terms -----------------------------------------------------------------------------------------------

    def key(self, id_: int) -> str:
        if id_ < 0:
            return f"^integer {id_ + INLINE_OFFSET}"
        if id_ < self._first:
            assert self._stored is not None
            return self._stored.key(id_)
        return self._keys[id_ - self._first]

    def decode(self, id_: int) -> Term:
        if id_ < 0:
            return int(id_) + INLINE_OFFSET
        term = self._terms.get(id_)
        if term is None:
            if id_ == UNBOUND:
                raise KeyError("UNBOUND is no term")
            term = self._terms[id_] = term_of(self.key(id_))
        return term

    def decode_many(self, ids: Sequence[int] | Ids) -> list[Term]:
        decode = self.decode
        return [decode(id_) for id_ in (ids.tolist() if isinstance(ids, np.ndarray) else ids)]

    # --- values beside the terms ------------------------------------------------------------------------------------

    def described(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float64]]:
        """For each id >= 0 how its term compares, and its number or point in time as a double; see kinds.py."""
        if len(self) != self._described:
            with self._describing:
                self._describe()
        return self._arrays

    def _describe(self) -> None:
        size = len(self)
        kinds, numbers = self._arrays
        if size > len(kinds):
            more = max(size, 2 * len(kinds)) - len(kinds)
            kinds = np.concatenate([kinds, np.full(more, KIND_OTHER, np.uint8)])
            numbers = np.concatenate([numbers, np.full(more, np.nan)])
        for id_ in range(self._described, size):
            kinds[id_], numbers[id_] = described(self.key(id_))
        self._arrays, self._described = (kinds, numbers), size

    def stored(self) -> StoredTerms:
        """All terms that there are now, in the form in which they are stored."""
        keys = self._keys[: len(self._keys)]  # others may be adding to it
        size = self._first + len(keys)
        with self._describing:
            kinds, numbers = self._arrays
            known = min(size, self._described)
        more = size - known
        kinds = np.concatenate([kinds[:known], np.full(more, KIND_OTHER, np.uint8)]) if more else kinds[:size]
        numbers = np.concatenate([numbers[:known], np.full(more, np.nan)]) if more else numbers[:size]
        for id_ in range(known, size):
            kinds[id_], numbers[id_] = described(keys[id_ - self._first])
        return stored_terms(self._stored, keys, kinds, numbers)


def inline_integer(key: str) -> int | None:
    """The id of a canonical small integer, or None."""
    text = key[9:]
    if len(text) > 11 or not text.lstrip("-").isdecimal():
        return None
    value = int(text)
    if str(value) != text or not INLINE_LEAST <= value <= INLINE_MOST:
        return None
    return value - INLINE_OFFSET
