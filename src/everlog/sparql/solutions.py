"""How are the answers to a SPARQL query handed to people?

Solutions keep columns of ids and decode when looked at. A variable without a value is None.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import UNBOUND, Dictionary, Ids
from everlog.expressions.ordering import order_key
from everlog.facts.terms import Term
from everlog.sparql.query import Query

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Row = tuple[Term | None, ...]
_UNBOUND_FIRST = ((-1,),)  # ORDER BY puts what has no value first


class Solutions:
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
        self._dictionary = dictionary
        self.names = tuple(names)
        self._columns = list(columns)
        self._rows = rows
        self._ordered = ordered  # whether the query says in which order they come

    @classmethod
    def of(
        cls, query: Query, dictionary: Dictionary, columns: Sequence[Ids], weights: npt.NDArray[np.int64]
    ) -> Solutions:
        """The answers of a query, given its answer relation: ordered, cut, and only what is shown."""
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

    def __len__(self) -> int:
        return self._rows

    def __iter__(self) -> Iterator[Row]:
        if not self._columns:
            return iter([()] * self._rows)
        return zip(*(self._decoded(column) for column in self._columns), strict=True)

    def __bool__(self) -> bool:
        return self._rows > 0

    def __repr__(self) -> str:
        return f"<{self._rows:,} solutions for ({', '.join('?' + name for name in self.names)})>"

    def sorted(self) -> list[Row]:
        """All solutions in the total order of terms."""
        return sorted(self, key=lambda row: tuple(map(_key, row)))

    def listed(self) -> Iterable[Row]:
        """All solutions as ORDER BY has them; without it, in the total order of terms."""
        return self if self._ordered else self.sorted()

    def serialize(self, format: str = "json") -> str:
        """All solutions as text: json, xml, csv or tsv."""
        from everlog.sparql.serialising import solutions_text

        return solutions_text(self.names, self.listed(), format)

    def arrow(self) -> pa.Table:
        import pyarrow as pa

        from everlog.dictionary.columns import decode_column

        arrays = []
        for column in self._columns:
            unbound = column == UNBOUND
            array = decode_column(
                self._dictionary, np.where(unbound, column[~unbound][:1] if (~unbound).any() else 0, column)
            )
            arrays.append(
                pa.compute.if_else(pa.array(unbound), pa.scalar(None, array.type), array) if unbound.any() else array
            )
        return pa.table(dict(zip(self.names, arrays, strict=True)))

    def pandas(self) -> pd.DataFrame:
        return self.arrow().to_pandas()

    def polars(self) -> pl.DataFrame:
        import polars

        frame = polars.from_arrow(self.arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def _decoded(self, column: Ids) -> list[Term | None]:
        return _by_distinct(column, lambda id_: None if id_ == UNBOUND else self._dictionary.decode(id_))


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


def _key(term: Term | None) -> Any:
    return _UNBOUND_FIRST if term is None else (order_key(term),)


def _by_distinct(column: Ids, value: Any) -> list[Any]:
    """The value of each id, made once for each distinct one."""
    distinct, positions = np.unique(column, return_inverse=True)
    values = [value(id_) for id_ in distinct.tolist()]
    return [values[position] for position in positions.tolist()]


def _in_order(query: Query, dictionary: Dictionary, columns: Sequence[Ids], rows: int) -> npt.NDArray[np.int64]:
    """The rows as ORDER BY has them; where it leaves that open the rest of a row decides, always in the same way."""
    ranks = {name: _ranks(columns[n], dictionary) for n, name in enumerate(query.columns)}
    keys = [-ranks[each.column] if each.descending else ranks[each.column] for each in query.order]
    keys += [ranks[name] for name in query.columns]
    return np.lexsort(keys[::-1]) if keys else np.arange(rows)


def _ranks(column: Ids, dictionary: Dictionary) -> npt.NDArray[np.int64]:
    """Where each id stands in the order of terms."""
    distinct, positions = np.unique(column, return_inverse=True)
    keys = [_key(None if id_ == UNBOUND else dictionary.decode(id_)) for id_ in distinct.tolist()]
    by_key = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return np.array([by_key[key] for key in keys], np.int64)[positions]


def _first_of_each(columns: Sequence[Ids], chosen: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Those of the chosen rows that are the first of their kind."""
    if not columns:
        return chosen[:1]
    _, first = np.unique(np.stack([column[chosen] for column in columns], axis=1), axis=0, return_index=True)
    return chosen[np.sort(first)]
