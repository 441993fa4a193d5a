"""Transitive closure of a random graph: 2,000 nodes, 4,000 distinct edges, mostly one strongly connected component."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from benchmarks.workload import Tables, Target, Workload, as_asp, closure_sql, rules_of

NODES, EDGES, SEED = 2_000, 4_000, 1


def random_edges(nodes: int, edges: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct random pairs without loops. RandomState's stream is frozen, so that a seed means one graph for good."""
    drawn = np.random.RandomState(seed).randint(0, nodes * nodes, size=edges * 2 + 64)
    _, first = np.unique(drawn, return_index=True)
    pairs = drawn[np.sort(first)]
    pairs = pairs[pairs // nodes != pairs % nodes][:edges]
    return pairs // nodes, pairs % nodes


def data(scale: float) -> Tables:
    """Above scale 1, disjoint copies: ten times the graph, not a graph with ten times the degree."""
    if scale < 1:
        x, y = random_edges(int(NODES * scale), int(EDGES * scale), SEED)
        return {"edge": pa.table({"x": x, "y": y})}
    parts = [random_edges(NODES, EDGES, SEED) for _ in range(int(scale))]
    x = np.concatenate([part[0] + i * NODES for i, part in enumerate(parts)])
    y = np.concatenate([part[1] + i * NODES for i, part in enumerate(parts)])
    return {"edge": pa.table({"x": x, "y": y})}


WORKLOAD = Workload(
    name="closure",
    title="closure of a random graph (2,000 nodes, 4,000 edges)",
    data=data,
    counts={"path": 2_550_470},
    derivations=5_010_644,
    sql=(closure_sql("SELECT x, y FROM given.edge", "path"),),
    asp=as_asp(rules_of("closure")),
    scales=True,
    tiny=0.05,
    target=Target(derivations_per_second=8e6, no_slower_than=("duckdb:2", "duckdb:2,count")),
)
