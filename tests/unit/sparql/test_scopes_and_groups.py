"""Are the right variables seen, groups made, and values new for each solution?"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from tests.unit.sparql.letters import term

import everlog
from everlog.facts.terms import IRI, XSD, Literal

DATA = """@prefix : <http://e/> .
:a :p :b, :c ; :name "A" ; :age 3 .
:b :p :c ; :age 5 .
:c :p :d ; :name "C" ; :age 10 .
"""

# A query over DATA, which is the default graph and :g: the variables shown, and its solutions in order.
QUERIES: dict[str, tuple[str, list[tuple[object, ...]]]] = {
    "SELECT * { ?x :p ?y MINUS { ?y :age ?z } FILTER NOT EXISTS { ?y :q ?w } }": ("xy", [("c", "d")]),
    "SELECT * { GRAPH ?g { ?x :age 3 FILTER(!BOUND(?g)) } }": ("gx", [("g", "a")]),
    "SELECT ?x { GRAPH ?g { ?x :age 3 MINUS { ?y :age 3 } } }": ("x", [("a",)]),
    "SELECT ?x { GRAPH ?g { ?x :age ?a FILTER EXISTS { ?x :p ?y FILTER(?a > 5) } } }": ("x", [("c",)]),
    # Inside EXISTS what is bound around it has its value wherever it can be seen.
    "SELECT ?x { ?x :age ?a FILTER EXISTS { { ?y :age ?b FILTER(?b = ?a + 2) } UNION { ?y :q ?b } } }": ("x", [("a",)]),
    "SELECT ?x { ?x :age ?a FILTER EXISTS { ?x :p ?y BIND(?a + 2 AS ?b) ?y :age ?b } }": ("x", [("a",)]),
    "SELECT ?x { ?x :age ?a FILTER EXISTS { :a :p ?y OPTIONAL { ?y :age ?b FILTER(?b > ?a) } FILTER(!BOUND(?b)) } }": (
        "x",
        [("b",), ("c",)],
    ),
    "SELECT ?x { ?x :age ?a FILTER EXISTS { :a :p ?y MINUS { ?x :p ?y } } }": ("x", [("b",), ("c",)]),
    "SELECT ?x { ?x :age ?a FILTER EXISTS { :a :p ?y MINUS { ?z :q ?x } } }": ("x", [("a",), ("b",), ("c",)]),
    "SELECT ?x { ?x :age ?a FILTER EXISTS { SELECT ?a { ?y :age ?b FILTER(?b = ?a + 2) } } }": ("x", [("a",)]),
    "SELECT ?x { ?x :age ?a FILTER EXISTS { SELECT ?y { ?y :age ?b FILTER(?b = ?a + 2) } } }": ("x", []),
    "SELECT ?x { ?x :p ?y FILTER EXISTS { SELECT ?x { ?x :p ?z } GROUP BY ?x HAVING(COUNT(*) > 1) } }": (
        "x",
        [("a",), ("a",)],
    ),
    "SELECT ?x { BIND(7 AS ?x) FILTER EXISTS { ?x :p* ?y } }": ("x", [(7,)]),
    "SELECT ?g { GRAPH ?g { ?x :age 3 FILTER EXISTS { GRAPH ?h { ?x :p* ?y } FILTER(?y = :d) } } }": ("g", [("g",)]),
    "SELECT ?g ?n { GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?x :none ?y } } }": ("gn", [("g", 0)]),
    "SELECT (AVG(?x) AS ?n) (MIN(?x) AS ?m) { ?x :none ?y }": ("nm", [(0, None)]),
    "SELECT (AVG(?x) AS ?n) { ?x :none ?y } GROUP BY ?y": ("n", []),
    "SELECT (COUNT(DISTINCT *) AS ?n) (COUNT(*) AS ?m) { { ?x :age 3 } UNION { ?x :name 'A' } }": ("nm", [(1, 2)]),
    "SELECT (<urn:everlog:median>(?a) AS ?n) { ?x :age ?a }": ("n", [(5,)]),
    "SELECT (<urn:everlog:median>(DISTINCT ?a) AS ?n) { ?x :p ?y ; :age ?a FILTER(?a < 9) }": ("n", [(Decimal(4),)]),
    "SELECT (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY (STR(?x)) ORDER BY ?n": ("n", [(1,), (1,), (2,)]),
    "SELECT (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY ?x HAVING (?x = :a)": ("n", [(2,)]),
    "SELECT ?x (EXISTS { ?x :name ?n } AS ?e) { ?x :age 5 }": ("xe", [("b", False)]),
    "SELECT ?x { ?x !^:p :b }": ("x", [(5,)]),
    "SELECT ?x { VALUES ?x { -1.50 UNDEF 'UNDEF' } }": (
        "x",
        [(None,), (Literal("-1.50", XSD + "decimal"),), ("UNDEF",)],
    ),
    "SELECT (isIRI(?x + 1) AS ?y) { ?x :age 3 }": ("y", [(None,)]),
    "SELECT (COALESCE() AS ?x) (CONCAT() AS ?y) {}": ("xy", [(None, "")]),
    "SELECT ?x { ?x :age ?a FILTER(false) }": ("x", []),
    "BASE <http://b/> SELECT (IRI('x') AS ?x) {}": ("x", [(IRI("http://b/x"),)]),
    "SELECT (NOW() = NOW() AS ?x) {}": ("x", [(True,)]),
    "SELECT (COUNT(DISTINCT ?r) AS ?n) { ?x :age ?a BIND(RAND() AS ?r) }": ("n", [(3,)]),
    "SELECT (COUNT(DISTINCT ?r) AS ?n) { ?x :age ?a BIND(BNODE('a') AS ?r) }": ("n", [(3,)]),
    "SELECT (BNODE('a') AS ?x) (BNODE('a') AS ?y) (?x = ?y AS ?z) (BNODE() = ?x AS ?w) { :a :age ?v }": (
        "zw",
        [(True, False)],
    ),
}


@pytest.mark.parametrize("query", QUERIES)
def test_solutions(kb: everlog.KnowledgeBase, query: str) -> None:
    names, rows = QUERIES[query]
    found = kb.query(f"PREFIX : <http://e/> {query}")
    positions = [found.names.index(name) for name in names]
    assert len(found.names) == len(names) or "BNODE" in query
    assert [tuple(row[n] for n in positions) for row in found.sorted()] == [tuple(map(term, row)) for row in rows]


def test_construct_where(kb: everlog.KnowledgeBase) -> None:
    assert len(kb.query("PREFIX : <http://e/> CONSTRUCT WHERE { ?x :p ?y }")) == 4
    assert len(kb.query("PREFIX : <http://e/> CONSTRUCT {} WHERE { ?x :p ?y }")) == 0


def test_describe_all(kb: everlog.KnowledgeBase) -> None:
    assert len(kb.query("PREFIX : <http://e/> DESCRIBE * { ?x :age 5 }")) == 2


def test_from_without_from_named(kb: everlog.KnowledgeBase) -> None:
    assert len(kb.query("SELECT * FROM <http://e/g> { GRAPH ?g { ?s ?p ?o } }")) == 0
    assert len(kb.query("SELECT * FROM <http://e/g> { ?s ?p ?o }")) == 9


def test_labels_belong_to_their_file(tmp_path: Path) -> None:
    kb = everlog.open(engine="reference")
    for name in ("one.ttl", "two.ttl"):
        (tmp_path / name).write_text("_:a <http://e/p> 1 .")
        kb.load(tmp_path / name)
    assert len(kb.query("SELECT * { ?x <http://e/p> 1 }")) == 2
