"""How does a task encode and decode terms, whose facts come with 64-bit ids?

Inside of a task the columnar engine works on dense ids (engines/columnar/wide_ids.py). Everything goes through one map:
the facts that come in, the program's constants, and values that expressions make, so that a constant never has the
id of something else. Keys of terms are there only where the program needs them; asking for one that is not there is
an error, and so are two terms with one id.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from everlog.dictionary.dictionary import Dictionary, Ids, inline_integer
from everlog.dictionary.kinds import KIND_BLANK, KIND_IRI, KIND_OTHER, KIND_STRING, described
from everlog.engines.columnar.wide_ids import Narrow, Wide, WideIds
from everlog.engines.spark.ids import BLANK, IRI, STRING, id_of_key, integer_of_id
from everlog.errors import DataError, EngineError

# How a term compares, by the kind in its id; those of other kinds are looked at one by one.
_DESCRIBED = {IRI: KIND_IRI, BLANK: KIND_BLANK, STRING: KIND_STRING}


class TaskDictionary(Dictionary):
    """Terms to dense ids and back, over a map of wide ids."""

    def __init__(self) -> None:
        super().__init__()
        self.wide_ids = WideIds()
        self._came: list[tuple[Narrow, pa.StringArray]] = []  # rows with their keys
        self._texts: pa.ChunkedArray | None = None  # all of these keys, once somebody asks …
        self._places = np.empty(0, np.int64)  # … and where that of a row is, -1 for none
        self._own_keys: dict[int, str] = {}  # of terms that were encoded here
        self._new: dict[int, str] = {}

    def __len__(self) -> int:
        return self.wide_ids.used

    def narrow(self, ids: Wide) -> Narrow:
        """The dense ids of wide ones."""
        return self.wide_ids.narrow(ids)

    def learn(self, ids: Wide, keys: pa.StringArray) -> None:
        """Take in the keys of terms."""
        rows = self.wide_ids.narrow(ids)
        has_row = rows > 0  # small integers are their own ids
        if not has_row.all():
            rows, keys = rows[has_row], keys.filter(pa.array(has_row))
        self._came.append((rows, keys))
        self._texts = None

    def new_terms(self) -> tuple[Wide, list[str]]:
        """The terms that were made here, and not known before."""
        rows = np.fromiter(self._new, np.int32, len(self._new))
        return self.wide_ids.wide(rows), list(self._new.values())

    # --- the dictionary's own interface -----------------------------------------------------------------------------

    def encode_key(self, key: str) -> int:
        known = self._ids.get(key)
        if known is not None:
            return known
        if key.startswith("^integer ") and (small := inline_integer(key)) is not None:
            return small
        id_ = id_of_key(key)
        before = self.wide_ids.used
        row = int(self.wide_ids.narrow(np.array([id_], np.int64))[0])
        there = None if row == before else self._known_key(row)
        if there is not None and there != key:
            raise DataError(f"two terms have the id {id_}: {there!r} and {key!r}", hint="rename one of them")
        if there is None:
            self._own_keys[row] = key
            if integer_of_id(id_) is None:  # an integer is known by its id
                self._new[row] = key
        self._ids[key] = row
        return row

    def encode_keys(self, keys: Iterable[str]) -> Ids:
        return np.fromiter((self.encode_key(key) for key in keys), np.int32)

    def find_key(self, key: str) -> int | None:
        known = self._ids.get(key)
        if known is None and key.startswith("^integer "):
            known = inline_integer(key)
        return self.wide_ids.find(id_of_key(key)) if known is None else known

    def key(self, id_: int) -> str:
        if id_ < 0:
            return super().key(id_)
        key = self._known_key(id_)
        if key is None:
            raise EngineError(f"the id {self.wide_ids.wide_of_row(id_)} is in no dictionary")
        return key

    def _known_key(self, row: int) -> str | None:
        own = self._own_keys.get(row)
        if own is not None:
            return own
        value = integer_of_id(self.wide_ids.wide_of_row(row))
        if value is not None:
            return f"^integer {value}"
        if self._came and self._texts is None:
            self._find_places()
        place = int(self._places[row]) if row < len(self._places) else -1
        return None if place < 0 or self._texts is None else str(self._texts[place])

    def _find_places(self) -> None:
        texts = pa.chunked_array([keys for _, keys in self._came], pa.string())
        rows = np.concatenate([rows for rows, _ in self._came])
        places = np.full(self.wide_ids.used, -1, np.int64)
        places[rows] = numbers = np.arange(len(rows))
        for repeated in np.flatnonzero(places[rows] != numbers).tolist():
            one, other = texts[repeated].as_py(), texts[int(places[rows[repeated]])].as_py()
            if one != other:
                id_ = self.wide_ids.wide_of_row(int(rows[repeated]))
                raise DataError(f"two terms have the id {id_}: {one!r} and {other!r}", hint="rename one of them")
        self._texts, self._places = texts, places

    def _describe(self) -> None:
        size, first = len(self), self._described
        kinds, numbers = self._arrays
        if size > len(kinds):
            more = max(size, 2 * len(kinds)) - len(kinds)
            kinds = np.concatenate([kinds, np.full(more, KIND_OTHER, np.uint8)])
            numbers = np.concatenate([numbers, np.full(more, np.nan)])
        in_ids = self.wide_ids.wide_rows(first) & 7
        plain = np.full(8, KIND_OTHER, np.uint8)
        plain[list(_DESCRIBED)] = list(_DESCRIBED.values())
        kinds[first:size], numbers[first:size] = plain[in_ids], math.nan
        for row in (np.flatnonzero(plain[in_ids] == KIND_OTHER) + first).tolist():
            key = self._known_key(row)
            if key is not None:  # otherwise the comparison itself says what is missing
                kinds[row], numbers[row] = described(key)
        self._arrays, self._described = (kinds, numbers), size
