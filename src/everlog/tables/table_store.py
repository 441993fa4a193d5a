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
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from everlog.errors import HistoryError, NotFoundError
from everlog.tables import commits, delta_log
from everlog.tables.commits import Commit, TableState

if TYPE_CHECKING:
    import pyarrow as pa

    from everlog.tables.writing import TableTransaction

BASE, CHANGE = "base", "change"  # what folders of files begin with


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


def is_table_folder(folder: Path) -> bool:
    """Whether tables are kept there."""
    return (folder / commits.COMMITS).is_dir()


class TableStore:
    """A folder of tables. Readers need nothing else; a writer holds the folder's lock until its transaction ends."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()
        self.logs = delta_log.DeltaLogs()

    def versions(self) -> list[int]:
        """The committed versions, the oldest first."""
        return commits.committed_versions(self.folder)

    def commit(self, version: int | None = None) -> Commit:
        """What a version consists of, the last one by default; version 0 is there before the first commit."""
        return commits.read_commit(self.folder, version)

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
            f"{self.folder}: version {commit.version} has no table {table}; its tables: {known}",
            hint=f"did you mean {near[0]}?" if near else None,
        )

    def files(self, table: str, version: int | None = None) -> TableFiles:
        """The Parquet files of a table in a version."""
        return self.files_of(self.state(table, version))

    def files_of(self, state: TableState) -> TableFiles:
        return TableFiles.of(self.logs.files(self.folder / state.folder, state.delta))

    def rows(self, table: str, version: int | None = None) -> pa.Table:
        """The rows of the facts that are there in a version, with all that is known of them; read by this process."""
        from everlog.tables.netting import present_rows

        state = self.state(table, version)
        return present_rows(self.files_of(state), state)

    def batches(self, table: str, version: int | None = None) -> Iterator[pa.Table]:
        """The same rows, some at a time."""
        from everlog.tables.netting import present_batches

        state = self.state(table, version)
        return present_batches(self.files_of(state), state)

    def changes(self, table: str, since: int, until: int | None = None) -> pa.Table:
        """What happened to a table after a version, up to another or the last: its rows with a weight, oldest first.

        Raises:
            HistoryError: the changes after that version are not there any more.
        """
        from everlog.tables.netting import change_rows

        files, state = self.change_files(table, since, until)
        return change_rows(files, state)

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
                found += [str(self.folder / commit.tables[table].folder / name) for name in commit.added[table]]
        return found, state

    # --- what is not needed any more ----------------------------------------------------------------------------------

    def tidy(self) -> int:
        """Remove what killed runs left behind since the last version. Returns how many files there were.

        Folders of files say for which version they were written: those of older versions need not be looked at, however
        many there are.
        """
        with commits.writer_lock(self.folder):
            newest = self.commit()
            named = self._named([newest])
            return sum(_tidy_folder(folder, named.get(folder.name), newest.version) for folder in self._table_folders())

    def vacuum(self, keep: int) -> tuple[int, int]:
        """Forget all but the last versions, and remove the files that only the others needed.

        Returns:
            how many versions and how many files are gone.
        """
        with commits.writer_lock(self.folder):
            old = self.versions()[: -max(1, keep)]
            for version in old:
                commits.commit_path(self.folder, version).unlink()
            return len(old), self._tidy()

    def _tidy(self) -> int:
        """Remove every file that no version names."""
        named = self._named(map(self.commit, self.versions()))
        return sum(_tidy_folder(folder, named.get(folder.name), 0) for folder in self._table_folders())

    def _table_folders(self) -> list[Path]:
        there = self.folder.iterdir() if self.folder.is_dir() else ()
        return [folder for folder in there if folder.is_dir() and not folder.name.startswith("_")]

    def _named(self, versions: Iterable[Commit]) -> dict[str, set[str]]:
        """The files that versions consist of, by the folders of their tables."""
        named: dict[str, set[str]] = {}
        seen: set[tuple[str, int]] = set()
        for commit in versions:
            for table, state in commit.tables.items():
                files = named.setdefault(state.folder, set())
                if (state.folder, state.delta) not in seen:
                    seen.add((state.folder, state.delta))
                    files.update(self.logs.files(self.folder / state.folder, state.delta))
                files.update(str(self.folder / state.folder / name) for name in commit.added.get(table, ()))
        return named


def _tidy_folder(folder: Path, named: set[str] | None, since: int) -> int:
    """Remove files that are not named, of versions from some one on; and the folder, if nothing is left in it."""
    # A table without rows is its log alone, and may be one of an older version.
    removed, stays = 0, named is not None or (since > 0 and (folder / delta_log.LOG).is_dir())
    for below in folder.iterdir():
        if below.name == delta_log.LOG or not below.is_dir():
            continue
        if _written_for(below.name) < since:
            stays = True
            continue
        for file in below.rglob("*.parquet"):
            if named is None or str(file) not in named:
                file.unlink()
                removed += 1
        if not any(below.rglob("*.parquet")):
            shutil.rmtree(below)
    if not stays:
        shutil.rmtree(folder)
    return removed


def _written_for(name: str) -> int:
    """The version for which a folder of files was written; a large number where its name does not say.

    >>> _written_for("change-17-0a1b2c"), _written_for("0123") > 1_000_000
    (17, True)
    """
    found = re.fullmatch(rf"(?:{BASE}|{CHANGE})-(\d+)-\w+", name)
    return int(found[1]) if found else 1 << 62


def folder_name(table: str) -> str:
    """A table's name as a folder's: names that file systems cannot take get a few digits that tell them apart.

    >>> folder_name("edge"), folder_name("http://ex.org/p"), folder_name("Edge")
    ('edge', 'http_ex.org_p-f529a9de', 'Edge-0f82fe72')
    """
    safe = re.sub(r"[^\w.-]+", "_", table).strip("_.")[:80]
    # Some file systems take Edge and edge for the same; what begins with _ is not a table; digits at the end are ours.
    plain = safe == table and table == table.lower() and not re.fullmatch(".*-[0-9a-f]{8}", table)
    return safe if plain else f"{safe}-{hashlib.sha256(table.encode()).hexdigest()[:8]}"
