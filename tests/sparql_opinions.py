"""What do Everlog, rdflib and pyoxigraph answer to a query, in the oracle's words?

rdflib and pyoxigraph are second opinions on the oracle. Where one is known to differ is listed with the reason, as a
test of the query's text that may say yes too often: such a query is not put to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyoxigraph
import rdflib
from tests.sparql_oracle.patterns import Data, Row
from tests.sparql_oracle.terms import Term, from_everlog, term_from
from tests.sparql_strategies import facts

import everlog

DIGITS = 12  # decimals are compared after so many: engines divide with different precision


# Terms


def _made_by(iri: Any, blank: Any, literal: Any) -> Callable[[Term], Any]:
    """Terms as a library has them."""
    kinds = {"iri": iri, "blank": blank}
    return lambda term: kinds.get(term.kind, literal)(term.value)


to_rdflib = _made_by(rdflib.URIRef, rdflib.BNode, rdflib.Literal)
to_pyoxigraph = _made_by(pyoxigraph.NamedNode, pyoxigraph.BlankNode, pyoxigraph.Literal)


def from_pyoxigraph(term: Any) -> Term | None:
    match term:
        case None:
            return None
        case pyoxigraph.NamedNode():
            return Term("iri", term.value)
        case pyoxigraph.BlankNode():
            return Term("blank", term.value)
    return term_from(rdflib.Literal(term.value, datatype=rdflib.URIRef(term.datatype.value)))


def comparable(rows: Iterable[Row]) -> list[Row]:
    """Rows whose decimals are rounded."""
    return [tuple(_rounded(term) for term in row) for row in rows]


def _rounded(term: Term | None) -> Term | None:
    return term._replace(value=round(term.value, DIGITS)) if term is not None and term.kind == "decimal" else term


# Answers


def knowledge_base(engine: str, data: Data) -> everlog.KnowledgeBase:
    kb = everlog.open(engine=engine)
    quads = [(*triple, name) for name, graph in data.named.items() for triple in graph]
    kb.update(insert={"triple": facts(list(data.default)), "quad": facts(quads)})
    return kb


def everlog_rows(solutions: Iterable[Sequence[Any]]) -> list[Row]:
    return [tuple(map(from_everlog, row)) for row in solutions]


def rdflib_rows(text: str, data: Data) -> list[Row]:
    graph = rdflib.Graph()
    for triple in data.default:
        graph.add(tuple(map(to_rdflib, triple)))
    found = graph.query(text)
    return [tuple(term_from(row[name]) if name in row else None for name in found.vars) for row in found.bindings]


def pyoxigraph_rows(text: str, data: Data) -> list[Row]:
    store = pyoxigraph.Store()
    store.extend(pyoxigraph.Quad(*map(to_pyoxigraph, triple)) for triple in data.default)
    found = store.query(text)
    return [tuple(from_pyoxigraph(solution[name]) for name in found.variables) for solution in found]


SECOND_OPINIONS: dict[str, Callable[[str, Data], list[Row]]] = {"rdflib": rdflib_rows, "pyoxigraph": pyoxigraph_rows}


# Where second opinions are known to differ

Predicate = Callable[[str], object]


def has(pattern: str) -> Predicate:
    """Does the text of a query have this?"""
    return re.compile(pattern).search


KNOWN: dict[str, dict[str, Predicate]] = {
    "pyoxigraph": {
        "alternatives that lead the same way count once": has(r"[^|]\|[^|]"),
        "COUNT of an expression that fails has no value": has(r"COUNT\((DISTINCT )?\?\w+ [-+*/]"),
        "COUNT(DISTINCT *) counts what blank nodes stand for": has(r"DISTINCT \*.*_:"),
        "GROUP BY (?x AS ?y) is refused": has(r"GROUP BY.*\(\?\w+\)? AS"),
        "filters of an OPTIONAL inside another see what is bound outside of both": has(r"OPTIONAL.*OPTIONAL.*FILTER"),
        "?x <= ?x is true of any term": has(r"(\?\w+) [<>]=? \1\b|[<>]="),
        "paths of length zero do not begin at terms that are no nodes": has(
            r"[*?]\)[+*?]|[\w\"] \S*\)[*?]|\)[*?]\S* [^?]"
        ),
    },
    "rdflib": {
        "`^` in a negated set cannot be evaluated": has(r"!\([^)]*\^"),
        "`?`, `*` and `+` count ways, and cannot be nested": has(r"\)[*?+]"),
        "ORDER BY fails where an expression does": has(r"ORDER BY"),
        "GROUP BY of nothing gives a group": has(r"GROUP BY"),
        "aggregates of what has no value fail, or count it": has(r"(COUNT|SUM|AVG|MIN|MAX)\((DISTINCT )?\?"),
        "patterns in braces see what is bound outside of them": has(r"OPTIONAL.*{.*{|MINUS|SELECT.*SELECT|EXISTS|{ {"),
        "IN fails with any of its members": has(r"\bIN \("),
        "VALUES loses the rows that OPTIONAL does not match": has(r"VALUES"),
    },
}
