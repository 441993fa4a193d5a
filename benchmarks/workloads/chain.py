"""Symmetric-transitive closure of a chain, rules as written: for 400 turbines 64 M rule instances."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from benchmarks.workload import Tables, Target, Workload, as_asp, closure_sql, rules_of

TURBINES = 400


def data(scale: float) -> Tables:
    turbine = np.arange(int(TURBINES * scale), dtype=np.int64)
    return {"hasNeighbour": pa.table({"x": turbine[:-1], "y": turbine[1:]})}


def instances(n: int) -> int:
    """x, y, z all different for the transitive rule, which also drops those with x = y; x, y for the symmetric one."""
    return n * (n - 1) * (n - 2) + 2 * n * (n - 1)


WORKLOAD = Workload(
    name="chain",
    title="symmetric-transitive chain of 400, rules as written",
    data=data,
    counts={"hasNeighbour": TURBINES * (TURBINES - 1)},
    derivations=instances(TURBINES),
    sql=(
        # SQL's recursion is linear: this is the rewritten question, not the rules as written.
        closure_sql(
            "SELECT x, y FROM given.hasNeighbour UNION SELECT y, x FROM given.hasNeighbour",
            "hasNeighbour",
            guard="c.x <> b.y",
        ),
    ),
    sql_rewritten=True,
    asp=as_asp(rules_of("chain")),
    tiny=0.1,
    target=Target(derivations_per_second=20e6),
)
