"""What is measured in the SPARQL benchmark: which data, which views, which updates?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.experiments.sparql.systems.counting_sql import Pattern
from benchmarks.experiments.sparql.triples import Edit
from everlog.facts.blocks import FactBlock


@dataclass(frozen=True)
class Task:
    """A view, and the updates it lives through. The first cycle of them is not counted: it makes plans and indexes."""

    name: str
    text: str  # in SPARQL
    pattern: Pattern  # the same for the paper's method, which knows no DISTINCT, ORDER BY and LIMIT
    cycles: Sequence[Sequence[Edit]]
    pattern_text: str = ""  # what the pattern says in SPARQL, where that is not the text

    @property
    def comparable(self) -> str:
        """The query whose answer the paper's method keeps."""
        return self.pattern_text or self.text


@dataclass(frozen=True)
class Workload:
    """Data with tasks, one after the other."""

    name: str
    data: tuple[FactBlock, ...]
    tasks: tuple[Task, ...]
    numbers: bool = False  # whether DuckDB gets numbers for terms, which is faster than the texts of the paper

    @property
    def size(self) -> int:
        return sum(map(len, self.data))
