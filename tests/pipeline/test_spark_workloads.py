"""Does the Spark engine count what the columnar engine counts, on more than a story's worth of facts?

The benchmarks' workloads, at full size where the issue is one of size, and smaller where it is one of shape; at night.
"""

from __future__ import annotations

import pytest
from benchmarks.datasets.shared_data import DataMissing
from benchmarks.systems.everlog import write_triples
from benchmarks.workload import Tables, Workload
from benchmarks.workloads import BY_NAME
from pyspark.sql import SparkSession

import everlog

pytestmark = [pytest.mark.spark, pytest.mark.nightly, pytest.mark.xdist_group("spark")]

FULL = ("rs1", "rs2", "rs3", "wordnet", "wordnet_triples", "debian")
SMALLER = {
    "closure": 0.3,
    "forest": 0.2,
    "chain": 0.2,
    "three_hop": 0.1,
    "hierarchy": 0.05,
    "memory_pairs": 0.01,
    "memory_triples": 0.02,
}
# Programs that the workloads do not have: negation, aggregates and comparisons over a graph.
SHAPES = {
    "same generation": "same(X, Y) :- edge(P, X), edge(P, Y), X != Y.  "
    "same(X, Y) :- edge(A, X), same(A, B), edge(B, Y).",
    "unreachable": "path(X, Y) :- edge(X, Y).  path(X, Z) :- path(X, Y), edge(Y, Z).  node(X) :- edge(X, _).  "
    "apart(X, Y) :- node(X), node(Y), not path(X, Y).",
    "both ways": "path(X, Y) :- edge(X, Y).  path(X, Z) :- path(X, Y), path(Y, Z).",
    "triangles": "triangle(X, Y, Z) :- edge(X, Y), edge(Y, Z), edge(Z, X), X < Y, X < Z.",
    "totals": "all(X, N, S, A, M) :- AGGREGATE(edge(X, Y) ON X BIND COUNT(Y) AS N BIND SUM(Y) AS S BIND AVG(Y) AS A "
    "BIND MEDIAN(Y) AS M).",
    "least and greatest": "ends(X, L, G) :- AGGREGATE(edge(X, Y) ON X BIND MIN(Y) AS L BIND MAX(Y) AS G).",
}


def loaded(engine: str, rules: str, tables: Tables) -> everlog.KnowledgeBase:
    kb = everlog.open(engine=engine)
    plain = {name: table for name, table in tables.items() if name != "triple" and len(table)}
    if plain:
        kb.update(insert=plain)
    if "triple" in tables:
        file = write_triples(tables["triple"])
        kb.load(file)
        file.unlink()
    kb.add_rules(rules)
    return kb


def tables_of(workload: Workload, scale: float) -> Tables:
    try:
        return workload.data(scale)
    except DataMissing as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("name", FULL)
def test_full_size(name: str, spark: SparkSession) -> None:
    workload = BY_NAME[name]
    kb = loaded("spark", workload.rules, tables_of(workload, 1))
    assert {relation: len(kb.facts(relation)) for relation in workload.counts} == dict(workload.counts)


@pytest.mark.parametrize("name", SMALLER)
def test_smaller(name: str, spark: SparkSession) -> None:
    workload = BY_NAME[name]
    tables = tables_of(workload, SMALLER[name])
    ours, theirs = loaded("spark", workload.rules, tables), loaded("columnar", workload.rules, tables)
    for relation in workload.counts:
        assert set(ours.facts(relation)) == set(theirs.facts(relation))


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name: str, spark: SparkSession) -> None:
    tables = BY_NAME["closure"].data(0.1)
    ours, theirs = loaded("spark", SHAPES[name], tables), loaded("columnar", SHAPES[name], tables)
    for relation in ("same", "apart", "path", "triangle", "all", "ends"):
        if f"{relation}(" in SHAPES[name]:
            assert set(ours.facts(relation)) == set(theirs.facts(relation))
