"""How many bytes does a fact take? A binary relation with two indexes, and triples with four."""

from __future__ import annotations

import pyarrow as pa

from benchmarks.workload import Tables, Target, Workload, closure_sql
from benchmarks.workloads import forest, hierarchy

TREES = 400  # 2.6 M pairs: enough that fixed costs do not show


def pairs(scale: float) -> Tables:
    x, y = forest.parents(max(1, int(TREES * scale)), forest.NODES, forest.SEED)
    return {"parent": pa.table({"x": x, "y": y})}


def triples(scale: float) -> Tables:
    """The hierarchy without its properties, and one node to ask about."""
    table = hierarchy.data(scale)["triple"]
    kept = [p in (hierarchy.TYPE, hierarchy.SUBCLASS) for p in table["p"].to_pylist()]
    return {"triple": table.filter(pa.array(kept)), "focus": pa.table({"x": ["nobody"]})}


PAIRS = Workload(
    name="memory_pairs",
    title="memory: pairs with two indexes",
    data=pairs,
    counts={"ancestor": 2_629_117},
    sql=(closure_sql("SELECT x, y FROM given.parent", "ancestor"),),
    sql_rewritten=True,
    why_no_asp="memory of a closure: see forest",
    scales=True,
    tiny=0.005,
    target=Target(bytes_per_fact=64),
)

TRIPLES = Workload(
    name="memory_triples",
    title="memory: triples with four indexes",
    data=triples,
    counts={"triple": 1_738_831},
    sql=(
        hierarchy.SQL[0],
        f"""CREATE TABLE triple AS SELECT s, p, o FROM given.triple
            UNION SELECT x, {{{hierarchy.SUBCLASS}}}, y FROM superclass
            UNION SELECT t.s, t.p, c.y FROM given.triple t JOIN superclass c ON t.o = c.x
                WHERE t.p = {{{hierarchy.TYPE}}}""",
    ),
    sql_rewritten=True,
    why_no_asp="memory of a hierarchy: see hierarchy",
    scales=True,
    tiny=0.005,
    target=Target(bytes_per_fact=100),
)
