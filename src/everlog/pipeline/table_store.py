"""Where does the pipeline store facts between runs?

In Delta Lake tables, a folder each inside one folder, without any jar: Spark writes Parquet files into a folder of
their own below the table's (`facts_edge/3f…/part-….parquet`), the driver adds them to the table's log with `deltalake`,
and Spark reads the files that a Delta version lists. Rows are only ever appended:

    a table of facts     c1 … cn (ids), weight (+1 gained, -1 lost), version; a fact's weights sum up to 1 or 0
    any other table      its columns, version; the dictionary is one, with id and key

Several tables change together: `begin` gives a transaction, and only its commit (commits.py) makes everything in it
visible. A run that ends before that leaves files, or Delta versions, that no commit names. Nobody reads them; the next
transaction puts a table's log back to what the last commit names before it adds to it; `tidy` removes the files.

    store = TableStore("tables")
    with store.begin() as transaction:
        transaction.append("facts_edge", frame)      # c1, c2
        transaction.commit({"program": "…"})
    store.read(spark, "facts_edge")
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import re
import shutil
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from everlog.errors import NotFoundError, UsageError
from everlog.pipeline import commits, delta_files
from everlog.pipeline.commits import Commit, CommitConflictError, TableState

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WEIGHT, VERSION = "weight", "version"


class TableStore:
    """A folder of tables. Readers need nothing else; a writer holds the folder's lock until its transaction ends."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()

    def versions(self) -> list[int]:
        """The committed versions, the oldest first."""
        return commits.committed_versions(self.folder)

    def commit(self, version: int | None = None) -> Commit:
        """What a version consists of, the last one by default; version 0 is there before the first commit."""
        return commits.read_commit(self.folder, version)

    def begin(self) -> Transaction:
        """Start the next version. Use it as a context manager: leaving the block without a commit leaves no trace.

        Raises:
            CommitConflictError: somebody else is writing.
        """
        return Transaction(self)

    def files(self, table: str, version: int | None = None) -> list[str]:
        """The Parquet files of a table in a version."""
        return self._files(self._state(self.commit(version), table))

    def read(self, spark: SparkSession, table: str, version: int | None = None) -> DataFrame:
        """The rows that a version holds: weights summed up, rows without weight gone; the columns of the data only."""
        state = self._state(self.commit(version), table)
        return net(self._frame(spark, state, self._files(state)), state)

    def tidy(self) -> int:
        """Remove the files that no version names: what killed runs left behind. Returns how many there were."""
        with commits.writer_lock(self.folder):
            return self._tidy()

    def _tidy(self) -> int:
        named: dict[str, set[str]] = {}
        for state in {state for version in self.versions() for state in self.commit(version).tables.values()}:
            named.setdefault(state.folder, set()).update(self._files(state))
        removed = 0
        for folder in self.folder.iterdir() if self.folder.is_dir() else ():
            if not folder.is_dir() or folder.name == commits.COMMITS:
                continue
            referenced = named.get(folder.name)
            for file in folder.rglob("*.parquet"):
                # The log's checkpoints are Parquet too.
                if referenced is None or (str(file) not in referenced and delta_files.LOG not in file.parts):
                    file.unlink()
                    removed += 1
            if referenced is None:
                shutil.rmtree(folder)
                continue
            for below in folder.iterdir():
                if below.name != delta_files.LOG and below.is_dir() and not any(below.rglob("*.parquet")):
                    shutil.rmtree(below)
        return removed

    def _state(self, commit: Commit, table: str) -> TableState:
        state = commit.tables.get(table)
        if state is not None:
            return state
        near = difflib.get_close_matches(table, commit.tables, n=1)
        known = ", ".join(sorted(commit.tables)) or "none"
        raise NotFoundError(
            f"{self.folder}: version {commit.version} has no table {table}; its tables: {known}",
            hint=f"did you mean {near[0]}?" if near else None,
        )

    def _files(self, state: TableState) -> list[str]:
        return delta_files.files(self.folder / state.folder, state.delta)

    def _frame(self, spark: SparkSession, state: TableState, files: Sequence[str]) -> DataFrame:
        # The schema is given, not read from a file: no job is needed, and a table without files still has columns.
        schema = ", ".join(f"`{name}` {type_}" for name, type_ in _all_types(state).items())
        if not files:
            return spark.createDataFrame([], schema)
        base = delta_files.spark_path(self.folder / state.folder)
        paths = [delta_files.spark_path(Path(file)) for file in files]
        return spark.read.schema(schema).option("basePath", base).parquet(*paths)


def _all_types(state: TableState) -> dict[str, str]:
    types = dict(zip(state.columns, state.types, strict=True))
    return {**types, **({WEIGHT: "bigint"} if state.weighted else {}), VERSION: "bigint"}


def net(log: DataFrame, state: TableState) -> DataFrame:
    """A log's rows with weights summed up."""
    from pyspark.sql import functions as f

    if state.weighted and state.losses:
        summed = log.groupBy(*state.columns).agg(f.sum(WEIGHT).alias(WEIGHT))
        log = summed.where(f.col(WEIGHT) != 0)
    return log.select(*state.columns)


class Transaction:
    """The next version, while it is being written."""

    def __init__(self, store: TableStore) -> None:
        self.store = store
        self._held = contextlib.ExitStack()
        self._held.enter_context(commits.writer_lock(store.folder))
        try:
            self.base = store.commit()
        except BaseException:
            self._held.close()
            raise
        self.version = self.base.version + 1
        self._states = dict(self.base.tables)
        self._written: dict[str, list[delta_files.DataFile]] = {}
        self._places: list[Path] = []  # folders that are removed unless committed

    def __enter__(self) -> Transaction:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abort()

    @property
    def tables(self) -> Mapping[str, TableState]:
        """The tables as they would be after a commit now."""
        return self._states

    @property
    def changed(self) -> bool:
        """Whether anything was appended."""
        return bool(self._written)

    def append(self, table: str, frame: DataFrame, *, weighted: bool = True, fresh: bool = False) -> int:
        """Write rows to be committed later; returns how many.

        Args:
            frame: the columns of the data, and in a weighted table `weight` where it is not +1 throughout. A fact that
                is there may not be gained again, nor one be lost that is not there.
            fresh: begin the table anew, with other columns.
        """
        from pyspark.sql import functions as f

        types = {name: type_ for name, type_ in frame.dtypes if name not in (WEIGHT, VERSION)}
        if weighted and WEIGHT not in frame.columns:
            frame = frame.withColumn(WEIGHT, f.lit(1).cast("long"))
        rows = frame.select(*types, *([WEIGHT] if weighted else []), f.lit(self.version).cast("long").alias(VERSION))
        state = self._prepare(table, types, weighted, fresh)
        place = self._place(state)
        delta_files.write(rows, place)
        return self._add(table, state, place)

    def read(self, spark: SparkSession, table: str) -> DataFrame:
        """The rows of a table as this transaction has it so far."""
        state = self.store._state(Commit(self.version, self._states), table)
        base = self.base.tables.get(table)
        known = self.store._files(base) if base is not None and base.folder == state.folder else []
        files = [*known, *(str(file.path) for file in self._written.get(table, ()))]
        return net(self.store._frame(spark, state, files), state)

    def commit(self, info: Mapping[str, Any] | None = None) -> Commit:
        """Make everything visible at once, as one version.

        Raises:
            CommitConflictError: another writer came first.
            OutputError: the disk is full or the folder is closed to us. In both cases the version before remains.
        """
        try:
            for table, written in self._written.items():
                delta_files.sync_all(written)
                self._states[table] = self._log(self._states[table], written)
            done = commits.write_commit(self.store.folder, Commit(self.version, self._states, info=info or {}))
        except BaseException as error:
            if commits.commit_path(self.store.folder, self.version).exists():
                # The commit is ours, with a failure after it, or another writer's: `tidy` can tell.
                self._places.clear()
            if isinstance(error, OSError):
                raise commits.unwritable(self.store.folder, error) from error
            raise
        self._places.clear()
        self.abort()
        return done

    def abort(self) -> None:
        """Discard what was appended and release the lock; after a commit, only release the lock."""
        for place in self._places:
            shutil.rmtree(place, ignore_errors=True)
        self._places, self._written = [], {}
        self._held.close()

    def _prepare(self, table: str, types: Mapping[str, str], weighted: bool, fresh: bool) -> TableState:
        state = self._states.get(table)
        if state is not None and not fresh:
            if (state.columns, state.types, state.weighted) != (tuple(types), tuple(types.values()), weighted):
                raise UsageError(
                    f"table {table} has the columns {_listed(state.columns, state.types)}, "
                    f"not {_listed(tuple(types), tuple(types.values()))}",
                    hint="give the rows those columns, or begin the table anew",
                )
            return state
        self._written.pop(table, None)
        folder = folder_name(table)
        if (self.store.folder / folder).exists():
            # Left by a run that was killed, or the table as it was with other columns: neither is touched.
            folder = f"{folder}-{uuid.uuid4().hex[:8]}"
        self._places.append(self.store.folder / folder)
        return TableState(folder, -1, tuple(types), tuple(types.values()), weighted)

    def _place(self, state: TableState) -> Path:
        place = self.store.folder / state.folder / uuid.uuid4().hex
        self._places.append(place)
        return place

    def _add(self, table: str, state: TableState, place: Path) -> int:
        written = delta_files.describe(place, WEIGHT if state.weighted else None)
        rows = sum(file.rows for file in written)
        if not written:
            shutil.rmtree(place, ignore_errors=True)
            if table in self._states and self._states[table].folder == state.folder:
                return 0
        self._states[table] = replace(
            state,
            rows=state.rows + rows,
            facts=state.facts + sum(file.weight for file in written),
            losses=state.losses or any(file.losses for file in written),
        )
        self._written.setdefault(table, []).extend(written)
        return rows

    def _log(self, state: TableState, written: Sequence[delta_files.DataFile]) -> TableState:
        """Add the files to the table's Delta log; the version it gives holds the base's files and these, no others."""
        folder = self.store.folder / state.folder
        delta = delta_files.append(folder, state.delta, _all_types(state), written)
        if delta is None:
            raise CommitConflictError(
                f"{folder}: another writer changed this table in the meantime",
                hint="run again: it then continues from what that writer committed",
            )
        return replace(state, delta=delta)


def _listed(names: Sequence[str], types: Sequence[str]) -> str:
    return "(" + ", ".join(f"{name} {type_}" for name, type_ in zip(names, types, strict=True)) + ")"


def folder_name(table: str) -> str:
    """A table's name as a folder's: names that file systems cannot take get a few digits that tell them apart.

    >>> folder_name("facts_edge"), folder_name("facts_http://ex.org/p")
    ('facts_edge', 'facts_http_ex.org_p-964fb82a')
    """
    safe = re.sub(r"[^\w.-]+", "_", table).strip("_.")[:80]
    return safe if safe == table else f"{safe}-{hashlib.sha256(table.encode()).hexdigest()[:8]}"
