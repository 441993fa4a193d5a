"""A query whose brackets do not match says which one to close."""

from __future__ import annotations

import pytest

import everlog
from everlog.errors import SparqlError


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("SELECT ?x { ?x ?p ?o", "close the { of line 1, column 11 with }"),
        (
            "SELECT ?x WHERE {\n ?x <http://a#b> ?o .\n { ?y ?z ?x } ORDER BY ?x",
            "close the { of line 1, column 17 with }",
        ),
        ("SELECT (COUNT(?x AS ?n) { ?x ?p ?o }", "close the ( of line 1, column 8 with )"),
        ("SELECT ?x { ?x ?p ?o FILTER(?o > 3 }", "close the ( of line 1, column 28 with )"),
        ("ASK { ?x ?p '}' # }\n", "close the { of line 1, column 5 with }"),
        ("SELECT ?x { ?x a :C }", "declare it: PREFIX : <…>"),
    ],
)
def test_hints(text: str, hint: str) -> None:
    with pytest.raises(SparqlError) as raised:
        everlog.open(engine="reference").query(text)
    assert raised.value.hint == hint
