"""How are facts sorted into a file of pages (page_files.py), however many there are?

As many as fit memory are sorted there and written. More than that are written in parts, each sorted, and the parts are
merged: the fences of all of them cut the whole into stretches of some hundred thousand facts, and a stretch is read
from each part, sorted and written. So memory holds a part or a stretch, never all.
"""

from __future__ import annotations

import json
import os
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from everlog.engines.paged.counters import Counters
from everlog.engines.paged.page_files import AT_ONCE, END, FORMAT, Description, Order, PageFile, page_type
from everlog.engines.paged.stored_facts import StoredFacts, concatenated, starts_of

Array = npt.NDArray[Any]
_SAMPLE = 1 << 12  # facts that the planner looks at


def write_pages(path: Path, facts: StoredFacts, order: Order, page: int, of: int = 0) -> int:
    """Sort facts in memory and write them; returns the checksum by which the file is known."""
    sorting = np.lexsort([facts.columns[column] for column in reversed(order)])
    same = {name: int(values[0]) for name, values in _kept(facts).items() if (values == values[:1]).all()}
    step = max(page, AT_ONCE // page * page)
    parts = (facts.chosen(sorting[first : first + step]) for first in range(0, facts.rows, step))
    return _write(path, parts, order, page, of, facts.rows, facts.columns[0].dtype, same)


def merge_pages(path: Path, files: Sequence[Path], page: int, *, gone: bool, of: int = 0) -> tuple[int, int]:
    """Write the facts of sorted files, the newest first, as one; returns how many there are and the checksum.

    `gone`: facts that a newer file says are gone are kept, since there are files that are older than all of these.
    """
    opened = [PageFile(file, Counters()) for file in files]
    order, rows = opened[0].order, sum(file.rows for file in opened)
    same = {name: value for name, value in opened[0].same.items() if all(f.same.get(name) == value for f in opened)}
    written = _Counted(part if gone else part.chosen(~part.gone) for part in _merged(opened, page))
    check = _write(path, written, order, page, of, rows, opened[0].dtype, same)
    return written.rows, check


def sort_pages(path: Path, file: Path, order: Order, page: int, most: int, of: int) -> None:
    """Write the facts of a file in another order, sorting at most so many at a time."""
    source = PageFile(file, Counters())
    parts: list[Path] = []
    try:
        for number, facts in enumerate(_gathered(source.parts(), most)):
            if facts.rows == source.rows:
                write_pages(path, facts, order, page, of)
                return
            parts.append(path.with_name(f"{path.name}.{number}.{threading.get_ident()}.half"))
            write_pages(parts[-1], facts, order, page)
        merge_pages(path, parts, page, gone=True, of=of)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


def _gathered(parts: Iterable[StoredFacts], most: int) -> Iterator[StoredFacts]:
    waiting: list[StoredFacts] = []
    for part in parts:
        if waiting and sum(each.rows for each in waiting) + part.rows > most:
            yield concatenated(waiting)
            waiting = []
        waiting.append(part)
    if waiting:
        yield concatenated(waiting)


class _Counted:
    """Parts, and how many facts they have had so far."""

    def __init__(self, parts: Iterable[StoredFacts]) -> None:
        self._parts, self.rows = parts, 0

    def __iter__(self) -> Iterator[StoredFacts]:
        for part in self._parts:
            self.rows += part.rows
            yield part


def _merged(files: Sequence[PageFile], page: int) -> Iterator[StoredFacts]:
    """The facts of all files in their order, a stretch at a time; of equal ones that of the first file."""
    order = files[0].order
    fences = [np.concatenate(columns) for columns in zip(*(file.fences() for file in files), strict=True)]
    sorting = np.lexsort(fences[::-1])[:: max(1, AT_ONCE // page)][1:]
    splits = [column[sorting] for column in fences]
    # Where each stretch begins in each file.
    begins = [np.concatenate([[0], file.ranges(splits)[0], [file.rows]]) for file in files]
    for stretch in range(len(sorting) + 1):
        parts = [
            file.facts(np.arange(begin[stretch], begin[stretch + 1]))
            for file, begin in zip(files, begins, strict=True)
            if begin[stretch] < begin[stretch + 1]
        ]
        if parts:
            facts = concatenated(parts)
            by_order = [facts.columns[column] for column in order]
            rows = np.lexsort(by_order[::-1])  # stable: of equal facts the newest comes first
            yield facts.chosen(rows[starts_of(by_order, rows)])


def _kept(facts: StoredFacts) -> dict[str, Array]:
    return {"states": facts.states, "weights": facts.weights, "ranks": facts.ranks}


def _write(
    path: Path,
    parts: Iterable[StoredFacts],
    order: Order,
    page: int,
    of: int,
    expected: int,
    dtype: np.dtype[Any],
    same: Mapping[str, int],
) -> int:
    """Write parts that are sorted and follow each other."""
    about = Description(0, page, dtype.str, list(order), dict(same), 0, of)
    type_ = page_type(about)
    stride = max(1, expected // _SAMPLE)
    rows = 0
    fences: list[list[Array]] = [[] for _ in order]
    samples: list[list[Array]] = [[] for _ in order]
    checks: list[int] = []
    half = path.with_name(f"{path.name}.{threading.get_ident()}.half")  # several may sort the same run
    with open(half, "wb") as file:
        for block in _in_pages(parts, page):
            pages = -(-block.rows // page)
            paged = np.zeros(pages, type_)
            for name in type_.names or ():
                values = np.zeros(pages * page, type_[name].base)
                values[: block.rows] = block.columns[int(name[1:])] if name[0] == "c" else _kept(block)[name]
                paged[name] = values.reshape(pages, page)
            data, size = paged.tobytes(), type_.itemsize
            checks += [zlib.crc32(data[place * size : (place + 1) * size]) for place in range(pages)]
            file.write(data)
            for place, column in enumerate(order):
                fences[place].append(block.columns[column][::page])
                samples[place].append(block.columns[place][-rows % stride :: stride])
            rows += block.rows
        sample = [np.concatenate([np.empty(0, dtype), *each]) for each in samples]
        arrays = [
            *(np.concatenate([np.empty(0, dtype), *each]) for each in fences), np.array(checks, np.uint32), *sample
        ]  # fmt: skip
        told = json.dumps(about._replace(rows=rows, sample=len(sample[0]))._asdict()).encode()
        tail = b"".join(array.tobytes() for array in arrays) + told
        check = zlib.crc32(tail)
        file.write(tail + END.pack(len(told), check, FORMAT))
    os.replace(half, path)
    return check


def _in_pages(parts: Iterable[StoredFacts], page: int) -> Iterator[StoredFacts]:
    """The same facts in blocks of whole pages, but for the last one."""
    left: StoredFacts | None = None
    for part in parts:
        facts = part if left is None else concatenated([left, part])
        whole = facts.rows // page * page
        if whole:
            yield facts.chosen(slice(0, whole))
        left = facts.chosen(slice(whole, None))
    if left is not None and left.rows:
        yield left
