"""How does a version of the tables become the outputs that a pipeline asks for?

Relations and views are read from their tables and decoded. Outputs that hold all facts are written where they are out
of date (output_record.py); change feeds go on from where they end (change_feeds.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everlog.errors import HistoryError, OutputError
from everlog.pipeline.change_feeds import tell_changes
from everlog.pipeline.encode import collisions, decode
from everlog.pipeline.output_record import due_outputs, remember_outputs
from everlog.pipeline.outputs import Output
from everlog.pipeline.publish import check_output
from everlog.pipeline.table_frames import read_changes, read_dictionary, read_table
from everlog.pipeline.view_definitions import known_views
from everlog.pipeline.view_frames import view_changes, view_frame
from everlog.store.table_folders import table_of
from everlog.store.view_queries import ViewQuery
from everlog.tables.commits import Commit, TableState
from everlog.tables.layout import VERSION, WEIGHT
from everlog.tables.table_store import TableStore

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Says = Callable[[str], None]


@dataclass(frozen=True)
class Publishing:
    """A version, and how it is read."""

    spark: SparkSession
    store: TableStore
    commit: Commit
    stages: Any
    says: Says

    def publish(self, outputs: Sequence[Output]) -> tuple[list[Path], int]:
        """Write what is out of date; gives the paths and how many facts their relations have."""
        written, rows = self._whole([output for output in outputs if not output.changes])
        for output in outputs:
            if output.changes and self._is_there(output) and self._tell_changes(output):
                written.append(output.path.absolute())
        return written, rows

    @cached_property
    def _views(self) -> Mapping[str, ViewQuery]:
        return known_views(self.commit)

    def _table(self, output: Output) -> str | None:
        """The table that an output is read from."""
        if not output.view:
            return table_of(output.relation)
        return table_of(self._views[output.relation].relation) if output.relation in self._views else None

    def _state(self, output: Output) -> TableState | None:
        table = self._table(output)
        return None if table is None else self.commit.tables.get(table)

    def _is_there(self, output: Output) -> bool:
        if self._state(output) is not None:
            return True
        self.says(f"{output.path} is not written: no source and no rule has brought a fact of {output.key} yet")
        return False

    def _dictionary(self) -> DataFrame:
        return read_dictionary(self.spark, self.store, self.commit)

    # --- all that is there --------------------------------------------------------------------------------------------

    def _whole(self, outputs: Sequence[Output]) -> tuple[list[Path], int]:
        states = {
            output.key: f"{state.folder} {state.delta}"
            for output in outputs
            if (state := self._state(output)) is not None
        }
        due = due_outputs(self.store.beside, outputs, states)
        facts, rows = {}, 0
        for output in {each.key: each for each in due if each.key in states}.values():
            facts[output.key] = self._facts(output)
            rows += self.commit.tables[str(self._table(output))].facts
        wanted = [output for output in due if self._is_there(output)]
        with collisions():
            written: list[Path] = self.stages.publish(self.spark, facts, wanted, self.says)
        remember_outputs(self.store.beside, wanted, states)
        if len(due) < len(outputs):
            self.says(f"{len(outputs) - len(due)} outputs are up to date")
        return written, rows

    def _facts(self, output: Output) -> DataFrame:
        state, table = self._state(output), str(self._table(output))
        assert state is not None
        rows = read_table(self.spark, self.store, table, self.commit.version)
        if not output.view:
            found: DataFrame = self.stages.decode(rows.select(*state.columns), self._dictionary())
            return found
        with collisions():
            return view_frame(self._views[output.relation], rows, self._decoded)

    def _decoded(self, rows: DataFrame) -> DataFrame:
        """Keys in place of ids; what stands beside them stays."""
        return decode(rows, self._dictionary(), [name for name in rows.columns if name not in (WEIGHT, VERSION)])

    # --- what came and went -------------------------------------------------------------------------------------------

    def _tell_changes(self, output: Output) -> bool:
        state = self._state(output)
        assert state is not None
        check_output(output, len(state.columns) if not output.view else len(output.columns or ()))
        try:
            with collisions():
                told = tell_changes(
                    self.store.beside, output, lambda since: self._changes(output, since), self.commit.version
                )
        except HistoryError as error:
            raise OutputError(
                f"{output.path}: its changes end at version {error.version:,}, and the tables know those after"
                f" {error.oldest:,}",
                hint="remove it, and it begins anew with all facts; vacuum less, or run more often",
            ) from error
        if not told:
            self.says(f"{output.path} is up to date")
        return told

    def _changes(self, output: Output, since: int | None) -> DataFrame | None:
        """What came and went after a version; from the beginning, all facts of the oldest version came."""
        from pyspark.sql import functions as f

        table, view = str(self._table(output)), self._views.get(output.relation) if output.view else None
        begin = self._oldest() if since is None else since
        first = since is None and begin and table in self.store.commit(begin).tables
        files, state = self.store.change_files(table, begin, self.commit.version)
        if not files and not first:
            return None
        rows = read_changes(self.spark, self.store, table, begin, self.commit.version)
        rows = rows.select(*state.columns, WEIGHT, VERSION)
        if first:
            there = read_table(self.spark, self.store, table, begin).withColumn(VERSION, f.lit(begin).cast("long"))
            rows = there.select(*rows.columns).unionAll(rows)
        if view is None:
            return self._decoded(rows)
        known = since is not None and since >= view.since and table in self.store.commit(since).tables
        before = read_table(self.spark, self.store, table, since) if known else None
        return view_changes(view, before, rows, self._decoded)

    def _oldest(self) -> int:
        """The oldest version of which all that came after it is known."""
        versions = self.store.versions()
        return 0 if not versions or self.store.commit(versions[0]).before == 0 else versions[0]
