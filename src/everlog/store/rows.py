"""What does a user see of a relation? Facts: rows in which everything has a value."""

from __future__ import annotations

import numpy as np

from everlog.answers.answer_table import Fact, Table, by_distinct


class Rows(Table[Fact]):
    """Facts of a relation, or the answers to a Datalog query."""

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

    def keys(self) -> list[list[str]]:
        """Columns of term keys (everlog.facts.terms), for writing files."""
        return [by_distinct(column, self._dictionary.key) for column in self._columns]


def column_names(arity: int) -> list[str]:
    """What the columns of a relation are called."""
    return [f"c{number}" for number in range(1, arity + 1)]
