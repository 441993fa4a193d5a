"""What happens when a pipeline runs?

    ingest      files become facts of term keys
    encode      keys become ids, and are compared with what is explicit: the run's change
    maintain    the change is carried through: in this process, or on Spark (ways.py); facts and terms that are new, and
                all that has changed of facts, are appended to the tables
    commit      all of it becomes visible as one version
    publish     outputs that have changed are written from that version

Tables: `relation R` holds the facts of R, with what maintenance knows of them (tables/layout.py), `dictionary` the
terms, `rejects` samples of lines that could not be read. Where nothing is new there is no new version. A run that
fails, or is killed, leaves the version before it; running again continues from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everlog.errors import DataError, ProgramError
from everlog.facts.terms import key_of
from everlog.pipeline.output_names import named_by_sources
from everlog.pipeline.publish import check_place
from everlog.pipeline.show import show_pipeline
from everlog.pipeline.view_definitions import known_views, wanted_views
from everlog.pipeline.ways import Way
from everlog.plans.flat_rules import is_auxiliary
from everlog.rules.checks import check_program
from everlog.rules.syntax import Constant, Program
from everlog.store.table_folders import DICTIONARY, relation_tables, table_of
from everlog.tables.commits import Commit
from everlog.tables.table_store import TableStore

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from everlog.pipeline.explicit_changes import ExplicitFacts
    from everlog.pipeline.settings import Settings

__all__ = ["PipelineReport", "Stages", "run_pipeline", "show_pipeline"]

Says = Callable[[str], None]


@dataclass(frozen=True)
class StageReport:
    """How long a stage took, and how many rows came out of it."""

    name: str
    rows: int
    seconds: float


@dataclass(frozen=True)
class RelationReport:
    """A relation after the run, and what the run changed."""

    name: str
    facts: int
    gained: int
    lost: int
    derived: bool


@dataclass(frozen=True)
class PipelineReport:
    """What a run did."""

    version: int
    committed: bool  # whether there is a new version
    way: str  # by which the tables were kept true, and why
    stages: tuple[StageReport, ...]
    relations: tuple[RelationReport, ...]
    views: tuple[RelationReport, ...]  # rows of their answers
    terms: int
    rejects: int
    written: tuple[Path, ...]
    seconds: float

    def as_data(self) -> dict[str, Any]:
        """The report as data: what `--json` prints."""
        return {**asdict(self), "written": [str(path) for path in self.written]}


@dataclass(frozen=True)
class Stages:
    """The stages, each a function from frames to frames; ours by default."""

    ingest: Callable[..., Any] | None = None
    encode: Callable[..., Any] | None = None
    decode: Callable[..., DataFrame] | None = None
    materialise: Callable[..., Any] | None = None
    publish: Callable[..., list[Path]] | None = None

    def resolved(self) -> Stages:
        return Stages(
            *(getattr(self, name) or getattr(import_module(module), function) for name, module, function in _OURS)
        )


_OURS = (  # imported when needed: most of them need PySpark
    ("ingest", "everlog.pipeline.ingest", "ingest"),
    ("encode", "everlog.pipeline.encode", "encode"),
    ("decode", "everlog.pipeline.encode", "decode"),
    ("materialise", "everlog.pipeline.materialise", "materialise_frames"),
    ("publish", "everlog.pipeline.publish", "publish"),
)


def run_pipeline(
    settings: Settings,
    spark: SparkSession | None = None,
    progress: Says = print,
    *,
    master: str | None = None,
    stages: Stages | None = None,
) -> PipelineReport:
    """Run a pipeline from its sources to its outputs.

    Args:
        spark: the session to run on; by default the one that is running, or else one is started and stopped at the end.
        progress: called with a line of text after each stage and during long ones.
        master: where to run, instead of what the settings say.
        stages: other functions in place of the pipeline's own.
    """
    store = TableStore(settings.tables)
    check_against(settings, store.commit())
    for output in settings.outputs:
        check_place(output)
    if spark is not None:
        return _Run(settings, store, spark, progress, (stages or Stages()).resolved()).run()
    from everlog.engines.spark.session import session_for_a_while

    with session_for_a_while(settings.spark, master or settings.master) as spark:
        return _Run(settings, store, spark, progress, (stages or Stages()).resolved()).run()


def check_against(settings: Settings, last: Commit) -> None:
    """Raise where the program uses a relation with another number of arguments than the facts that are there."""
    stored = {
        name: len(state.columns)
        for name, state in relation_tables(last).items()
        if not is_auxiliary(name) and state.facts and name not in defined_before(last)
    }
    problems = check_program(settings.program, stored)
    if problems:
        raise ProgramError(problems)


def defined_before(commit: Commit) -> set[str]:
    """The relations that rules defined when a version was made."""
    return {said[0] for said in commit.info.get("relations", ())}


@dataclass
class _Run:
    settings: Settings
    store: TableStore
    spark: SparkSession
    says: Says
    stages: Any
    reports: list[StageReport] = field(default_factory=list)
    rejected: int = 0

    def run(self) -> PipelineReport:
        started = time.perf_counter()
        self.store.tidy()
        base = self.store.commit()
        ingested, keys, gone = self._ingest(base)
        try:
            encoded, explicit = self._encode(base, keys, gone, ingested)
            way, commit = self._maintain(base, encoded, explicit, ingested)
        finally:
            ingested.release()
        written = self._publish(commit)
        return PipelineReport(
            commit.version,
            commit.version != base.version,
            str(way),
            tuple(self.reports),
            tuple(self._relations(base, commit)),
            tuple(self._views(base, commit)),
            commit.tables[DICTIONARY].rows if DICTIONARY in commit.tables else 0,
            self.rejected,
            tuple(written),
            time.perf_counter() - started,
        )

    def _done(self, stage: str, rows: int, what: str, started: float) -> None:
        seconds = time.perf_counter() - started
        self.reports.append(StageReport(stage, rows, seconds))
        self.says(f"{stage:<12}{rows:>14,} {what:<12}{seconds:8.2f} s")

    # --- what comes in ------------------------------------------------------------------------------------------------

    def _ingest(self, base: Commit) -> tuple[Any, dict[str, DataFrame], dict[str, DataFrame]]:
        """What sources and the program's text hold, and what is taken away, as frames of keys."""
        started = time.perf_counter()
        ingested = self.stages.ingest(self.spark, self.settings.sources, max_rejects=self.settings.max_rejects)
        said = facts_in_text(self.settings.program)
        before = {name: [tuple(keys) for keys in rows] for name, rows in base.info.get("text_facts", {}).items()}
        taken = {name: [row for row in rows if row not in set(said.get(name, ()))] for name, rows in before.items()}
        keys = _joined(ingested.facts, frames_of_keys(self.spark, said))
        gone = _joined(ingested.deleted, frames_of_keys(self.spark, taken))
        self.rejected = ingested.rejected
        for title, count in ingested.skipped.items():
            self.says(f"{title}: {count:,} rows are skipped, since a value is missing in them")
        self._done("ingest", sum(ingested.counts.values()) + len(self.settings.program.facts), "facts", started)
        return ingested, keys, gone

    def _encode(
        self, base: Commit, keys: Mapping[str, DataFrame], gone: Mapping[str, DataFrame], ingested: Any
    ) -> tuple[Any, ExplicitFacts]:
        from everlog.engines.spark.placement import FACTS_A_PARTITION
        from everlog.pipeline.encode import constants_frame, encode
        from everlog.pipeline.explicit_changes import ExplicitFacts
        from everlog.pipeline.table_frames import explicit_facts, read_dictionary, read_table

        tables, kinds = relation_tables(base), ingested.kinds
        self._check_arities(tables, {name: len(frame.columns) for name, frame in (*keys.items(), *gone.items())})
        views = wanted_views(known_views(base), self.settings.views, self.settings.program.prefixes, base.version + 1)
        constants = constants_frame(self.spark, self.settings.program, views)
        count = sum(ingested.counts.values()) + len(self.settings.program.facts)
        few = not base.tables and count <= FACTS_A_PARTITION
        encoded = self.stages.encode(keys, read_dictionary(self.spark, self.store, base), constants, few=few)
        vanished = {
            name: "snapshot" for name in base.info.get("snapshots", ()) if name not in kinds and name not in keys
        }
        arities = {name: len(state.columns) for name, state in tables.items() if not is_auxiliary(name)}
        arities |= {name: len(frame.columns) for name, frame in (*keys.items(), *gone.items())}
        before = {
            name: explicit_facts(read_table(self.spark, self.store, table_of(name), base.version), arities[name])
            for name in arities
            if name in tables and len(tables[name].columns) == arities[name]
        }
        touched = {*encoded.facts, *gone, *kinds, *vanished}
        return encoded, ExplicitFacts(
            arities,
            encoded.facts,
            encode(gone).facts if gone else {},
            before,
            {**vanished, **kinds},
            touched & arities.keys(),
            few,
        )

    def _check_arities(self, tables: Mapping[str, Any], arities: Mapping[str, int]) -> None:
        """Sources, tables and rules must agree on them; otherwise every join with the relation would be wrong."""
        for relation, arity in arities.items():
            state = tables.get(relation)
            if state is not None and len(state.columns) != arity and state.facts:
                raise DataError(
                    f"{relation} has {arity} columns in the sources, "
                    f"but {len(state.columns)} in {self.settings.tables}",
                    path=str(self.settings.path),
                    hint="give the source another relation, or the pipeline another `tables` folder",
                )
        problems = [each for each in check_program(self.settings.program, arities) if each.code == "R301"]
        if problems:
            raise ProgramError(problems)

    # --- the tables ---------------------------------------------------------------------------------------------------

    def _maintain(self, base: Commit, encoded: Any, explicit: ExplicitFacts, ingested: Any) -> tuple[Way, Commit]:
        from everlog.pipeline.maintain import Incoming, Upkeep

        started = time.perf_counter()
        incoming = Incoming(
            encoded.new_terms,
            explicit,
            self._info(base, ingested),
            ingested.rejects if self.rejected else None,
            ingested.doubtful,
        )
        settings = self.settings
        upkeep = Upkeep(
            self.spark,
            self.store,
            settings.program,
            settings.views,
            settings.limits,
            self.stages.materialise,
            self.says,
            settings.maintain.rounds_folder,
        )
        way, commit = upkeep.maintain(base, incoming, settings.maintain)
        if commit.version == base.version:
            self.says(f"nothing new: version {base.version} stays the last")
        else:
            names = [name for name in relation_tables(commit) if not is_auxiliary(name)]
            changed = sum(sum(_moved(commit, name, base)) for name in names)
            self._done("maintain", changed, "changes", started)
        return way, commit

    def _info(self, base: Commit, ingested: Any) -> dict[str, Any]:
        """What the next version says of where it comes from."""
        said = facts_in_text(self.settings.program)
        return {
            "by": f"a run of {self.settings.path.name}",
            "program": self.settings.program_hash,
            "views": {view.name: view.query for view in self.settings.views},
            "text_facts": {name: [list(row) for row in rows] for name, rows in said.items()},
            "snapshots": sorted(name for name, kind in ingested.kinds.items() if kind == "snapshot"),
            "streams": base.info.get("streams", {}),  # how far they are, which a run does not change
            "columns": named_by_sources(self.settings.sources),
        }

    # --- what goes out ------------------------------------------------------------------------------------------------

    def _publish(self, commit: Commit) -> list[Path]:
        if not self.settings.outputs:
            return []
        from everlog.pipeline.publishing import Publishing

        started = time.perf_counter()
        publishing = Publishing(self.spark, self.store, commit, self.stages, self.says)
        written, rows = publishing.publish(self.settings.outputs)
        self._done("publish", rows, "facts", started)
        return written

    def _relations(self, base: Commit, commit: Commit) -> Iterable[RelationReport]:
        defined = defined_before(commit)
        for name, state in sorted(relation_tables(commit).items()):
            if not is_auxiliary(name):
                gained, lost = _moved(commit, name, base)
                yield RelationReport(name, state.facts, gained, lost, name in defined)

    def _views(self, base: Commit, commit: Commit) -> Iterable[RelationReport]:
        tables = relation_tables(commit)
        for view in known_views(commit).values():
            if view.relation in tables:
                gained, lost = _moved(commit, view.relation, base)
                yield RelationReport(view.name, tables[view.relation].facts, gained, lost, derived=True)


def _moved(commit: Commit, name: str, base: Commit) -> tuple[int, int]:
    """How many facts of a relation came and went since another version."""
    return (0, 0) if commit.version == base.version else commit.moved.get(table_of(name), (0, 0))


def facts_in_text(program: Program) -> dict[str, list[tuple[str, ...]]]:
    """The facts that stand in the program's text, by relation, as keys."""
    rows: dict[str, list[tuple[str, ...]]] = {}
    for fact in program.facts:
        keys = tuple(key_of(arg.term) for arg in fact.args if isinstance(arg, Constant))
        rows.setdefault(fact.relation, []).append(keys)
    return rows


def frames_of_keys(spark: SparkSession, rows: Mapping[str, Sequence[tuple[str, ...]]]) -> dict[str, DataFrame]:
    """Facts given as keys, as frames."""
    from everlog.engines.spark.local_frames import local_frame

    found = {}
    for relation, facts in rows.items():
        if not facts:
            continue
        width = len(facts[0])
        if width == 0:
            found[relation] = spark.range(1).select()
            continue
        schema = ", ".join(f"c{number} string" for number in range(1, width + 1))
        found[relation] = local_frame(spark, facts, schema)
    return found


def _joined(some: Mapping[str, DataFrame], more: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
    found = dict(some)
    for relation, frame in more.items():
        found[relation] = found[relation].unionAll(frame) if relation in found else frame
    return found
