"""Which table holds a relation or view, in which files, and what are its columns called?

A pipeline's tables say in each commit which program they follow from. Columns are called like the variables of heads,
or of the view's query; else as the sources named them; else c1, c2, …
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from everlog.errors import NotFoundError, UsageError
from everlog.pipeline.view_definitions import known_views
from everlog.plans.flat_rules import is_auxiliary
from everlog.rules.column_names import relation_columns
from everlog.rules.parser import parse_program
from everlog.store.table_folders import DICTIONARY, relation_tables, table_of
from everlog.tables.commits import Commit, TableState
from everlog.tables.table_store import TableFiles, TableStore


@dataclass(frozen=True)
class StoredRelation:
    """A relation, or the answer of a view, at a version."""

    name: str
    table: str
    version: int
    state: TableState
    columns: tuple[str, ...]

    def files(self, store: TableStore) -> TableFiles:
        return store.files_of(self.state)


def stored_relation(store: TableStore, name: str, version: int | None = None) -> StoredRelation:
    """A relation or view by its name.

    Raises:
        NotFoundError: there are no such tables, version, relation or view.
        UsageError: the view has no rows that could be read as a table.
    """
    commit = store.commit(version)
    if not commit.version:
        raise NotFoundError(f"{store.place}: there are no tables", hint="run a pipeline first, or check the path")
    tables = relation_tables(commit)
    if name in tables and not is_auxiliary(name):
        state = tables[name]
        return StoredRelation(name, table_of(name), commit.version, state, _names(commit, name, state))
    views = known_views(commit)
    view = views.get(name)
    if view is None:
        known = sorted({*(each for each in tables if not is_auxiliary(each)), *views})
        near = get_close_matches(name, known, n=1)
        raise NotFoundError(
            f"{store.place}: version {commit.version} has no relation or view {name}; it has {', '.join(known)}",
            hint=f"did you mean {near[0]}?" if near else None,
        )
    if view.query.form != "select" or view.is_cut or view.query.columns != view.query.shown:
        raise UsageError(
            f"the view {name} shows its rows in an order, cut, or as a graph, which a table cannot",
            hint=f"read it in process: everlog.open({str(store.place)!r}).view({name!r})",
        )
    return StoredRelation(name, table_of(view.relation), commit.version, tables[view.relation], tuple(view.query.shown))


def dictionary_files(store: TableStore, version: int) -> list[str]:
    """The files that hold the terms of a version."""
    if DICTIONARY not in store.commit(version).tables:
        return []
    files = store.files(DICTIONARY, version)
    return [*files.base, *files.changes]


def _names(commit: Commit, relation: str, state: TableState) -> tuple[str, ...]:
    said = commit.info.get("definitions", {"rules": [], "prefixes": {}})
    text = "\n".join([*said.get("declarations", ()), *said["rules"]])
    named = relation_columns(parse_program(text, "<tables>", said["prefixes"]), relation)
    named = named or tuple(commit.info.get("columns", {}).get(relation, ()))
    return named if len(named) == len(state.columns) else state.columns
