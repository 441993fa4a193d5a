"""Does each form of SPARQL Update do what it says, and nothing if it fails?"""

from __future__ import annotations

from pathlib import Path

import pytest

import everlog
from everlog.errors import EverlogError, SparqlError
from everlog.facts.terms import IRI, BlankNode

PREFIX = "PREFIX : <http://e/> "


def iri(name: str) -> IRI:
    return IRI(f"http://e/{name}")


def short(term: object) -> object:
    return term.value.removeprefix("http://e/") if isinstance(term, IRI) else term


def state(kb: everlog.KnowledgeBase) -> set[tuple[object, ...]]:
    known = {info.name for info in kb.relations()}
    facts = [row for name in ("triple", "quad") if name in known for row in kb.facts(name)]
    return {tuple(map(short, row)) for row in facts}


@pytest.fixture(params=["columnar", "reference"])
def kb(request: pytest.FixtureRequest) -> everlog.KnowledgeBase:
    kb = everlog.open(engine=request.param)
    kb.sparql_update(PREFIX + "INSERT DATA { :a :p 1 . :b :p 2 . GRAPH :g { :c :p 3 } }")
    return kb


START = {("a", "p", 1), ("b", "p", 2), ("c", "p", 3, "g")}

# A request, what it takes away from START, and what it adds.
REQUESTS = {
    "DELETE DATA { :a :p 1 . :x :y :z }": ({("a", "p", 1)}, set()),
    "DELETE DATA { GRAPH :g { :c :p 3 } }": ({("c", "p", 3, "g")}, set()),
    "DELETE { ?x :p ?y } INSERT { ?x :q ?z } WHERE { ?x :p ?y FILTER(?y > 1) BIND(?y + 1 AS ?z) }": (
        {("b", "p", 2)},
        {("b", "q", 3)},
    ),
    "DELETE WHERE { ?x :p 1 }": ({("a", "p", 1)}, set()),
    "DELETE WHERE { GRAPH ?g { ?x ?p ?y } }": ({("c", "p", 3, "g")}, set()),
    "WITH :g DELETE { ?x :p ?y } INSERT { ?x :q ?y } WHERE { ?x :p ?y }": (
        {("c", "p", 3, "g")},
        {("c", "q", 3, "g")},
    ),
    "INSERT { GRAPH ?x { ?x :p ?y } } WHERE { ?x :p ?y }": (set(), {("a", "p", 1, "a"), ("b", "p", 2, "b")}),
    "INSERT { ?x :r ?y } USING :g WHERE { ?x :p ?y }": (set(), {("c", "r", 3)}),
    "CLEAR DEFAULT": ({("a", "p", 1), ("b", "p", 2)}, set()),
    "CLEAR GRAPH :g": ({("c", "p", 3, "g")}, set()),
    "CLEAR NAMED": ({("c", "p", 3, "g")}, set()),
    "DROP ALL": (START, set()),
    "CREATE GRAPH :new": (set(), set()),
    "ADD DEFAULT TO :h": (set(), {("a", "p", 1, "h"), ("b", "p", 2, "h")}),
    "COPY :g TO DEFAULT": ({("a", "p", 1), ("b", "p", 2)}, {("c", "p", 3)}),
    "MOVE :g TO :h": ({("c", "p", 3, "g")}, {("c", "p", 3, "h")}),
    "INSERT DATA { :d :p 4 } ; DELETE { ?x :p ?y } WHERE { ?x :p ?y FILTER(?y > 1) }": ({("b", "p", 2)}, set()),
}


@pytest.mark.parametrize("request_", REQUESTS)
def test_request(kb: everlog.KnowledgeBase, request_: str) -> None:
    gone, new = REQUESTS[request_]
    kb.sparql_update(PREFIX + request_)
    assert state(kb) == (START - gone) | new
    assert not kb.verify().differences


def test_blank_nodes_are_new_for_each_solution(kb: everlog.KnowledgeBase) -> None:
    kb.sparql_update(PREFIX + "INSERT { ?x :has _:n . _:n :is ?y } WHERE { ?x :p ?y }")
    kb.sparql_update(PREFIX + "INSERT { :all :has [] } WHERE { ?x :p ?y }")
    found = {node for _, _, node in kb.facts("triple") if isinstance(node, BlankNode)}
    assert len(found) == 4


def test_terms_that_python_takes_for_equal_are_several() -> None:
    kb = everlog.open()
    (change,) = kb.sparql_update("INSERT DATA { <urn:a> <urn:p> 1, true, 1.0, 1 }")
    assert change.report.inserted == 3
    kb.sparql_update("INSERT { ?s <urn:q> ?o } WHERE { ?s <urn:p> ?o }")
    assert len(kb.facts("triple")) == 6
    graph = kb.query("CONSTRUCT WHERE { ?s <urn:q> ?o }")
    assert len(graph) == 3 and (IRI("urn:a"), IRI("urn:q"), 1) in graph
    assert (IRI("urn:a"), IRI("urn:q"), 1.0) not in graph


def test_a_request_that_fails_is_undone(kb: everlog.KnowledgeBase) -> None:
    with pytest.raises(SparqlError, match="no folder was named"):
        kb.sparql_update(PREFIX + "DELETE DATA { :a :p 1 } ; INSERT DATA { :b :p 2 . :n :p 5 } ; LOAD <data.ttl>")
    assert state(kb) == START


def test_load(kb: everlog.KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "data.ttl").write_text("<http://e/n> <http://e/p> 5 .")
    kb.sparql_update("LOAD <data.ttl> INTO GRAPH <http://e/h>", load_from=tmp_path)
    assert state(kb) == START | {("n", "p", 5, "h")}
    for iri_ in ("http://e/data.ttl", "../data.ttl", "none.ttl"):
        with pytest.raises(EverlogError):
            kb.sparql_update(f"LOAD <{iri_}>", load_from=tmp_path / "below")
        kb.sparql_update(f"LOAD SILENT <{iri_}>", load_from=tmp_path / "below")
    assert state(kb) == START | {("n", "p", 5, "h")}


def test_what_is_abbreviated_in_a_pattern() -> None:
    kb = everlog.open()
    kb.sparql_update("PREFIX : <http://e/> INSERT DATA { :a :p 1 . :b :p 2 }")
    kb.sparql_update("PREFIX : <http://e/> DELETE { ?x :p ?y } WHERE { ?x :p ?y FILTER(false) }")
    kb.sparql_update("PREFIX : <http://e/> INSERT { ?x :q ?y } WHERE { { SELECT * { ?x :p ?y MINUS { ?x :p 1 } } } }")
    assert kb.query("PREFIX : <http://e/> ASK { :a :p 1 . :b :p 2 ; :q 2 }")
    assert len(kb.facts("triple")) == 3
