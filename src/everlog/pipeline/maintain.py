"""How does a change become the next version of the tables?

By one of the ways (ways.py). What the paged way cannot follow by looking up single facts is derived in bulk instead,
and the reason is told. Views are part of what every way keeps true; only those with a LIMIT inside of their query are
not described in bulk, and become a version of their own in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from everlog.errors import NeedsBulk
from everlog.limits import Limits
from everlog.pipeline.bulk import derive_in_bulk
from everlog.pipeline.encode import collisions
from everlog.pipeline.explicit_changes import ExplicitFacts
from everlog.pipeline.in_process import OpenedTables, no_rows
from everlog.pipeline.rejects import Reject, reading_sources, refuse_doubtful
from everlog.pipeline.settings_parts import MaintainSettings, ViewSettings
from everlog.pipeline.table_frames import append_plain
from everlog.pipeline.terms_writing import TermsWriting
from everlog.pipeline.view_definitions import known_views, only_in_process, wanted_views
from everlog.pipeline.ways import BULK, Way, choose_way, way_in_process
from everlog.rules.syntax import Program
from everlog.tables.commits import Commit
from everlog.tables.table_store import TableStore

REJECTS = "rejects"
REJECT_COLUMNS = {"file": "string", "line": "bigint", "text": "string", "reason": "string"}

Says = Callable[[str], None]


@dataclass(frozen=True)
class Incoming:
    """What a run or an update brings."""

    new_terms: DataFrame
    explicit: ExplicitFacts
    info: Mapping[str, Any]  # what the version is to say of itself
    rejects: DataFrame | None = None
    doubtful: Mapping[str, Sequence[Reject]] = field(default_factory=dict)  # of snapshots, lines that nobody can read


@dataclass(frozen=True)
class Upkeep:
    """Tables, and what they are to follow from."""

    spark: SparkSession
    store: TableStore
    program: Program
    views: Sequence[ViewSettings]
    limits: Limits
    materialise: Callable[..., Any]
    says: Says
    rounds_folder: str | None = None  # where rounds are written every so often; chosen by itself where it matters

    def maintain(self, base: Commit, incoming: Incoming, settings: MaintainSettings) -> tuple[Way, Commit]:
        """Carry a change through; gives the way that was taken, and the version: the same where nothing is new."""
        change = incoming.explicit.change()
        change = change.persist() if change is not None else None  # sources are read and encoded once
        try:
            with reading_sources():
                moved = incoming.explicit.count(change) if change is not None else {}
            changed = sum(moved.values())
            if change is not None:
                refuse_doubtful(incoming.explicit.deletions(change, incoming.doubtful), incoming.doubtful)
            way = choose_way(settings, base, changed, known="definitions" in base.info)
            if (
                base.version
                and not changed
                and all(base.info.get(key) == incoming.info[key] for key in ("program", "views"))
            ):
                return way, base
            self.says(f"maintain: {way}")
            if way.name != BULK:
                try:
                    return way, self._in_process(way, incoming, change)
                except NeedsBulk as refused:
                    way = Way(BULK, f"not {way.name}, since {refused.reason}")
                    self.says(f"maintain: {way}")
            return way, self.in_bulk(base, incoming, change, None if base.version else moved)
        finally:
            if change is not None:
                change.unpersist()

    def _in_process(self, way: Way, incoming: Incoming, change: DataFrame | None) -> Commit:
        with collisions():
            terms = incoming.new_terms.toArrow()
        rows = change.toArrow() if change is not None else no_rows()
        with OpenedTables(self.store.place, self.limits, way.name) as opened:
            if incoming.rejects is not None:
                opened.note(REJECTS, incoming.rejects.toArrow(), REJECT_COLUMNS)
            opened.learn(zip(terms["id"].to_pylist(), terms["key"].to_pylist(), strict=True))
            relations = list(incoming.explicit.arities.items())
            opened.update(rows, relations, self.program, self.views, incoming.info)
        return self.store.commit()

    def in_bulk(
        self, base: Commit, incoming: Incoming, change: DataFrame | None, counts: Mapping[str, int] | None = None
    ) -> Commit:
        """Derive everything on Spark, and append the difference; `counts`: of explicit facts, where they are known."""
        views = wanted_views(known_views(base), self.views, self.program.prefixes, base.version + 1)
        later = [name for name, view in views.items() if only_in_process(view)]
        with self.store.begin() as transaction:
            if incoming.rejects is not None:
                append_plain(transaction, REJECTS, incoming.rejects, REJECT_COLUMNS)
            with TermsWriting(transaction, incoming.new_terms) as terms:
                said = derive_in_bulk(
                    self.spark,
                    transaction,
                    self.program,
                    {name: view for name, view in views.items() if name not in later},
                    incoming.explicit,
                    change,
                    terms,
                    self.materialise,
                    self.says,
                    self.limits,
                    counts,
                    self.rounds_folder,
                )
            commit = transaction.commit({**incoming.info, **said})
        return self._with_views(later, commit, incoming) if later else commit

    def _with_views(self, names: Sequence[str], commit: Commit, incoming: Incoming) -> Commit:
        """Views that are not described in bulk are made in this process, as a version of their own."""
        self.says(f"views in this process, since there is a LIMIT inside of them: {', '.join(names)}")
        way = way_in_process(MaintainSettings(), commit)
        with OpenedTables(self.store.place, self.limits, way.name) as opened:
            opened.update(no_rows(), [], self.program, self.views, incoming.info)
        return self.store.commit()
