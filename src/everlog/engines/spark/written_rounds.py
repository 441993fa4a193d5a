"""What is left of a recursion when an executor is lost?

Rounds end in local checkpoints, which cut them off from what made them; an executor that is lost takes its share of
them along, and nobody can make that again. So every few rounds what was gained since is written to files, with the
round that gained it. The checkpoints stay in use, since they are spread as the next rounds want them; the files are
read after a loss: facts are what was there before the first round and what was written, the frontier is what the last
round that was written gained, and the rounds after it run again.

Writing is put off while the rounds since the last time took less than ten times as long as writing did. So it costs
about a tenth at most, but for the first time and the last, which cannot wait; a loss costs what is done in between.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from everlog.engines.spark.kinds import Kinds
from everlog.engines.spark.state import Facts, State
from everlog.engines.spark.tagged import RANK, RELATION, id_columns
from everlog.plans.delta_variants import Variant

EVERY = 5  # rounds; fewer are done again sooner than written
_WORTH = 10.0  # times as long as writing takes, rounds must have taken
_MOST_LOSSES = 5  # with nothing written in between: then something else is wrong

_LOST = ("CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND", "Checkpoint block rdd_")

Round = tuple[Sequence[Sequence[Variant]], Sequence[str]]  # what was to be derived, and of which relations


@dataclass(frozen=True)
class _Known:
    """What is known of a relation besides its facts, as of the last round that was written."""

    count: int
    kinds: tuple[Kinds, ...]
    frontier: int  # how many facts the last round gained


class WrittenRounds:
    """Files with what the rounds of one phase have gained."""

    def __init__(self, spark: SparkSession, folder: str, every: int = EVERY) -> None:
        """`folder` is this phase's alone, and every executor can read and write it."""
        self._spark, self._folder, self._every = spark, folder, every
        self.since: list[Round] = []  # the rounds that are in no file yet

    def begin(self, state: State, terms: Sequence[DataFrame]) -> None:
        """A phase begins: all that is there can be made again, or read."""
        self.since.clear()
        self._before, self._terms = state.copy(), list(terms)
        self._numbers = {name: number for number, name in enumerate(state.shapes)}
        self._width = max([1, *(shape.arity for shape in state.shapes.values())])
        self._files: list[str] = []
        self._places = 0  # how many there have been; a loss may leave one half written
        self._known: dict[str, _Known] = {}
        self._round, self._losses = 0, 0
        self._took, self._written_at = 0.0, time.perf_counter()

    # --- writing ------------------------------------------------------------------------------------------------------

    def is_due(self) -> bool:
        worked = time.perf_counter() - self._written_at
        return len(self.since) >= self._every and worked >= _WORTH * self._took

    def write(self, number: int, state: State, gains: Mapping[str, Sequence[DataFrame]], partitions: int) -> None:
        """Write what was gained since the last time, up to a round, by so many tasks."""
        started = time.perf_counter()
        frames = [self._numbered(name, frame) for name, some in gains.items() for frame in some]
        if frames:
            path = self._place("facts")
            reduce(DataFrame.unionAll, frames).coalesce(partitions).write.parquet(path)
            self._files.append(path)
        self._known = {
            name: _Known(
                state.facts[name].count, state.facts[name].kinds, state.new[name][1] if name in state.new else 0
            )
            for name in state.facts
        }
        self._round, self._losses = number, 0
        self.since.clear()
        self._written_at = time.perf_counter()
        self._took = self._written_at - started

    def write_terms(self, terms: Sequence[DataFrame]) -> list[DataFrame]:
        """Write the terms that came up since the last time; all of them, as they can be read again."""
        new = terms[len(self._terms) :]
        if new:
            path = self._place("terms")
            reduce(DataFrame.unionAll, new).dropDuplicates(["id"]).write.parquet(path)
            self._terms.append(self._spark.read.schema("id long, key string").parquet(path))
        return self.terms()

    def _place(self, what: str) -> str:
        self._places += 1
        return f"{self._folder}/{what}-{self._places}"

    def _numbered(self, relation: str, frame: DataFrame) -> DataFrame:
        columns = id_columns(max(1, self._before.shapes[relation].arity))
        nothing = [f.lit(None).cast("long").alias(name) for name in id_columns(self._width)[len(columns) :]]
        number = f.lit(self._numbers[relation]).cast("int").alias(RELATION)
        return frame.select(number, *columns, *nothing, f.col(RANK).cast("int").alias(RANK))

    # --- reading ------------------------------------------------------------------------------------------------------

    def gained(self, relation: str) -> list[DataFrame]:
        """What was written of a relation, with ranks: a frame, or none."""
        if not self._files or relation not in self._numbers:
            return []
        ids = ", ".join(f"{name} long" for name in id_columns(self._width))
        rows = self._spark.read.schema(f"{RELATION} int, {ids}, {RANK} int").parquet(*self._files)
        columns = id_columns(max(1, self._before.shapes[relation].arity))
        return [rows.where(f.col(RELATION) == self._numbers[relation]).select(*columns, RANK)]

    def terms(self) -> list[DataFrame]:
        return list(self._terms)

    def restored(self) -> tuple[State, int]:
        """The state after the last round that was written, from files alone; and which round that was."""
        state = self._before.copy()
        for relation, known in self._known.items():
            for written in self.gained(relation):
                state.facts[relation] = self._with(state.facts[relation], written, known)
                if known.frontier:
                    state.new[relation] = state.facts[relation].parts[-1], known.frontier
        return state, self._round

    def _with(self, before: Facts, written: DataFrame, known: _Known) -> Facts:
        """The facts before the phase, those of earlier rounds, and the frontier last, as its readers expect."""
        columns = [name for name in written.columns if name != RANK]
        earlier = written.where(f.col(RANK) < self._round).select(*columns)
        frontier = written.where(f.col(RANK) == self._round).select(*columns)
        first = before.parts if before.count else ()
        return replace(before, parts=(*first, earlier, frontier), count=known.count, kinds=known.kinds, placed=False)

    def may_go_on_after(self, error: Exception) -> bool:
        """Has a job failed since checkpoints are lost, and not too often already?"""
        self._losses += 1
        return self._losses <= _MOST_LOSSES and any(sign in str(error) for sign in _LOST)
