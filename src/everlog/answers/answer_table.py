"""How are facts and solutions handed to people?

A table keeps columns of ids and decodes when looked at: iterating gives tuples of terms, `.arrow()`, `.pandas()` and
`.polars()` whole tables. What has no value is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import numpy as np

from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.expressions.ordering import order_key
from everlog.extras import check_extra
from everlog.facts.terms import Term

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Fact = tuple[Term, ...]
Row = tuple[Term | None, ...]
R = TypeVar("R", Fact, Row)
T = TypeVar("T")

_SORTED = 10_000  # rows up to which the first ones are found by sorting


class Table(Generic[R]):
    """Rows of terms with named columns; a snapshot that later updates do not change."""

    def __init__(
        self,
        dictionary: Dictionary,
        names: Sequence[str],
        columns: Sequence[Ids],
        rows: int,
        types: Sequence[str | None] = (),
    ) -> None:
        """`types`: those that are declared, for columns without values."""
        self._dictionary, self._types = dictionary, types
        self.names = tuple(names)
        self._columns = list(columns)
        self._rows = rows

    def __len__(self) -> int:
        return self._rows

    def __iter__(self) -> Iterator[R]:
        if not self._columns:
            return iter([()] * self._rows)
        return cast(Iterator[R], zip(*(by_distinct(column, self._term) for column in self._columns), strict=True))

    def sorted(self) -> list[R]:
        """All rows in the total order of terms."""
        return sorted(self, key=lambda row: tuple(map(order_key, row)))

    def first(self, number: int) -> list[R]:
        """Some rows, without decoding the others; in the total order of terms unless there are very many."""
        if self._rows <= _SORTED:
            return self.sorted()[:number]
        return list(self._head(number))

    def _head(self, number: int) -> Table[R]:
        return Table(self._dictionary, self.names, [column[:number] for column in self._columns], number)

    def _repr_html_(self) -> str:
        from everlog.answers.html import MOST_ROWS, html_rows

        return html_rows(self.names, self.first(MOST_ROWS), self._rows)

    def arrow(self) -> pa.Table:
        """An Arrow table. A column has the type of its terms if all have the same: integer, decimal, double, boolean,
        date, dateTime, time; otherwise it holds their texts."""
        import pyarrow as pa

        from everlog.dictionary.columns import decode_columns
        from everlog.facts.arrays import empty_array

        if self._types and not self._rows:
            arrays = [empty_array(type_) for type_ in self._types]
        else:
            arrays = decode_columns(self._dictionary, self._columns)
        return pa.table(dict(zip(_unique(self.names), arrays, strict=True)))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow PyCapsule interface, by which other libraries read the table: `polars.DataFrame(facts)`."""
        return self.arrow().__arrow_c_stream__(requested_schema)

    def pandas(self) -> pd.DataFrame:
        """A pandas frame, with the columns of `arrow`."""
        check_extra("pandas", "`.pandas()`")
        return self.arrow().to_pandas()

    def polars(self) -> pl.DataFrame:
        """A Polars frame, with the columns of `arrow`."""
        check_extra("polars", "`.polars()`")
        import polars

        frame = polars.from_arrow(self.arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def _term(self, id_: int) -> Term | None:
        return None if id_ == self._dictionary.unbound else self._dictionary.decode(id_)


def by_distinct(column: Ids, value: Callable[[int], T]) -> list[T]:
    """The value of each id, made once for each distinct one."""
    distinct, positions = np.unique(column, return_inverse=True)
    values = [value(id_) for id_ in distinct.tolist()]
    return [values[position] for position in positions.tolist()]


def _unique(names: Sequence[str]) -> list[str]:
    return [name if names.index(name) == position else f"{name}_{position}" for position, name in enumerate(names)]
