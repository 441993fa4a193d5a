"""How do sorted runs (engines/paged) follow the tables that they are a copy of?

They stand in a local folder beside the tables, `_runs`, and are of a version. Where that is the last one they are used
as they are; where it is an older one they are caught up from the files that say what the versions since then did; and
where they are missing, damaged or of other tables they are made from the tables, some rows at a time. One process at a
time has them; any other makes runs of its own, which vanish with it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import weakref
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from everlog.engines.interface import Shape
from everlog.engines.paged.dictionary import PagedDictionary
from everlog.engines.paged.engine import PagedEngine
from everlog.engines.paged.folder import RunFolder
from everlog.engines.states import FactStates
from everlog.errors import DamagedRunsError
from everlog.logs import logger
from everlog.store.table_folders import DICTIONARY, relation_tables, table_of
from everlog.tables.commits import Commit, TableState, unwritable
from everlog.tables.layout import DERIVATIONS, EXPLICIT, RANK, WEIGHT
from everlog.tables.netting import last_rows, read_files
from everlog.tables.table_store import TableStore

RUNS, LOCK = "_runs", "_runs.lock"

_AT_ONCE = 1 << 16  # facts that are caught up, before they are in place
_MUCH = 0.25  # of all facts: making runs anew is faster than catching up with so many changes


class TableRuns:
    """The runs of tables, for as long as they are open."""

    def __init__(self, folder: RunFolder, lock: int | None) -> None:
        self.folder = folder
        self._unlock = None if lock is None else weakref.finalize(folder, os.close, lock)

    def close(self) -> None:
        """Let another process have them; that happens, too, when nobody reads them any more."""
        if self._unlock is not None:
            self._unlock()


def open_runs(store: TableStore, commit: Commit, shapes: Iterable[Shape]) -> TableRuns:
    """Runs of a version of tables, with these relations."""
    lock, wanted = _locked(store.beside / LOCK), {shape.name: shape for shape in shapes}
    try:
        if lock is None:
            return TableRuns(_made(RunFolder.scratch(np.int64), store, commit, wanted), None)
        return TableRuns(_opened(store, commit, wanted), lock)
    except BaseException as error:
        if lock is not None:
            os.close(lock)
        if isinstance(error, OSError):
            raise unwritable(store.beside / RUNS, error) from error
        raise


def _opened(store: TableStore, commit: Commit, wanted: Mapping[str, Shape]) -> RunFolder:
    path = store.beside / RUNS
    try:
        found = RunFolder.open(path)
        if found is not None and _follows(found, store, commit, wanted):
            found = RunFolder.open(path, commit.version)
            if found is not None:
                return found
    except DamagedRunsError as error:
        logger.warning("%s; they are made again", error.message)
    remove_runs(store.beside)
    path.mkdir(parents=True)
    return _made(RunFolder(path, np.int64), store, commit, wanted)


def remove_runs(beside: Path) -> None:
    """Forget the runs of tables: whoever next needs some makes them."""
    shutil.rmtree(beside / RUNS, ignore_errors=True)


def _locked(path: Path) -> int | None:
    """A file that is open, and locked, while this process has the runs; None if another has them."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
    except OSError:
        return None  # where nothing can be written
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return None
    return file


# --- from the tables --------------------------------------------------------------------------------------------------


def _made(runs: RunFolder, store: TableStore, commit: Commit, wanted: Mapping[str, Shape]) -> RunFolder:
    if DICTIONARY in commit.tables:
        for rows in store.batches(DICTIONARY, commit.version):
            runs.add_terms(rows["id"].to_numpy(), rows["key"].to_pylist())
    tables = relation_tables(commit)
    for name, shape in wanted.items():
        runs.add(shape, [np.empty(0, np.int64)] * shape.arity, rows=0)
        for rows in store.batches(table_of(name), commit.version) if name in tables else ():
            states = _states(rows, tables[name])
            runs.add(
                shape,
                states.columns,
                rows=states.rows,
                explicit=states.explicit,
                derivations=states.derivations,
                ranks=states.ranks,
            )
    runs.finish(commit.version, commit.identity)
    return runs


def _states(rows: pa.Table, state: TableState) -> FactStates:
    def array(name: str) -> Any:
        return rows[name].to_numpy(zero_copy_only=False) if name == EXPLICIT else rows[name].to_numpy()

    return FactStates(tuple(map(array, state.columns)), *map(array, (WEIGHT, EXPLICIT, DERIVATIONS, RANK)))


# --- from an older version --------------------------------------------------------------------------------------------


def _follows(runs: RunFolder, store: TableStore, commit: Commit, wanted: Mapping[str, Shape]) -> bool:
    """Catch up with a version, if that can be done."""
    versions = store.versions()
    if runs.version not in versions or store.commit(runs.version).identity != runs.identity:
        return False
    commits = [store.commit(version) for version in versions if runs.version <= version <= commit.version]
    known = {name: (stored.shape.arity, stored.shape.bag) for name, stored in runs.relations.items()}
    if len(commits) == 1:
        return known == {name: (shape.arity, shape.bag) for name, shape in wanted.items()}
    if not _can_be_followed(commits, known, wanted):
        return False
    between, tables = commits[1:], relation_tables(commit)
    changes = {name: files for name in wanted if (files := _files(store, between, table_of(name)))}
    if sum(_rows_in(store, files) for files in changes.values()) > _MUCH * sum(tables[name].facts for name in changes):
        return False
    _catch_up(runs, store, between, changes, wanted)
    return True


def _can_be_followed(commits: list[Commit], known: Mapping[str, tuple[int, bool]], wanted: Mapping[str, Shape]) -> bool:
    """Do the versions after the first say all that they did to facts, of relations that have stayed what they were?"""
    if any(commit.replaced for commit in commits[1:]):
        return False
    for name, shape in wanted.items():
        if known.get(name, (shape.arity, shape.bag)) != (shape.arity, shape.bag):
            return False
        there = [table_of(name) in commit.tables for commit in commits]
        if any(before and not after for before, after in pairwise(there)):
            return False  # its facts are gone, and nothing says so
    return True


def _files(store: TableStore, between: list[Commit], table: str) -> list[str]:
    return [file for commit in between if table in commit.tables for file in store.added_files(commit, table)]


def _rows_in(store: TableStore, files: Iterable[str]) -> int:
    """How many rows are in some files; their footers tell."""
    import pyarrow.parquet as pq

    place = store.place
    with place.talking():
        return sum(pq.read_metadata(place.inside(f), filesystem=place.filesystem()).num_rows for f in files)


def _catch_up(
    runs: RunFolder,
    store: TableStore,
    between: list[Commit],
    changes: Mapping[str, list[str]],
    wanted: Mapping[str, Shape],
) -> None:
    last = between[-1]
    dictionary = PagedDictionary(runs.terms)
    if DICTIONARY in last.tables:
        terms = read_files(store.place, _files(store, between, DICTIONARY), last.tables[DICTIONARY])
        for id_, key in zip(terms["id"].to_pylist(), terms["key"].to_pylist(), strict=True):
            dictionary.learn(id_, key)
    engine = PagedEngine(dictionary, runs)
    for name in runs.relations.keys() - wanted.keys():
        engine.drop(name)
    for shape in wanted.values():
        engine.declare(shape)
    for name, files in changes.items():
        state = last.tables[table_of(name)]
        rows = last_rows(read_files(store.place, files, state), state.columns)
        for first in range(0, rows.num_rows, _AT_ONCE):
            engine.put(name, _states(rows.slice(first, _AT_ONCE), state))
            engine.commit()
    engine.save(last.version, last.identity)
