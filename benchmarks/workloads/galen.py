"""GALEN, a medical ontology, classified by the rules of the EL calculus: mutual recursion with joins of five atoms."""

from __future__ import annotations

import csv
import gzip

import pyarrow as pa

from benchmarks.datasets.shared_data import shared_data
from benchmarks.workload import Tables, Target, Workload, as_asp, rules_of

ARITIES = {"isMainClass": 1, "isSubClass": 1, "conj": 3, "exists": 3, "subClassOf": 2, "subProp": 2, "subPropChain": 3}


def data(_scale: float) -> Tables:
    tables = {}
    for file, arity in ARITIES.items():
        with gzip.open(shared_data("galen-el", f"{file}.csv.gz"), "rt", encoding="utf-8", newline="") as lines:
            rows = list(csv.reader(lines))
        columns = {f"c{i}": pa.array([row[i] for row in rows], pa.string()) for i in range(arity)}
        tables["nf" + file[0].upper() + file[1:]] = pa.table(columns)
    return tables


WORKLOAD = Workload(
    name="galen",
    title="GALEN, EL calculus",
    data=data,
    counts={"init": 25_963, "subClassOf": 1_091_144, "ex": 309_713, "mainSubClassOf": 455_126},
    asp=as_asp(rules_of("galen")),
    why_no_sql="mutual recursion is not in SQL",
    target=Target(seconds=3.0),
)
