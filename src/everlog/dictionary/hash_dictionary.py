"""How does the driver encode and decode terms whose ids are hashes?

The same interface as the in-process dictionary, with 64-bit ids that are computed without a table. The driver remembers
the terms it was given and those it has seen in results; the dictionary of a pipeline is a table (pipeline/encode.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.dictionary.hashed_ids import UNBOUND_ID, id_of_key, integer_of_id
from everlog.errors import DataError
from everlog.facts.terms import Term, key_of, term_of


class HashDictionary(Dictionary):
    """Terms to hashed ids and back, for what the driver has seen."""

    dtype = np.int64
    unbound = UNBOUND_ID

    def __init__(self) -> None:
        super().__init__()
        self._key_of: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._key_of)

    def encode(self, term: Term) -> int:
        return self.encode_key(key_of(term))

    def encode_key(self, key: str) -> int:
        id_ = id_of_key(key)
        self.learn(id_, key)
        return id_

    def learn(self, id_: int, key: str) -> None:
        """Remember a term; two terms with the same id are an error."""
        if integer_of_id(id_) is None and self._key_of.setdefault(id_, key) != key:
            raise DataError(
                f"two terms have the id {id_}: {self._key_of[id_]!r} and {key!r}", hint="rename one of them"
            )

    def encode_keys(self, keys: Iterable[str]) -> Ids:
        return np.fromiter((self.encode_key(key) for key in keys), np.int64)

    def encode_integers(self, values: npt.NDArray[np.signedinteger[Any]]) -> Ids:
        return self.encode_keys(f"^integer {value}" for value in values.tolist())

    def find(self, term: Term) -> int | None:
        return id_of_key(key_of(term))

    def key(self, id_: int) -> str:
        value = integer_of_id(id_)
        return self._key_of[id_] if value is None else f"^integer {value}"

    def decode(self, id_: int) -> Term:
        if id_ == UNBOUND_ID:
            raise KeyError("UNBOUND is no term")
        return term_of(self.key(id_))

    def terms(self) -> list[tuple[int, str]]:
        """Every term that the driver knows, as rows of the dictionary table."""
        return list(self._key_of.items())
