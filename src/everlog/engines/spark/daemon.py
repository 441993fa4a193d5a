"""How do Python workers start with kernels that are loaded already?

Spark starts workers by forking a *daemon*, a Python process on each machine. This module is one (the setting
`spark.python.daemon.module`) that loads the columnar engine and its compiled kernels first, so that a worker has them
from birth: importing and loading take a while, and idle workers end after a minute. Where kernels were never compiled
on a machine, the first task compiles them, not the daemon: that may take a minute, and others wait for it.
"""

from __future__ import annotations


def load_kernels() -> bool:
    """Load what tasks use; says whether there were compiled kernels to load."""
    import numpy as np
    import pyarrow as pa

    from everlog.engines.columnar.entries import run
    from everlog.engines.columnar.native.folders import find
    from everlog.engines.interface import Phase, Shape
    from everlog.engines.spark.tasks import TaskInput, TaskOutput, TaskProgram, run_task
    from everlog.plans.delta_variants import delta_variants, full_variant
    from everlog.plans.flat_rules import FlatRule
    from everlog.rules.syntax import Atom, Variable

    if find(run.name) is None:
        return False
    x, y, z = map(Variable, "xyz")
    path = Atom("path", (x, z))
    rules = (
        FlatRule("r1", (Atom("path", (x, y)),), (Atom("edge", (x, y)),)),
        FlatRule("r2", (path,), (Atom("path", (x, y)), Atom("edge", (y, z)))),
    )
    loop = tuple(variant for rule in rules for variant in delta_variants(rule, [path]))
    phase = Phase("load", tuple(map(full_variant, rules)), loop, ("path",))
    shapes = (Shape("path", 2, ranked=True), Shape("edge", 2))
    program = TaskProgram(shapes, ((0, phase),), (TaskInput("edge", 2),), (TaskOutput("path", 0, (path,), (), ()),), 2)
    edges = {"relation": [0, 0], "c1": [8, 16], "c2": [16, 24], "explicit": [True, True]}
    schema = pa.schema([("relation", pa.int32()), ("c1", pa.int64()), ("c2", pa.int64()), ("explicit", pa.bool_())])
    found = list(run_task(program, [pa.RecordBatch.from_pydict(edges, schema)]))
    assert np.sum([batch.num_rows for batch in found]) == 3
    return True


if __name__ == "__main__":
    from pyspark.daemon import manager

    load_kernels()
    manager()
