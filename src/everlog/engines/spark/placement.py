"""How does a round find what is new without moving what is there?

The facts of a relation are *placed*: spread over partitions by the hash of all their columns. Conclusions are spread in
the same way to make them distinct, so a conclusion and the fact that it repeats meet in one partition, and only the
conclusions travel. Spark knows how a checkpoint is spread only where the plan that made it was fixed beforehand.
Adaptive execution does not tell. So:

1. Where every join of a round sends its small side to all tasks there is nothing to adapt: the round is planned fixed.
2. Other rounds run adaptively, which splits skewed keys, and the facts that they gain are placed afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from everlog.engines.spark.keeping import local_checkpoint
from everlog.engines.spark.session import is_connect, parallelism, session_settings

# Conclusions are held in a hash table that does not spill, in each task. A round that reads more facts a partition than
# this may conclude too many for it, and sorts instead.
HASHED_FACTS_A_PARTITION = 500_000

FACTS_A_PARTITION = 250_000
_FEW = 20_000  # facts that one task deals with before two have started

_SHUFFLED = "spark.sql.shuffle.partitions"
_ADAPTIVE = "spark.sql.adaptive.enabled"
_EXCLUDED = "spark.sql.optimizer.excludedRules"
# A rule that only copies a relation gives its columns new identities. This one takes those away again below the
# checkpoint, which then says that it is spread by columns that it does not have.
_REDUNDANT_ALIASES = "org.apache.spark.sql.catalyst.optimizer.RemoveRedundantAliases"
_THERE = "~there"


class Placement:
    """Spreads and checkpoints the frames of one session."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._partitions: int | None = None

    def partitions(self) -> int:
        return self._partitions or max(1, int(self._spark.conf.get(_SHUFFLED) or 1))

    def expect(self, facts: int) -> None:
        """Choose partitions for rounds that begin with so many facts, whatever the session says.

        Spark's default is 200, and a task costs more than a few thousand facts in it: two facts would take seconds.
        """
        cores = parallelism(self._spark)
        self._partitions = 1 if facts <= _FEW else max(cores, -(-facts // FACTS_A_PARTITION))

    def place(self, frame: DataFrame, names: Sequence[str]) -> DataFrame:
        """The frame, spread by the hash of these columns; filled when it is first read."""
        return self.checkpoint(frame.repartition(self.partitions(), *names))

    def checkpoint(self, frame: DataFrame, *, adaptive: bool = False) -> DataFrame:
        """The frame with its lineage cut, as it is spread; filled when it is first read."""
        if adaptive:
            with session_settings(self._spark, {_SHUFFLED: str(self.partitions())}):
                return _cut(frame)
        with self.planned_fixed():
            return _cut(frame)

    def not_there(self, concluded: DataFrame, there: DataFrame, names: Sequence[str], read: int) -> DataFrame:
        """The distinct conclusions that are not among placed facts; `read`: how many facts the round looks at.

        An anti join would put what is there into the hash table, and that grows. An outer join may put the conclusions
        there and let what is there stream by.
        """
        distinct = concluded.distinct()
        if read <= HASHED_FACTS_A_PARTITION * self.partitions():
            distinct = distinct.hint("shuffle_hash")
        marked = there.select(*names, f.lit(True).alias(_THERE))
        return distinct.join(marked, on=list(names), how="left").where(f.col(_THERE).isNull()).select(*names)

    @contextmanager
    def planned_fixed(self) -> Iterator[None]:
        """What is planned inside is not adapted while it runs, and what it makes is known to be spread as it is."""
        excluded = ",".join(filter(None, (self._spark.conf.get(_EXCLUDED, None), _REDUNDANT_ALIASES)))
        with session_settings(
            self._spark, {_ADAPTIVE: "false", _EXCLUDED: excluded, _SHUFFLED: str(self.partitions())}
        ):
            yield


def _cut(frame: DataFrame) -> DataFrame:
    """A checkpoint of the frame that is not thought to be as large as the plan that made it.

    Spark takes a join to be as large as the product of its sides, and a checkpoint keeps that number (SPARK-52163).
    Where rounds read what earlier rounds made, it has three times as many digits in every round, and a million after a
    dozen. There is no setting and no call to take it off.
    """
    if is_connect(frame.sparkSession):
        # Java's objects are out of reach. A frame that is held is known to be as large as it is, and a checkpoint of
        # it too: it is filled at once and twice, which costs some memory for a while.
        held = frame.persist()
        held.count()
        checkpoint = held.localCheckpoint(eager=True)
        held.unpersist()
        return checkpoint
    return _without_estimates(local_checkpoint(frame))


def _without_estimates(checkpoint: DataFrame) -> DataFrame:
    plan = checkpoint._jdf.queryExecution().logical()
    nothing = checkpoint.sparkSession.sparkContext._jvm.scala.Option.empty()  # type: ignore[union-attr]
    for name in ("originStats", "originConstraints"):
        field = plan.getClass().getDeclaredField(name)
        field.setAccessible(True)
        field.set(plan, nothing)
    return checkpoint
