"""How do people see the answer to a query that is kept true?

A view (view_queries.py) is read at a version, like everything else, and tells what each update did to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from everlog.dictionary.dictionary import Dictionary
from everlog.facts.weighted import WeightedFacts
from everlog.sparql.graphs import Graph
from everlog.sparql.query import Query
from everlog.sparql.solutions import Solutions, Truth
from everlog.store.answers import view_answer
from everlog.store.view_queries import ViewQuery

if TYPE_CHECKING:
    import pyarrow as pa

    from everlog.store.reading import ReadOnlyKnowledgeBase


_SHORT = 60  # characters of a query that `repr` shows


class ViewChange:
    """What an update did to the answer of a view; a solution that came twice stands there twice."""

    def __init__(self, name: str, query: Query, change: WeightedFacts, dictionary: Dictionary) -> None:
        self.view = name
        self.facts = change  # of the answer relation
        self._names, self._dictionary = query.shown, dictionary

    @property
    def version(self) -> int:
        return self.facts.version

    @property
    def gained(self) -> Solutions:
        """The solutions that came."""
        return self._solutions(self.facts.gained())

    @property
    def lost(self) -> Solutions:
        """The solutions that went."""
        return self._solutions(self.facts.lost())

    def _solutions(self, facts: WeightedFacts) -> Solutions:
        columns = facts.repeated()[: len(self._names)]
        return Solutions(self._dictionary, self._names, columns, int(facts.weights.sum()))

    def arrow(self) -> pa.Table:
        """The change as an Arrow table: the columns of the answer, and `weight`, how many of each came or went."""
        import pyarrow as pa

        columns = self.facts.columns[: len(self._names)]
        table = Solutions(self._dictionary, self._names, columns, self.facts.rows).arrow()
        return table.append_column("weight", pa.array(self.facts.weights))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow PyCapsule interface: the table that `arrow` gives."""
        return self.arrow().__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return self.facts.rows

    def __repr__(self) -> str:
        return f"<version {self.version}: {len(self.gained):,} solutions gained, {len(self.lost):,} lost>"

    def _repr_html_(self) -> str:
        from everlog.answers.html import MOST_ROWS, html_rows

        parts = [("−", self.lost), ("+", self.gained)]
        first = [(sign, *row) for sign, rows in parts for row in rows.first(MOST_ROWS)]
        total = sum(len(rows) for _, rows in parts)
        return html_rows(("", *self._names), first, total, caption=f"{self.view} at version {self.version}")


class View:
    """A SPARQL query whose answer is kept; made by `kb.view`."""

    def __init__(self, kb: ReadOnlyKnowledgeBase, definition: ViewQuery) -> None:
        self._kb, self._definition = kb, definition

    @property
    def name(self) -> str:
        return self._definition.name

    @property
    def text(self) -> str:
        """The query."""
        return self._definition.text

    @property
    def query(self) -> Query:
        """The query as rules."""
        return self._definition.query

    def rows(self) -> Solutions | Truth | Graph:
        """The answer as it is now: solutions, a truth value for ASK, a graph for CONSTRUCT."""
        state = self._kb.state()
        return view_answer(state, state.view(self.name))

    def changes(self, since: int) -> list[ViewChange]:
        """What has changed after a version, update by update; versions without a change are left out."""
        return self._kb.view_changes(self.name, since)

    def on_change(self, callback: Callable[[ViewChange], None]) -> Callable[[], None]:
        """Call this after every update that changes the answer; gives a function that ends it."""
        return self._kb.subscribe(callback, view=self.name)

    def drop(self) -> None:
        """Stop keeping the answer."""
        self._kb.drop_view(self.name)

    def __repr__(self) -> str:
        return f"<view {self.name}: {' '.join(self.text.split())[:_SHORT]}>"

    def _repr_html_(self) -> str:
        from everlog.answers.html import html_text

        answer = self.rows()
        shown = html_text(repr(answer)) if isinstance(answer, Truth) else answer._repr_html_()
        return html_text(f"{self.name}: {self.text.strip()}") + shown
