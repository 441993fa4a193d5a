"""How does a knowledge base that was opened from tables write its updates there?

An update appends a row for each fact that it touched, to the table of its relation, and the terms that are new to the
dictionary; all of it becomes visible as one version (everlog/tables). Where everything was derived anew, the tables of
relations are written anew, beside the changes, so that whoever follows them misses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from everlog.engines.interface import Capture
from everlog.engines.states import FactStates
from everlog.errors import UsageError
from everlog.facts.weighted import WeightedFacts
from everlog.logs import logger
from everlog.maintenance.materialise import shapes
from everlog.store.snapshots import definitions_as_data, known_of
from everlog.store.table_folders import DICTIONARY, TERM_COLUMNS, relation_tables, shapes_as_data, table_of
from everlog.tables.commits import Commit, CommitConflictError
from everlog.tables.compaction import compact, is_due
from everlog.tables.layout import BAG, DERIVATIONS, EXPLICIT, PLAIN, RANK, SET, VERSION, WEIGHT, fact_columns
from everlog.tables.table_ids import TableIds
from everlog.tables.table_store import TableStore
from everlog.tables.writing import TableTransaction

if TYPE_CHECKING:
    from everlog.store.steps import Step
    from everlog.store.timeline import Timeline


class PlainRows(NamedTuple):
    """Rows for a table that is no relation's, with all of its columns."""

    table: str
    rows: pa.Table
    columns: Mapping[str, str]


class TableJournal:
    """Appends what updates touch to tables."""

    wants_states = True

    def __init__(self, timeline: Timeline, store: TableStore, ids: TableIds, commit: Commit) -> None:
        self._timeline, self._store, self.ids = timeline, store, ids
        self._last, self._terms = commit, ids.terms_since(0)[1]
        self._known_is_due = False  # what maintenance knows after a change of rules is known when that is in place
        self._closed = False
        self.info: dict[str, Any] = {}  # what the versions from now on are to say besides
        self.also: list[PlainRows] = []  # what the next version is to add to other tables

    def write(self, step: Step, version: int) -> int:
        self.check_open()
        with self._begin() as transaction:
            transaction.version = version
            if step.replaces:
                self._write_all(transaction, step)
            else:
                self._write_touched(transaction, step)
            terms = self._write_terms(transaction)
            for more in self.also:
                transaction.append(more.table, more.rows, more.columns, PLAIN)
            self._last = transaction.commit(self._info(transaction, step))
        self._terms, self.also = terms, []
        self._known_is_due = step.target.step is not None or step.replaces
        return version

    def _begin(self) -> TableTransaction:
        transaction = self._store.begin()
        if transaction.base.version != self._last.version:
            transaction.abort()
            raise CommitConflictError(
                f"{self._store.place}: version {transaction.base.version} was committed by another writer",
                hint="open the tables again: that goes on from there",
            )
        return transaction

    def _write_touched(self, transaction: TableTransaction, step: Step) -> None:
        assert step.touched is not None
        known = {name: transaction.tables.get(table_of(name)) for name in step.touched}
        bags = self._bags(step) if None in known.values() else set()
        for name, states in step.touched.items():
            state = known[name]
            is_bag = name in bags if state is None else state.kind == BAG
            rows = state_rows(states, self.ids, transaction.version)
            transaction.append(table_of(name), rows, fact_columns(len(states.columns)), BAG if is_bag else SET)
        for name in step.target.step.old_auxiliaries if step.target.step is not None else ():
            transaction.drop(table_of(name))

    def _write_all(self, transaction: TableTransaction, step: Step) -> None:
        states = (
            step.touched
            if step.touched is not None
            else dict(all_states(self._timeline.workings.engine.capture(latest=True)))
        )
        bags = self._bags(step)
        for name, known in relation_tables(transaction.base).items():
            if name not in states:
                if name in step.target.arities and len(known.columns) == step.target.arities[name]:
                    transaction.append(
                        table_of(name), _no_rows(known.all_types), known.column_types, known.kind, replaces=True
                    )
                else:
                    transaction.drop(table_of(name))
        for name, now in states.items():
            rows = state_rows(now, self.ids, transaction.version)
            columns, kind = fact_columns(len(now.columns)), BAG if name in bags else SET
            transaction.append(table_of(name), rows, columns, kind, replaces=True)
        for name, change in step.changes.items():
            if table_of(name) in transaction.tables:
                transaction.feed(table_of(name), change_rows(change, self.ids, transaction.version))

    def _bags(self, step: Step) -> set[str]:
        change = step.target.step
        program = self._timeline.workings.maintenance.program if change is None else change.change.after
        return {shape.name for shape in shapes(program.components) if shape.bag}

    def _write_terms(self, transaction: TableTransaction) -> int:
        new, count = self.ids.terms_since(self._terms)
        if new:
            columns = {
                "id": pa.array([id_ for id_, _ in new], pa.int64()),
                "key": pa.array([key for _, key in new], pa.string()),
                VERSION: np.full(len(new), transaction.version, np.int64),
            }
            transaction.append(DICTIONARY, pa.table(columns), TERM_COLUMNS, PLAIN)
        return count

    def _info(self, transaction: TableTransaction, step: Step) -> dict[str, Any]:
        """What the version says of itself: program and views, and what maintenance knows of the components."""
        info = {**transaction.base.info, "by": "an update", **self.info}
        if step.target.step is not None or step.target.arities is not step.before.arities:
            info["definitions"] = definitions_as_data(step.target)
        if step.target.step is not None:
            info["relations"] = shapes_as_data(step.target.step.change.after)
        changes_rules = step.target.step is not None or step.replaces
        info["known"] = [] if changes_rules else list(known_of(self._timeline.workings.maintenance))
        return info

    def last_info(self) -> Mapping[str, Any]:
        """What the last version says of itself."""
        return self._last.info

    def check_open(self) -> None:
        if self._closed:
            raise UsageError("this knowledge base is closed", hint="open it again")

    def sync(self, ticket: int) -> None:
        """It was on disk when it was written."""

    def synced(self) -> int:
        return self._last.version

    def snapshot_if_due(self) -> None:
        if not self._closed and any(map(is_due, self._last.tables.values())):
            compact(self._store, only_due=True)
            self._last = self._store.commit()

    def snapshot(self) -> str:
        with self._timeline.paused():
            self._write_known()
            compact(self._store)
            self._last = self._store.commit()
        logger.info("%s: tables have new bases, at version %d", self._store.place, self._timeline.newest.version)
        return str(self._store.place)

    def close(self) -> None:
        if not self._closed:
            with self._timeline.paused():
                self._write_known()
                self._closed = True

    def _write_known(self) -> None:
        """Let the last version say what maintenance knows, if it was not known when that was written."""
        if self._known_is_due:
            with self._begin() as transaction:
                known = list(known_of(self._timeline.workings.maintenance))
                transaction.base = replace(transaction.base, info={**transaction.base.info, "known": known})
                self._last = transaction.commit_again()
            self._known_is_due = False


def state_rows(states: FactStates, ids: TableIds, version: int) -> pa.Table:
    """Facts as rows of their table."""
    return pa.table(
        {
            **_hashed(states.columns, ids),
            WEIGHT: states.change,
            EXPLICIT: states.explicit,
            DERIVATIONS: states.derivations,
            RANK: states.ranks,
            VERSION: np.full(states.rows, version, np.int64),
        }
    )


def change_rows(change: WeightedFacts, ids: TableIds, version: int) -> pa.Table:
    """A change as rows of a table of which nothing but the weight is of interest."""
    nothing = np.zeros(change.rows, np.int64)
    states = FactStates(change.columns, change.weights, nothing.astype(bool), nothing, nothing.astype(np.int32))
    return state_rows(states, ids, version)


def _hashed(columns: tuple[Any, ...], ids: TableIds) -> dict[str, Any]:
    return {name: ids.hashed(column) for name, column in zip(fact_columns(len(columns)), columns, strict=True)}


def _no_rows(types: Mapping[str, str]) -> pa.Table:
    from everlog.tables.layout import arrow_schema

    return arrow_schema(types).empty_table()


def all_states(capture: Capture) -> Iterator[tuple[str, FactStates]]:
    """Every fact of a state, as if it had just come."""
    for dump in capture.dump():
        rows = len(dump.facts)
        weights = dump.weights if dump.weights is not None else np.zeros(rows, np.int64)
        yield (
            dump.shape.name,
            FactStates(
                tuple(dump.facts[:, place] for place in range(dump.shape.arity)),
                weights if dump.shape.bag else np.ones(rows, np.int64),
                dump.explicit,
                weights,
                dump.ranks if dump.ranks is not None else np.zeros(rows, np.int32),
            ),
        )
