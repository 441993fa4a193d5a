"""How does a stage run in tasks, with the columnar engine in each?

All that a stage reads goes into one tagged frame. In *one task* that frame has one partition. With a *pivot* every fact
goes to the partition of its argument there; what every part must have whole is repeated for each partition while it is
small, and otherwise collected and sent to every worker process. Either way it is one job, and it runs when somebody
reads what comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark import AccumulatorParam, TaskContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from everlog.engines.spark.kinds import NONE, needed_terms
from everlog.engines.spark.session import is_connect, parallelism
from everlog.engines.spark.tagged import EXPLICIT, KEY, RELATION, TERM, WEIGHT, id_columns, tagged_schema
from everlog.engines.spark.task_errors import task_errors
from everlog.engines.spark.tasks import Reports, TaskInput, TaskOutput, TaskProgram, run_task
from everlog.limits import Limits
from everlog.maintenance.materialise import Evaluation
from everlog.pipeline.bulk_facts import UNKNOWN, Batches, BulkFacts
from everlog.pipeline.bulk_settings import BulkSettings
from everlog.plans.flat_rules import Attempt, EvaluatedRule, FlatRule, rule_reads
from everlog.plans.partitioned import Role, partition_rules
from everlog.plans.pivots import Pivot
from everlog.rules.components import Component
from everlog.rules.syntax import Atom, Bind, Variable

_PART = "part"
_ROWS_A_PARTITION = 1_000_000  # of what goes in: a part and what follows from it must fit a worker
_COALESCED = 200_000  # facts that are brought together without a shuffle

Components = Sequence[Component[EvaluatedRule]]


class Described(NamedTuple):
    """What a stage derives, described."""

    frame: DataFrame  # tagged
    keys: bool  # with terms that came up
    reports: TaskReports
    rows: DataFrame  # what goes into tasks …
    task: Batches  # … and what they do with it


class NotThisWay(Exception):
    """Why a stage cannot be divided, after all."""


@dataclass
class TaskReports:
    """What tasks report on components, as it comes in: the rounds of the slowest part, the facts of all parts."""

    spark_accumulator: Any

    def of(self, component: int) -> tuple[int, int] | None:
        """Rounds and facts gained, once tasks have run; None where tasks cannot report."""
        if self.spark_accumulator is None:
            return None
        found = [
            (rounds, facts)
            for reports in self.spark_accumulator.value.values()
            for number, rounds, facts in reports
            if number == component
        ]
        return (max(rounds for rounds, _ in found), sum(facts for _, facts in found)) if found else None


class _LastOfEach(AccumulatorParam[dict[int, Reports]]):
    """A partition that runs again, because it was lost or is read twice, reports the same again."""

    def zero(self, value: dict[int, Reports]) -> dict[int, Reports]:
        return {}

    def addInPlace(self, value1: dict[int, Reports], value2: dict[int, Reports]) -> dict[int, Reports]:
        value1.update(value2)
        return value1


class TaskStages:
    """Makes parts out of stages that run in tasks."""

    def __init__(self, facts: BulkFacts, settings: BulkSettings, limits: Limits) -> None:
        self._facts, self._settings, self._limits = facts, settings, limits
        self._spark = facts.spark

    def one_task(self, components: Components, outputs: Mapping[str, tuple[Atom, ...]]) -> Described:
        """Everything in one task. `outputs`: the relations that come out, and which facts of them."""
        evaluation = Evaluation.of(components)
        rules = [rule for component in components for rule in component.rules]
        reads = _reads(self._facts, components)
        inputs = tuple(TaskInput(name, self._facts.arities[name], name in self._facts.bags) for name in reads)
        rows = self._facts.tagged(reads, {name: number for number, name in enumerate(reads)})
        rows += self._terms(rules)
        together = _together(rows, self._facts.width)
        known = sum(self._facts.count(name) for name in reads)
        together = together.coalesce(1) if known <= _COALESCED else together.repartition(1)
        return self._run(components, evaluation, inputs, _outputs(self._facts, components, outputs), together, None)

    def by_pivot(self, components: Components, pivot: Pivot, seeds: Mapping[str, DataFrame]) -> Described:
        """Part by part. `seeds`: what rules outside of the pivot conclude, by relation."""
        divided = partition_rules(components, pivot)
        evaluation = Evaluation.of(divided.components)
        rules = [rule for component in components for rule in component.rules]
        partitions = self._partitions(list(divided.needs))
        inputs: list[TaskInput] = []
        rows: list[DataFrame] = []
        whole: list[tuple[int, Role, DataFrame]] = []
        for number, (role, atoms) in enumerate(divided.needs.items()):
            arity = self._facts.arities[role.relation]
            inputs.append(TaskInput(role.name, arity, role.relation in self._facts.bags))
            facts = self._rows(number, self._facts.facts(role.relation, atoms), arity)
            if role.position is None:
                whole.append((number, role, facts))
                continue
            rows.append(_spread(facts, role.position, partitions))
            if role in divided.gives and role.relation in seeds:
                seed = seeds[role.relation].select(
                    *id_columns(arity), f.lit(1).cast("long").alias(WEIGHT), f.lit(False).alias(EXPLICIT)
                )
                rows.append(_spread(self._rows(number, seed, arity), role.position, partitions))
        repeated, sent = self._whole(whole, self._terms(rules, divided=True), partitions)
        rows += [_repeat(frame, partitions) for frame in repeated]
        together = _together(rows, self._facts.width, _PART)
        together = together.repartitionById(partitions, f.col(_PART)).drop(_PART)
        outputs = tuple(
            TaskOutput(
                role.name,
                self._facts.numbers[role.relation],
                heads,
                tuple(head for head in heads if not _recursive(head, components)),
                tuple(head for head in heads if _recursive(head, components)),
            )
            for role, heads in divided.gives.items()
        )
        return self._run(divided.components, evaluation, tuple(inputs), outputs, together, sent)

    # --- what goes in -----------------------------------------------------------------------------------------------

    def _rows(self, number: int, facts: DataFrame, arity: int) -> DataFrame:
        ids = [f.col(name) for name in id_columns(arity)]
        ids += [f.lit(None).cast("long") for _ in range(self._facts.width - arity)]
        return facts.select(
            f.lit(number).cast("int").alias(RELATION),
            *(column.alias(name) for column, name in zip(ids, id_columns(self._facts.width), strict=True)),
            WEIGHT,
            EXPLICIT,
        )

    def _terms(self, rules: Sequence[EvaluatedRule], *, divided: bool = False) -> list[DataFrame]:
        """The terms that the rules may look at."""
        assert self._facts.kinds is not None
        kinds = needed_terms(rules, self._facts.kinds)
        if kinds == NONE:
            return []
        if divided and self._facts.terms_count > self._settings.whole_facts:
            raise NotThisWay("its expressions look at terms, and there are too many to send to every task")
        terms = self._facts.terms(kinds).where(f.col("key").isNotNull())
        nulls = [f.lit(None).cast("long").alias(name) for name in id_columns(self._facts.width)[1:]]
        row = [f.lit(TERM).cast("int").alias(RELATION), f.col("id").alias("c1"), *nulls]
        row += [f.lit(1).cast("long").alias(WEIGHT), f.lit(False).alias(EXPLICIT)]
        return [terms.select(*row, f.col("key").alias(KEY))]

    def _partitions(self, roles: Sequence[Role]) -> int:
        if self._settings.partitions:
            return self._settings.partitions
        rows = sum(self._facts.count_given([role.relation]) for role in roles if role.position is not None)
        return max(parallelism(self._spark), -(-rows // _ROWS_A_PARTITION))

    def _whole(
        self, whole: Sequence[tuple[int, Role, DataFrame]], terms: Sequence[DataFrame], partitions: int
    ) -> tuple[list[DataFrame], Any]:
        """What is repeated for every partition, and what is sent to every worker."""
        counts = [self._facts.count(role.relation) for _, role, _ in whole]
        counts += [self._facts.terms_count for _ in terms]
        frames = [frame for _, _, frame in whole] + list(terms)
        if sum(min(count, UNKNOWN) for count in counts) * partitions <= self._settings.repeated_rows:
            return frames, None
        small = [
            frame
            for frame, count in zip(frames, counts, strict=True)
            if count * partitions <= self._settings.repeated_rows // 4
        ]
        large = [
            frame
            for frame, count in zip(frames, counts, strict=True)
            if count * partitions > self._settings.repeated_rows // 4
        ]
        if is_connect(self._spark):  # which has nothing to send by: rows are copied, within the same bound
            self._check_whole(_together(large, self._facts.width).limit(self._settings.whole_facts + 1).count(), whole)
            return frames, None
        with task_errors():
            collected = _together(large, self._facts.width).limit(self._settings.whole_facts + 1).toArrow()
        self._check_whole(collected.num_rows, whole)
        return small, self._spark.sparkContext.broadcast(_serialised(collected))

    def _check_whole(self, rows: int, whole: Sequence[tuple[int, Role, DataFrame]]) -> None:
        if rows > self._settings.whole_facts:
            names = ", ".join(sorted({role.relation for _, role, _ in whole}))
            raise NotThisWay(
                f"{names or 'its terms'}: more than {self._settings.whole_facts:,} facts would go to every task"
            )

    # --- the job ----------------------------------------------------------------------------------------------------

    def _run(
        self,
        components: Components,
        evaluation: Evaluation,
        inputs: tuple[TaskInput, ...],
        outputs: tuple[TaskOutput, ...],
        rows: DataFrame,
        sent: Any,
    ) -> Described:
        keys = any(_makes_terms(rule) for component in components for rule in component.rules)
        program = TaskProgram(
            evaluation.shapes,
            tuple(zip((component.number for component in components), evaluation.steps, strict=True)),
            inputs,
            outputs,
            self._facts.width,
            keys,
            self._limits,
        )
        # Spark Connect has no accumulators: there nobody hears what tasks report.
        accumulator: Any = None if is_connect(self._spark) else self._spark.sparkContext.accumulator({}, _LastOfEach())
        task = _task(program, sent, accumulator)
        made = rows.mapInArrow(task, tagged_schema(self._facts.width, keys=keys))
        return Described(made, keys, TaskReports(accumulator), rows, task)


def _task(program: TaskProgram, sent: Any, accumulator: Any) -> Batches:
    """What a Python worker does with a partition."""

    def derive(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        def report(reports: Reports) -> None:
            if accumulator is not None:
                context = TaskContext.get()
                accumulator.add({context.partitionId() if context is not None else 0: reports})

        def everything() -> Iterator[pa.RecordBatch]:
            yield from batches
            if sent is not None:
                yield from pa.ipc.open_stream(pa.py_buffer(sent.value))

        yield from run_task(program, everything(), report)

    return derive


def _serialised(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _spread(facts: DataFrame, position: int, partitions: int) -> DataFrame:
    return facts.withColumn(_PART, f.pmod(f.hash(f.col(f"c{position + 1}")), f.lit(partitions)).cast("int"))


def _repeat(facts: DataFrame, partitions: int) -> DataFrame:
    return facts.withColumn(_PART, f.explode(f.sequence(f.lit(0), f.lit(partitions - 1))))


def _together(frames: Sequence[DataFrame], width: int, *others: str) -> DataFrame:
    """One frame of all rows; with the column `key` if one of them has it."""
    keys = any(KEY in frame.columns for frame in frames)
    columns: list[Column] = [f.col(name) for name in (RELATION, *id_columns(width), WEIGHT, EXPLICIT, *others)]
    same = [
        frame.select(
            *columns, *([f.col(KEY) if KEY in frame.columns else f.lit(None).cast("string").alias(KEY)] if keys else [])
        )
        for frame in frames
    ]
    return reduce(DataFrame.unionAll, same)


def _reads(facts: BulkFacts, components: Components) -> dict[str, list[Atom]]:
    """The relations that may bring facts into a task, and which facts of them."""
    found: dict[str, list[Atom]] = {}
    for component in components:
        for rule in component.rules:
            for atom in (*rule.heads, *(atom for atom, _ in rule_reads(rule))):
                atoms = found.setdefault(atom.relation, [])
                if atom not in atoms:
                    atoms.append(atom)
    return {name: atoms for name, atoms in found.items() if facts.count(name)}


def _outputs(
    facts: BulkFacts, components: Components, outputs: Mapping[str, tuple[Atom, ...]]
) -> tuple[TaskOutput, ...]:
    heads = [(head, component.recursive) for component in components for rule in component.rules for head in rule.heads]
    return tuple(
        TaskOutput(
            name,
            facts.numbers[name],
            wanted,
            tuple(head for head, recursive in heads if head.relation == name and not recursive),
            tuple(head for head, recursive in heads if head.relation == name and recursive),
        )
        for name, wanted in outputs.items()
    )


def _recursive(head: Atom, components: Components) -> bool:
    return any(component.recursive for component in components for rule in component.rules if head in rule.heads)


def _makes_terms(rule: EvaluatedRule) -> bool:
    """May evaluating the rule bring up a term that was not there?"""
    if not isinstance(rule, FlatRule):
        return True
    made = (each.expression for each in rule.computations if isinstance(each, Bind | Attempt))
    return any(not isinstance(expression, Variable) for expression in made)
