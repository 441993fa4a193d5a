"""Does each operator of the algebra give the right solutions, as often as it should?"""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.sparql.letters import term

import everlog
from everlog.errors import NotFoundError
from everlog.facts.terms import IRI, Term

DATA = """@prefix : <http://e/> .
:a :p :b, :c ; :name "A" ; :age 3 .
:b :p :c ; :age 5 .
:c :p :d ; :name "C" .
:d :q 7 .
"""

# A query over DATA, and its solutions in order; one letter stands for an IRI, None for a variable without a value.
QUERIES = {
    "SELECT ?x ?y { ?x :p ?y }": ["ab", "ac", "bc", "cd"],
    "SELECT ?x { ?x :p ?y }": ["a", "a", "b", "c"],
    "SELECT DISTINCT ?x { ?x :p ?y }": ["a", "b", "c"],
    "SELECT ?x ?n { ?x :p :c OPTIONAL { ?x :name ?n } }": [("a", "A"), ("b", None)],
    "SELECT ?x ?n { ?x :p ?y OPTIONAL { ?y :age ?n FILTER(?n > 9) } }": [
        ("a", None),
        ("a", None),
        ("b", None),
        ("c", None),
    ],
    "SELECT ?x ?z { { ?x :p :d } UNION { ?x :q ?z } }": [("c", None), ("d", 7)],
    "SELECT ?x { ?x :p ?y MINUS { ?x :name ?n } }": ["b"],
    "SELECT ?x { ?x :p ?y MINUS { ?z :name ?n } }": ["a", "a", "b", "c"],
    "SELECT ?x { ?x :p ?y FILTER NOT EXISTS { ?y :p ?z } }": ["c"],
    "SELECT ?x { ?x :p ?y FILTER (EXISTS { ?y :name ?n } || ?y = :d) }": ["a", "b", "c"],
    "SELECT ?x { ?x :age ?a FILTER EXISTS { ?x :p ?y FILTER(?a > 3) } }": ["b"],
    "SELECT ?x ?e { ?x :age ?a BIND(EXISTS { ?x :name ?n } AS ?e) }": [("a", True), ("b", False)],
    "SELECT ?x (COUNT(?y) AS ?n) { ?x :p ?y } GROUP BY ?x HAVING (COUNT(*) > 1)": [("a", 2)],
    "SELECT (SUM(?a) AS ?s) (MAX(?b) AS ?m) { ?x :age ?a OPTIONAL { ?x :none ?b } }": [(8, None)],
    "SELECT (COUNT(*) AS ?n) { ?x :none ?y }": [(0,)],
    "SELECT ?x ?b { ?x :age ?a BIND(10 / (?a - 3) AS ?b) }": [("a", None), ("b", 5)],
    "SELECT ?y { :a :p* ?y }": ["a", "b", "c", "d"],
    "SELECT ?x { ?x :p+ :d }": ["a", "b", "c"],
    "SELECT ?x ?y { ?x (:p/:p)|^:q ?y }": [("a", "c"), ("a", "d"), ("b", "d"), (7, "d")],
    "SELECT ?x { ?x !(:p|:name) ?y }": ["a", "b", "d"],
    "SELECT ?x ?n { VALUES (?x ?n) { (:a UNDEF) (:b 5) } ?x :age ?n }": [("a", 3), ("b", 5)],
    "SELECT ?x ?n { ?x :p :d { SELECT (COUNT(?x) AS ?n) { ?x :p ?y } } }": [("c", 4)],
    "SELECT ?x { ?x :age ?a } ORDER BY DESC(?a) LIMIT 1": ["b"],
    "SELECT ?x { ?x :p ?y } ORDER BY EXISTS { ?y :p ?z } LIMIT 1": ["c"],
}


@pytest.mark.parametrize("query", QUERIES)
def test_solutions(kb: everlog.KnowledgeBase, query: str) -> None:
    expected = [tuple(term(value) for value in row) for row in QUERIES[query]]
    found = kb.query(f"PREFIX : <http://e/> {query}")
    assert found.sorted() == expected


def test_ask(kb: everlog.KnowledgeBase) -> None:
    assert kb.query("ASK { <http://e/a> <http://e/p> ?x }")
    assert not kb.query("ASK { <http://e/d> <http://e/p> ?x }")


def test_construct(kb: everlog.KnowledgeBase) -> None:
    graph = kb.query("PREFIX : <http://e/> CONSTRUCT { ?y :from ?x } WHERE { ?x :p ?y . ?x :age 5 }")
    assert list(graph) == [(term("c"), IRI("http://e/from"), term("b"))]


def test_values_for_variables(kb: everlog.KnowledgeBase) -> None:
    found = kb.query("SELECT ?x ?y { ?x <http://e/p> ?y }", bindings={"x": term("b")})
    assert list(found) == [(term("b"), term("c"))]


def test_texts_and_names_are_taken_as_they_are_written(kb: everlog.KnowledgeBase) -> None:
    """rdflib makes spaces of tabs and keeps the backslash of an escape in a name."""
    assert list(kb.query("SELECT (STRLEN('a\tb') AS ?n) {}")) == [(3,)]
    kb.sparql_update("PREFIX : <http://e/> INSERT DATA { :x :said :c\\-d }")
    assert list(kb.query("PREFIX : <http://e/> SELECT ?y { ?x :said ?y . ?x :said :c\\-d }")) == [(term("c-d"),)]


GIVEN: dict[str, tuple[dict[str, Term], list[Any]]] = {
    "SELECT ?x { ?x :age ?a FILTER(?a > ?limit) }": ({"limit": 3}, ["b"]),
    "SELECT ?x { ?x :age ?a OPTIONAL { ?x :p ?y FILTER(?a > ?limit) } FILTER(!BOUND(?y)) }": ({"limit": 3}, ["a"]),
    "SELECT ?x { ?x :p ?y MINUS { ?x :age ?a } }": ({"a": 5}, ["a", "a", "c"]),
    "SELECT ?x { ?x :p ?y FILTER EXISTS { ?y :age ?a } }": ({"a": 5}, ["a"]),
    "SELECT ?y { ?x :q* ?y }": ({"x": IRI("http://e/nobody")}, [IRI("http://e/nobody")]),
    "SELECT ?y { ?x ((:q*)|:p)+ ?y }": ({"x": IRI("http://e/nobody")}, [IRI("http://e/nobody")]),
    "SELECT ?y { :nobody (:q?/^(:p*))+ ?y }": ({}, [IRI("http://e/nobody")]),
    "SELECT ?y { ?x (:q*/:p)+ ?y }": ({"x": IRI("http://e/nobody")}, []),
    "SELECT (?n + 1 AS ?m) {}": ({"n": 4}, [5]),
    "SELECT (COUNT(*) AS ?n) { ?x :age ?a FILTER(?a < ?limit) }": ({"limit": 5}, [1]),
}


@pytest.mark.parametrize("query", GIVEN)
def test_values_are_seen_wherever_a_variable_stands(kb: everlog.KnowledgeBase, query: str) -> None:
    bindings, expected = GIVEN[query]
    found = kb.query("PREFIX : <http://e/> " + query, bindings=bindings)
    assert found.sorted() == [(term(each),) for each in expected]


def test_values_for_a_variable_that_is_not_there(kb: everlog.KnowledgeBase) -> None:
    with pytest.raises(NotFoundError, match="no variable 'limt'"):
        kb.query("SELECT ?x { ?x ?p ?y FILTER(?y > ?limit) }", bindings={"limt": 3})
