"""What is the answer to a SPARQL query: which solutions in which order, or whether there is one?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everlog.answers.answer_table import Row, Table
from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.expressions.ordering import order_key, tied_key
from everlog.sparql.query import Query


class Solutions(Table[Row]):
    """The solutions of a SELECT query, in order; a snapshot that later updates do not change."""

    def __init__(
        self,
        dictionary: Dictionary,
        names: Sequence[str],
        columns: Sequence[Ids],
        rows: int,
        *,
        ordered: bool = True,
    ) -> None:
        super().__init__(dictionary, names, columns, rows)
        self._ordered = ordered  # whether the query says in which order they come

    @classmethod
    def of(
        cls, query: Query, dictionary: Dictionary, columns: Sequence[Ids], weights: npt.NDArray[np.int64]
    ) -> Solutions:
        """The solutions of a query, given its answer relation: ordered, cut, and projected."""
        chosen = np.arange(len(weights))
        if query.order or query.offset or query.limit is not None:  # what is cut off must not depend on chance
            chosen = _in_order(query, dictionary, columns, len(weights))
        if query.distinct:
            chosen = _first_of_each([columns[n] for n in range(len(query.shown))], chosen)
        else:
            chosen = np.repeat(chosen, weights[chosen])
        end = None if query.limit is None else query.offset + query.limit
        chosen = chosen[query.offset : end]
        shown = [column[chosen] for column in columns[: len(query.shown)]]
        return cls(dictionary, query.shown, shown, len(chosen), ordered=bool(query.order))

    def __repr__(self) -> str:
        return f"<{self._rows:,} solutions for ({', '.join('?' + name for name in self.names)})>"

    def first(self, number: int) -> list[Row]:
        return list(self._head(min(number, self._rows))) if self._ordered else super().first(number)

    def listed(self) -> Iterable[Row]:
        """All solutions in the order of ORDER BY; without it, in the total order of terms."""
        return self if self._ordered else self.sorted()

    def serialize(self, format: str = "json") -> str:
        """All solutions as text: json, xml, csv or tsv."""
        from everlog.sparql.serialising import solutions_text

        return solutions_text(self.names, self.listed(), format)


class Truth:
    """The answer to an ASK query."""

    def __init__(self, value: bool) -> None:
        self._value = value

    def __bool__(self) -> bool:
        return self._value

    def __eq__(self, other: object) -> bool:
        return bool(other) == self._value if isinstance(other, bool | Truth) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return "yes" if self._value else "no"

    def serialize(self, format: str = "json") -> str:
        """The answer as text: json, xml, csv or tsv."""
        from everlog.sparql.serialising import truth_text

        return truth_text(self._value, format)


def _in_order(query: Query, dictionary: Dictionary, columns: Sequence[Ids], rows: int) -> npt.NDArray[np.int64]:
    """The rows in the order of ORDER BY; ties are resolved by the whole row, always in the same way."""
    ranks = {name: _ranks(columns[n], dictionary) for n, name in enumerate(query.columns)}
    asked = [(ranks[each.column].of_values, each.descending) for each in query.order]
    keys = [-rank if descending else rank for rank, descending in asked]
    keys += [ranks[name].of_terms for name in query.columns]
    return np.lexsort(keys[::-1]) if keys else np.arange(rows)


class _Ranks(NamedTuple):
    """The position of each id of a column in the order of terms, and in that of values, where some are equal."""

    of_terms: npt.NDArray[np.int64]
    of_values: npt.NDArray[np.int64]


def _ranks(column: Ids, dictionary: Dictionary) -> _Ranks:
    distinct, positions = np.unique(column, return_inverse=True)
    keys = [order_key(None if id_ == dictionary.unbound else dictionary.decode(id_)) for id_ in distinct.tolist()]
    return _Ranks(_positions(keys)[positions], _positions(list(map(tied_key, keys)))[positions])


def _positions(keys: Sequence[tuple[Any, ...]]) -> npt.NDArray[np.int64]:
    """The place of each key among the distinct ones."""
    by_key = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return np.array([by_key[key] for key in keys], np.int64)


def _first_of_each(columns: Sequence[Ids], chosen: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Those of the chosen rows that are the first of their kind."""
    if not columns:
        return chosen[:1]
    _, first = np.unique(np.stack([column[chosen] for column in columns], axis=1), axis=0, return_index=True)
    return chosen[np.sort(first)]
