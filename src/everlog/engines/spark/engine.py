"""How does Spark keep the engine interface's promises?

A relation is a DataFrame of ids (c1, c2, …; a bag has a `weight` too), put together from the rounds that made it.
`derive` only describes what a round concludes; `advance` runs it: conclusions are made distinct, what was there is
taken off (placement.py), and one action counts the frontiers of all relations together. That action also fills the
checkpoints that cut the lineage, so plans do not grow with the rounds. DataFrames never change: a state is a
few references.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.dictionary.hash_dictionary import HashDictionary
from everlog.engines.dumps import RelationDump
from everlog.engines.interface import Capabilities, Phase, PhaseReport, Shape
from everlog.engines.spark.bindings import Bindings, Conclusions, column_name
from everlog.engines.spark.expressions import Expressions
from everlog.engines.spark.groups import group_facts
from everlog.engines.spark.keeping import local_checkpoint
from everlog.engines.spark.kinds import NONE, Kinds, kinds_column, kinds_of_ids
from everlog.engines.spark.placement import Placement
from everlog.engines.spark.state import Facts, State
from everlog.engines.spark.tagged import RANK
from everlog.engines.spark.written_rounds import Round, WrittenRounds
from everlog.facts.weighted import WeightedFacts
from everlog.limits import Watch
from everlog.plans.delta_variants import Variant
from everlog.plans.explain import CountedStatistics
from everlog.plans.flat_rules import WholeRule, WindowRule
from everlog.plans.join_order import Statistics, plan_variant
from everlog.plans.labels import Label
from everlog.rules.syntax import Constant

OnRound = Callable[[Sequence[str], int, int, float], None]  # relations of the component, round, new facts, seconds
OnLoss = Callable[[Sequence[str], int], None]  # relations of the component, the first round that runs again

WEIGHT = "weight"
_MOST_PARTS = 12  # the most frames of a relation; more are combined into one


@dataclass(frozen=True)
class SparkCapture:
    """DataFrames never change: a state is a few references."""

    engine: SparkEngine
    state: State

    def reader(self) -> SparkEngine:
        return self.engine.reading(self.state)

    def dump(self) -> Iterator[RelationDump]:
        raise AssertionError("a pipeline writes tables: see `capabilities`")


class SparkEngine:
    """Facts in DataFrames, a round a job."""

    name = "spark"
    capabilities = Capabilities(maintains=False, windows=False, durable=False, concurrent=True, counts=False)

    def __init__(
        self,
        spark: SparkSession,
        dictionary: HashDictionary,
        terms: DataFrame | None = None,
        written: WrittenRounds | None = None,
    ) -> None:
        """`written`: where rounds are written, so that what executors held can be lost."""
        self.dictionary: Dictionary = dictionary
        self._driver_terms = dictionary
        self._spark = spark
        self._given_terms = terms  # the dictionary table of a pipeline; None: what the driver knows
        self._state = State()
        self.tick = 0  # how many updates are complete
        self._before = State()  # the last that was committed
        self._published = State()
        self._placement = Placement(spark)
        self._written = written
        self._described: list[Sequence[Variant]] = []  # what this round is to derive
        self._waiting: dict[str, list[Conclusions]] = defaultdict(list)
        self._moving = False  # does a join of this round shuffle both of its sides?
        self._read = 0  # the most facts that a step of this round reads
        self._expressions = Expressions(self._terms, self._id_of)
        self._learned = 0  # how many frames of new terms the driver has looked at
        self._phase: tuple[str, ...] = ()  # the relations of the running component
        self._round, self._round_began = 0, 0.0
        self.on_round: OnRound | None = None
        self.on_loss: OnLoss | None = None
        self._gains: dict[str, list[DataFrame]] = defaultdict(list)  # what rounds of this phase gained, with ranks

    # --- relations --------------------------------------------------------------------------------------------------

    def declare(self, shape: Shape) -> None:
        known = self._state.shapes.setdefault(shape.name, shape)
        # Whether derivations are counted or facts ranked makes no difference here: updates are derived from scratch.
        assert (known.arity, known.bag) == (shape.arity, shape.bag), f"{shape} was declared as {known}"
        if shape.name not in self._state.facts:
            self._state.facts[shape.name] = Facts((self._empty(shape),), 0, (NONE,) * shape.arity)

    def adopt(self, relation: str, facts: DataFrame) -> None:
        """Use a frame of distinct explicit facts as a relation, without copying; for pipelines."""
        count, kinds = self._look_at(relation, facts)
        self._state.facts[relation] = Facts((facts,), count, kinds, (facts,), count)

    def frame(self, relation: str) -> DataFrame:
        """The facts of a relation as a frame; for pipelines."""
        return self._state.facts[relation].frame()

    def gained(self, relation: str) -> DataFrame | None:
        """What the last phase added to a relation, with the round that did as its rank; for pipelines."""
        gains = [*(self._written.gained(relation) if self._written is not None else ()), *self._gains[relation]]
        return reduce(DataFrame.unionAll, gains) if gains else None

    def made_terms(self) -> list[DataFrame]:
        """The terms that expressions and aggregates produced, as frames (id, key); for pipelines."""
        return list(self._expressions.new_terms)

    def relations(self) -> list[str]:
        return list(self._state.shapes)

    def load_dump(self, dump: RelationDump) -> None:
        raise AssertionError("a pipeline reads tables: see `capabilities`")

    def restore(self, relation: str, facts: WeightedFacts | None, explicit: WeightedFacts | None) -> None:
        for part in (facts, explicit):
            if part is not None and part.rows:
                table = self._table(relation, part.columns, part.rows)
                frame, kinds = self._spark.createDataFrame(table), [kinds_of_ids(c) for c in part.columns]
                before = self._state.facts[relation]
                if part is facts:
                    self._state.facts[relation] = replace(before, parts=(frame,), count=part.rows, kinds=tuple(kinds))
                else:
                    self._state.facts[relation] = replace(before, explicit=(frame,), explicit_count=part.rows)

    def _table(self, relation: str, columns: Sequence[Ids], rows: int) -> pa.Table:
        """Facts as an Arrow table, each once."""
        arrays = [pa.array(np.asarray(column, np.int64)) for column in columns] or [pa.array(np.zeros(rows, np.int64))]
        names = _columns(self._state.shapes[relation])
        return pa.table(dict(zip(names, arrays, strict=True))).group_by(names).aggregate([])

    def load(self, relation: str, columns: Sequence[Ids], rows: int) -> int:
        shape = self._state.shapes[relation]
        names, table = _columns(shape), self._table(relation, columns, rows)
        given = self._spark.createDataFrame(table)
        before, rows = self._state.facts[relation], int(table.num_rows)
        kinds = _either(before.kinds, [kinds_of_ids(np.asarray(column, np.int64)) for column in columns])
        if before.count == 0:
            self._state.facts[relation] = Facts((given,), rows, kinds, (given,), rows)
            return rows
        fresh = local_checkpoint(given.join(before.frame(), on=names, how="left_anti"))
        known = reduce(DataFrame.unionAll, before.explicit) if before.explicit else self._empty(shape)
        explicit = local_checkpoint(given.join(known, on=names, how="left_anti"))
        counts = self._count_together({"facts": fresh, "explicit": explicit})
        count = counts["facts"]
        self._state.facts[relation] = Facts(
            (*before.parts, fresh),
            before.count + count,
            kinds,
            (*before.explicit, explicit),
            before.explicit_count + counts["explicit"],
        )
        return count

    def count(self, relation: str, *, explicit: bool = False) -> int:
        facts = self._state.facts[relation]
        return facts.explicit_count if explicit else facts.count

    def collect(self, relation: str, *, explicit: bool = False) -> WeightedFacts:
        shape, facts = self._state.shapes[relation], self._state.facts[relation]
        parts = facts.explicit if explicit else facts.parts
        if not parts:
            return WeightedFacts.present([np.empty(0, np.int64) for _ in range(shape.arity)], 0)
        return self._collected(relation, reduce(DataFrame.unionAll, parts))

    def _collected(self, relation: str, frame: DataFrame) -> WeightedFacts:
        """The facts of a frame, brought to the driver."""
        self._learn_new_terms()
        shape = self._state.shapes[relation]
        table = frame.select(*_columns(shape), *([WEIGHT] if shape.bag else [])).toArrow()
        columns = [table.column(position).to_numpy() for position in range(shape.arity)]
        if shape.bag:
            return WeightedFacts(columns, table.column(WEIGHT).to_numpy())
        return WeightedFacts.present(columns, table.num_rows)

    def contains(self, relation: str, columns: Sequence[Ids], rows: int, *, explicit: bool = False) -> Sequence[bool]:
        if relation not in self._state.facts:
            return [False] * rows
        found = self.collect(relation, explicit=explicit)
        if not found.columns:
            return [found.rows > 0] * rows
        there = set(zip(*(column.tolist() for column in found.columns), strict=True))
        return [fact in there for fact in zip(*(column.tolist() for column in columns), strict=True)]

    def at_work(self) -> tuple[Sequence[str], int]:
        """The relations and the round that the engine was last told to derive."""
        return self._phase, self._round + 1

    # --- rounds -----------------------------------------------------------------------------------------------------

    def begin(self, relations: Sequence[str]) -> None:
        self._state.new.clear()
        self._forget_round()
        self._described.clear()
        self._gains.clear()
        self._placement.expect(sum(facts.count for facts in self._state.facts.values()))
        self._phase, self._round, self._round_began = tuple(relations), 0, time.perf_counter()
        if self._written is not None:
            self._written.begin(self._state, self._expressions.new_terms)

    def derive(self, variants: Sequence[Variant]) -> int:
        """Note what a round is to derive. How often rules apply is not counted: it would take another pass."""
        self._described.append(variants)
        return 0

    def _describe(self, variants: Sequence[Variant]) -> None:
        statistics = self.statistics()
        bindings = Bindings(self._spark, self._labelled, self._kinds, self._id_of, self._expressions, statistics)
        for variant in variants:
            if self._reads_nothing(variant):
                continue
            for conclusions in bindings.conclusions(plan_variant(variant, statistics)):
                self._waiting[conclusions.relation].append(conclusions)
        self._moving |= bindings.moving
        self._read = max(self._read, bindings.most_read)

    def _reads_nothing(self, variant: Variant) -> bool:
        """Is there an atom with no facts at all to read? Then the variant concludes nothing."""
        atoms = zip(variant.rule.atoms, variant.labels, strict=True)
        return any(self._labelled(atom.relation, label)[1] == 0 for atom, label in atoms)

    def advance(self, relations: Sequence[str]) -> dict[str, int]:
        described, self._described = self._described, []
        if self._written is None:
            return self._run_round(described, relations)
        self._written.since.append((described, relations))
        return self._survive(self._written, self._written.since[-1:])

    def settle(self) -> None:
        """After the last round: nothing that was gained is on executors alone; for pipelines."""
        if self._written is not None and self._written.since:
            self._survive(self._written, [], last=True)

    def _survive(self, written: WrittenRounds, rounds: list[Round], *, last: bool = False) -> dict[str, int]:
        """Run rounds, and write if that is due; where checkpoints are lost, begin again behind what was written."""
        while True:
            try:
                counts: dict[str, int] = {}
                for described, relations in rounds:
                    counts = self._run_round(described, relations)
                if last or written.is_due():
                    self._write(written)
                return counts
            except Exception as error:
                if not written.may_go_on_after(error):
                    raise
                self._forget_round()
                self._gains.clear()
                self._state, self._round = written.restored()
                self._expressions.new_terms[:] = written.terms()
                rounds = list(written.since)
                if self.on_loss is not None:
                    self.on_loss(self._phase, self._round + 1)

    def _write(self, written: WrittenRounds) -> None:
        self._expressions.new_terms[:] = written.write_terms(self._expressions.new_terms)
        written.write(self._round, self._state, self._gains, self._placement.partitions())
        self._gains.clear()

    def _run_round(self, described: Sequence[Sequence[Variant]], relations: Sequence[str]) -> dict[str, int]:
        for variants in described:
            self._describe(variants)
        fresh: dict[str, DataFrame] = {}
        for relation in dict.fromkeys(relations):
            self._state.new.pop(relation, None)
            if self._waiting[relation]:
                fresh[relation] = self._distinct_new(relation)
                before = self._state.facts[relation]
                kinds = reduce(_either, (conclusions.kinds for conclusions in self._waiting[relation]), before.kinds)
                self._state.facts[relation] = replace(before, kinds=kinds)
        self._forget_round()
        counts = self._count_together(fresh)
        for relation, frame in fresh.items():
            if counts[relation]:
                self._state.facts[relation] = self._grown(self._state.facts[relation], frame, counts[relation])
                self._state.new[relation] = frame, counts[relation]
                self._keep_gain(relation, frame)
        self._round += 1
        if self.on_round is not None:
            now = time.perf_counter()
            self.on_round(relations, self._round, sum(counts.values()), now - self._round_began)
            self._round_began = now
        return {relation: counts.get(relation, 0) for relation in relations}

    def _keep_gain(self, relation: str, frame: DataFrame) -> None:
        gains = self._gains[relation]
        if len(gains) == _MOST_PARTS:
            gains[:] = [self._placement.checkpoint(reduce(DataFrame.unionAll, gains))]
        gains.append(frame.withColumn(RANK, f.lit(self._round + 1)))

    def _forget_round(self) -> None:
        self._waiting.clear()
        self._moving, self._read = False, 0

    def _distinct_new(self, relation: str) -> DataFrame:
        shape, names = self._state.shapes[relation], _columns(self._state.shapes[relation])
        concluded = reduce(DataFrame.unionAll, (conclusions.facts for conclusions in self._waiting[relation]))
        if shape.bag:
            assert self._state.facts[relation].count == 0, "a bag is filled in one round"
            fresh = concluded.groupBy(*names).agg(f.count(f.lit(1)).alias(WEIGHT))
        elif self._state.facts[relation].count == 0:
            fresh = concluded.distinct()
        else:
            fresh = self._placement.not_there(concluded, self._placed(relation).frame(), names, self._read)
        if self._moving and not shape.bag:
            return self._placement.place(self._placement.checkpoint(fresh, adaptive=True), names)
        return self._placement.checkpoint(fresh, adaptive=self._moving)

    def _placed(self, relation: str) -> Facts:
        """The facts of a relation, placed if they were not yet."""
        facts = self._state.facts[relation]
        if not facts.placed:
            whole = self._placement.place(facts.frame(), _columns(self._state.shapes[relation]))
            facts = self._state.facts[relation] = replace(facts, parts=(whole,), placed=True)
        return facts

    def _grown(self, before: Facts, gained: DataFrame, count: int) -> Facts:
        """The facts and a new frontier. Many small frames would slow down every later round, so they are combined."""
        if before.count == 0:
            return replace(before, parts=(gained,), count=count, placed=True)
        parts = before.parts
        if len(parts) == _MOST_PARTS:
            parts = (self._placement.checkpoint(before.frame()),)
        return replace(before, parts=(*parts, gained), count=before.count + count)

    def _count_together(self, frames: dict[str, DataFrame]) -> dict[str, int]:
        """One action that fills every checkpoint and counts every frontier."""
        if not frames:
            return {}
        counted = [frame.agg(f.count(f.lit(1)).alias("n")).withColumn("r", f.lit(r)) for r, frame in frames.items()]
        with self._placement.planned_fixed():
            return {row["r"]: int(row["n"]) for row in reduce(DataFrame.unionAll, counted).collect()}

    def run(self, phase: Phase, watch: Watch) -> PhaseReport | None:
        return None

    def group(self, rule: WholeRule) -> int:
        assert not isinstance(rule, WindowRule), "refused when the query was read: see `capabilities`"
        facts, terms = group_facts(rule, self.frame(rule.source.relation), self._terms)
        self._expressions.new_terms.append(terms)
        facts = local_checkpoint(facts)
        count, kinds = self._look_at(rule.head.relation, facts)
        before = self._state.facts[rule.head.relation]
        self._state.facts[rule.head.relation] = replace(before, parts=(facts,), count=count, kinds=kinds)
        return count

    def statistics(self) -> Statistics:
        return CountedStatistics({name: facts.count for name, facts in self._state.facts.items()})

    # --- states -----------------------------------------------------------------------------------------------------

    def begin_from_scratch(self) -> None:
        self._before = self._state.copy()

    def changes(self) -> dict[str, WeightedFacts]:
        found = {}
        for relation, facts in self._state.facts.items():
            before = self._before.facts.get(relation)
            gained = self._gained(relation, before) if facts is not before else None
            if gained is not None and gained.rows:
                found[relation] = gained
        return found

    def _gained(self, relation: str, before: Facts | None) -> WeightedFacts:
        if before is None or before.count == 0:
            return self.collect(relation)
        names = _columns(self._state.shapes[relation])
        return self._collected(relation, self.frame(relation).join(before.frame(), on=names, how="left_anti"))

    def explicit_changes(self, relations: Iterable[str]) -> dict[str, WeightedFacts]:
        found = {}
        for relation in relations:
            now, before = self._state.facts[relation], self._before.facts.get(relation)
            new = now.explicit[len(before.explicit) if before is not None else 0 :]
            if new:
                found[relation] = self._collected(relation, reduce(DataFrame.unionAll, new))
        return found

    def commit(self, *, publish: bool = True) -> None:
        self._before = self._state.copy()
        self.tick += 1
        if publish:
            self.publish(self.tick)

    def publish(self, tick: int) -> None:
        self._published = self._state.copy()

    def abort(self) -> None:
        self._state = self._before.copy()
        self._forget_round()

    def capture(self, *, latest: bool = False) -> SparkCapture:
        return SparkCapture(self, self._before if latest else self._published)

    def reading(self, state: State) -> SparkEngine:
        """Another engine with the facts of a state."""
        other = SparkEngine(self._spark, self._driver_terms, self._given_terms)
        other._state = state.copy()
        other._before = state.copy()
        other._expressions.new_terms.extend(self._expressions.new_terms)
        other._learned = self._learned
        return other

    # --- terms ------------------------------------------------------------------------------------------------------

    def new_terms(self) -> DataFrame:
        """The terms that expressions and aggregates produced, as (id, key), each once; the dictionary may have some."""
        made = self._expressions.new_terms
        empty = self._spark.createDataFrame([], "id long, key string")
        return reduce(DataFrame.unionAll, made, empty).dropDuplicates(["id"])

    def _terms(self) -> DataFrame:
        if self._given_terms is None:
            rows = self._driver_terms.terms()
            known = self._spark.createDataFrame(rows, "id long, key string") if rows else None
        else:
            known = self._given_terms
        made = self._expressions.new_terms
        frames = [*([known] if known is not None else []), *made]
        if not frames:
            return self._spark.createDataFrame([], "id long, key string")
        return frames[0] if len(frames) == 1 else reduce(DataFrame.unionAll, frames).dropDuplicates(["id"])

    def _learn_new_terms(self) -> None:
        """Bring new terms to the driver, so that it can decode what it collects; pipelines do not need this."""
        made = self._expressions.new_terms[self._learned :]
        if made:
            self._learned += len(made)
            for id_, key in reduce(DataFrame.unionAll, made).distinct().collect():
                self._driver_terms.learn(id_, key)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _labelled(self, relation: str, label: Label) -> tuple[DataFrame, int]:
        facts = self._state.facts[relation]
        new = self._state.new.get(relation)
        if label is Label.ALL or (label is Label.OLD and new is None):
            return facts.frame(), facts.count
        if new is None:
            return self._empty(self._state.shapes[relation]), 0
        if label is Label.NEW:
            return new
        assert facts.parts[-1] is new[0], "the frontier is the last part of what is there"
        old = reduce(DataFrame.unionAll, facts.parts[:-1], self._empty(self._state.shapes[relation]))
        return old, facts.count - new[1]

    def _kinds(self, relation: str) -> tuple[Kinds, ...]:
        return self._state.facts[relation].kinds

    def _look_at(self, relation: str, facts: DataFrame) -> tuple[int, tuple[Kinds, ...]]:
        """How many facts a frame has, and which kinds of terms."""
        names = _columns(self._state.shapes[relation])[: self._state.shapes[relation].arity]
        found = facts.agg(f.count(f.lit(1)), *map(kinds_column, names)).collect()[0]
        return int(found[0]), tuple(kinds or NONE for kinds in found[1:])

    def _empty(self, shape: Shape) -> DataFrame:
        columns = [f"{name} long" for name in (*_columns(shape), *([WEIGHT] if shape.bag else []))]
        return self._spark.createDataFrame([], ", ".join(columns))

    def _id_of(self, constant: Constant) -> int:
        return self.dictionary.encode(constant.term)


def _either(some: Sequence[Kinds], others: Sequence[Kinds]) -> tuple[Kinds, ...]:
    return tuple(a | b for a, b in zip(some, others, strict=True))


def _columns(shape: Shape) -> list[str]:
    """A relation's columns; one that stands for the only fact of a nullary relation."""
    return [column_name(position) for position in range(max(1, shape.arity))]
