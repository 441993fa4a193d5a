"""How are tables kept true in this process?

They are opened as a knowledge base (store/table_folders.py). A change of what is explicit, of the program and of views
is one update of it, and what that touches is appended to the tables as one version.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from everlog.facts.weighted import WeightedFacts
from everlog.limits import Limits
from everlog.rules.names import name_rules
from everlog.rules.syntax import Program
from everlog.store.changes import Change
from everlog.store.encoding import EncodedFacts
from everlog.store.opening import open as open_knowledge_base
from everlog.store.store import KnowledgeBase
from everlog.store.table_journal import PlainRows
from everlog.store.updates import Update
from everlog.store.view_queries import view_query
from everlog.tables.layout import VERSION

if TYPE_CHECKING:
    import pyarrow as pa

    from everlog.pipeline.settings_parts import ViewSettings
    from everlog.store.view_queries import ViewQuery


def no_rows() -> pa.Table:
    """A change of nothing."""
    import pyarrow as pa

    return pa.table({"relation": pa.array([], pa.int32()), "weight": pa.array([], pa.int64())})


class Resident:
    """The tables of a folder, opened in this process."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.kb: KnowledgeBase = open_knowledge_base(folder, limits=limits)
        assert self.kb.tables is not None, "it was opened from tables"
        self.tables = self.kb.tables

    def __enter__(self) -> Resident:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kb.close()

    def note(self, table: str, rows: pa.Table, columns: Mapping[str, str]) -> None:
        """Rows that the next version adds to a table that is no relation's."""
        version = np.full(rows.num_rows, self.kb.version + 1, np.int64)
        self.tables.also.append(PlainRows(table, rows.select(list(columns)).append_column(VERSION, [version]), columns))

    def learn(self, terms: Iterable[tuple[int, str]]) -> None:
        """Terms that are new, by their ids."""
        for id_, key in terms:
            self.tables.ids.learn(id_, key)

    def update(
        self,
        rows: pa.Table,
        relations: Sequence[tuple[str, int]],
        program: Program,
        views: Sequence[ViewSettings],
        info: Mapping[str, Any],
    ) -> Change:
        """Apply a change of what is explicit, as rows with the relation's number, ids and a weight; and of the rest."""
        inserted, deleted = self._edits(rows, relations)
        add, remove = self._rules(program)
        self.tables.info.update(info)
        update = Update(inserted, deleted, add, remove)
        return self.kb.apply(update, views=self._views(views, program.prefixes))

    def _edits(
        self, rows: pa.Table, relations: Sequence[tuple[str, int]]
    ) -> tuple[list[EncodedFacts], list[EncodedFacts]]:
        numbers, weights = rows["relation"].to_numpy(), rows["weight"].to_numpy()
        edits: tuple[list[EncodedFacts], list[EncodedFacts]] = ([], [])
        for number in np.unique(numbers).tolist():
            name, arity = relations[number]
            for weight, found in ((1, edits[0]), (-1, edits[1])):
                chosen = np.flatnonzero((numbers == number) & (weights == weight))
                if len(chosen):
                    # Columns that other relations do not have are null there: NumPy would make doubles of such ids.
                    columns = [
                        self.tables.ids.local(rows[f"c{place}"].take(chosen).to_numpy())
                        for place in range(1, arity + 1)
                    ]
                    found.append(EncodedFacts(name, WeightedFacts.present(columns, len(chosen))))
        return edits

    def _rules(self, program: Program) -> tuple[Program | None, list[str]]:
        """What to add to the rules that are there, and what to remove."""
        known, wanted = self.kb.state().rules, name_rules(program.rules)
        added = tuple(rule for rule in wanted if rule not in known)
        removed = [str(rule.name) for rule in known if rule not in wanted]
        if not added and not removed:
            return None, []
        return Program(rules=added, prefixes=program.prefixes), removed

    def _views(self, views: Sequence[ViewSettings], prefixes: Mapping[str, str]) -> Mapping[str, ViewQuery] | None:
        """The views as they should be; None where they are."""
        state = self.kb.state()
        wanted = {view.name: view.query for view in views}
        if wanted == {name: view.text for name, view in state.views.items()}:
            return None
        known = {name: view for name, view in state.views.items() if wanted.get(name) == view.text}
        prefixes = {**state.prefixes, **prefixes}
        return {
            name: known[name] if name in known else view_query(name, text, prefixes, state.version + 1)
            for name, text in wanted.items()
        }
