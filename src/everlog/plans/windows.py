"""How do rows stay in order?

They are held in sorted order, and a change inserts and removes just the rows it concerns; LIMIT and OFFSET select a
window of that order. Nothing is sorted again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from everlog.dictionary.dictionary import Dictionary
from everlog.expressions.ordering import order_key, tied_key

Fact = tuple[int, ...]
Weighted = tuple[Fact, int]


@dataclass(frozen=True)
class Ordering:
    """ORDER BY, and which rows and columns are shown: DISTINCT, OFFSET and LIMIT."""

    columns: tuple[tuple[int, bool], ...]  # positions of columns, and whether each is descending
    width: int
    distinct: bool
    offset: int
    limit: int | None

    @property
    def shows_all(self) -> bool:
        """Is every row shown, as often as it occurs?"""
        return not self.distinct and not self.offset and self.limit is None


class _Descending:
    """A key that sorts in descending order."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key

    def __lt__(self, other: _Descending) -> bool:
        return bool(other.key < self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descending) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class Window:
    """Rows in order, with multiplicities."""

    def __init__(self, ordering: Ordering, dictionary: Dictionary) -> None:
        self._ordering, self._dictionary = ordering, dictionary
        self._keys: list[tuple[Any, ...]] = []
        self._rows: list[list[Any]] = []  # fact and weight, in the order of the keys

    def change(self, changes: Iterable[Weighted]) -> None:
        """Add facts, or remove them, each so many times."""
        if not self._keys:
            self._fill(changes)
            return
        for fact, weight in changes:
            key = self._key(fact)
            place = bisect_left(self._keys, key)
            if place < len(self._keys) and self._keys[place] == key:
                self._rows[place][1] += weight
                if not self._rows[place][1]:
                    del self._keys[place], self._rows[place]
            else:
                self._keys.insert(place, key)
                self._rows.insert(place, [fact, weight])

    def _fill(self, rows: Iterable[Weighted]) -> None:
        """Add the first rows, all different, by sorting once: inserting many one by one would move all the others."""
        ordered = sorted(((self._key(fact), [fact, weight]) for fact, weight in rows), key=itemgetter(0))
        self._keys, self._rows = [key for key, _ in ordered], [row for _, row in ordered]

    def shown(self) -> list[Fact]:
        """The rows that are shown, in order."""
        asked = self._ordering
        end = None if asked.limit is None else asked.offset + asked.limit
        found: list[Fact] = []
        seen: set[Fact] = set()
        for fact, weight in self._rows:
            row = fact[: asked.width]
            if asked.distinct:
                if row in seen:
                    continue
                seen.add(row)
                weight = 1
            found += [row] * weight
            if end is not None and len(found) >= end:
                break
        return found[asked.offset : end]

    def _key(self, fact: Fact) -> tuple[Any, ...]:
        unbound, decode = self._dictionary.unbound, self._dictionary.decode
        keys = [order_key(None if id_ == unbound else decode(id_)) for id_ in fact]
        ordered = [
            _Descending(tied_key(keys[place])) if descending else tied_key(keys[place])
            for place, descending in self._ordering.columns
        ]
        return (*ordered, *keys)  # where all that ORDER BY asks for is tied, whole rows are compared

    def facts(self) -> list[Fact]:
        """The rows that are shown, as facts: equal rows are numbered, so that each is a fact of its own."""
        seen: Counter[Fact] = Counter()
        found = []
        for row in self.shown():
            found.append((self._dictionary.encode(seen[row]), *row))
            seen[row] += 1
        return found


def window_over(ordering: Ordering, rows: Iterable[Weighted], dictionary: Dictionary) -> Window:
    """A window over given rows."""
    window = Window(ordering, dictionary)
    window.change(rows)
    return window
