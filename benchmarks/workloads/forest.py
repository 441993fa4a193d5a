"""Ancestors in a forest of random trees: shallow, as in WordNet; ten times the trees is ten times the work."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from benchmarks.workload import Tables, Workload, as_asp, closure_sql, rules_of

TREES, NODES, SEED = 100, 1_000, 7


def parents(trees: int, nodes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(child, parent) of random recursive trees: each node's parent is any node before it in its tree."""
    random = np.random.RandomState(seed)
    child = np.arange(1, nodes)
    columns = [
        (child + tree * nodes, (random.random_sample(nodes - 1) * child).astype(np.int64) + tree * nodes)
        for tree in range(trees)
    ]
    return np.concatenate([c for c, _ in columns]), np.concatenate([p for _, p in columns])


def data(scale: float) -> Tables:
    x, y = parents(max(1, int(TREES * scale)), NODES, SEED)
    return {"parent": pa.table({"x": x, "y": y})}


WORKLOAD = Workload(
    name="forest",
    title="ancestors in a forest (100 trees of 1,000 nodes)",
    data=data,
    counts={"ancestor": 651_712},
    derivations=651_712,
    sql=(closure_sql("SELECT x, y FROM given.parent", "ancestor"),),
    asp=as_asp(rules_of("forest")),
    scales=True,
    tiny=0.02,
)
