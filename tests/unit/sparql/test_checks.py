"""Is what SPARQL forbids refused, with the culprit named?"""

from __future__ import annotations

import pytest

from everlog.errors import SparqlError
from everlog.sparql.parsing import parse_query, parse_update

REFUSED = {
    "SELECT * { ?s ?p ?o BIND(1 AS ?o) }": "BIND gives ?o a value",
    "SELECT (1 AS ?x) (2 AS ?x) {}": "SELECT gives ?x a value",
    "SELECT (1 AS ?s) { ?s ?p ?o }": "SELECT gives ?s a value",
    "SELECT ?o { ?s ?p ?o } GROUP BY ?s": "?o is neither grouped",
    "SELECT ?s (COUNT(?o) AS ?n) { ?s ?p ?o }": "?s is neither grouped",
    "SELECT (?o + 1 AS ?n) { ?s ?p ?o } GROUP BY ?s": "?o is neither grouped",
    "SELECT * { ?s ?p ?o } GROUP BY ?s": "SELECT *",
    "SELECT * { _:a ?p ?o OPTIONAL { _:a ?q ?r } }": "_:a stands in two patterns",
    "SELECT * { VALUES (?x ?y) { (1) } }": "1 values for 2 variables",
    'SELECT ("\\uD800" AS ?x) {}': "surrogate",
    "DELETE { ?s ?p [] } WHERE { ?s ?p ?o }": "DELETE names a blank node",
    "INSERT DATA { ?s <x:p> <x:o> }": "?s stands in data",
    "INSERT DATA { _:a <x:p> 1 } ; INSERT DATA { _:a <x:p> 2 }": "_:a stands in two patterns",
}

ALLOWED = (
    "SELECT ?s (COUNT(?o) AS ?n) (?n + 1 AS ?m) { ?s ?p ?o } GROUP BY ?s",
    "SELECT ?x { ?s ?p ?o } GROUP BY (STR(?o) AS ?x)",
    "SELECT ?s ?s { ?s ?p ?o }",
    "SELECT * { _:a ?p ?o FILTER(?o > 1) _:a ?q ?r }",
    "SELECT * { { ?s ?p ?o } MINUS { ?x ?y ?z } BIND(1 AS ?z) }",
    "SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s HAVING (COUNT(*) > (1))",
)


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    parse = parse_query if text.startswith("SELECT") else parse_update
    with pytest.raises(SparqlError) as caught:
        parse(text)
    assert REFUSED[text] in caught.value.message


@pytest.mark.parametrize("text", ALLOWED)
def test_allowed(text: str) -> None:
    parse_query(text)
