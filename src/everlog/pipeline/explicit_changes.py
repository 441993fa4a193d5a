"""What do the sources of a run change in what is explicit?

Facts of a relation come from sources of one kind (ingest.py). What *appends* hold is added; what a *snapshot* does not
hold any more goes; *changes* say what comes and goes. Facts in the program's text count like those of a source, and one
that is taken out of the text goes, unless a source still holds it. All relations are compared in one job.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from everlog.engines.spark.tagged import RELATION, TaggedFacts, id_columns
from everlog.pipeline.table_frames import union
from everlog.tables.layout import WEIGHT

SNAPSHOT = "snapshot"
_NOW, _GONE, _THEN, _WHOLE = "is_now", "is_gone", "is_then", "is_whole"


@dataclass
class ExplicitFacts:
    """Frames of ids by relation, and of which kind their sources are."""

    arities: Mapping[str, int]
    now: Mapping[str, DataFrame]  # what sources hold; a fact may be repeated
    deleted: Mapping[str, DataFrame] = field(default_factory=dict)
    before: Mapping[str, DataFrame] = field(default_factory=dict)  # what was explicit, each fact once
    kinds: Mapping[str, str] = field(default_factory=dict)
    touched: AbstractSet[str] = frozenset()  # the relations that something is said about
    few: bool = False  # of a first load: are these so few facts that one task is enough?

    def change(self) -> DataFrame | None:
        """What becomes explicit, with weight 1, and what no longer is, with -1: relation, c1, …, weight."""
        width = self._width
        frames = [
            frame
            for number, name in enumerate(self.arities)
            if name in self.touched
            for frame in self._of(number, name, width)
        ]
        if not frames:
            return None
        names = [RELATION, *id_columns(width)]
        if not self.before and not self.deleted:
            # What is in one partition is made distinct, and counted after that, without a shuffle.
            now = union(frames).select(*names)
            return (now.coalesce(1) if self.few else now).distinct().withColumn(WEIGHT, f.lit(1).cast("long"))
        flags = [f.max(flag).alias(flag) for flag in (_NOW, _GONE, _THEN, _WHOLE)]
        compared = union(frames).groupBy(*names).agg(*flags)
        stays = f.col(_THEN) & ~f.col(_WHOLE) & ~f.col(_GONE)
        wanted = f.col(_NOW) | stays
        weight = wanted.cast("long") - f.col(_THEN).cast("long")
        return compared.select(*names, weight.alias(WEIGHT)).where(f.col(WEIGHT) != 0)

    @property
    def _width(self) -> int:
        return max([1, *self.arities.values()])

    def _of(self, number: int, name: str, width: int) -> list[DataFrame]:
        arity, whole = self.arities[name], self.kinds.get(name) == SNAPSHOT
        now, gone, then = (part.get(name) for part in (self.now, self.deleted, self.before))
        if then is not None and not whole and arity:
            # Only what the sources name is of interest, and that may be little.
            parts = [part.select(*id_columns(arity)) for part in (now, gone) if part is not None]
            if not parts:
                return []
            then = then.join(union(parts).distinct(), on=id_columns(arity), how="left_semi")
        found = []
        for frame, flag in ((now, _NOW), (gone, _GONE), (then, _THEN)):
            if frame is not None:
                ids = [f.col(column) for column in id_columns(arity)]
                ids += [f.lit(None).cast("long") for _ in range(width - arity)]
                flags = [f.lit(each == flag).alias(each) for each in (_NOW, _GONE, _THEN)]
                found.append(
                    frame.select(
                        f.lit(number).cast("int").alias(RELATION),
                        *(column.alias(place) for column, place in zip(ids, id_columns(width), strict=True)),
                        *flags,
                        f.lit(whole).alias(_WHOLE),
                    )
                )
        return found

    def only_in(self, change: DataFrame) -> TaggedFacts | None:
        """The facts of relations that were not there before: all of them are in the change."""
        numbers = {
            name: number for number, name in enumerate(self.arities) if name in self.touched and name not in self.before
        }
        return TaggedFacts(change, self._width, numbers) if numbers else None

    def count(self, change: DataFrame) -> dict[str, int]:
        """How many facts of each relation a change has, the relations without any too."""
        rows = change.groupBy(RELATION).count().collect()
        found = {int(row[RELATION]): int(row["count"]) for row in rows}
        return {name: found.get(number, 0) for number, name in enumerate(self.arities)}

    def deletions(self, change: DataFrame, names: Iterable[str]) -> dict[str, int]:
        """How many facts of some relations a change takes away."""
        numbers = {number: name for number, name in enumerate(self.arities) if name in set(names)}
        if not numbers:
            return {}
        gone = change.where((f.col(WEIGHT) < 0) & f.col(RELATION).isin(list(numbers))).groupBy(RELATION).count()
        return {numbers[row[RELATION]]: int(row["count"]) for row in gone.collect()}

    def after(self, name: str, change: DataFrame) -> DataFrame:
        """What is explicit of a relation after the change."""
        arity = self.arities[name]
        if name not in self.touched:
            return self.before[name]
        columns = id_columns(arity)
        number = list(self.arities).index(name)
        mine = change.where(f.col(RELATION) == number)
        gained = mine.where(f.col(WEIGHT) > 0).select(*columns)
        before = self.before.get(name)
        if before is None:
            return gained
        if not arity:
            lost = mine.where(f.col(WEIGHT) < 0)
            return before.crossJoin(lost.agg(f.count(f.lit(1)).alias("n"))).where("n = 0").select().unionAll(gained)
        lost = mine.where(f.col(WEIGHT) < 0).select(*columns)
        return before.join(lost, on=columns, how="left_anti").unionAll(gained)
