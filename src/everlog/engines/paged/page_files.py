"""How are a few of many sorted facts found without reading the others?

A file holds facts in one order of their columns, cut into pages of the same number of facts. After the pages stand the
*fences*, the first fact of each page, with a checksum for each page, and after those a description and a checksum of
all that. Fences are read when the file is opened; they lead to the pages in which a key begins and ends, and only those
are mapped and compared with their checksum, the first time. So a file that was cut is noticed when it is opened, and a
page that was changed when somebody wants it.

    page … page   fences   checksums of pages   sample   description   its length   checksum   name of the format

Many keys are searched for at a time: each step of the binary search is one operation on arrays.
"""

from __future__ import annotations

import json
import mmap
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Ids
from everlog.engines.paged.counters import Counters
from everlog.engines.paged.stored_facts import StoredFacts
from everlog.errors import DamagedRunsError

Array = npt.NDArray[Any]
Rows = npt.NDArray[np.int64]
Order = tuple[int, ...]

FORMAT = b"everpag1"
END = struct.Struct("<II8s")  # length of the description, checksum, format
_SMALL = 1 << 16  # facts of a file whose ids are read whole
AT_ONCE = 1 << 18  # facts that are written or read at a time, where all of them are


class Description(NamedTuple):
    """What the end of a file says of it."""

    rows: int
    page: int  # facts in one
    dtype: str  # of ids
    order: list[int]
    same: dict[str, int]  # what is the same for all facts, and not written for each
    sample: int
    of: int  # the checksum of the file that has the same facts in the first order; 0 if it is that file


def page_type(about: Description) -> np.dtype[Any]:
    kept = {"states": "u1", "weights": "<i8", "ranks": "<i4"}
    fields = [(f"c{column}", about.dtype) for column in range(len(about.order))]
    fields += [(name, type_) for name, type_ in kept.items() if name not in about.same]
    return np.dtype([(name, type_, (about.page,)) for name, type_ in fields])


class PageFile:
    """Sorted facts in a file."""

    def __init__(self, path: Path, counters: Counters, check: int | None = None) -> None:
        """`check`: the checksum it must have."""
        self.path, self._counters = path, counters
        with open(path, "rb") as file:
            try:
                self._mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError as error:
                raise self._damaged("it is empty") from error
        tail, self._about = self._read_end(check)
        self._mapped.madvise(mmap.MADV_RANDOM)  # what is around a page is not read with it
        about, width = self._about, len(self._about.order)
        self.rows, self.order, self._page = about.rows, tuple(about.order), about.page
        self.pages = -(-about.rows // about.page)
        type_ = page_type(about)
        self._size = type_.itemsize
        id_size = np.dtype(about.dtype).itemsize
        expected = width * id_size * (self.pages + about.sample) + 4 * self.pages
        if len(tail) != expected or self.pages * self._size + len(tail) > len(self._mapped):
            raise self._damaged("it was cut")
        found = np.frombuffer(tail, about.dtype, width * self.pages)
        self._fences: list[Array] = list(found.reshape(width, self.pages))
        self._checks = np.frombuffer(tail, np.uint32, self.pages, width * id_size * self.pages)
        sample = np.frombuffer(tail, about.dtype, offset=(width * id_size + 4) * self.pages)
        self.sample: list[Array] = list(sample.reshape(width, about.sample))
        self._seen = np.zeros(self.pages, bool)
        self._whole: list[Array] | None = None
        paged = np.frombuffer(self._mapped, type_, self.pages)
        self._columns: list[Array] = [paged[f"c{column}"] for column in range(width)]
        self._others: dict[str, Array] = {name: paged[name] for name in type_.names or () if name[0] != "c"}

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of ids."""
        return np.dtype(self._about.dtype)

    @property
    def of(self) -> int:
        """The checksum of the file that it is a copy of."""
        return self._about.of

    @property
    def same(self) -> dict[str, int]:
        """What is the same for all facts."""
        return self._about.same

    def _read_end(self, check: int | None) -> tuple[bytes, Description]:
        data = self._mapped
        if len(data) < END.size:
            raise self._damaged("it was cut")
        length, found, format_ = END.unpack(data[len(data) - END.size :])
        end = len(data) - END.size
        if format_ != FORMAT or length > end or (check is not None and check != found):
            raise self._damaged("its end is not the one that was written")
        try:
            about = Description(**json.loads(data[end - length : end]))
            begin = -(-about.rows // about.page) * page_type(about).itemsize
        except (ValueError, TypeError, ZeroDivisionError) as error:
            raise self._damaged("its description cannot be read") from error
        if begin > end - length:
            raise self._damaged("it was cut")
        self._fetch(begin, end)
        if zlib.crc32(data[begin:end]) != found:
            raise self._damaged("it does not fit its checksum")
        return data[begin : end - length], about

    def _damaged(self, why: str) -> DamagedRunsError:
        return DamagedRunsError(f"damaged: {why}", path=str(self.path), hint="make the runs again from the tables")

    # --- by key -------------------------------------------------------------------------------------------------------

    def ranges(self, keys: Sequence[Ids]) -> tuple[Rows, Rows]:
        """Where the facts with each key begin and end; a key is a value for each of the first columns of the order."""
        count = len(keys[0])
        if not self.rows:
            return np.zeros(count, np.int64), np.zeros(count, np.int64)
        if self.rows <= _SMALL:
            return _between(self._in_memory(), keys)
        # The first fact that is not below a key is on the last page whose fence is below it, or begins the next; the
        # first one above it likewise, with the last page whose fence is not above it.
        below, upto = _between(self._fences, keys)
        pages = np.maximum(np.concatenate([below, upto]) - 1, 0)
        self._look_at(pages)
        found = pages * self._page + self._within_pages([np.concatenate([key, key]) for key in keys], pages)
        return found[:count], np.where(upto > 0, found[count:], 0)

    def _in_memory(self) -> list[Array]:
        """The columns of a small file in its order, read once: searching them takes a fraction of the time."""
        if self._whole is None:
            self._look_at(np.arange(self.pages))
            self._whole = [self._columns[column].reshape(-1)[: self.rows] for column in self.order]
        return self._whole

    def _within_pages(self, keys: Sequence[Ids], pages: Array) -> Array:
        """Where on its page each key begins, for the first half of them, or ends."""
        length = np.minimum(self.rows - pages * self._page, self._page)
        columns = [self._columns[column] for column in self.order]
        return _bisect(
            lambda column, place: columns[column][pages, np.minimum(place, self._page - 1)],
            keys,
            np.zeros(len(pages), np.int64),
            length,
        )

    def _fetch(self, begin: int, end: int) -> None:
        """Tell the system that a part of the file is about to be read."""
        whole = begin // mmap.PAGESIZE * mmap.PAGESIZE
        self._mapped.madvise(mmap.MADV_WILLNEED, whole, end - whole)

    def _look_at(self, pages: Array) -> None:
        """Compare pages with their checksums that were not looked at before."""
        new = pages[~self._seen[pages]]
        if not len(new):
            return
        size = self._size
        wanted = np.unique(new)
        for page in wanted.tolist():  # the system reads all of them while the first is looked at
            self._fetch(page * size, (page + 1) * size)
        for page in wanted.tolist():
            if zlib.crc32(self._mapped[page * size : (page + 1) * size]) != self._checks[page]:
                raise self._damaged(f"page {page} does not fit its checksum")
        self._seen[wanted] = True
        self._counters.pages += len(wanted)
        self._counters.bytes += len(wanted) * size

    def facts(self, rows: Rows) -> StoredFacts:
        """The facts in these rows."""
        pages = rows // self._page
        self._look_at(pages)
        places = rows - pages * self._page
        self._counters.rows += len(rows)
        columns = tuple(column[pages, places] for column in self._columns)
        return self._stored(columns, {name: values[pages, places] for name, values in self._others.items()}, len(rows))

    def _stored(self, columns: tuple[Array, ...], others: dict[str, Array], rows: int) -> StoredFacts:
        same = self._about.same
        return StoredFacts(
            columns,
            others["states"] if "states" in others else np.full(rows, same["states"], np.uint8),
            others["weights"] if "weights" in others else np.full(rows, same["weights"], np.int64),
            others["ranks"] if "ranks" in others else np.full(rows, same["ranks"], np.int32),
        )

    def fences(self) -> list[Array]:
        """The first fact of each page, a column after the other in the order of the file."""
        return self._fences

    # --- all of them --------------------------------------------------------------------------------------------------

    def parts(self) -> Iterator[StoredFacts]:
        """All facts, in order, a good many at a time."""
        step = max(1, AT_ONCE // self._page)
        for first in range(0, self.pages, step):
            pages = slice(first, min(first + step, self.pages))
            self._look_at(np.arange(pages.start, pages.stop))
            rows = min(pages.stop * self._page, self.rows) - first * self._page
            self._counters.rows += rows
            columns = tuple(column[pages].reshape(-1)[:rows] for column in self._columns)
            others = {name: values[pages].reshape(-1)[:rows] for name, values in self._others.items()}
            yield self._stored(columns, others, rows)


def _between(columns: Sequence[Array], keys: Sequence[Ids]) -> tuple[Rows, Rows]:
    """Where keys begin and end in sorted columns."""
    low = np.searchsorted(columns[0], keys[0], "left")
    high = np.searchsorted(columns[0], keys[0], "right")
    if len(keys) == 1:
        return low, high
    last = len(columns[0]) - 1
    found = _bisect(
        lambda column, place: columns[column][np.minimum(place, last)],
        [np.concatenate([key, key]) for key in keys],
        np.concatenate([low, low]),
        np.concatenate([high, high]),
    )
    return found[: len(low)], found[len(low) :]


def _bisect(value: Callable[[int, Array], Array], keys: Sequence[Ids], low: Array, high: Array) -> Rows:
    """Binary search for many keys at a time, each between two places; the second half to the right of equal ones.

    `value(column, places)` gives what stands there; places that are not between the two are asked for and ignored.
    """
    low, high = low.astype(np.int64), high.astype(np.int64)
    right = np.arange(len(low)) >= len(low) // 2
    while (open_ := low < high).any():
        middle = (low + high) >> 1
        goes = np.zeros(len(low), bool)
        equal = np.ones(len(low), bool)
        for column, key in enumerate(keys):
            found = value(column, middle)
            goes |= equal & (found < key)
            equal &= found == key
        goes |= equal & right
        low = np.where(open_ & goes, middle + 1, low)
        high = np.where(open_ & ~goes, middle, high)
    return low


def expanded(low: Rows, high: Rows) -> tuple[Rows, Rows]:
    """All rows of ranges, each with the number of its range."""
    counts = np.maximum(high - low, 0)
    which = np.repeat(np.arange(len(low)), counts)
    return which, np.arange(len(which)) + np.repeat(low - (np.cumsum(counts) - counts), counts)
