"""Are two results the same, up to the names of blank nodes?

Both become graphs of rdflib's, whose comparison knows about blank nodes; terms go in as texts, so that nothing is
thought equal because its value is.

One thing the suite leaves open: how a number is written that was computed. It has 6, 6.0 and 6.0E0 in places where each
would do. So an expected number that no row of ours has for its variable as it is written, but one has in canonical
form, stands for that. A number of the data that is not canonical must be as the suite has it, to the letter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import quote

import rdflib
from rdflib.compare import isomorphic
from tests.w3c.expected import Result, Row, Table

from everlog.expressions.numerals import number_term
from everlog.expressions.values import NUMBER, value_of
from everlog.facts.terms import key_of, term_of

_AT, _TIMES = rdflib.URIRef("x:at"), rdflib.URIRef("x:times")


def same(found: Result, expected: Result, *, ordered: bool = False, lax: bool = False) -> bool:
    """Compare results: solutions as bags, or in order; with `lax`, each at least once and at most as often."""
    if isinstance(found, Table) and isinstance(expected, Table):
        if found.names != expected.names:
            return False
        expected = _in_our_form(expected, found)
        if lax:
            return _once(found) == _once(expected) and not Counter(_keys(found)) - Counter(_keys(expected))
        return isomorphic(_table_graph(found, ordered), _table_graph(expected, ordered))
    if isinstance(found, frozenset) and isinstance(expected, frozenset):
        return isomorphic(_graph(found), _graph(expected))
    return found is expected  # truth values; anything else is of two kinds


def _in_our_form(table: Table, found: Table) -> Table:
    ours = {name: {row[name] for row in found.rows if name in row} for name in found.names}
    rows = [{name: _canonical(key, ours[name]) for name, key in row.items()} for row in table.rows]
    return replace(table, rows=tuple(rows))


def _canonical(key: str, ours: set[str]) -> str:
    if key in ours or not key.startswith(("^decimal ", "^float ", "^double ")):
        return key
    kind, value = value_of(term_of(key))
    if kind != NUMBER:
        return key
    written = key_of(number_term(value))
    return written if written in ours else key


def _graph(triples: Iterable[tuple[str, str, str]]) -> rdflib.Graph:
    graph = rdflib.Graph()
    for subject, predicate, object_ in triples:
        graph.add((_node(subject), _node(predicate), _node(object_)))
    return graph


def _table_graph(table: Table, ordered: bool) -> rdflib.Graph:
    """A node for each row: numbered, or each distinct row once with how often it is there."""
    graph = rdflib.Graph()
    if ordered:
        for number, row in enumerate(table.rows):
            graph.add((_add(graph, row), _AT, rdflib.Literal(str(number))))
        return graph
    for key, times in Counter(_keys(table)).items():
        graph.add((_add(graph, dict(key)), _TIMES, rdflib.Literal(str(times))))
    return graph


def _add(graph: rdflib.Graph, row: Row) -> rdflib.BNode:
    node = rdflib.BNode()
    for name, key in row.items():
        graph.add((node, rdflib.URIRef(f"x:var:{name}"), _node(key)))
    return node


def _node(key: str) -> rdflib.BNode | rdflib.URIRef | rdflib.Literal:
    if key.startswith("_"):
        return rdflib.BNode(key)
    return rdflib.URIRef("x:" + quote(key)) if key.startswith("<") else rdflib.Literal(key)


def _keys(table: Table) -> list[tuple[tuple[str, str], ...]]:
    return [tuple(sorted(row.items())) for row in table.rows]


def _once(table: Table) -> set[tuple[tuple[str, str], ...]]:
    return set(_keys(table))
