"""What does a SUM for each product cost as products grow? The paper's section 5.3.

Each of m products has n numbers; an update deletes five numbers of each of ten products and inserts five others.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.datasets.ntriples import Numbers, joined
from benchmarks.experiments.sparql.systems.counting_sql import Bgp, Sum
from benchmarks.experiments.sparql.triples import Edit, Triple, block
from benchmarks.experiments.sparql.workload import Task, Workload
from benchmarks.experiments.sparql.workloads.shop import BSBM, INSTANCES

PRODUCTS, CHANGED = 10, 5  # in an update
_VALUE = BSBM + "productPropertyNumeric1"
_TEXT = f"SELECT ?p (SUM(?value) AS ?total) WHERE {{ ?p <{_VALUE}> ?value }} GROUP BY ?p"
_MOST = 1_000_000  # numbers lie below it


def sums(products: int, numbers: int, cycles: int) -> Workload:
    """Sums over so many numbers of each of so many products."""
    random = np.random.RandomState(products + numbers)
    # Numbers of one product differ: a random start, and steps between them.
    steps = random.randint(1, _MOST // (numbers + CHANGED), (products, numbers))
    values = steps.cumsum(axis=1)
    of = np.repeat(np.arange(1, products + 1), numbers)
    data = block(joined(f"<{INSTANCES}Product", of), _VALUE, joined("^integer ", values.ravel()))
    pattern = Sum(Bgp((("?p", _VALUE, "?value"),)), "p", "value")
    edits = [[edit] for edit in _edits(values, cycles, random)]
    name = f"SUM, {products:,} products with {numbers} numbers"
    return Workload(name, (data,), (Task(name, _TEXT, pattern, edits),))


def _edits(values: Numbers, count: int, random: np.random.RandomState) -> Iterator[Edit]:
    for number in range(count):
        delete: list[Triple] = []
        insert: list[Triple] = []
        for product in random.choice(len(values), PRODUCTS, replace=False).tolist():
            for place in random.choice(values.shape[1], CHANGED, replace=False).tolist():
                fresh = _MOST + number * CHANGED + len(insert) % CHANGED  # above all others of the product
                delete.append(_triple(product, int(values[product, place])))
                insert.append(_triple(product, fresh))
                values[product, place] = fresh
        yield Edit("50 out, 50 in", delete, insert)


def _triple(product: int, value: int) -> Triple:
    return f"<{INSTANCES}Product{product + 1}", f"<{_VALUE}", f"^integer {value}"
