"""How does the next version of the tables come about?

    with TableStore("tables").begin() as transaction:
        transaction.append("edge", rows)
        transaction.commit({"program": "…"})

Files are written where nobody looks for them; the commit adds them to the logs of their tables and makes the version
visible. Whoever writes by Spark asks for a place (`begin_write`), has Spark write there, and says so (`end_write`).
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from everlog.errors import EverlogError, UsageError
from everlog.tables import commits, delta_log
from everlog.tables.commits import Commit, CommitConflictError, TableState
from everlog.tables.layout import BAG, PLAIN, SET, WEIGHT, arrow_schema
from everlog.tables.leftovers import BASE, CHANGE
from everlog.tables.table_store import TableFiles, TableStore, folder_name

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class NewFiles:
    """Where files of a table are being written."""

    table: str
    folder: str  # inside the place of the tables
    state: TableState  # what the table is before
    is_base: bool
    replaces: bool  # what was there before goes


@dataclass
class _Written:
    """What a transaction has written of a table so far."""

    files: list[delta_log.DataFile] = field(default_factory=list)
    feed: list[delta_log.DataFile] = field(default_factory=list)
    replaces: bool = False


class TableTransaction:
    """The next version, while it is being written."""

    def __init__(self, store: TableStore) -> None:
        self.store = store
        self._held = contextlib.ExitStack()
        self._held.enter_context(store.place.writing())
        try:
            self.base = store.commit()
        except BaseException:
            self._held.close()
            raise
        self.version = self.base.version + 1
        self._states = dict(self.base.tables)
        self._written: dict[str, _Written] = {}
        self._places: list[str] = []  # folders that are removed unless committed

    def __enter__(self) -> TableTransaction:
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
        """Whether anything was written."""
        return bool(self._written)

    def files(self, table: str) -> TableFiles:
        """The files of a table as this transaction has it so far."""
        state = self.store.state_in(Commit(self.version, self._states), table)
        known = self.base.tables.get(table)
        written = self._written.get(table, _Written())
        before = TableFiles([], [])
        if known is not None and known.folder == state.folder and not written.replaces:
            before = self.store.files_of(known)
        after = TableFiles.of([file.address for file in written.files])
        return TableFiles(before.base + after.base, before.changes + after.changes)

    # --- writing ------------------------------------------------------------------------------------------------------

    def append(
        self,
        table: str,
        rows: pa.Table | Iterable[pa.Table],
        columns: Mapping[str, str],
        kind: str = SET,
        *,
        replaces: bool = False,
    ) -> int:
        """Write rows in this process, if they are many some at a time; returns how many.

        They have all columns of the table (layout.py).
        """
        place = self.begin_write(table, columns, kind, replaces=replaces)
        self._write([rows] if hasattr(rows, "num_rows") else rows, place)
        return self.end_write(place)

    def feed(self, table: str, rows: pa.Table) -> None:
        """Rows that say what changed in a table that is written anew."""
        state = self._states[table]
        place = NewFiles(table, self._new_place(state, CHANGE), state, is_base=False, replaces=False)
        if rows.num_rows:
            self._write([rows], place)
            self._written[table].feed += delta_log.describe(self.store.place, place.folder, WEIGHT)

    def drop(self, table: str) -> None:
        """From this version on the table is not there any more."""
        self._states.pop(table, None)
        self._written.pop(table, None)

    def _write(self, parts: Iterable[pa.Table], place: NewFiles) -> None:
        import pyarrow.parquet as pq

        schema, where = arrow_schema(place.state.all_types), self.store.place
        writer: Any = None
        try:
            with contextlib.ExitStack() as open_file:
                for rows in parts:
                    if rows.num_rows and writer is None:
                        where.make_folder(place.folder)
                        file = where.inside(where.at(place.folder, "part-0.parquet"))
                        writer = pq.ParquetWriter(file, schema, filesystem=where.filesystem())
                        open_file.enter_context(writer)
                    if rows.num_rows:
                        writer.write_table(rows.select(schema.names).cast(schema))
        except OSError as error:
            raise where.failure(error) from error

    def begin_write(
        self,
        table: str,
        columns: Mapping[str, str],
        kind: str = SET,
        *,
        replaces: bool = False,
    ) -> NewFiles:
        """A folder, not there yet, for Parquet files with the columns of the table, each row once.

        Args:
            columns: the columns of the data, with Spark's names of their types.
            kind: SET, BAG or PLAIN.
            replaces: the rows are all that the table is to hold, and may have other columns than it had; what they
                change has to be told by `feed`.
        """
        state = self._prepared(table, columns, kind, replaces)
        is_base = kind == PLAIN or replaces or not state.rows
        path = self._new_place(state, BASE if is_base else CHANGE)
        return NewFiles(table, path, state, is_base, replaces)

    def end_write(self, place: NewFiles, names: Sequence[str] | None = None) -> int:
        """The files in a place, or some of them by name, become part of the table; returns how many rows they have."""
        weight = None if place.state.kind == PLAIN else WEIGHT
        written = delta_log.describe(self.store.place, place.folder, weight)
        if names is not None:
            written = [file for file in written if file.address.rpartition("/")[2] in names]
        return self._add(place, written)

    def _prepared(self, table: str, columns: Mapping[str, str], kind: str, replaces: bool) -> TableState:
        state = self._states.get(table)
        if state is not None:
            if state.column_types == dict(columns) and state.kind == kind:
                return state
            if not replaces:
                raise UsageError(
                    f"table {table} has the columns {_listed(state.column_types)}, not {_listed(columns)}",
                    hint="give the rows those columns, or begin the table anew",
                )
        self._written.pop(table, None)
        folder = folder_name(table)
        if not self.store.place.has_lock or self.store.place.holds(folder):
            # Left by a run that was killed, or the table as it was with other columns, or just now another writer's.
            folder = f"{folder}-{uuid.uuid4().hex[:8]}"
        self._places.append(folder)
        return TableState(folder, -1, tuple(columns), tuple(columns.values()), kind)

    def _new_place(self, state: TableState, kind: str) -> str:
        place = f"{state.folder}/{kind}-{self.version}-{uuid.uuid4().hex[:12]}"
        self._places.append(place)
        return place

    def _add(self, place: NewFiles, written: Sequence[delta_log.DataFile]) -> int:
        table, state = place.table, place.state
        rows, weight = sum(file.rows for file in written), sum(file.weight for file in written)
        if not written:
            self.store.place.remove_folder(place.folder)
            if not place.replaces and table in self._states and self._states[table].folder == state.folder:
                return 0
        if place.replaces:
            state = replace(state, rows=0, facts=0, changes=0, change_files=0, gains_only=True)
        counts = not place.is_base or (state.kind == PLAIN and not place.replaces)
        self._states[table] = replace(
            state,
            rows=state.rows + rows,
            facts=state.facts + weight,
            changes=state.changes + (0 if place.is_base else rows),
            change_files=state.change_files + (len(written) if counts else 0),
            # A fact of a bag may have been there before, and become more.
            gains_only=state.gains_only
            and (place.is_base or (state.kind != BAG and all(file.gains_only for file in written))),
        )
        known = self._written.setdefault(table, _Written())
        if place.replaces:
            known.replaces, known.files = True, []
        known.files += written
        if not place.replaces:  # the rows say what changed
            known.feed += written
        return rows

    # --- the end ------------------------------------------------------------------------------------------------------

    def commit(self, info: Mapping[str, Any] | None = None) -> Commit:
        """Make everything visible at once, as one version.

        Raises:
            CommitConflictError: another writer came first.
            OutputError: the disk is full or the folder is closed to us. In both cases the version before remains.
        """
        try:
            self._log_all()
            added = {
                table: tuple(self._name(table, file) for file in written.feed)
                for table, written in self._written.items()
                if written.feed
            }
            moved = {
                table: (sum(file.gained for file in written.feed), sum(file.lost for file in written.feed))
                for table, written in self._written.items()
                if written.feed and self._states[table].kind != PLAIN
            }
            replaced = tuple(table for table, written in self._written.items() if written.replaces)
            done = commits.write_commit(
                self.store.place,
                Commit(self.version, self._states, "", info or {}, added, self.base.version, moved, replaced),
            )
        except BaseException as error:
            if self._may_be_there():
                # The commit is ours, with a failure after it, or another writer's: `tidy` can tell.
                self._places.clear()
            if isinstance(error, OSError):
                raise self.store.place.failure(error) from error
            raise
        self._places.clear()
        self.abort()
        return done

    def _may_be_there(self) -> bool:
        """Whether this version is committed, as far as can be seen."""
        try:
            return self.version in self.store.versions()
        except (EverlogError, OSError):
            return True

    def commit_again(self) -> Commit:
        """Make the last version the same in other files: what was written replaces tables and changes no fact."""
        try:
            self._log_all()
            done = commits.write_commit(self.store.place, replace(self.base, tables=self._states), again=True)
        except OSError as error:
            raise self.store.place.failure(error) from error
        self._places.clear()
        self.abort()
        return done

    def _log_all(self) -> None:
        for table, written in self._written.items():
            self.store.place.sync([file.address for file in (*written.files, *written.feed)])
            self._states[table] = self._log(self._states[table], written)

    def _name(self, table: str, file: delta_log.DataFile) -> str:
        return self.store.place.name(file.address).removeprefix(f"{self._states[table].folder}/")

    def _log(self, state: TableState, written: _Written) -> TableState:
        """Add the files to the table's Delta log; the version it gives holds what it should, and nothing else."""
        logs, types = self.store.logs, state.all_types
        delta = logs.add(state.folder, state.delta, types, written.files, replace=written.replaces)
        if delta is None:
            raise CommitConflictError(
                f"{self.store.place.at(state.folder)}: another writer changed this table in the meantime",
                hint="run again: it then continues from what that writer committed",
            )
        return replace(state, delta=delta)

    def abort(self) -> None:
        """Discard what was written and release the lock; after a commit, only release the lock."""
        for place in self._places:
            with contextlib.suppress(EverlogError):  # a store that cannot be reached: `vacuum` removes them
                self.store.place.remove_folder(place)
        self._places, self._written = [], {}
        self._held.close()


def _listed(columns: Mapping[str, str]) -> str:
    return "(" + ", ".join(f"{name} {type_}" for name, type_ in columns.items()) + ")"
