"""Where does the pipeline store facts between runs?

In Delta Lake tables, a folder each inside one folder, without any jar: Parquet files are written into a folder of their
own below the table's, by Spark or by this process, and added to the table's log with `deltalake`. What a row says is in
layout.py. A table has a *base*, in which each fact stands once, and the *changes* of the versions since then, few
against it; reading takes the last row of each changed fact and the others from the base (netting.py). When changes have
become many they are made part of a new base.

    edge/base-3-5c…/part-0.parquet       edge/change-4-09…/part-0.parquet       edge/_delta_log/…

Several tables change together: `begin` gives a transaction (writing.py), and only its commit (commits.py) makes
everything in it visible. A run that ends before that leaves files, or Delta versions, that no commit names. Nobody
reads them; the next transaction puts a table's log back to what the last commit names before it adds to it; `tidy`
removes the files.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from everlog.errors import HistoryError, NotFoundError
from everlog.tables import commits, delta_log
from everlog.tables.commits import Commit, TableState
from everlog.tables.leftovers import CHANGE, Leftovers
from everlog.tables.places import TablePlace, table_place

if TYPE_CHECKING:
    import pyarrow as pa

    from everlog.tables.writing import TableTransaction


class TableFiles(NamedTuple):
    """The files of a table in a version."""

    base: list[str]
    changes: list[str]

    @classmethod
    def of(cls, paths: list[str]) -> TableFiles:
        is_change = [Path(path).parent.name.startswith(f"{CHANGE}-") for path in paths]
        return cls(
            [path for path, change in zip(paths, is_change, strict=True) if not change],
            [path for path, change in zip(paths, is_change, strict=True) if change],
        )


def is_table_folder(where: str | Path | TablePlace, storage: Mapping[str, str] | None = None) -> bool:
    """Whether tables are kept there."""
    return table_place(where, storage).holds(commits.COMMITS)


class TableStore:
    """Tables in a place. Readers need nothing else; a writer holds the place's lock, if it has one, until its
    transaction ends."""

    def __init__(self, where: str | Path | TablePlace, storage: Mapping[str, str] | None = None) -> None:
        self.place = table_place(where, storage)
        self.logs = delta_log.DeltaLogs(self.place)

    @property
    def beside(self) -> Path:
        """The local folder of what belongs to the tables and is no part of them."""
        return self.place.beside

    def versions(self) -> list[int]:
        """The committed versions, the oldest first."""
        return commits.committed_versions(self.place)

    def commit(self, version: int | None = None) -> Commit:
        """What a version consists of, the last one by default; version 0 is there before the first commit."""
        return commits.read_commit(self.place, version)

    def begin(self) -> TableTransaction:
        """Start the next version. Use it as a context manager: leaving the block without a commit leaves no trace.

        Raises:
            CommitConflictError: somebody else is writing.
        """
        from everlog.tables.writing import TableTransaction

        return TableTransaction(self)

    def state(self, table: str, version: int | None = None) -> TableState:
        return self.state_in(self.commit(version), table)

    def state_in(self, commit: Commit, table: str) -> TableState:
        """The state of a table in a commit, which must have it."""
        state = commit.tables.get(table)
        if state is not None:
            return state
        near = difflib.get_close_matches(table, commit.tables, n=1)
        known = ", ".join(sorted(commit.tables)) or "none"
        raise NotFoundError(
            f"{self.place}: version {commit.version} has no table {table}; its tables: {known}",
            hint=f"did you mean {near[0]}?" if near else None,
        )

    def files(self, table: str, version: int | None = None) -> TableFiles:
        """The Parquet files of a table in a version."""
        return self.files_of(self.state(table, version))

    def files_of(self, state: TableState) -> TableFiles:
        return TableFiles.of(self.logs.files(state.folder, state.delta))

    def rows(self, table: str, version: int | None = None) -> pa.Table:
        """The rows of the facts that are there in a version, with all that is known of them; read by this process."""
        from everlog.tables.netting import present_rows

        state = self.state(table, version)
        return present_rows(self.place, self.files_of(state), state)

    def batches(self, table: str, version: int | None = None) -> Iterator[pa.Table]:
        """The same rows, some at a time."""
        from everlog.tables.netting import present_batches

        state = self.state(table, version)
        return present_batches(self.place, self.files_of(state), state)

    def changes(self, table: str, since: int, until: int | None = None) -> pa.Table:
        """What happened to a table after a version, up to another or the last: its rows with a weight, oldest first.

        Raises:
            HistoryError: the changes after that version are not there any more.
        """
        from everlog.tables.netting import change_rows

        files, state = self.change_files(table, since, until)
        return change_rows(self.place, files, state)

    def change_files(self, table: str, since: int, until: int | None = None) -> tuple[list[str], TableState]:
        """The files that say what happened to a table after a version, and how it is now."""
        newest = self.commit(until)
        known = self.versions()
        oldest = 0 if known and self.commit(known[0]).before == 0 else known[0] if known else 0
        if since < oldest:
            raise HistoryError(since, oldest)
        state, found = self.state_in(newest, table), []
        for version in (version for version in known if since < version <= newest.version):
            commit = self.commit(version)
            if table in commit.added and commit.tables[table].columns == state.columns:
                found += self.added_files(commit, table)
        return found, state

    def added_files(self, commit: Commit, table: str) -> list[str]:
        """The files with what a version did to a table that it has."""
        folder = commit.tables[table].folder
        return [self.place.at(folder, name) for name in commit.added.get(table, ())]

    # --- what is not needed any more ----------------------------------------------------------------------------------

    def tidy(self) -> int:
        """Remove what killed runs left behind since the last version. Returns how many files there were.

        Folders of files say for which version they were written: those of older versions need not be looked at, however
        many there are.
        """
        with self.place.writing():
            newest = self.commit()
            # Without a lock somebody may be going on from files that the last version had until it was compacted.
            since = newest.version if self.place.has_lock else newest.version + 1
            return Leftovers(self.place, self._named([newest]), since).remove()

    def vacuum(self, keep: int) -> tuple[int, int]:
        """Forget all but the last versions, and remove the files that only the others needed.

        Without a lock a version is made first that changes nothing: whoever was writing meanwhile cannot commit any
        more, and whoever begins later goes on from it, so that nobody needs the files that go.

        Returns:
            how many versions and how many files are gone.
        """
        with self.place.writing():
            newest = self.commit()
            if newest.version and not self.place.has_lock:
                with self.begin() as transaction:
                    transaction.commit({**newest.info, "by": "vacuum"})
                keep += 1
            old = self.versions()[: -max(1, keep)]
            named = self._named(map(self.commit, self.versions()[len(old) :]))
            self.place.remove(self.place.at(commits.commit_name(version)) for version in old)
            return len(old), Leftovers(self.place, named, 0).remove()

    def _named(self, versions: Iterable[Commit]) -> dict[str, set[str]]:
        """The files that versions consist of, by the folders of their tables."""
        named: dict[str, set[str]] = {}
        seen: set[tuple[str, int]] = set()
        for commit in versions:
            for table, state in commit.tables.items():
                files = named.setdefault(state.folder, set())
                if (state.folder, state.delta) not in seen:
                    seen.add((state.folder, state.delta))
                    files.update(self.logs.files(state.folder, state.delta))
                files.update(self.added_files(commit, table))
        return named


def folder_name(table: str) -> str:
    """A table's name as a folder's: names that file systems cannot take get a few digits that tell them apart.

    >>> folder_name("edge"), folder_name("http://ex.org/p"), folder_name("Edge")
    ('edge', 'http_ex.org_p-f529a9de', 'Edge-0f82fe72')
    """
    safe = re.sub(r"[^\w.-]+", "_", table).strip("_.")[:80]
    # Some file systems take Edge and edge for the same; what begins with _ is not a table; digits at the end are ours.
    plain = safe == table and table == table.lower() and not re.fullmatch(".*-[0-9a-f]{8}", table)
    return safe if plain else f"{safe}-{hashlib.sha256(table.encode()).hexdigest()[:8]}"
