"""What grows while an update stays the same? Data of one program that the update has nothing to do with."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.datasets.knowledge import ANCESTORS, Knowledge, block_of

Numbers = npt.NDArray[np.int64]
Rows = dict[str, list[tuple[Any, ...]]]

TREE = 1_000  # nodes
CHANGED = 10  # facts that go and come with an update

# Farms of turbines with readings: joins, an average for each turbine, and negation above it.
FARM = """
    reading(F, T, V) :- turbine(F, T), measured(T, _, V).
    mean(F, T, M) :- AGGREGATE(reading(F, T, V) ON F, T BIND AVG(V) AS M).
    hot(F, T) :- mean(F, T, M), M > 50.
    calm(F) :- farm(F), NOT warned(F).
    warned(F) :- hot(F, _).
"""
TURBINES, READINGS = 10, 20  # of a farm, of a turbine


@dataclass(frozen=True)
class Growing:
    """Data of any size, and what goes out and comes back in it, again and again."""

    name: str
    knowledge: Callable[[int], Knowledge]  # by the number of parts that have nothing to do with each other
    parts: int  # at size 1
    rows: Rows


def trees() -> Growing:
    """Ancestors in a forest; the update takes edges out of the first tree and puts them back."""
    above = _parents(0)

    def knowledge(count: int) -> Knowledge:
        child = np.concatenate([np.arange(1, TREE) + tree * TREE for tree in range(count)])
        parent = np.concatenate([_parents(tree) + tree * TREE for tree in range(count)])
        return Knowledge("trees", f"{count:,} trees", ANCESTORS, (block_of("parent", child, parent),))

    chosen = np.random.RandomState(3).choice(np.arange(1, TREE), CHANGED, replace=False).tolist()
    rows = [(node, int(above[node - 1])) for node in chosen]
    return Growing("ancestors in trees of 1,000 nodes", knowledge, 10, {"parent": rows})


def _parents(seed: int) -> Numbers:
    """For each node but the first, one before it."""
    child = np.arange(1, TREE)
    return (np.random.RandomState(seed).random_sample(TREE - 1) * child).astype(np.int64)


def farms() -> Growing:
    """Averages and negation; the update takes readings of the first farm away and puts them back."""

    def knowledge(count: int) -> Knowledge:
        farm = np.arange(count)
        turbine = np.arange(count * TURBINES)
        readings = np.arange(len(turbine) * READINGS)
        value = np.random.RandomState(1).randint(0, 100, len(readings))
        blocks = (
            block_of("farm", farm),
            block_of("turbine", turbine // TURBINES, turbine),
            block_of("measured", readings // READINGS, readings % READINGS, value),
        )
        return Knowledge("farms", f"{count:,} farms", FARM, blocks)

    measured = knowledge(1).facts[-1]  # the first farm is the same however many there are
    rows = list(zip(*(column[:CHANGED].to_pylist() for column in measured.columns), strict=True))
    return Growing("averages in farms of 10 turbines", knowledge, 50, {"measured": rows})


WINDOW = 2_000  # edges
_PAIRS = tuple(itertools.combinations(range(10), 2))


def window() -> Knowledge:
    """Edges that live for a while: short paths among those there are now."""
    edges = [_windowed(number) for number in range(WINDOW)]
    rules = """
        linked(X, Y) :- edge(X, Y).
        linked(X, Z) :- linked(X, Y), edge(Y, Z).
        degree(X, N) :- AGGREGATE(edge(X, Y) ON X BIND COUNT(Y) AS N).
        busy(X) :- degree(X, N), N > 2.
        quiet(X) :- edge(X, _), NOT busy(X).
    """
    return Knowledge("window", "a window of 2,000 edges", rules, (block_of("edge", *zip(*edges, strict=True)),))


def window_updates() -> Iterator[tuple[list[tuple[int, int]], list[tuple[int, int]]]]:
    """The oldest edge goes and a new one comes; all edges come again and again."""
    number = WINDOW
    while True:
        yield [_windowed(number - WINDOW)], [_windowed(number)]
        number += 1


def _windowed(number: int) -> tuple[int, int]:
    """Twenty of the 45 edges among ten nodes, then the next ten nodes: paths stay short, and no two are the same."""
    group, step = divmod(number % (4 * WINDOW), 20)
    first, second = _PAIRS[(7 * step + 3 * group) % len(_PAIRS)]  # 7 and 45 have no common divisor
    return 10 * group + first, 10 * group + second
