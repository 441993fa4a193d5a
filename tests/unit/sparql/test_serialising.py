"""Does what is written say the same when it is read again?"""

from __future__ import annotations

import csv
import datetime as dt
import io
from decimal import Decimal

import pyoxigraph as ox
import pytest
from tests.w3c.expected import term_key

import everlog
from everlog.errors import OutputError, UsageError
from everlog.facts.terms import IRI, XSD, BlankNode, Literal, key_of
from everlog.sparql.graphs import Graph
from everlog.sparql.serialising import solutions_text, truth_text

TERMS = [
    IRI("http://ex.org/é?a=1&b=2"),
    BlankNode("b0"),
    BlankNode("not a label"),
    "",
    'say "hi"\t\\\n\r<&>',
    Literal("colour", language="en-gb"),
    1,
    Decimal("2.5"),
    1.5e10,
    True,
    Literal("01", XSD + "integer"),
    Literal("x", XSD + "integer"),
    Literal("1.", XSD + "decimal"),
    Literal("v", "http://ex.org/t"),
    dt.date(2026, 1, 2),
]
ROWS = [(term, None) for term in TERMS] + [(None, 1), (None, None)]
FORMATS = {"json": ox.QueryResultsFormat.JSON, "xml": ox.QueryResultsFormat.XML, "tsv": ox.QueryResultsFormat.TSV}


@pytest.mark.parametrize("format", FORMATS)
def test_solutions_are_read_again(format: str) -> None:
    text = solutions_text(["x", "y"], ROWS, format)
    found = ox.parse_query_results(text.encode(), format=FORMATS[format])
    assert isinstance(found, ox.QuerySolutions)
    assert [variable.value for variable in found.variables] == ["x", "y"]
    expected = [tuple("" if term is None else _key(term) for term in row) for row in ROWS]
    assert [tuple("" if term is None else term_key(term) for term in row) for row in found] == expected


def _key(term: object) -> str:
    return "_x_6e6f742061206c6162656c" if term == BlankNode("not a label") else key_of(term)  # type: ignore[arg-type]


def test_csv() -> None:
    text = solutions_text(["x", "y"], [(IRI("x:a"), 'b,"c"'), (None, BlankNode("n")), (Decimal("2.50"), "")], "csv")
    assert text == 'x,y\r\nx:a,"b,""c"""\r\n,_:n\r\n2.5,\r\n'
    assert list(csv.reader(io.StringIO(solutions_text(["x"], [(None,), ("a",)], "csv")))) == [["x"], [""], ["a"]]


def test_no_solutions_and_no_variables() -> None:
    for format, kind in FORMATS.items():
        found = ox.parse_query_results(solutions_text(["x"], [], format).encode(), format=kind)
        assert isinstance(found, ox.QuerySolutions) and list(found) == []
    assert '"bindings": [\n{},\n{}\n]' in solutions_text([], [(), ()], "json")


@pytest.mark.parametrize("value", [True, False])
def test_truth(value: bool) -> None:
    for format in ("json", "xml"):
        found = ox.parse_query_results(truth_text(value, format).encode(), format=FORMATS[format])
        assert isinstance(found, ox.QueryBoolean) and bool(found) is value
    assert truth_text(value, "csv") == truth_text(value, "tsv") == ("true\n" if value else "false\n")


def test_what_xml_cannot_say() -> None:
    with pytest.raises(OutputError, match="XML cannot say"):
        solutions_text(["x"], [("\x01",)], "xml")


def test_unknown_formats() -> None:
    with pytest.raises(UsageError, match="did you mean 'json'"):
        solutions_text([], [], "jsn")
    with pytest.raises(UsageError, match="there are nt"):
        Graph([]).serialize("csv")


@pytest.mark.parametrize("format", ["nt", "nq", "ttl", "turtle", "trig", "rdf", "rdfxml", "jsonld"])
def test_graphs_are_read_again(format: str) -> None:
    graph = Graph((IRI("http://ex.org/s"), IRI("http://ex.org/p"), term) for term in TERMS if term != TERMS[2])
    kinds = {"turtle": "ttl", "rdfxml": "rdf"}
    text = graph.serialize(format).encode()
    found = ox.parse(text, format=ox.RdfFormat.from_extension(kinds.get(format, format)))
    keys = {term_key(quad.object) for quad in found}
    assert {key for key in keys if key[0] != "_"} == {key_of(o) for _, _, o in graph if not isinstance(o, BlankNode)}


def test_what_no_rdf_can_say() -> None:
    with pytest.raises(OutputError, match="cannot be the subject"):
        Graph([("text", IRI("x:p"), 1)]).serialize("nt")


def test_the_order_of_a_query_is_kept() -> None:
    kb = everlog.open(engine="reference")
    kb.insert("triple", [(IRI("x:s"), IRI("x:p"), n) for n in (3, 1, 2)])
    assert kb.query("SELECT ?o { ?s ?p ?o }").serialize("tsv") == "?o\n1\n2\n3\n"
    assert kb.query("SELECT ?o { ?s ?p ?o } ORDER BY DESC(?o)").serialize("tsv") == "?o\n3\n2\n1\n"
    assert kb.query("SELECT ?o { ?s ?p ?o } LIMIT 2").serialize("tsv") == "?o\n1\n2\n"
    assert kb.query("ASK { ?s ?p 3 }").serialize("csv") == "true\n"
    assert kb.query("CONSTRUCT { ?s ?p 7 } WHERE { ?s ?p 3 }").serialize("nt") == (
        f'<x:s> <x:p> "7"^^<{XSD}integer> .\n'
    )
