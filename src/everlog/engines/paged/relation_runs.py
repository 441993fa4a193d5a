"""Where do the facts of one relation stand in files, and how is one found?

In several *runs*, each sorted: the first is made when a relation is written, later ones hold what updates have changed
since. A look-up asks every run, and of a fact in several of them the newest is right. Small runs are merged. A run has
a file for each order of columns that somebody has asked for; orders other than the first are made when that happens.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from everlog.dictionary.dictionary import Ids
from everlog.engines.paged.counters import Counters
from everlog.engines.paged.page_files import Array, Order, PageFile, Rows, expanded
from everlog.engines.paged.page_writing import merge_pages, sort_pages, write_pages
from everlog.engines.paged.sizes import Sizes
from everlog.engines.paged.stored_facts import StoredFacts, concatenated, no_facts, starts_of
from everlog.errors import DamagedRunsError

Columns = tuple[int, ...]  # in ascending order


@dataclass
class Glimpse:
    """A look at some of the facts with each key, where a few may be enough; `cut`: there would have been more."""

    most: int  # of the facts that were written first; later ones are few
    cut: bool = False

    def within(self, low: Rows, high: Rows) -> Rows:
        """Where to end instead."""
        end = np.minimum(high, low + self.most)
        self.cut |= bool((end < high).any())
        return end


class Run:
    """Facts that were written together, sorted in one or more orders."""

    def __init__(self, folder: Path, name: str, rows: int, check: int, counters: Counters) -> None:
        self.folder, self.name, self.rows, self.check = folder, name, rows, check
        self._counters = counters
        self._files: dict[Order, PageFile] = {}

    @property
    def path(self) -> Path:
        """The file of the first order."""
        return self.folder / f"{self.name}.pages"

    def file(self, order: Order, sizes: Sizes) -> PageFile:
        """The facts in an order, sorted now if nobody has asked for that one before."""
        known = self._files.get(order)
        if known is None:
            known = self._files[order] = self._first() if _is_first(order) else self._other(order, sizes)
        return known

    def _first(self) -> PageFile:
        try:
            return PageFile(self.path, self._counters, self.check)
        except FileNotFoundError as error:
            raise DamagedRunsError(
                "the file is missing", path=str(self.path), hint="make the runs again from the tables"
            ) from error

    def _other(self, order: Order, sizes: Sizes) -> PageFile:
        path = self.folder / f"{self.name}.{'-'.join(map(str, order))}.pages"
        try:
            file = PageFile(path, self._counters)
            if file.of == self.check:
                return file
        except (FileNotFoundError, DamagedRunsError):
            pass  # it is a copy, and made again
        self._first()  # is it what it was?
        sort_pages(path, self.path, order, sizes.page, sizes.run, self.check)
        return PageFile(path, self._counters)

    def remove(self) -> None:
        """Delete its files, as soon as nobody reads them any more."""
        weakref.finalize(self, _unlink, self.folder, self.name)


def _is_first(order: Order) -> bool:
    return order == tuple(range(len(order)))


def _unlink(folder: Path, name: str) -> None:
    for path in [*folder.glob(f"{name}.pages"), *folder.glob(f"{name}.*.pages")]:
        path.unlink(missing_ok=True)


class RelationRuns:
    """The runs of one relation, oldest first."""

    def __init__(
        self,
        width: int,
        dtype: type[np.signedinteger],
        sizes: Sizes,
        counters: Counters,
        runs: Sequence[Run] = (),
        orders: Iterable[Order] = (),
    ) -> None:
        self.width, self.dtype, self._sizes, self._counters = width, dtype, sizes, counters
        self.runs = list(runs)
        self.orders: list[Order] = list(dict.fromkeys([tuple(range(width)), *orders]))

    def copy(self) -> RelationRuns:
        """The same runs, whatever is added to this one later."""
        return RelationRuns(self.width, self.dtype, self._sizes, self._counters, self.runs, self.orders)

    @property
    def rows(self) -> int:
        return sum(run.rows for run in self.runs)

    def order_for(self, columns: Collection[int]) -> Order:
        """An order that begins with these columns."""
        wanted = set(columns)
        for order in self.orders:
            if set(order[: len(wanted)]) == wanted:
                return order
        order = (*sorted(wanted), *(column for column in range(self.width) if column not in wanted))
        self.orders.append(order)
        return order

    def prepare(self) -> None:
        """Sort every run in every order that is known."""
        for run in self.runs:
            for order in self.orders:
                run.file(order, self._sizes)

    def sample(self) -> list[Array]:
        """Some of the facts, of the largest run."""
        if not self.runs:
            return [np.empty(0, self.dtype) for _ in range(self.width)]
        return self._file(max(self.runs, key=lambda run: run.rows), self.orders[0]).sample

    def _file(self, run: Run, order: Order) -> PageFile:
        return run.file(order, self._sizes)

    def plain(self) -> bool:
        """Are all facts without derivations and ranks?"""
        files = [self._file(run, self.orders[0]) for run in self.runs]
        return all(file.same.get(what) == 0 for file in files for what in ("weights", "ranks"))

    # --- reading ------------------------------------------------------------------------------------------------------

    def look_up(
        self, columns: Columns, keys: Sequence[Ids], spend: Callable[[int], None], glimpse: Glimpse | None = None
    ) -> tuple[Rows, StoredFacts]:
        """The facts with these keys, which are distinct, each with the number of its key; for a `glimpse` not all.

        `spend` is told how many facts there are before they are read.
        """
        order = self.order_for(columns)
        by_order = [keys[columns.index(column)] for column in order[: len(columns)]]
        self._counters.lookups += 1
        self._counters.keys += len(keys[0])
        found: list[tuple[PageFile, Rows, Rows]] = []
        for run in reversed(self.runs):
            file = self._file(run, order)
            low, high = file.ranges(by_order)
            if glimpse is not None and run is self.runs[0]:  # what is cut off replaces nothing older
                high = glimpse.within(low, high)
            which, rows = expanded(low, high)
            if len(rows):
                spend(len(rows))
                found.append((file, which, rows))
        if not found:
            return np.empty(0, np.int64), no_facts(self.width, self.dtype)
        which = np.concatenate([each for _, each, _ in found])
        facts = concatenated([file.facts(rows) for file, _, rows in found])
        if len(found) > 1:
            order_of = np.lexsort(facts.columns[::-1])  # stable: the newest comes first
            first = order_of[starts_of(facts.columns, order_of)]
            which, facts = which[first], facts.chosen(first)
        gone = facts.gone
        if gone.any():
            which, facts = which[~gone], facts.chosen(~gone)
        return which, facts

    def all(self) -> StoredFacts:
        """Every fact."""
        parts = [part for run in reversed(self.runs) for part in self._file(run, self.orders[0]).parts()]
        if not parts:
            return no_facts(self.width, self.dtype)
        facts = concatenated(parts)
        if len(self.runs) > 1:
            order = np.lexsort(facts.columns[::-1])  # stable: the newest comes first
            facts = facts.chosen(order[starts_of(facts.columns, order)])
        gone = facts.gone
        return facts.chosen(~gone) if gone.any() else facts

    # --- writing ------------------------------------------------------------------------------------------------------

    def add(self, facts: StoredFacts, folder: Path, names: Iterator[str]) -> list[Run]:
        """Write facts as newer than all before, and merge small runs; returns those that are no longer needed."""
        self.append(facts, folder, names)
        merging = 1
        while merging < len(self.runs):
            older, newer = self.runs[-merging - 1].rows, sum(run.rows for run in self.runs[-merging:])
            if 2 * newer < older and len(self.runs) - merging + 1 <= self._sizes.runs:
                break
            merging += 1
        return self.merge(merging, folder, names)

    def append(self, facts: StoredFacts, folder: Path, names: Iterator[str]) -> None:
        """Write facts as newer than all before."""
        if not self.runs:
            facts = facts.chosen(~facts.gone)  # there is nothing older that they could be in
        if facts.rows:
            name = next(names)
            check = write_pages(folder / f"{name}.pages", facts, self.orders[0], self._sizes.page)
            self.runs.append(Run(folder, name, facts.rows, check, self._counters))

    def merge(self, count: int, folder: Path, names: Iterator[str]) -> list[Run]:
        """Make one of the newest runs; returns those that are no longer needed."""
        if count < 2:
            return []
        going, name = self.runs[-count:], next(names)
        rows, check = merge_pages(
            folder / f"{name}.pages",
            [run.path for run in reversed(going)],
            self._sizes.page,
            gone=count < len(self.runs),
        )
        self.runs[-count:] = [Run(folder, name, rows, check, self._counters)] if rows else []
        if not rows:
            _unlink(folder, name)
        return going
