"""How does a view with ORDER BY stay in order?

The rows of its answer are kept sorted, and a change puts in and takes out those that it concerns; LIMIT and OFFSET look
at a window of that order. Nothing is sorted again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import UNBOUND, Dictionary, Ids
from everlog.expressions.ordering import order_key
from everlog.sparql.query import Query

Fact = tuple[int, ...]
Weighted = tuple[Fact, int]


class _Descending:
    """A key that sorts the other way round."""

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
    """The rows of an answer in order, with multiplicities."""

    def __init__(self, query: Query, dictionary: Dictionary) -> None:
        self._query, self._dictionary = query, dictionary
        self._places = {name: place for place, name in enumerate(query.columns)}
        self._keys: list[tuple[Any, ...]] = []
        self._rows: list[list[Any]] = []  # fact and weight, in the order of the keys

    def change(self, changes: Iterable[Weighted]) -> None:
        """Facts come or go so many times."""
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

    def shown(self) -> list[Fact]:
        """The rows that the query shows, in order."""
        query, width = self._query, len(self._query.shown)
        end = None if query.limit is None else query.offset + query.limit
        found: list[Fact] = []
        seen: set[Fact] = set()
        for fact, weight in self._rows:
            row = fact[:width]
            if query.distinct:
                if row in seen:
                    continue
                seen.add(row)
                weight = 1
            found += [row] * weight
            if end is not None and len(found) >= end:
                break
        return found[query.offset : end]

    def _key(self, fact: Fact) -> tuple[Any, ...]:
        keys = [order_key(None if id_ == UNBOUND else self._dictionary.decode(id_)) for id_ in fact]
        ordered = [
            _Descending(keys[self._places[each.column]]) if each.descending else keys[self._places[each.column]]
            for each in self._query.order
        ]
        return (*ordered, *keys)


@dataclass(frozen=True)
class Delta:
    """Facts of an answer, and how many times each came or, if negative, went."""

    names: tuple[str, ...]
    columns: tuple[Ids, ...]
    weights: npt.NDArray[np.int64]

    @classmethod
    def of(cls, names: tuple[str, ...], counts: Mapping[Fact, int]) -> Delta:
        changed = [(fact, count) for fact, count in counts.items() if count]
        columns = zip(*(fact for fact, _ in changed), strict=True) if changed else [()] * len(names)
        weights = np.array([count for _, count in changed], np.int64)
        return cls(names, tuple(np.array(column, np.int32) for column in columns), weights)

    def facts(self) -> list[Weighted]:
        return weighted(self.columns, self.weights.tolist())


def weighted(columns: Sequence[Any], weights: Sequence[int]) -> list[Weighted]:
    """Columns as facts with their weights."""
    rows = zip(*(column.tolist() for column in columns), strict=True) if columns else [()] * len(weights)
    return list(zip(rows, (int(weight) for weight in weights), strict=True))
