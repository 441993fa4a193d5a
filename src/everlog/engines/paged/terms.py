"""How is the term of an id found among many millions, without reading them?

Terms stand in files sorted by id: the ids, where the text of each begins, and the texts. Ids are hashes of terms
(dictionary/hashed_ids.py), and so a text that was damaged does not fit its own id.
"""

from __future__ import annotations

import mmap
import os
import struct
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from everlog.dictionary.dictionary import Ids
from everlog.errors import DamagedRunsError

_HEAD = struct.Struct("<8sQQ")  # format, terms, bytes of their texts
_FORMAT = b"evertrm1"


@runtime_checkable
class GivesNewTerms(Protocol):
    """A dictionary that knows which terms are not in the files yet."""

    def take_new_terms(self) -> list[tuple[int, str]]:
        """The terms that came since this was last asked."""


def write_terms(path: Path, ids: Ids, keys: Sequence[str]) -> None:
    """Write terms, sorted by their ids."""
    order = np.argsort(ids, kind="stable")
    encoded = [keys[place].encode() for place in order.tolist()]
    begins = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=begins[1:])
    half = path.with_name(path.name + ".half")
    with open(half, "wb") as file:
        file.write(_HEAD.pack(_FORMAT, len(encoded), int(begins[-1])))
        file.write(np.ascontiguousarray(ids, np.int64)[order].tobytes())
        file.write(begins.tobytes())
        for first in range(0, len(encoded), 1 << 16):
            file.write(b"".join(encoded[first : first + (1 << 16)]))
    os.replace(half, path)


class _TermFile:
    """One file of terms, mapped."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with open(path, "rb") as file:
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            format_, count, size = _HEAD.unpack_from(data)
        except (OSError, ValueError, struct.error) as error:
            raise self.damaged("it cannot be read") from error
        if format_ != _FORMAT or len(data) != _HEAD.size + 8 * (2 * count + 1) + size:
            raise self.damaged("it was cut")
        self._ids = np.frombuffer(data, np.int64, count, _HEAD.size).data
        self._begins = np.frombuffer(data, np.int64, count + 1, _HEAD.size + 8 * count).data
        self._texts = memoryview(data)[_HEAD.size + 8 * (2 * count + 1) :]

    def damaged(self, why: str) -> DamagedRunsError:
        return DamagedRunsError(f"damaged: {why}", path=str(self.path), hint="make the runs again from the tables")

    def find(self, id_: int) -> bytes | None:
        place = bisect_left(self._ids, id_)
        if place == len(self._ids) or self._ids[place] != id_:
            return None
        return self._texts[self._begins[place] : self._begins[place + 1]].tobytes()


class PagedTerms:
    """The terms of a folder: those in files, and those that updates have brought since."""

    def __init__(self) -> None:
        self._files: list[_TermFile] = []
        self._learned: dict[int, str] = {}

    @property
    def paths(self) -> list[Path]:
        return [file.path for file in self._files]

    def open(self, path: Path) -> None:
        """Look into one more file."""
        self._files.append(_TermFile(path))

    def learn(self, terms: Iterable[tuple[int, str]]) -> None:
        """Terms that are in no file yet."""
        self._learned.update(terms)

    def take_learned(self) -> list[tuple[int, str]]:
        """The terms that are in no file yet, to be written to one."""
        learned, self._learned = list(self._learned.items()), {}
        return learned

    def key(self, id_: int) -> str | None:
        """The key of the term with an id, None if it is not there."""
        known = self._learned.get(id_)
        if known is not None:
            return known
        for file in self._files:
            found = file.find(id_)
            if found is not None:
                try:
                    return found.decode()
                except UnicodeDecodeError as error:
                    raise file.damaged(f"the text of the term {id_} is no text") from error
        return None
