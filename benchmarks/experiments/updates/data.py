"""Which small updates are measured beside other systems? Edges come and go in trees, graphs, chains and cliques."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.datasets.knowledge import ANCESTORS, Knowledge, block_of

Edge = tuple[int, int]
Edges = list[Edge]

PATHS = "path(X, Y) :- edge(X, Y).   path(X, Z) :- path(X, Y), edge(Y, Z)."
NEIGHBOURS = """
    hasNeighbour(X, Y) :- hasNeighbour(Y, X).
    hasNeighbour(X, Y) :- hasNeighbour(X, Z), hasNeighbour(Z, Y), X != Y.
"""


@dataclass(frozen=True)
class Edits:
    """A graph and an endless stream of updates to it: the edges that go, and those that come."""

    knowledge: Knowledge
    relation: str  # of the edges
    derived: str  # the relation that other systems are asked for
    edges: Edges
    updates: Callable[[], Iterator[tuple[Edges, Edges]]]
    base_sql: str = "SELECT x, y FROM edge"  # what SQL closes, step by step
    guard_sql: str = ""
    only_deletions: bool = False  # updates that put something back are not what is measured
    target: float | None = None  # seconds for an update that are asked for
    share: float | None = None  # of the time from scratch that is asked for
    times_duckdb: float | None = None  # from scratch, at most so many times what DuckDB takes


def tree(nodes: int = 20_000, changed: int = 10, seed: int = 7) -> Edits:
    """Ancestors in a random tree; an update moves nodes to other parents."""
    child = np.arange(1, nodes)
    parent = (np.random.RandomState(seed).random_sample(nodes - 1) * child).astype(np.int64)

    def updates() -> Iterator[tuple[Edges, Edges]]:
        random, above = np.random.RandomState(seed + 1), dict(zip(child.tolist(), parent.tolist(), strict=True))
        while True:
            moved = random.choice(child, changed, replace=False).tolist()
            gone = [(node, above[node]) for node in moved]
            above.update((node, int(random.randint(0, node))) for node in moved)
            yield gone, [(node, above[node]) for node in moved]

    knowledge = Knowledge("tree", f"a tree of {nodes:,} nodes", ANCESTORS, (block_of("parent", child, parent),))
    edges = list(zip(child.tolist(), parent.tolist(), strict=True))
    return Edits(knowledge, "parent", "ancestor", edges, updates, target=0.001)


def graph(nodes: int = 2_000, edges: int = 4_000, changed: int = 10, seed: int = 1) -> Edits:
    """Paths in a random graph, most of it one strongly connected component; an update moves edges anywhere."""
    random = np.random.RandomState(seed)
    start = list(dict.fromkeys(_edge(random, nodes) for _ in range(2 * edges)))[:edges]

    def updates() -> Iterator[tuple[Edges, Edges]]:
        random, present = np.random.RandomState(seed + 1), dict.fromkeys(start)
        while True:
            listed = list(present)
            gone = [listed[number] for number in random.choice(len(listed), changed, replace=False)]
            come = [edge for edge in (_edge(random, nodes) for _ in range(4 * changed)) if edge not in present]
            come = list(dict.fromkeys(come))[:changed]
            for edge in gone:
                del present[edge]
            present.update(dict.fromkeys(come))
            yield gone, come

    blocks = (block_of("edge", *zip(*start, strict=True)),)
    knowledge = Knowledge("graph", f"a graph of {nodes:,} nodes and {edges:,} edges", PATHS, blocks)
    return Edits(knowledge, "edge", "path", start, updates, target=0.1, share=1 / 3)


def chain(length: int = 400) -> Edits:
    """A symmetric and transitive relation over a chain; an update takes its last edge, the next one puts it back."""
    start = [(number, number + 1) for number in range(length - 1)]

    def updates() -> Iterator[tuple[Edges, Edges]]:
        while True:
            yield [start[-1]], []
            yield [], [start[-1]]

    title = f"a symmetric-transitive chain of {length}"
    return replace(_symmetric("chain", title, start, updates), target=0.005, times_duckdb=2.0)


def clique(members: int = 300, seed: int = 2) -> Edits:
    """The same over a clique that three random edges a member hold together: it can spare the one that goes."""
    random = np.random.RandomState(seed)
    start = [(node, int(other)) for node in range(3, members) for other in random.choice(node, 3, replace=False)]
    start = [(0, 1), (1, 2), (0, 2), *start]

    def updates() -> Iterator[tuple[Edges, Edges]]:
        random = np.random.RandomState(seed + 1)
        while True:
            edge = start[random.randint(3, len(start))]
            yield [edge], []
            yield [], [edge]

    title = f"a symmetric-transitive clique of {members}"
    return replace(_symmetric("clique", title, start, updates), only_deletions=True, share=0.01)


def _symmetric(name: str, title: str, start: Edges, updates: Callable[[], Iterator[tuple[Edges, Edges]]]) -> Edits:
    """Edits of a symmetric and transitive relation, whose explicit facts and closure have one name."""
    blocks = (block_of("hasNeighbour", *zip(*start, strict=True)),)
    return Edits(
        Knowledge(name, title, NEIGHBOURS, blocks),
        "hasNeighbour",
        "hasNeighbour",
        start,
        updates,
        base_sql="SELECT x, y FROM edge UNION SELECT y, x FROM edge",
        guard_sql=" WHERE c.x <> b.y",
    )


def _edge(random: np.random.RandomState, nodes: int) -> Edge:
    first, second = random.choice(nodes, 2, replace=False)
    return int(first), int(second)
