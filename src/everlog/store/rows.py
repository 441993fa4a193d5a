"""How are facts and answers handed to people?

Rows keep columns of ids and decode when looked at: iterating gives tuples of terms, `.arrow()`, `.pandas()` and
`.polars()` whole tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.expressions.ordering import order_key
from everlog.facts.terms import Term

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class Rows:
    """Rows of terms with named columns; a snapshot that later updates do not change."""

    def __init__(self, dictionary: Dictionary, names: Sequence[str], columns: Sequence[Ids], rows: int) -> None:
        self._dictionary = dictionary
        self.names = tuple(names)
        self._columns = list(columns)
        self._rows = rows

    def __len__(self) -> int:
        return self._rows

    def __iter__(self) -> Iterator[tuple[Term, ...]]:
        if not self._columns:
            return iter([()] * self._rows)
        # Each distinct id is decoded once, however often it stands in a column.
        return zip(*(self._decoded(column) for column in self._columns), strict=True)

    def __contains__(self, row: object) -> bool:
        if not isinstance(row, tuple) or len(row) != len(self._columns):
            return False
        found = np.ones(self._rows, bool)
        for column, term in zip(self._columns, row, strict=True):
            id_ = self._dictionary.find(term)
            if id_ is None:
                return False
            found &= column == id_
        return bool(found.any())

    def __repr__(self) -> str:
        return f"<{self._rows:,} rows of ({', '.join(self.names)})>"

    def sorted(self) -> list[tuple[Term, ...]]:
        """All rows in the total order of terms."""
        return sorted(self, key=lambda row: tuple(order_key(term) for term in row))

    def keys(self) -> list[list[str]]:
        """Columns of term keys (everlog.facts.terms), for writing files."""
        return [self._by_distinct(column, self._dictionary.key) for column in self._columns]

    def arrow(self) -> pa.Table:
        import pyarrow as pa

        from everlog.dictionary.columns import decode_column

        arrays = [decode_column(self._dictionary, column) for column in self._columns]
        return pa.table(dict(zip(_unique(self.names), arrays, strict=True)))

    def pandas(self) -> pd.DataFrame:
        return self.arrow().to_pandas()

    def polars(self) -> pl.DataFrame:
        import polars

        frame = polars.from_arrow(self.arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def _decoded(self, column: Ids) -> list[Term]:
        return self._by_distinct(column, self._dictionary.decode)

    @staticmethod
    def _by_distinct(column: Ids, decode: Any) -> list[Any]:
        distinct, positions = np.unique(column, return_inverse=True)
        values = [decode(id_) for id_ in distinct.tolist()]
        return [values[position] for position in positions.tolist()]


def _unique(names: Sequence[str]) -> list[str]:
    return [name if names.index(name) == position else f"{name}_{position}" for position, name in enumerate(names)]
