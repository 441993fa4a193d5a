"""By which way is a component evaluated on Spark, and from which size on?

    one task    the columnar engine in one task: the whole program while the data is small, or what has no pivot
    pivot       divided by an argument that stays in place (plans/pivots.py), the columnar engine in each part
    frames      described as DataFrames, run with whatever needs the result: components without recursion
    rounds      a job a round, for recursion that has no pivot and does not fit one task

`auto` chooses by size; any other way is taken wherever it is possible.
"""

from __future__ import annotations

from dataclasses import dataclass

from everlog.errors import UsageError
from everlog.plans.pivots import Pivot
from everlog.plans.stages import Stage

WAYS = ("auto", "one task", "pivot", "frames", "rounds")


@dataclass(frozen=True)
class BulkSettings:
    """How everything is derived on Spark."""

    way: str = "auto"
    # A program over so many facts runs as one job in one task: it takes seconds, and a job more takes one already.
    one_task_facts: int = 2_000_000
    # What has no pivot runs in one task up to here: a few hundred megabytes in one worker.
    task_facts: int = 5_000_000
    # Facts that every part must have whole; they are sent to every worker process, and held by it.
    whole_facts: int = 2_000_000
    # Up to so many copies of facts are made for partitions within the job; beyond, they are collected and sent.
    repeated_rows: int = 400_000
    partitions: int | None = None  # of divided facts; by default as many as the cluster has cores, more for much data
    auxiliaries: bool = False  # also hand out the relations that only evaluation knows of
    holds: bool = True  # what is read twice is held; otherwise computed twice, which needs no word with Spark before
    rewrites: bool = True  # transitive rules are made linear (plans/rewrites.py)
    # Where rounds are written every so often (engines/spark/written_rounds.py), a folder that nobody else uses; None
    # where executors are not lost without the driver.
    rounds_folder: str | None = None

    def __post_init__(self) -> None:
        if self.way not in WAYS:
            raise UsageError(f"there is no way {self.way!r} to derive facts", hint=f"ways: {', '.join(WAYS)}")

    @property
    def shares(self) -> bool:
        """May components without recursion be divided together with others?"""
        return self.way in ("auto", "pivot")

    def divides(self, stage: Stage) -> bool:
        """Is a stage divided by its pivot? One or two components without recursion are better off as frames."""
        if not isinstance(stage.pivot, Pivot) or self.way == "rounds":
            return False
        return stage.recursive or self.way == "pivot" or len(stage.components) > 2
