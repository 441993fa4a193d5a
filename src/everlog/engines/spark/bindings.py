"""How is a plan evaluated on DataFrames?

A set of bindings is a DataFrame with a column of ids per variable. A step joins it with a labelled set of facts, keeps
some of its rows, or adds a column. Only the columns that later steps need are carried along. Which side of a join is
broadcast is decided from the counts that the last round brought to the driver; skew is left to adaptive execution.
Which kinds of terms a variable can have is followed through the steps (kinds.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from everlog.engines.spark.expressions import Expressions
from everlog.engines.spark.kinds import ANY, Kinds, kinds_of_argument
from everlog.plans.delta_variants import seeded_variant
from everlog.plans.flat_rules import Refuted
from everlog.plans.join_order import Statistics, plan_variant
from everlog.plans.labels import Label
from everlog.plans.operators import Compute, Conclude, Plan, Read, Refute, Select, Shorter, Step, Without, step_uses
from everlog.rules.syntax import Argument, Atom, Constant, Variable

BROADCAST_ROWS = 100_000  # a side of at most so many facts, a few megabytes, is broadcast
_ONE = "~one"  # a column to join on where the sides have none in common

Labelled = Callable[[str, Label], tuple[DataFrame, int]]  # facts of a relation, with how many there are at most
IdOf = Callable[[Constant], int]
KindsOf = Callable[[str], tuple[Kinds, ...]]  # of a relation, a set of kinds for each column


class Conclusions(NamedTuple):
    """What a head concludes in a round, repeated as often as it is derived, and the kinds that its columns may have."""

    relation: str
    facts: DataFrame
    kinds: tuple[Kinds, ...]


def column_name(position: int) -> str:
    """The name of a relation's column: c1, c2, …"""
    return f"c{position + 1}"


class Bindings:
    """Evaluates plans for one engine."""

    def __init__(
        self,
        spark: SparkSession,
        labelled: Labelled,
        kinds_of: KindsOf,
        id_of: IdOf,
        expressions: Expressions,
        statistics: Statistics,
    ) -> None:
        self._spark, self._labelled, self._kinds_of, self._id_of = spark, labelled, kinds_of, id_of
        self._expressions, self._statistics = expressions, statistics
        self.moving = False  # did some join move both of its sides?
        self.most_read = 0  # the most facts that a step read

    def conclusions(self, plan: Plan) -> list[Conclusions]:
        """What each head of a plan concludes."""
        known: dict[str, Kinds] = {}
        bindings = self._evaluate(plan.steps, None, 0, known)
        heads = [step.head for step in plan.steps if isinstance(step, Conclude)]
        return [
            Conclusions(
                head.relation,
                self._facts(head, bindings),
                tuple(kinds_of_argument(arg, known) for arg in head.args),
            )
            for head in heads
        ]

    def _facts(self, head: Atom, bindings: DataFrame) -> DataFrame:
        if not head.args:
            return bindings.select(f.lit(0).cast("long").alias(column_name(0)))
        return bindings.select(*(self._value(arg).alias(column_name(i)) for i, arg in enumerate(head.args)))

    def _value(self, arg: Argument) -> Column:
        return f.lit(self._id_of(arg)).cast("long") if isinstance(arg, Constant) else f.col(_quoted(arg.name))

    def _evaluate(
        self, steps: Sequence[Step], bindings: DataFrame | None, rows: int, known: dict[str, Kinds]
    ) -> DataFrame:
        """Evaluate steps over bindings (None: the one empty binding).

        `rows`: at most how many there are, 0 unknown; `known`: the kinds that variables can have, added to on the way.
        """
        for number, step in enumerate(steps):
            needed = {name for later in steps[number + 1 :] for name in step_uses(later)}
            match step:
                case Read():
                    bindings, rows = self._read(step, bindings, rows)
                    self._narrow(step.atom, known)
                case Shorter():
                    raise AssertionError("only sweeps have plans that share bindings")
                case Without():
                    bindings = self._without(step.atom, self._or_one(bindings))
                case Refute():
                    bindings = self._refute(step.refuted, self._or_one(bindings), known)
                case Select():
                    bindings = self._select(step, self._or_one(bindings), known)
                case Compute():
                    self.moving = True
                    bindings = self._expressions.compute(self._or_one(bindings), step)
                case Conclude():
                    break
            remaining = [name for name in bindings.columns if name in needed]
            if len(remaining) < len(bindings.columns):
                bindings = (
                    bindings.select(*map(_quoted, remaining)) if remaining else bindings.select(f.lit(1).alias(_ONE))
                )
        return self._or_one(bindings)

    def _or_one(self, bindings: DataFrame | None) -> DataFrame:
        return self._spark.range(1).select(f.lit(1).alias(_ONE)) if bindings is None else bindings

    def _read(self, step: Read, bindings: DataFrame | None, rows: int) -> tuple[DataFrame, int]:
        facts, count = self._labelled(step.atom.relation, step.label)
        self.most_read = max(self.most_read, count)
        matching = self._matching(step.atom, facts)
        if bindings is None:
            return matching, count
        shared = [name for name in matching.columns if name in bindings.columns and name != _ONE]
        if not shared:
            self.moving = True
            return bindings.crossJoin(matching.drop(_ONE)), 0
        if count <= BROADCAST_ROWS:
            matching = f.broadcast(matching)
        elif 0 < rows <= BROADCAST_ROWS:
            bindings = f.broadcast(bindings)
        else:
            self.moving = True
        how = "left_semi" if len(step.key) == len(step.atom.args) else "inner"
        return bindings.join(matching, on=shared, how=how), 0

    def _narrow(self, atom: Atom, known: dict[str, Kinds]) -> None:
        """A variable can only have kinds that all columns it is read from have."""
        for arg, kinds in zip(atom.args, self._kinds_of(atom.relation), strict=True):
            if isinstance(arg, Variable):
                known[arg.name] = known.get(arg.name, ANY) & kinds

    def _select(self, step: Select, bindings: DataFrame, known: dict[str, Kinds]) -> DataFrame:
        condition = self._expressions.condition(step.expression, known)
        if condition is not None:
            return bindings.where(condition)
        self.moving = True
        return self._expressions.select(bindings, step.expression)

    def _matching(self, atom: Atom, facts: DataFrame) -> DataFrame:
        """The facts that match an atom, a column per variable."""
        first: dict[str, int] = {}
        for position, arg in enumerate(atom.args):
            column = f.col(column_name(position))
            if isinstance(arg, Constant):
                facts = facts.where(column == f.lit(self._id_of(arg)))
            elif arg.name in first:
                facts = facts.where(column == f.col(column_name(first[arg.name])))
            else:
                first[arg.name] = position
        if not first:
            return facts.select(f.lit(1).alias(_ONE)).limit(1)
        return facts.select(*(f.col(column_name(position)).alias(name) for name, position in first.items()))

    def _without(self, atom: Atom, bindings: DataFrame) -> DataFrame:
        facts, count = self._labelled(atom.relation, Label.ALL)
        matching = self._matching(atom, facts)
        return self._drop(bindings, matching, [arg.name for arg in atom.args if isinstance(arg, Variable)], count)

    def _refute(self, refuted: Refuted, bindings: DataFrame, known: dict[str, Kinds]) -> DataFrame:
        names = [variable.name for variable in refuted.outer]
        seeds = bindings.select(*map(_quoted, names)).distinct() if names else self._or_one(None)
        plan = plan_variant(seeded_variant(refuted.body), self._statistics)
        hits = self._evaluate(plan.steps[1:], seeds, 0, dict(known))  # the first step reads the seed
        return self._drop(bindings, hits, names, BROADCAST_ROWS + 1)

    def _drop(self, bindings: DataFrame, matching: DataFrame, names: Sequence[str], count: int) -> DataFrame:
        shared = list(dict.fromkeys(names))
        if not shared:
            bindings = bindings if _ONE in bindings.columns else bindings.withColumn(_ONE, f.lit(1))
            matching = matching if _ONE in matching.columns else matching.select(f.lit(1).alias(_ONE))
            shared = [_ONE]
        if count <= BROADCAST_ROWS:
            matching = f.broadcast(matching)
        else:
            self.moving = True
        return bindings.join(matching, on=shared, how="left_anti")


def _quoted(name: str) -> str:
    """A column name that may have any character."""
    return f"`{name}`"
