"""How does a knowledge base go on from tables that do not fit its memory?

Over sorted runs that are a copy of them (table_runs.py), by the paged engine, which reads what an update looks at. Ids
are those of the tables. An update is appended to the tables as always; the runs follow when it is in place. Should that
fail nothing is lost: they are caught up when they are next opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.engines.interface import Engine
from everlog.engines.paged.dictionary import PagedDictionary
from everlog.engines.paged.engine import PagedEngine
from everlog.errors import DamagedRunsError, NeedsBulk
from everlog.limits import Limits
from everlog.logs import logger
from everlog.maintenance.update import Maintenance
from everlog.store.state import Definitions
from everlog.store.table_folders import TablesSnapshot
from everlog.store.table_journal import TableJournal
from everlog.store.table_runs import TableRuns, open_runs, remove_runs
from everlog.tables.commits import Commit
from everlog.tables.table_ids import Hashes
from everlog.tables.table_store import TableStore

if TYPE_CHECKING:
    from everlog.store.timeline import Timeline


class SameIds:
    """The ids of a process that are those of the tables."""

    def __init__(self, dictionary: PagedDictionary) -> None:
        self._dictionary = dictionary

    def local(self, hashes: Hashes) -> Ids:
        return hashes

    def hashed(self, ids: Ids) -> Hashes:
        return ids.astype("int64", copy=False)

    def learn(self, hash_: int, key: str) -> None:
        self._dictionary.learn(hash_, key)

    def terms_since(self, count: int) -> tuple[list[tuple[int, str]], int]:
        return self._dictionary.terms_since(count)


class PagedTablesSnapshot(TablesSnapshot):
    """The tables of a version, as runs: what a knowledge base begins with."""

    def __init__(self, store: TableStore, commit: Commit) -> None:
        super().__init__(store, commit)
        self.runs: TableRuns = open_runs(store, commit, self.shapes())
        self._dictionary = PagedDictionary(self.runs.folder.terms)
        self.ids = SameIds(self._dictionary)

    def dictionary(self) -> Dictionary:
        return self._dictionary

    def engine(
        self, name: str, dictionary: Dictionary, definitions: Definitions, limits: Limits
    ) -> tuple[Engine, Maintenance]:
        if not self.has_all(definitions.program):
            raise NeedsBulk(f"version {self.version} of the tables does not hold all that maintenance goes on from")
        engine = PagedEngine(dictionary, self.runs.folder)
        engine.prepare(definitions.program.components)
        return engine, self.maintenance(definitions.program)


class PagedTableJournal(TableJournal):
    """Appends what updates touch to tables, and to the runs that are a copy of them."""

    def __init__(self, timeline: Timeline, store: TableStore, snapshot: PagedTablesSnapshot, commit: Commit) -> None:
        super().__init__(timeline, store, snapshot.ids, commit)
        self._runs = snapshot.runs

    def snapshot_if_due(self) -> None:
        if not self._closed:
            with self._timeline.paused():
                self._save()
        super().snapshot_if_due()

    def _save(self) -> None:
        """Let the runs follow; where everything was derived again they are of an older version from now on."""
        engine, version = self._timeline.workings.engine, self._timeline.newest.version
        assert isinstance(engine, PagedEngine)
        if engine.runs is self._runs.folder and engine.runs.version != version:
            try:
                engine.save(version, self._last.identity)
            except OSError as error:
                logger.warning("%s: the runs do not follow the tables (%s)", self._runs.folder.path, error)

    def close(self) -> None:
        super().close()
        self._runs.close()


def begin_with_runs(timeline: Timeline, store: TableStore, commit: Commit) -> PagedTablesSnapshot:
    """Bring an empty knowledge base to a version of tables, over runs; damaged ones are made again."""
    snapshot = PagedTablesSnapshot(store, commit)
    try:
        timeline.begin(snapshot)
    except DamagedRunsError as error:
        logger.warning("%s; they are made again", error.message)
        snapshot.runs.close()
        remove_runs(store.beside)
        snapshot = PagedTablesSnapshot(store, commit)
        timeline.begin(snapshot)
    except BaseException:
        snapshot.runs.close()
        raise
    if not timeline.read_only:
        timeline.journal = PagedTableJournal(timeline, store, snapshot, commit)
    return snapshot
