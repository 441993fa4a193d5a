"""The hypernym closure of WordNet 3.0, as a relation of two columns and as triples."""

from __future__ import annotations

import gzip
import re
from functools import cache

import pyarrow as pa

from benchmarks.datasets.shared_data import shared_data
from benchmarks.workload import Tables, Workload, as_asp, closure_sql, rules_of

HYPERNYM = "<urn:wn30:hypernym>"


@cache
def triples() -> tuple[tuple[str, str, str], ...]:
    path = shared_data("wordnet", "wordnet30-noun-verb.nt.gz")
    line = re.compile(r"(\S+) (\S+) (.+) \.$")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return tuple(found.groups() for text in lines if (found := line.match(text)))  # type: ignore[misc]


def relation(_scale: float) -> Tables:
    pairs = [(s, o) for s, p, o in triples() if p == HYPERNYM]
    return {"parent": pa.table({"x": [x for x, _ in pairs], "y": [y for _, y in pairs]})}


def rdf(_scale: float) -> Tables:
    s, p, o = zip(*triples(), strict=True)
    return {"triple": pa.table({"s": list(s), "p": list(p), "o": list(o)})}


RELATION = Workload(
    name="wordnet",
    title="WordNet hypernym closure",
    data=relation,
    counts={"ancestor": 698_587},
    derivations=718_868,
    program="forest",
    sql=(closure_sql("SELECT x, y FROM given.parent", "ancestor"),),
    asp=as_asp(rules_of("forest")),
)

TRIPLES = Workload(
    name="wordnet_triples",
    title="WordNet hypernym closure, as triples",
    data=rdf,
    counts={"triple": 216_363 + 698_587},
    derivations=718_868,
    sql=(
        closure_sql("SELECT s, o FROM given.triple WHERE p = {<urn:wn30:hypernym>}", "ancestor"),
        "CREATE TABLE triple AS SELECT s, p, o FROM given.triple"
        " UNION ALL SELECT x, {<urn:wn30:ancestor>}, y FROM ancestor",
    ),
    asp="""
        triple(X, "<urn:wn30:ancestor>", Y) :- triple(X, "<urn:wn30:hypernym>", Y).
        triple(X, "<urn:wn30:ancestor>", Z) :-
            triple(X, "<urn:wn30:ancestor>", Y), triple(Y, "<urn:wn30:hypernym>", Z).
    """,
)
