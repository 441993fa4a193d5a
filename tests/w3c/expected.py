"""What does a file of the suite say that the answer is?

Terms are held as keys (everlog/facts/terms.py), so that `1` and `01` are two. SPARQL's XML, JSON and TSV are read by
pyoxigraph; result sets in RDF by their vocabulary `rs:`; CSV as the texts it has, since it keeps no types.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph as ox

from everlog.facts.terms import RDF_TYPE, key_of, typed_key
from everlog.sparql.graphs import Graph
from everlog.sparql.solutions import Solutions, Truth

RS = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
_FORMATS = {
    ".srx": ox.QueryResultsFormat.XML,
    ".srj": ox.QueryResultsFormat.JSON,
    ".tsv": ox.QueryResultsFormat.TSV,
}

Row = dict[str, str]  # the keys of the variables that have a value
Triple = tuple[str, str, str]


@dataclass(frozen=True)
class Table:
    """Solutions; `indexed` where the file itself numbers them."""

    names: frozenset[str]
    rows: tuple[Row, ...]
    indexed: bool = False


Result = Table | bool | frozenset[Triple]


def found_result(answer: Solutions | Truth | Graph) -> Result:
    """An answer of ours in the words of this file."""
    if isinstance(answer, Truth):
        return bool(answer)
    if isinstance(answer, Graph):
        return frozenset((key_of(s), key_of(p), key_of(o)) for s, p, o in answer)
    rows = (zip(answer.names, row, strict=True) for row in answer)
    return Table(
        frozenset(answer.names),
        tuple({name: key_of(term) for name, term in row if term is not None} for row in rows),
    )


def expected_result(path: Path) -> Result:
    """The result in a file."""
    format_ = _FORMATS.get(path.suffix)
    if format_ is None:
        return _from_rdf(path)
    results = ox.parse_query_results(path=path, format=format_)
    if isinstance(results, ox.QueryBoolean):
        return bool(results)
    assert isinstance(results, ox.QuerySolutions)
    names = [variable.value for variable in results.variables]
    return Table(frozenset(names), tuple(_row(zip(names, solution, strict=True)) for solution in results))


def _row(values: Iterable[tuple[str, object]]) -> Row:
    return {name: term_key(term) for name, term in values if term is not None}


def term_key(term: object) -> str:
    """The key of a term of pyoxigraph's."""
    if isinstance(term, ox.NamedNode):
        return "<" + term.value
    if isinstance(term, ox.BlankNode):
        return "_" + term.value
    assert isinstance(term, ox.Literal), f"{term} is no term"
    return f"@{term.language.lower()} {term.value}" if term.language else typed_key(term.value, term.datatype.value)


def _from_rdf(path: Path) -> Result:
    document = ox.parse(path=path, base_iri=path.as_uri())
    triples = [(quad.subject, quad.predicate.value, quad.object) for quad in document]
    said: dict[object, dict[str, list[object]]] = defaultdict(lambda: defaultdict(list))
    for subject, predicate, object_ in triples:
        said[subject][predicate.removeprefix(RS)].append(object_)
    for about in list(said.values()):
        if "boolean" in about:
            return about["boolean"][0].value == "true"
        if any(isinstance(each, ox.NamedNode) and each.value == RS + "ResultSet" for each in about[RDF_TYPE]):
            return _result_set(about, said)
    return frozenset((term_key(s), "<" + p, term_key(o)) for s, p, o in triples)


def _result_set(about: dict[str, list[object]], said: dict[object, dict[str, list[object]]]) -> Table:
    solutions = [said[each] for each in about.get("solution", [])]
    indexed = bool(solutions) and all("index" in each for each in solutions)
    if indexed:
        solutions.sort(key=lambda each: int(each["index"][0].value))
    rows = [
        _row((said[b]["variable"][0].value, said[b]["value"][0]) for b in each.get("binding", [])) for each in solutions
    ]
    return Table(frozenset(name.value for name in about.get("resultVariable", [])), tuple(rows), indexed)
