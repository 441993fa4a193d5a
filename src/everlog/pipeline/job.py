"""What happens when a pipeline runs?

    ingest        files become facts of term keys
    encode        keys become ids; facts and terms that are new are appended to the tables
    materialise   rules are evaluated; each relation that they define is compared with the last version, and the
                  difference (+1 gained, -1 lost) appended to its table
    commit        all of it becomes visible as one version
    publish       outputs are written from that version

Tables: `facts_R` holds what was ever ingested into R, `derived_R` all facts of a relation R that rules define (explicit
ones too), `dictionary` the terms, `rejects` samples of lines that could not be read. A run adds facts and takes none
away; what rules no longer derive is lost. Where nothing is new there is no new version, and outputs are written all the
same. A run that fails, or is killed, leaves the version before it; running again continues from there.
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
from everlog.pipeline.commits import Commit
from everlog.pipeline.publish import Output, check_place
from everlog.pipeline.show import show_pipeline
from everlog.pipeline.table_store import WEIGHT, TableStore, Transaction
from everlog.rules.checks import check_program
from everlog.rules.syntax import Constant, Program
from everlog.store.program_files import defined_relations

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from everlog.pipeline.settings import Settings

__all__ = ["PipelineReport", "Stages", "run_pipeline", "show_pipeline"]

FACTS, DERIVED, DICTIONARY, REJECTS = "facts_", "derived_", "dictionary", "rejects"
TERM_TYPES = "id bigint, key string"

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
    stages: tuple[StageReport, ...]
    relations: tuple[RelationReport, ...]
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
        spark: the session to run on; by default, one is started, and stopped at the end.
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
    from everlog.engines.spark.session import spark_session

    spark = spark_session(settings.spark, master or settings.master)
    try:
        return _Run(settings, store, spark, progress, (stages or Stages()).resolved()).run()
    finally:
        spark.stop()


def check_against(settings: Settings, last: Commit) -> None:
    """Raise where the program uses a relation with another number of arguments than the facts that are there."""
    stored = {name.removeprefix(FACTS): len(state.columns) for name, state in _facts_tables(last).items()}
    problems = check_program(settings.program, stored)
    if problems:
        raise ProgramError(problems)


def _facts_tables(commit: Commit | Transaction) -> dict[str, Any]:
    return {name: state for name, state in commit.tables.items() if name.startswith(FACTS)}


@dataclass
class _Run:
    settings: Settings
    store: TableStore
    spark: SparkSession
    says: Says
    stages: Any
    reports: list[StageReport] = field(default_factory=list)
    changes: dict[str, tuple[int, int]] = field(default_factory=dict)  # gained and lost, by table
    rejected: int = 0

    def run(self) -> PipelineReport:
        started = time.perf_counter()
        self.store.tidy()
        with self.store.begin() as transaction:
            ingested, keys = self._ingest(transaction)
            try:
                self._encode(transaction, keys)
            finally:
                ingested.release()
            self._materialise(transaction)
            commit = self._commit(transaction)
        written = self._publish(commit)
        return PipelineReport(
            commit.version,
            bool(self.changes) and commit.version == transaction.version,
            tuple(self.reports),
            tuple(self._relations(commit)),
            commit.tables[DICTIONARY].rows if DICTIONARY in commit.tables else 0,
            self.rejected,
            tuple(written),
            time.perf_counter() - started,
        )

    def _done(self, stage: str, rows: int, what: str, started: float) -> None:
        seconds = time.perf_counter() - started
        self.reports.append(StageReport(stage, rows, seconds))
        self.says(f"{stage:<12}{rows:>14,} {what:<12}{seconds:8.2f} s")

    def _ingest(self, transaction: Transaction) -> tuple[Any, dict[str, DataFrame]]:
        started = time.perf_counter()
        ingested = self.stages.ingest(self.spark, self.settings.sources, max_rejects=self.settings.max_rejects)
        keys: dict[str, DataFrame] = dict(ingested.facts)
        for relation, frame in program_facts(self.spark, self.settings.program).items():
            keys[relation] = keys[relation].unionAll(frame) if relation in keys else frame
        self.rejected = ingested.rejected
        if self.rejected:
            transaction.append(REJECTS, ingested.rejects, weighted=False)
        self._done("ingest", sum(ingested.counts.values()) + len(self.settings.program.facts), "facts", started)
        return ingested, keys

    def _encode(self, transaction: Transaction, keys: Mapping[str, DataFrame]) -> None:
        from everlog.pipeline.encode import collisions

        started = time.perf_counter()
        for relation, frame in keys.items():
            self._check_arity(transaction, relation, len(frame.columns))
        facts = dict(keys)
        if any(frame.columns for frame in keys.values()):  # facts without arguments have no terms
            encoded = self.stages.encode(keys, self._dictionary(transaction))
            facts = encoded.facts
            with collisions():
                transaction.append(DICTIONARY, encoded.new_terms.select("id", "key"), weighted=False)
        rows = 0
        for relation, frame in facts.items():
            table = FACTS + relation
            gained = transaction.append(table, gains(frame, self._read(transaction, table)))
            self._changed(table, gained, 0)
            rows += gained
        self._done("encode", rows, "new facts", started)

    def _check_arity(self, transaction: Transaction, relation: str, arity: int) -> None:
        """Sources, tables and rules must agree on it; otherwise every join with the relation would be wrong."""
        state = transaction.tables.get(FACTS + relation)
        if state is not None and len(state.columns) != arity:
            raise DataError(
                f"{relation} has {arity} columns in the sources, but {len(state.columns)} in {self.settings.tables}",
                path=str(self.settings.path),
                hint="give the source another relation, or the pipeline another `tables` folder",
            )
        problems = [each for each in check_program(self.settings.program, {relation: arity}) if each.code == "R301"]
        if problems:
            raise ProgramError(problems)

    def _materialise(self, transaction: Transaction) -> None:
        started = time.perf_counter()
        explicit = {name.removeprefix(FACTS): transaction.read(self.spark, name) for name in _facts_tables(transaction)}
        dictionary = self._dictionary(transaction)
        derived = self.stages.materialise(self.spark, self.settings.program, explicit, dictionary, self.says)
        derived.hold()
        try:
            with derived.reading():
                transaction.append(DICTIONARY, unknown_terms(derived.new_terms, dictionary), weighted=False)
                rows = 0
                defined = [name for name in defined_relations(self.settings.program) if name in derived.names()]
                for relation in defined:
                    rows += self._append_change(transaction, DERIVED + relation, derived.frame(relation))
        finally:
            derived.release()
        for table in list(transaction.tables):  # relations that rules no longer define
            if table.startswith(DERIVED) and table.removeprefix(DERIVED) not in defined:
                old = transaction.read(self.spark, table)
                rows += self._append_change(transaction, table, old.limit(0))
        self._done("materialise", rows, "changes", started)

    def _append_change(self, transaction: Transaction, table: str, now: DataFrame) -> int:
        old = self._read(transaction, table)
        fresh = old is not None and len(old.columns) != len(now.columns)
        before = transaction.tables[table].facts if old is not None and not fresh else 0
        rows = transaction.append(table, change(now, None if fresh else old), fresh=fresh)
        net = transaction.tables[table].facts - before
        self._changed(table, (rows + net) // 2, (rows - net) // 2)
        return rows

    def _changed(self, table: str, gained: int, lost: int) -> None:
        if gained or lost:
            self.changes[table] = (gained, lost)

    def _commit(self, transaction: Transaction) -> Commit:
        started = time.perf_counter()
        program = self.settings.program_hash
        if not self.changes and transaction.base.version and transaction.base.info.get("program") == program:
            self.says(f"nothing new: version {transaction.base.version} stays the last")
            return transaction.base
        counts = {name: state.facts for name, state in sorted(transaction.tables.items())}
        commit = transaction.commit({"program": program, "counts": counts})
        self._done("commit", sum(map(sum, self.changes.values())), "changes", started)
        return commit

    def _publish(self, commit: Commit) -> list[Path]:
        if not self.settings.outputs:
            return []
        from everlog.pipeline.encode import collisions

        started = time.perf_counter()
        facts: dict[str, DataFrame] = {}
        rows = 0
        for relation in dict.fromkeys(output.relation for output in self.settings.outputs):
            table = table_of(commit, relation)
            if table is None:
                continue
            ids = self.store.read(self.spark, table, commit.version)
            dictionary = self.store.read(self.spark, DICTIONARY, commit.version)
            facts[relation] = self.stages.decode(ids, dictionary)
            rows += commit.tables[table].facts
        outputs = _without_facts(self.settings.outputs, facts, self.says)
        with collisions():
            written: list[Path] = self.stages.publish(self.spark, facts, outputs)
        self._done("publish", rows, "facts", started)
        return written

    def _dictionary(self, transaction: Transaction) -> DataFrame:
        known = self._read(transaction, DICTIONARY)
        return self.spark.createDataFrame([], TERM_TYPES) if known is None else known

    def _read(self, transaction: Transaction, table: str) -> DataFrame | None:
        return transaction.read(self.spark, table) if table in transaction.tables else None

    def _relations(self, commit: Commit) -> Iterable[RelationReport]:
        names = {name.partition("_")[2] for name in commit.tables if name.startswith((FACTS, DERIVED))}
        for name in sorted(names):
            table = table_of(commit, name)
            assert table is not None, "the name is that of a table"
            gained, lost = self.changes.get(table, (0, 0))
            yield RelationReport(name, commit.tables[table].facts, gained, lost, table.startswith(DERIVED))


def table_of(commit: Commit, relation: str) -> str | None:
    """The table with all facts of a relation: the derived one where rules define it, else what was ingested.

    Derived facts include ingested ones: a derived table without facts belongs to a relation no longer defined by rules.
    """
    derived, ingested = commit.tables.get(DERIVED + relation), FACTS + relation
    if derived is not None and (derived.facts or ingested not in commit.tables):
        return DERIVED + relation
    return ingested if ingested in commit.tables else None


def _without_facts(outputs: Sequence[Output], facts: Mapping[str, Any], says: Says) -> list[Output]:
    for output in outputs:
        if output.relation not in facts:
            says(f"{output.path} is not written: no source and no rule has brought a fact of {output.relation} yet")
    return [output for output in outputs if output.relation in facts]


def program_facts(spark: SparkSession, program: Program) -> dict[str, DataFrame]:
    """The facts that stand in the program's text, as frames of keys."""
    rows: dict[str, list[tuple[str, ...]]] = {}
    for fact in program.facts:
        keys = tuple(key_of(arg.term) for arg in fact.args if isinstance(arg, Constant))
        rows.setdefault(fact.relation, []).append(keys)
    found = {}
    for relation, keys_of_facts in rows.items():
        width = len(keys_of_facts[0])
        if width == 0:
            found[relation] = spark.range(1).select()
            continue
        schema = ", ".join(f"c{number} string" for number in range(1, width + 1))
        found[relation] = spark.createDataFrame(keys_of_facts, schema)
    return found


def gains(new: DataFrame, old: DataFrame | None) -> DataFrame:
    """The distinct rows of `new` that are not in `old`."""
    from pyspark.sql import functions as f

    compared = _compared(new, old)
    return compared.where((f.col("is_new") == 1) & (f.col("is_old") == 0)).select(*new.columns)


def change(new: DataFrame, old: DataFrame | None) -> DataFrame:
    """What turns the rows of `old` into those of `new`: each row with its weight, +1 or -1."""
    from pyspark.sql import functions as f

    weight = (f.col("is_new") - f.col("is_old")).cast("long")
    return _compared(new, old).select(*new.columns, weight.alias(WEIGHT)).where(f.col(WEIGHT) != 0)


def _compared(new: DataFrame, old: DataFrame | None) -> DataFrame:
    """Every distinct row, and which of the two frames have it; one shuffle, for any number of columns, even none."""
    from pyspark.sql import functions as f

    both = new.select("*", f.lit(1).alias("is_new"), f.lit(0).alias("is_old"))
    if old is not None:
        both = both.unionAll(old.select("*", f.lit(0).alias("is_new"), f.lit(1).alias("is_old")))
    return both.groupBy(*new.columns).agg(f.max("is_new").alias("is_new"), f.max("is_old").alias("is_old"))


def unknown_terms(terms: DataFrame, dictionary: DataFrame) -> DataFrame:
    """The terms that the dictionary lacks. The few new ones are looked for in it, so that it is not shuffled."""
    distinct = terms.select("id", "key").dropDuplicates(["id"])
    known = dictionary.join(distinct, "id", "left_semi").select("id")
    return distinct.join(known, "id", "left_anti")
