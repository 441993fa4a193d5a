"""What do CONSTRUCT and DESCRIBE give? A graph: a set of triples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from everlog.expressions.ordering import order_key
from everlog.facts.terms import IRI, BlankNode, Term, keys_of
from everlog.rules.syntax import Constant, Variable
from everlog.sparql.query import Query
from everlog.sparql.solutions import Solutions
from everlog.sparql.terms import HIDDEN

GroundTriple = tuple[Term, Term, Term]

_LONG_NAMES = {"turtle": "ttl", "ntriples": "nt", "nquads": "nq", "rdfxml": "rdf", "json-ld": "jsonld"}


class Graph:
    """Triples in the order in which they were found; a snapshot that later updates do not change."""

    def __init__(self, triples: Iterable[GroundTriple]) -> None:
        self._triples = {keys_of(triple): triple for triple in triples}

    def __len__(self) -> int:
        return len(self._triples)

    def __iter__(self) -> Iterator[GroundTriple]:
        return iter(self._triples.values())

    def __contains__(self, triple: object) -> bool:
        return isinstance(triple, tuple) and keys_of(triple) in self._triples

    def __repr__(self) -> str:
        return f"<a graph of {len(self):,} triples>"

    def _repr_html_(self) -> str:
        from everlog.answers.html import MOST_ROWS, html_rows

        return html_rows(("subject", "predicate", "object"), islice(self, MOST_ROWS), len(self))

    def sorted(self) -> list[GroundTriple]:
        """All triples in the total order of terms."""
        return sorted(self, key=lambda triple: tuple(order_key(term) for term in triple))

    def serialize(self, format: str = "ttl") -> str:
        """The graph as RDF: ttl (turtle), nt, nq, trig, rdf (rdfxml) or jsonld."""
        from everlog.formats.rdf_writing import DOCUMENT_FORMATS, rdf_document
        from everlog.sparql.serialising import check_format

        name = check_format(_LONG_NAMES.get(format.lower(), format), DOCUMENT_FORMATS)
        return rdf_document(name, [keys_of(triple) for triple in self.sorted()])


def constructed(query: Query, solutions: Solutions) -> Graph:
    """The triples of a CONSTRUCT template for each solution, without those that are not RDF."""
    triples = []
    for number, row in enumerate(solutions):
        values = dict(zip(solutions.names, row, strict=True))
        for pattern in query.template:
            terms = [_instance(argument, values, number) for argument in pattern]
            if isinstance(terms[0], IRI | BlankNode) and isinstance(terms[1], IRI) and terms[2] is not None:
                triples.append((terms[0], terms[1], terms[2]))
    return Graph(triples)


def _instance(argument: Constant | Variable, values: dict[str, Term | None], number: int) -> Term | None:
    if isinstance(argument, Constant):
        return argument.term
    if argument.name.startswith(HIDDEN):  # a blank node of the template: a new one for each solution
        return BlankNode(f"c{number}{argument.name.removeprefix(HIDDEN)}")
    return values.get(argument.name)
