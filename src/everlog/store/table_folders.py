"""How does a knowledge base go on from the tables of a pipeline, and write its updates there?

Tables (everlog/tables) hold everything that a snapshot holds: each relation, auxiliary ones too, with what maintenance
knows of its facts, the dictionary, and in the commit's information program and views as texts. Opening reads them into
this process; an update appends what it touched, as one version.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Mapping
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import numpy as np

from everlog.dictionary.dictionary import Dictionary
from everlog.engines.dumps import RelationDump
from everlog.engines.interface import Engine, Shape
from everlog.errors import UsageError
from everlog.facts.terms import Term
from everlog.limits import Limits
from everlog.maintenance.materialise import shapes
from everlog.maintenance.program import EvaluatedProgram
from everlog.maintenance.update import Maintenance
from everlog.plans.flat_rules import is_auxiliary
from everlog.store.doors import check_relation_name
from everlog.store.snapshots import definitions_from_data, has_all, loaded_engine, maintenance_knowing
from everlog.store.state import Definitions
from everlog.tables.commits import Commit, TableState
from everlog.tables.layout import DERIVATIONS, EXPLICIT, PLAIN, RANK, VERSION, WEIGHT
from everlog.tables.places import TablePlace
from everlog.tables.table_store import TableStore

if TYPE_CHECKING:
    from everlog.store.timeline import Timeline
    from everlog.tables.dense_ids import DenseIds
    from everlog.tables.table_ids import TableIds

DICTIONARY = "dictionary"
TERM_COLUMNS = {"id": "bigint", "key": "string"}
RELATION = "relation "  # what the names of relations' tables begin with: no other table's does


def table_of(relation: str) -> str:
    """The table of a relation.

    >>> table_of("edge")
    'relation edge'
    """
    return RELATION + relation


class TablesSnapshot(ABC):
    """The tables of a version: what a knowledge base begins with."""

    ids: TableIds

    def __init__(self, store: TableStore, commit: Commit) -> None:
        self._store, self._commit, self.version = store, commit, commit.version
        if "definitions" not in commit.info:
            raise UsageError(
                f"{store.place}: version {commit.version} does not say which program its facts follow from",
                hint="these tables were not written by a pipeline; run one",
            )
        self._info: Mapping[str, Any] = commit.info

    def definitions(self, *, rewrites: bool) -> Definitions:
        return definitions_from_data(self._info["definitions"], rewrites=rewrites)

    def maintenance(self, program: EvaluatedProgram) -> Maintenance:
        return maintenance_knowing(program, self._info.get("known", ()))

    def has_all(self, program: EvaluatedProgram) -> bool:
        """Is all there that the program needs, with what maintenance has to know of it?"""
        return "known" in self._info and has_all(
            program, {shape.name: (shape.arity, shape.bag) for shape in self._shapes()}
        )

    def _shapes(self) -> list[Shape]:
        return [Shape(*said) for said in self._info.get("relations", ())]

    def shapes(self) -> list[Shape]:
        """All relations: those that the program needs, and those that only have facts."""
        tables = relation_tables(self._commit)
        known = {shape.name: shape for shape in self._shapes()}
        known |= {name: Shape(name, len(state.columns)) for name, state in tables.items() if name not in known}
        return list(known.values())


class LoadedTables(TablesSnapshot):
    """The tables of a version, read into this process."""

    def __init__(self, store: TableStore, commit: Commit) -> None:
        super().__init__(store, commit)
        self._dense = self.ids = dense_ids(store, commit)

    def dictionary(self) -> Dictionary:
        return self._dense.dictionary

    def engine(
        self, name: str, dictionary: Dictionary, definitions: Definitions, limits: Limits
    ) -> tuple[Engine, Maintenance]:
        return loaded_engine(self, name, dictionary, definitions, limits)

    def dumps(self) -> list[RelationDump]:
        tables = relation_tables(self._commit)
        return [self._dump(shape) if shape.name in tables else _empty(shape) for shape in self.shapes()]

    def _dump(self, shape: Shape) -> RelationDump:
        table = table_of(shape.name)
        state, rows = self._commit.tables[table], self._store.rows(table, self.version)
        facts = np.zeros((rows.num_rows, max(1, shape.arity)), np.int32)
        for place, column in enumerate(state.columns):
            facts[:, place] = self._dense.local(rows[column].to_numpy())
        return RelationDump(
            shape,
            facts,
            rows[EXPLICIT].to_numpy(zero_copy_only=False),
            rows[DERIVATIONS].to_numpy() if shape.weighted or shape.bag else None,
            rows[RANK].to_numpy() if shape.ranked else None,
        )


def _empty(shape: Shape) -> RelationDump:
    return RelationDump(shape, np.zeros((0, max(1, shape.arity)), np.int32), np.zeros(0, bool))


def shapes_as_data(program: EvaluatedProgram) -> list[list[Any]]:
    """The relations that a program needs, as a commit tells them: name, arity, bag, weighted, ranked."""
    return [list(astuple(shape)) for shape in shapes(program.components)]


def relation_tables(commit: Commit) -> dict[str, TableState]:
    """The tables that hold relations, by the relations' names."""
    return {
        name.removeprefix(RELATION): state
        for name, state in commit.tables.items()
        if name.startswith(RELATION) and state.kind != PLAIN
    }


def dense_ids(store: TableStore, commit: Commit) -> DenseIds:
    """The ids of this process for the terms of a version."""
    from everlog.tables.dense_ids import DenseIds, no_terms, terms_of

    return DenseIds(terms_of(store.rows(DICTIONARY, commit.version)) if DICTIONARY in commit.tables else no_terms())


def decoded_changes(
    store: TableStore, table: str, since: int, until: int | None = None
) -> Iterator[tuple[int, int, tuple[Term, ...]]]:
    """What happened to a relation's table after a version: version, weight and terms of each fact that came or went."""
    rows = store.changes(table, since, until)
    columns = [rows[name].to_pylist() for name in rows.column_names if name.startswith("c")]
    ids = dense_ids(store, store.commit(until))
    decoded = [ids.dictionary.decode_many(ids.local(np.array(column, np.int64))) for column in columns]
    facts = zip(*decoded, strict=True) if decoded else [()] * rows.num_rows
    yield from zip(rows[VERSION].to_pylist(), rows[WEIGHT].to_pylist(), facts, strict=True)


def open_tables(timeline: Timeline, place: TablePlace) -> None:
    """Bring an empty knowledge base to the last version of some tables, and write its updates there from now on."""
    from everlog.store.earlier_tables import TableHistory
    from everlog.store.table_journal import TableJournal

    store = TableStore(place)
    commit = store.commit()
    for name in relation_tables(commit):
        if not is_auxiliary(name):
            check_relation_name(name)
    snapshot: TablesSnapshot
    if timeline.workings.engine.name == "paged":
        from everlog.store.paged_tables import begin_with_runs

        snapshot = begin_with_runs(timeline, store, commit)
    else:
        snapshot = LoadedTables(store, commit)
        timeline.begin(snapshot)
        if not timeline.read_only:
            timeline.journal = TableJournal(timeline, store, snapshot.ids, commit)
    timeline.tables = TableHistory(store, snapshot.ids)
