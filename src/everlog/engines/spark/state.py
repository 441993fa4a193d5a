"""What does the Spark engine hold? Frames of facts, which never change; a state is a few references to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import DataFrame

from everlog.engines.interface import Shape
from everlog.engines.spark.kinds import Kinds


@dataclass(frozen=True)
class Facts:
    """The facts of a relation: frames that share no fact, and how many facts they have."""

    parts: tuple[DataFrame, ...]
    count: int
    kinds: tuple[Kinds, ...]  # of terms that each argument may have
    explicit: tuple[DataFrame, ...] = ()
    explicit_count: int = 0
    placed: bool = False  # all parts are spread by the hash of their columns

    def frame(self) -> DataFrame:
        return reduce(DataFrame.unionAll, self.parts)


@dataclass
class State:
    """Everything that an update may change."""

    shapes: dict[str, Shape] = field(default_factory=dict)
    facts: dict[str, Facts] = field(default_factory=dict)
    new: dict[str, tuple[DataFrame, int]] = field(default_factory=dict)

    def copy(self) -> State:
        return State(dict(self.shapes), dict(self.facts), dict(self.new))
