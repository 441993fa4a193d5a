"""What is a benchmark of updates run on? Rules with facts, opened afresh as often as needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from everlog.facts.blocks import FactBlock
from everlog.store.opening import open as open_kb
from everlog.store.store import KnowledgeBase

STRATEGIES = ("rematerialise", "dred", "bf", "bf-counting", "ranked", "choose")
ANCESTORS = "ancestor(X, Y) :- parent(X, Y).   ancestor(X, Z) :- ancestor(X, Y), parent(Y, Z)."


@dataclass(frozen=True)
class Knowledge:
    """Rules and the facts they start from. Facts are made once; each run opens a knowledge base of its own."""

    name: str
    title: str
    rules: str
    facts: tuple[FactBlock, ...]
    rewrites: bool = True

    def open(self, strategy: str) -> KnowledgeBase:
        kb = open_kb(strategy=strategy, rewrites=self.rewrites)
        kb.update(insert=self.facts)
        kb.add_rules(self.rules)
        return kb

    @property
    def size(self) -> int:
        return sum(len(block) for block in self.facts)

    def sample(self, count: int, seed: int) -> list[FactBlock]:
        """Some of the facts, each as likely as any other; more with one seed begin with the fewer."""
        chosen = np.random.RandomState(seed).permutation(self.size)[:count]
        found, start = [], 0
        for block in self.facts:
            inside = chosen[(chosen >= start) & (chosen < start + len(block))] - start
            if len(inside):
                found.append(picked(block, inside.tolist()))
            start += len(block)
        return found


def picked(block: FactBlock, rows: Sequence[int]) -> FactBlock:
    """These facts of a block."""
    index = pa.array(rows, pa.int64())
    return FactBlock(block.relation, tuple(column.take(index) for column in block.columns), block.form)


def block_of(relation: str, *columns: Sequence[int] | npt.NDArray[np.int64]) -> FactBlock:
    """Facts of numbers, a column for each argument."""
    return FactBlock(relation, tuple(pa.array(np.asarray(column, np.int64)) for column in columns))


def fact_counts(kb: KnowledgeBase) -> dict[str, int]:
    """How many facts each relation has."""
    return {relation.name: relation.facts for relation in kb.relations()}
