"""How are tables kept true in this process?

They are opened as a knowledge base (store/table_folders.py), by the columnar engine or by the paged one. A change of
what is explicit, of the program and of views is one update of it, and what that touches is appended to the tables as
one version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from everlog.errors import DamagedRunsError
from everlog.facts.weighted import WeightedFacts
from everlog.limits import Limits
from everlog.logs import logger
from everlog.pipeline.view_definitions import wanted_views
from everlog.pipeline.ways import PAGED, RESIDENT
from everlog.rules.names import name_rules
from everlog.rules.syntax import Program
from everlog.store.changes import Change
from everlog.store.given_facts import EncodedFacts
from everlog.store.store import KnowledgeBase
from everlog.store.table_journal import PlainRows
from everlog.store.table_runs import remove_runs
from everlog.store.updates import Update
from everlog.tables.layout import VERSION
from everlog.tables.places import TablePlace, table_place

if TYPE_CHECKING:
    import pyarrow as pa

    from everlog.pipeline.settings_parts import ViewSettings
    from everlog.store.view_queries import ViewQuery


_ENGINES = {RESIDENT: "columnar", PAGED: "paged"}


def no_rows() -> pa.Table:
    """A change of nothing."""
    import pyarrow as pa

    return pa.table({"relation": pa.array([], pa.int32()), "weight": pa.array([], pa.int64())})


class OpenedTables:
    """Tables, opened in this process: all of their facts (resident), or what is looked at (paged)."""

    def __init__(self, where: str | Path | TablePlace, limits: Limits, way: str) -> None:
        """Raises NeedsBulk where the tables lack what the paged way goes on from."""
        self._place, self._limits, self._engine = table_place(where), limits, _ENGINES[way]
        self._noted: list[tuple[str, pa.Table, Mapping[str, str]]] = []
        self._learned: list[tuple[int, str]] = []
        self._open()

    def _open(self) -> None:
        self.kb = KnowledgeBase(engine=self._engine, limits=self._limits)
        self.kb.open_tables(self._place, read_only=False)
        assert self.kb.tables is not None, "it was opened from tables"
        self.tables = self.kb.tables

    def __enter__(self) -> OpenedTables:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.kb.close()

    def last_info(self) -> Mapping[str, Any]:
        """What the last version says of itself."""
        return self.tables.last_info()

    def note(self, table: str, rows: pa.Table, columns: Mapping[str, str]) -> None:
        """Rows that the next version adds to a table that is no relation's."""
        self._noted.append((table, rows, columns))

    def learn(self, terms: Iterable[tuple[int, str]]) -> None:
        """Terms that are new, by their ids."""
        self._learned.extend(terms)

    def update(
        self,
        rows: pa.Table,
        relations: Sequence[tuple[str, int]],
        program: Program,
        views: Sequence[ViewSettings],
        info: Mapping[str, Any],
    ) -> Change:
        """Apply a change of what is explicit, as rows with the relation's number, ids and a weight; and of the rest."""

        def change() -> Change:
            inserted, deleted = self._edits(rows, relations)
            update = Update(inserted, deleted, *self._rules(program))
            return self.kb.apply(update, views=self._views(views, program.prefixes))

        return self._next_version(change, info)

    def apply(self, update: Update, info: Mapping[str, Any]) -> Change:
        """Apply an update; the version says `info` of itself."""
        return self._next_version(lambda: self.kb.apply(update), info)

    def _next_version(self, change: Callable[[], Change], info: Mapping[str, Any]) -> Change:
        """Make a version; where the runs of the paged way turn out to be damaged, from runs that are made again."""
        try:
            self._tell(info)
            made = change()
        except DamagedRunsError as error:
            logger.warning("%s; they are made again", error.message)
            self.close()
            remove_runs(self._place.beside)
            self._open()
            self._tell(info)
            made = change()
        self._noted, self._learned = [], []
        return made

    def _tell(self, info: Mapping[str, Any]) -> None:
        version = self.kb.version + 1
        self.tables.info.update(info)
        self.tables.also = [
            PlainRows(
                table,
                rows.select(list(columns)).append_column(VERSION, [np.full(rows.num_rows, version, np.int64)]),
                columns,
            )
            for table, rows, columns in self._noted
        ]
        for id_, key in self._learned:
            self.tables.ids.learn(id_, key)

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
        known, wanted = dict.fromkeys(self.kb.state().rules), dict.fromkeys(name_rules(program.rules))
        added = tuple(rule for rule in wanted if rule not in known)
        removed = [str(rule.name) for rule in known if rule not in wanted]
        if not added and not removed:
            return None, []
        return Program(rules=added, prefixes=program.prefixes), removed

    def _views(self, views: Sequence[ViewSettings], prefixes: Mapping[str, str]) -> Mapping[str, ViewQuery] | None:
        """The views as they should be; None where they are."""
        state = self.kb.state()
        if {view.name: view.query for view in views} == {name: view.text for name, view in state.views.items()}:
            return None
        return wanted_views(state.views, views, {**state.prefixes, **prefixes}, state.version + 1)
