"""A join of three random relations between layers of nodes: 2.7 M paths, no recursion."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from benchmarks.workload import Tables, Workload, as_asp, rules_of

NODES, DEGREE, SEED = 100_000, 3, 11


def data(scale: float) -> Tables:
    random = np.random.RandomState(SEED)
    nodes = int(NODES * scale)
    tables = {}
    for layer, relation in enumerate(("first", "second", "third")):
        pairs = np.unique(random.randint(0, nodes * nodes, size=nodes * DEGREE, dtype=np.int64))
        pairs = pairs[random.permutation(len(pairs))]
        tables[relation] = pa.table({"x": pairs // nodes + layer * nodes, "y": pairs % nodes + (layer + 1) * nodes})
    return tables


WORKLOAD = Workload(
    name="three_hop",
    title="three-hop join (300,000 edges a hop)",
    data=data,
    counts={"reach": 2_695_558},
    derivations=2_696_195,
    sql=(
        "CREATE TABLE reach AS SELECT DISTINCT a.x, c.y FROM given.first a"
        " JOIN given.second b ON a.y = b.x JOIN given.third c ON b.y = c.x",
    ),
    asp=as_asp(rules_of("three_hop")),
    scales=True,
    tiny=0.01,
)
