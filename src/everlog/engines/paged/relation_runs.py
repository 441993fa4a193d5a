"""Where do the facts of one relation stand in files, and how is one found?

In several *runs*, each sorted: the first ones are made when a relation is written, of as many facts as can be sorted in
memory, later ones hold what updates have changed since. A look-up asks every run, and of a fact in several of them the
newest is right. Small runs are merged. A run has a file for each order of columns that somebody has asked for; orders
other than the first are made when that happens.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from everlog.dictionary.dictionary import Ids
from everlog.engines.paged.counters import Counters
from everlog.engines.paged.page_files import Array, Order, PageFile, Rows, expanded, write_pages
from everlog.engines.paged.sizes import Sizes
from everlog.engines.paged.stored_facts import GONE, StoredFacts, concatenated, newest, no_facts, starts_of
from everlog.errors import DamagedRunsError

Columns = tuple[int, ...]  # in ascending order


class Run:
    """Facts that were written together, sorted in one or more orders."""

    def __init__(self, folder: Path, name: str, rows: int, check: int, counters: Counters) -> None:
        self.folder, self.name, self.rows, self.check = folder, name, rows, check
        self._counters = counters
        self._files: dict[Order, PageFile] = {}

    def file(self, order: Order, page: int) -> PageFile:
        """The facts in an order, sorted now if nobody has asked for that one before."""
        known = self._files.get(order)
        if known is None:
            first = order == tuple(range(len(order)))
            path = self.folder / f"{self.name}{'' if first else '.' + '-'.join(map(str, order))}.pages"
            known = self._files[order] = self._opened(path, first) or self._sorted(path, order, page)
        return known

    def _opened(self, path: Path, first: bool) -> PageFile | None:
        try:
            file = PageFile(path, self._counters, self.check if first else None)
            if first or file.of == self.check:
                return file
        except FileNotFoundError as error:
            if first:
                raise DamagedRunsError(
                    "the file is missing", path=str(path), hint="make the runs again from the tables"
                ) from error
        except DamagedRunsError:
            if first:
                raise
        return None  # another order is a copy, and sorted again

    def _sorted(self, path: Path, order: Order, page: int) -> PageFile:
        write_pages(path, self.all(page), order, page, self.check)
        return PageFile(path, self._counters)

    def all(self, page: int) -> StoredFacts:
        file = self._first(page)
        before = self._counters.rows
        parts = list(file.parts())
        self._counters.rows = before  # nobody has asked for them
        return concatenated(parts)

    def _first(self, page: int) -> PageFile:
        known = next(iter(self._files.values()), None)
        if known is not None and known.order == tuple(range(len(known.order))):
            return known
        path = self.folder / f"{self.name}.pages"
        width = len(PageFile(path, self._counters, self.check).order)
        return self.file(tuple(range(width)), page)

    def remove(self) -> None:
        """Delete its files, as soon as nobody reads them any more."""
        weakref.finalize(self, _unlink, self.folder, self.name)


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
                run.file(order, self._sizes.page)

    def sample(self) -> list[Array]:
        """Some of the facts, of the largest run."""
        if not self.runs:
            return [np.empty(0, self.dtype) for _ in range(self.width)]
        return self._file(max(self.runs, key=lambda run: run.rows), self.orders[0]).sample

    def _file(self, run: Run, order: Order) -> PageFile:
        return run.file(order, self._sizes.page)

    def plain(self) -> bool:
        """Are all facts without derivations and ranks?"""
        files = [self._file(run, self.orders[0]) for run in self.runs]
        return all(file.same.get(what) == 0 for file in files for what in ("weights", "ranks"))

    # --- reading ------------------------------------------------------------------------------------------------------

    def look_up(self, columns: Columns, keys: Sequence[Ids], spend: Callable[[int], None]) -> tuple[Rows, StoredFacts]:
        """The facts with these keys, which are distinct, each with the number of its key.

        `spend` is told how many facts there are before they are read.
        """
        order = self.order_for(columns)
        by_order = [keys[columns.index(column)] for column in order[: len(columns)]]
        self._counters.lookups += 1
        self._counters.keys += len(keys[0])
        found: list[tuple[PageFile, Rows, Rows]] = []
        for run in reversed(self.runs):
            file = self._file(run, order)
            which, rows = expanded(*file.ranges(by_order))
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
        parts = [concatenated(list(self._file(run, self.orders[0]).parts())) for run in reversed(self.runs)]
        parts = [part for part in parts if part.rows]
        if not parts:
            return no_facts(self.width, self.dtype)
        facts = newest(concatenated(parts)) if len(parts) > 1 else parts[0]
        gone = facts.gone
        return facts.chosen(~gone) if gone.any() else facts

    # --- writing ------------------------------------------------------------------------------------------------------

    def add(self, facts: StoredFacts, folder: Path, names: Iterator[str]) -> list[Run]:
        """Write facts as newer than all before, and merge small runs; returns those that are no longer needed."""
        if not self.runs:
            facts = facts.chosen(~facts.gone)  # there is nothing older that they could be in
        for first in range(0, facts.rows, self._sizes.run):
            part = facts.chosen(np.arange(first, min(first + self._sizes.run, facts.rows)))
            self.runs.append(self._written(part, folder, next(names)))
        return self._merged(folder, names)

    def _written(self, facts: StoredFacts, folder: Path, name: str) -> Run:
        check = write_pages(folder / f"{name}.pages", facts, self.orders[0], self._sizes.page)
        return Run(folder, name, facts.rows, check, self._counters)

    def _merged(self, folder: Path, names: Iterator[str]) -> list[Run]:
        """Merge the newest runs while the last is not much smaller than the one before, or there are too many."""
        left: list[Run] = []
        while len(self.runs) > 1:
            older, newer = self.runs[-2:]
            if older.rows + newer.rows > self._sizes.run:
                break
            if 2 * newer.rows < older.rows and len(self.runs) <= self._sizes.runs:
                break
            facts = newest(concatenated([newer.all(self._sizes.page), older.all(self._sizes.page)]))
            if len(self.runs) == 2:
                facts = facts.chosen((facts.states & GONE) == 0)
            left += [older, newer]
            self.runs[-2:] = [self._written(facts, folder, next(names))] if facts.rows else []
        return left
