"""Are triples that are read as TriG those that SPARQL says, and is everything else left to SPARQL?"""

from __future__ import annotations

import pytest

import everlog
from everlog.errors import SparqlError
from everlog.facts.terms import BlankNode, key_of
from everlog.sparql import requests
from everlog.sparql.ground_data import read_ground_data

PLAIN = [
    "INSERT DATA { <urn:a> <urn:p> 1 }",
    "insert  data{<urn:a> <urn:p> 1, 1.0, 1e0, 01, true, 'x', \"y\"@en-GB, 'z'^^<urn:t> .}",
    "PREFIX : <urn:> PREFIX x: <urn:x#> INSERT DATA { :a a x:B ; :p :c, :d . # :comment { <\n :e x:p :f } ;",
    "BASE <http://b/> INSERT DATA { <a> <p> <#c> }",
    'PREFIX : <urn:> INSERT DATA { :a :p """a { } ? \' " # GRAPH <x\\n""" . :b :p \'PREFIX @base }\' }',
    "PREFIX : <urn:> INSERT DATA { :a :p 1 . GRAPH :g { :b :p 2 . :c :p 3 } GRAPH <urn:h> { :d :p 4 } :e :p 5 }",
    "PREFIX base: <urn:> PREFIX graph: <urn:g/> INSERT DATA { base:prefix base:p graph:graph }",
    "PREFIX : <urn:> INSERT DATA { _:b :p [ :q ( 1 2 ) ] . _:b :r _:c }",
    "PREFIX : <urn:> DELETE DATA { :kept :p 1 . GRAPH :g { :kept :p 2 } }",
    "INSERT DATA { }",
    "INSERT DATA { known:a known:p known:b }",
]
LEFT_TO_SPARQL = [
    "PREFIX : <urn:> INSERT DATA { :a :p 1 GRAPH :g { :b :p 2 } . :c :p 3 }",
    "PREFIX : <urn:> INSERT DATA { :a :p 1 } ; DELETE DATA { :kept :p 1 }",
    "# said first\nINSERT DATA { <urn:a> <urn:p> TRUE }",
]
WRONG = [
    "PREFIX : <urn:> INSERT DATA { ?x :p 1 }",
    "PREFIX : <urn:> INSERT DATA { { :a :p 1 } }",
    "PREFIX : <urn:> INSERT DATA { :g { :a :p 1 } }",
    "PREFIX : <urn:> INSERT DATA { GRAPH _:g { :a :p 1 } }",
    "PREFIX : <urn:> INSERT DATA { PREFIX x: <urn:x> x:a :p 1 }",
    "PREFIX : <urn:> INSERT DATA { @prefix x: <urn:x> . x:a :p 1 }",
    "PREFIX : <urn:> DELETE DATA { _:a :p 1 }",
    "PREFIX : <urn:> DELETE DATA { [] :p 1 }",
    "INSERT DATA { none:a none:p 1 }",
    "INSERT DATA { <urn:a b> <urn:p> 1 }",
    "INSERT DATA { <urn:a> <urn:p> }",
    "INSERT DATA { <urn:a> <urn:p> 1 . # last }",
    "INSERT DATA { # nothing }",
    'INSERT DATA { VERSION "1.2" <urn:a> <urn:p> 1 }',
    'INSERT DATA { @version "1.2" . <urn:a> <urn:p> 1 }',
]


def facts_after(text: str) -> list[list[str]]:
    """All facts, with blank nodes under one name; the requests above have few enough of them."""
    kb = everlog.open()
    kb.add_rules("PREFIX known: <urn:known/> unused(X) :- none(X).")
    kb.sparql_update("INSERT DATA { <urn:kept> <urn:p> 1 GRAPH <urn:g> { <urn:kept> <urn:p> 2 } }")
    kb.sparql_update(text)
    rows = [row for relation in ("triple", "quad") for row in kb.facts(relation)]
    return sorted(["_" if isinstance(term, BlankNode) else key_of(term) for term in row] for row in rows)


@pytest.mark.parametrize("text", PLAIN)
def test_plain_data_is_what_sparql_says(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_ground_data(text, None, {"known": "urn:known/"}, "b") is not None
    found = facts_after(text)
    monkeypatch.setattr(requests, "read_ground_data", lambda *_, **__: None)
    assert found == facts_after(text)


@pytest.mark.parametrize("text", LEFT_TO_SPARQL)
def test_other_requests_are_left_to_sparql(text: str) -> None:
    assert read_ground_data(text, None, {}, "b") is None
    facts_after(text)


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said_by_sparql(text: str) -> None:
    assert read_ground_data(text, None, {}, "b") is None
    with pytest.raises(SparqlError):
        facts_after(text)


def test_blank_nodes_of_two_requests_are_two() -> None:
    kb = everlog.open()
    for _ in range(2):
        kb.sparql_update("INSERT DATA { _:b <urn:p> 1 }")
    assert len(kb.facts("triple")) == 2
