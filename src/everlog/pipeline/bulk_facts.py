"""Which facts are there while a program is derived on Spark, stage after stage?

Given facts stay in the frames in which they came. What a stage derives is a *part*: one tagged frame
(engines/spark/tagged.py) of all facts that its heads may conclude, given ones included, each once. So a relation is
what was given, and what parts have that was not given.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from everlog.engines.spark.ids import INTEGER
from everlog.engines.spark.kinds import ANY, NONE, Kinds, flowing_kinds, kinds_column, only
from everlog.engines.spark.local_frames import local_frame
from everlog.engines.spark.tagged import (
    EXPLICIT,
    KEY,
    RELATION,
    TERM,
    WEIGHT,
    TaggedFacts,
    id_columns,
    matches_any,
    tag,
)
from everlog.plans.flat_rules import EvaluatedRule, is_auxiliary
from everlog.rules.atom_index import unify
from everlog.rules.syntax import Atom

UNKNOWN = 1 << 62  # a number of facts, where nobody has counted them

Given = Mapping[str, DataFrame]
Batches = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass
class Part:
    """The facts that a stage derives, and those of them that were given."""

    frame: DataFrame  # tagged
    heads: tuple[Atom, ...]
    held: list[DataFrame] = field(default_factory=list)  # frames to be unpersisted
    rows: DataFrame | None = None  # what goes into the tasks that make it, if tasks do …
    task: Batches | None = None  # … and what these do with it

    def hold(self) -> None:
        """Compute it once, though it is read more than once."""
        if not self.held:
            self.frame = self.frame.persist(StorageLevel.MEMORY_AND_DISK)
            self.held.append(self.frame)

    def mapped(self, function: Batches, schema: StructType) -> DataFrame:
        """What a function makes of the part's batches; within the very tasks that derive them where it can be.

        So facts go from the engine to the function without a detour through Java.
        """
        if self.rows is None or self.task is None or self.held:
            return self.frame.mapInArrow(function, schema)
        return self.rows.mapInArrow(_one_after_the_other(self.task, function), schema)

    def release(self) -> None:
        while self.held:
            self.held.pop().unpersist()


class BulkFacts:
    """Given and derived facts, terms, and what is known about them."""

    def __init__(
        self,
        spark: SparkSession,
        given: Given,
        arities: Mapping[str, int],
        terms: DataFrame,
        counts: Mapping[str, int] | None,
        together: TaggedFacts | None = None,
        *,
        holds: bool = True,
    ) -> None:
        self._holds, self._together = holds, together
        self.spark, self.given, self.arities = spark, dict(given), dict(arities)
        self.numbers = {name: number for number, name in enumerate(self.arities)}
        self.width = max(1, *self.arities.values()) if self.arities else 1
        self.parts: list[Part] = []
        self.bags: set[str] = set()
        self._dictionary = terms
        self.new_terms: list[DataFrame] = []
        self._counts = dict(counts) if counts is not None else None
        self._terms_count: int | None = None
        self.kinds: dict[str, tuple[Kinds, ...]] | None = None
        self.kept: list[DataFrame] = []  # frames to be unpersisted

    # --- looking at what was given ----------------------------------------------------------------------------------

    def look(self, *, kinds: bool) -> None:
        """Count what was given, and which kinds of terms it has where that matters: one action for all of it."""
        if self._counts is not None and not kinds:
            return
        looks = []
        for name, frame in self.given.items():
            columns = id_columns(self.arities[name])
            found = [kinds_column(column) for column in columns] if kinds else []
            looks.append(
                frame.agg(
                    f.lit(name).alias("name"),
                    f.count(f.lit(1)).alias("rows"),
                    f.array(*(f.coalesce(each, f.lit(NONE)).cast("int") for each in found))
                    .cast("array<int>")
                    .alias("kinds"),
                )
            )
        if kinds:
            looks.append(
                self._dictionary.agg(
                    f.lit("").alias("name"),
                    f.count(f.lit(1)).alias("rows"),
                    f.array().cast("array<int>").alias("kinds"),
                )
            )
        rows = reduce(DataFrame.unionAll, looks).collect() if looks else []
        self._counts = {row["name"]: int(row["rows"]) for row in rows if row["name"]}
        if kinds:
            self.kinds = {row["name"]: tuple(row["kinds"]) for row in rows if row["name"]}
            self._terms_count = next(int(row["rows"]) for row in rows if not row["name"])

    def follow_kinds(self, rules: Sequence[EvaluatedRule]) -> None:
        """What the rules make of the kinds of given terms."""
        given = {name: (ANY,) * arity for name, arity in self.arities.items() if name in self.given}
        self.kinds = flowing_kinds(rules, {**given, **(self.kinds or {})})

    def count(self, relation: str) -> int:
        """At most how many facts of a relation there are; UNKNOWN where some are derived."""
        if any(head.relation == relation for part in self.parts for head in part.heads):
            return UNKNOWN
        if relation not in self.given:
            return 0
        return UNKNOWN if self._counts is None else self._counts.get(relation, UNKNOWN)

    def count_given(self, relations: Sequence[str] | None = None) -> int:
        """How many facts were given in all, each counted once, or of some relations."""
        assert self._counts is not None, "somebody has looked"
        names = [name for name in self._counts if not is_auxiliary(name)] if relations is None else relations
        return sum(self._counts.get(name, 0) for name in names)

    @property
    def terms_count(self) -> int:
        return UNKNOWN if self._terms_count is None else self._terms_count

    def given_too(self, relation: str, frame: DataFrame, like: str) -> None:
        """Facts of one relation that stand in another too."""
        self.given[relation] = frame
        if self._counts is not None and like in self._counts:
            self._counts[relation] = self._counts[like]
        if self.kinds is not None and like in self.kinds:
            self.kinds[relation] = self.kinds[like]

    # --- frames -----------------------------------------------------------------------------------------------------

    def facts(self, relation: str, atoms: Sequence[Atom] | None = None) -> DataFrame:
        """The facts of a relation that match one of some atoms, all by default: c1, c2, …, weight, explicit."""
        condition = None if atoms is None else matches_any(atoms)
        columns = id_columns(self.arities[relation])
        frames = []
        if relation in self.given:
            frame = self.given[relation]
            frame = frame if condition is None else frame.where(condition)
            frames.append(frame.select(*columns, f.lit(1).cast("long").alias(WEIGHT), f.lit(True).alias(EXPLICIT)))
        for part in self.parts:
            if not _concerns(part, relation, atoms):
                continue
            frame = part.frame.where((f.col(RELATION) == self.numbers[relation]) & ~f.col(EXPLICIT))
            frame = frame if condition is None else frame.where(condition)
            frames.append(frame.select(*columns, WEIGHT, EXPLICIT))
        return reduce(DataFrame.unionAll, frames) if frames else self._nothing(relation)

    def tagged(self, wanted: Mapping[str, Sequence[Atom]], numbers: Mapping[str, int]) -> list[DataFrame]:
        """Tagged frames of the facts of some relations that match one of some atoms, by numbers of their own."""
        frames = []
        in_one = {name: atoms for name, atoms in wanted.items() if self._is_together(name)}
        if self._together is not None and in_one:
            frames.append(self._together.of(in_one, numbers, self.width))
        for name, atoms in wanted.items():
            if name not in in_one:
                about = {"explicit": f.col(EXPLICIT), "weight": f.col(WEIGHT)}
                frames.append(tag(self.facts(name, atoms), numbers[name], self.arities[name], self.width, **about))
        return frames

    def _is_together(self, relation: str) -> bool:
        derived = any(head.relation == relation for part in self.parts for head in part.heads)
        return self._together is not None and relation in self._together.numbers and not derived

    def given_facts(self, relation: str, atoms: Sequence[Atom]) -> DataFrame | None:
        """The given facts that match one of some atoms: c1, c2, …; None where none was given."""
        if relation not in self.given:
            return None
        condition = matches_any(atoms)
        frame = self.given[relation].select(*id_columns(self.arities[relation]))
        return frame if condition is None else frame.where(condition)

    def _nothing(self, relation: str) -> DataFrame:
        columns = [f"{name} long" for name in id_columns(self.arities[relation])]
        return local_frame(self.spark, [], ", ".join([*columns, f"{WEIGHT} long", f"{EXPLICIT} boolean"]))

    def tag(self, frame: DataFrame, relation: str, **about: object) -> DataFrame:
        """Facts of one relation as a tagged frame."""
        return tag(frame, self.numbers[relation], self.arities[relation], self.width, **about)  # type: ignore[arg-type]

    # --- terms ------------------------------------------------------------------------------------------------------

    def terms(self, kinds: Kinds = ANY) -> DataFrame:
        """The terms that are known by now, (id, key), each id once; only those of some kinds."""
        found = self._dictionary
        if self.new_terms:
            found = reduce(DataFrame.unionAll, [found, *self.new_terms]).dropDuplicates(["id"])
        listed = [kind for kind in range(8) if kinds & only(kind) and kind != INTEGER]
        return found if kinds == ANY else found.where(f.col("id").bitwiseAND(f.lit(7)).isin(listed))

    def persisted(self, frame: DataFrame) -> DataFrame:
        """The frame, computed once and held until all is released."""
        self.kept.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
        return self.kept[-1]

    # --- parts ------------------------------------------------------------------------------------------------------

    def add(
        self,
        frame: DataFrame,
        heads: Sequence[Atom],
        *,
        keys: bool,
        again: bool,
        rows: DataFrame | None = None,
        task: Batches | None = None,
    ) -> Part:
        """A part that was derived; `keys`: with terms that came up; `again`: it is read by more than one."""
        part = Part(frame, tuple(heads), rows=rows, task=task)
        if (keys or again) and self._holds:
            part.hold()
        if keys:
            held = part.frame
            self.new_terms.append(
                held.where(f.col(RELATION) == TERM).select(f.col("c1").alias("id"), f.col(KEY).alias("key"))
            )
            part.frame = held.where(f.col(RELATION) != TERM).drop(KEY)
        self.parts.append(part)
        return part


def _one_after_the_other(first: Batches, second: Batches) -> Batches:
    def both(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return second(first(batches))

    return both


def only_relations(task: Batches, numbers: Collection[int]) -> Batches:
    """A task without the facts of other relations; each batch that a task gives is of one relation."""

    def wanted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return (batch for batch in task(batches) if batch.num_rows and batch.column(0)[0].as_py() in numbers)

    return wanted


def _concerns(part: Part, relation: str, atoms: Sequence[Atom] | None) -> bool:
    heads = [head for head in part.heads if head.relation == relation]
    return bool(heads) and (atoms is None or any(unify(head, atom) for head in heads for atom in atoms))
