"""The dependency closure of Debian 12, from the raw relations of its package index."""

from __future__ import annotations

import csv
import gzip

import pyarrow as pa

from benchmarks.datasets.shared_data import shared_data
from benchmarks.workload import Tables, Workload, as_asp, closure_sql, rules_of

COLUMNS = {
    "depends": ("package", "clause", "alternative", "operator", "version"),
    "package": ("name", "version", "section", "source", "priority"),
}


def data(_scale: float) -> Tables:
    tables = {}
    for relation, names in COLUMNS.items():
        path = shared_data("debian-deps", f"bookworm-{relation}.tsv.gz")
        with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
            rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
        columns = zip(*rows, strict=True)
        tables[relation] = pa.table(dict(zip(names, map(list, columns), strict=True)))
    return tables


WORKLOAD = Workload(
    name="debian",
    title="Debian dependency closure",
    data=data,
    counts={"dep": 247_686, "needs": 3_727_802},
    derivations=11_330_455,
    sql=(
        "CREATE TABLE dep AS SELECT DISTINCT d.package AS x, d.alternative AS y FROM given.depends d"
        " SEMI JOIN given.package p ON d.alternative = p.name",
        closure_sql("SELECT x, y FROM dep", "needs"),
    ),
    asp=as_asp(rules_of("debian")),
)
