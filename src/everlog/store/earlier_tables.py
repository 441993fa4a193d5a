"""How is history found again that tables keep?

Each version of tables names the files with the rows of the facts that it touched (tables/layout.py), and its program.
From them come the entries that a knowledge base, had it made these updates itself, would remember.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from everlog.dictionary.dictionary import Dictionary
from everlog.facts.weighted import WeightedFacts
from everlog.plans.flat_rules import is_auxiliary
from everlog.store.history import Entry
from everlog.store.snapshots import definitions_from_data
from everlog.store.state import Definitions
from everlog.store.table_folders import relation_tables, table_of
from everlog.store.view_queries import ViewQuery
from everlog.store.windows import Windows
from everlog.tables.commits import Commit, TableState
from everlog.tables.layout import EXPLICIT, VERSION, WEIGHT
from everlog.tables.netting import last_rows, read_files
from everlog.tables.table_ids import TableIds
from everlog.tables.table_store import TableStore

if TYPE_CHECKING:
    from everlog.store.timeline import Timeline


class TableHistory(NamedTuple):
    """Where a knowledge base that was opened from tables finds what was before."""

    store: TableStore
    ids: TableIds

    def entries(self, timeline: Timeline, wanted: int) -> list[Entry]:
        """What has changed from a version on up to where a timeline's own history begins; nothing if it is gone."""
        versions = [version for version in self.store.versions() if version <= timeline.history.oldest]
        if not versions:
            return []
        known = ([0] if self.store.commit(versions[0]).before == 0 else []) + versions
        begin = max((version for version in known if version <= wanted), default=None)
        if begin is None:
            return []
        commits = [self.store.commit(version) for version in known if version >= begin]
        dictionary, rewrites = timeline.newest.dictionary, timeline.workings.rewrites
        return list(_Walk(self.store, self.ids, dictionary, rewrites, commits).entries())


class _Walk:
    """From version to version, oldest first."""

    def __init__(
        self, store: TableStore, ids: TableIds, dictionary: Dictionary, rewrites: bool, commits: list[Commit]
    ) -> None:
        self._store, self._ids, self._dictionary, self._rewrites = store, ids, dictionary, rewrites
        self._commits = commits
        self._was_explicit = {name: self._first_states(name) for name in self._touched()}

    def entries(self) -> Iterator[Entry]:
        before, definitions = self._commits[0], self._definitions(self._commits[0], Definitions())
        windows = Windows(self._dictionary)
        windows.fill(definitions.views, _Answers(self, before))  # type: ignore[arg-type]
        for commit in self._commits[1:]:
            changes, reshaped, lost_explicit = self._changes(before, commit)
            after = self._definitions(commit, definitions)
            views = windows.follow(changes, definitions.views, after.views, _Answers(self, commit))  # type: ignore[arg-type]
            for facts in views.values():
                facts.version = commit.version
            yield Entry(
                definitions,
                commit.version,
                changes,
                self._explicit(before, commit),
                reshaped,
                lost_explicit,
                views,
                commit.version - before.version,
                datetime.fromisoformat(commit.time).timestamp(),
                sum(facts.rows for facts in changes.values()),
            )
            before, definitions = commit, after

    def _definitions(self, commit: Commit, before: Definitions) -> Definitions:
        """What a version says of relations; views that are the same as before are the same object."""
        if "definitions" not in commit.info:
            return before
        found = definitions_from_data(commit.info["definitions"], rewrites=self._rewrites)
        views = {name: _same(before.views.get(name), view) for name, view in found.views.items()}
        if len(views) == len(before.views) and all(before.views.get(name) is view for name, view in views.items()):
            views = dict(before.views)
        return replace(found, views=views)

    # --- what came and went -------------------------------------------------------------------------------------------

    def _changes(
        self, before: Commit, commit: Commit
    ) -> tuple[dict[str, WeightedFacts], dict[str, WeightedFacts], dict[str, WeightedFacts]]:
        """What a version changed, and what went with relations that have another number of arguments since."""
        changes: dict[str, WeightedFacts] = {}
        reshaped: dict[str, WeightedFacts] = {}
        lost_explicit: dict[str, WeightedFacts] = {}
        now = relation_tables(commit)
        for name, state in now.items():
            rows = self._read(commit, name, state)
            rows = rows.filter(pc.not_equal(rows[WEIGHT], 0))
            if rows.num_rows:
                changes[name] = self._weighted(rows, state, commit.version)
        for name, state in relation_tables(before).items():
            if is_auxiliary(name) or (name in now and now[name].columns == state.columns):
                continue
            rows = self._store.rows(table_of(name), before.version)
            gone = self._weighted(rows, state, commit.version).negated()
            if gone.rows and name in now:
                reshaped[name] = gone
                explicit = rows.filter(rows[EXPLICIT])
                lost_explicit[name] = self._weighted(explicit, state, commit.version).negated()
            elif gone.rows:
                changes[name] = gone
        return changes, reshaped, lost_explicit

    def _files(self, commit: Commit, name: str) -> list[str]:
        return self._store.added_files(commit, table_of(name))

    def _read(self, commit: Commit, name: str, state: TableState) -> pa.Table:
        """The rows of the facts that a version touched."""
        return read_files(self._store.place, self._files(commit, name), state)

    def _weighted(self, rows: pa.Table, state: TableState, version: int) -> WeightedFacts:
        columns = [self._ids.local(rows[column].to_numpy()) for column in state.columns]
        return WeightedFacts(columns, rows[WEIGHT].to_numpy(), version)

    def answers(self, commit: Commit, relation: str) -> WeightedFacts:
        """The facts of a relation at a version."""
        state = relation_tables(commit).get(relation)
        if state is None:
            return WeightedFacts((), np.empty(0, np.int64), commit.version)
        return self._weighted(self._store.rows(table_of(relation), commit.version), state, commit.version)

    # --- what became explicit -----------------------------------------------------------------------------------------

    def _touched(self) -> list[str]:
        """The users' relations that versions after the first have touched."""
        names = [name for commit in self._commits[1:] for name in relation_tables(commit)]
        added = {table for commit in self._commits[1:] for table in (*commit.added, *commit.replaced)}
        return [name for name in dict.fromkeys(names) if table_of(name) in added and not is_auxiliary(name)]

    def _first_states(self, name: str) -> pa.Table | None:
        """How the facts that are touched later were at first."""
        state = relation_tables(self._commits[0]).get(name)
        later = [commit for commit in self._commits[1:] if table_of(name) in commit.tables]
        if state is None or any(commit.tables[table_of(name)].columns != state.columns for commit in later):
            return None
        columns = list(state.columns)
        touched = [self._read(commit, name, state).select(columns) for commit in later]
        if not columns:
            return self._store.rows(table_of(name), self._commits[0].version)
        keys = pa.concat_tables(touched).group_by(columns).aggregate([])
        parts = self._store.batches(table_of(name), self._commits[0].version)
        return pa.concat_tables([part.join(keys, columns, join_type="left semi") for part in parts])

    def _explicit(self, before: Commit, commit: Commit) -> dict[str, WeightedFacts]:
        found = {}
        for name, state in relation_tables(commit).items():
            files, is_new = self._files(commit, name), table_of(name) in commit.replaced
            if is_auxiliary(name) or not (files or is_new):
                continue
            if is_new:
                change = self._explicit_anew(name, before, commit)
            else:
                change = self._explicit_change(name, self._read(commit, name, state), state)
            if change.num_rows:
                found[name] = self._weighted(change, state, commit.version)
        return found

    def _explicit_change(self, name: str, rows: pa.Table, state: TableState) -> pa.Table:
        """What rows say that became explicit or no longer is, given what was before."""
        was = self._was_explicit.get(name)
        if was is None:
            was = rows.slice(0, 0)
        self._was_explicit[name] = last_rows(pa.concat_tables([was.select(rows.column_names), rows]), state.columns)
        return _difference(was, rows, state, only_touched=True)

    def _explicit_anew(self, name: str, before: Commit, commit: Commit) -> pa.Table:
        """The same where a table was written anew, and its rows do not say it."""
        table, state = table_of(name), commit.tables[table_of(name)]
        now = self._store.rows(table, commit.version)
        same = table in before.tables and before.tables[table].columns == state.columns
        then = self._store.rows(table, before.version) if same else now.slice(0, 0)
        self._was_explicit[name] = now
        return _difference(then, now, state, only_touched=False)


class _Answers(NamedTuple):
    """What windows read of a version."""

    walk: _Walk
    commit: Commit

    def collect(self, relation: str) -> WeightedFacts:
        return self.walk.answers(self.commit, relation)


def _same(known: ViewQuery | None, view: ViewQuery) -> ViewQuery:
    is_known = known is not None and (known.text, known.since, known.prefixes) == (view.text, view.since, view.prefixes)
    return known if known is not None and is_known else view


def _difference(was: pa.Table, now: pa.Table, state: TableState, *, only_touched: bool) -> pa.Table:
    """Rows with weight 1 for what became explicit, and -1 for what no longer is; without others if `only_touched`."""
    columns = list(state.columns)
    then, explicit = was.filter(was[EXPLICIT]), now.filter(now[EXPLICIT])
    if not columns:
        gone = then.num_rows - explicit.num_rows if now.num_rows or not only_touched else 0
        rows = then if gone > 0 else explicit.slice(0, max(0, -gone))
        return _with_weight(rows.select([VERSION]), 1 if gone < 0 else -1)
    then, explicit = then.select(columns), explicit.select(columns)
    came = explicit.join(then, columns, join_type="left anti")
    went = then.join(explicit, columns, join_type="left anti")
    if only_touched:
        went = went.join(now.select(columns), columns, join_type="left semi")
    return pa.concat_tables([_with_weight(came, 1), _with_weight(went, -1)])


def _with_weight(rows: pa.Table, weight: int) -> pa.Table:
    return rows.append_column(WEIGHT, pa.array(np.full(rows.num_rows, weight, np.int64)))
