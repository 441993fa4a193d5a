"""Which operations does a SPARQL Update request consist of? Each sees the effects of those before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from everlog.answers.answer_table import Row
from everlog.errors import SparqlError
from everlog.facts.terms import IRI, BlankNode, Term
from everlog.rules.syntax import Argument, Constant, Variable
from everlog.sparql.ground_data import GroundData, read_ground_data
from everlog.sparql.parsing import Algebra, parse_update
from everlog.sparql.patterns import Compilation
from everlog.sparql.query import Query, dataset, pattern_query
from everlog.sparql.terms import HIDDEN, argument_from, term_from

Quad = tuple[Term, Term, Term, Term | None]  # None: of the default graph
Pattern = tuple[Argument, Argument, Argument, Argument | None]

DEFAULT, NAMED, ALL = "DEFAULT", "NAMED", "ALL"  # in place of a graph


@dataclass(frozen=True)
class Modify:
    """For each solution of a query: quads to delete, then quads to insert. Without a query: once."""

    query: Query | None
    delete: tuple[Pattern, ...] = ()
    insert: tuple[Pattern, ...] = ()


@dataclass(frozen=True)
class Clear:
    """Delete every triple of a graph, or of several."""

    graph: Term | str


@dataclass(frozen=True)
class Transfer:
    """Add the triples of one graph to another; `clears` the target first, and `empties` the source at the end."""

    source: Term | str
    target: Term | str
    clears: bool
    empties: bool


@dataclass(frozen=True)
class Load:
    """Insert the triples of a file."""

    iri: str
    graph: Term | None
    silent: bool


Operation = Modify | GroundData | Clear | Transfer | Load


def read_request(text: str, name: str, *, base: str | None, prefixes: Mapping[str, str]) -> list[Operation]:
    """The operations of a request."""
    data = read_ground_data(text, base, prefixes, scope=new_label())
    if data is not None:
        return [data]
    return [
        operation
        for number, (algebra, own_base) in enumerate(parse_update(text, base, prefixes))
        for operation in _operations(algebra, Compilation(f"{name}{number}", own_base))
    ]


def new_label() -> str:
    """A new prefix for blank node labels, not used elsewhere."""
    return f"u{uuid4().hex[:12]}"


def _operations(node: Algebra, compilation: Compilation) -> Iterator[Operation]:
    match node.name:
        case "InsertData":
            yield Modify(None, insert=tuple(_patterns(node, None)))
        case "DeleteData":
            yield Modify(None, delete=tuple(_patterns(node, None)))
        case "DeleteWhere":
            patterns = tuple(_patterns(node, None))
            yield Modify(_of_quads(node, patterns, compilation), delete=patterns)
        case "Modify":
            yield _modify(node, compilation)
        case "Clear" | "Drop":
            yield Clear(_graph(node.graphiri))
        case "Create":
            return  # a graph is there as soon as it has a triple
        case "Add" | "Copy" | "Move":
            source, target = (_graph(each) for each in node.graph)
            if source != target:
                yield Transfer(source, target, clears=node.name != "Add", empties=node.name == "Move")
        case "Load":
            graph = _graph(node.graphiri) if node.graphiri is not None else None
            yield Load(str(node.iri), graph if not isinstance(graph, str) else None, bool(node.silent))
        case _:
            raise SparqlError(f"the operation {node.name} is not known")


def _modify(node: Algebra, compilation: Compilation) -> Modify:
    home = None if node.withClause is None else argument_from(node.withClause)
    if node.using:
        compilation.default_graphs, compilation.named_graphs = dataset(node.using).values()
    elif home is not None:
        compilation.default_graphs = (home,)
    delete = tuple(_patterns(node.delete, home)) if node.delete is not None else ()
    insert = tuple(_patterns(node.insert, home)) if node.insert is not None else ()
    # A blank node of the template is a new one for each solution, so equal solutions count.
    once = not any(isinstance(each, Variable) and each.name.startswith(HIDDEN) for quad in insert for each in quad)
    return Modify(pattern_query(node.where, _names((*delete, *insert)), compilation, once=once), delete, insert)


def _of_quads(node: Algebra, patterns: tuple[Pattern, ...], compilation: Compilation) -> Query:
    """DELETE WHERE: the template is also the pattern."""
    from rdflib.plugins.sparql.algebra import BGP, Graph, Join

    pattern = BGP(list(node.triples or []))
    for graph, triples in (node.quads or {}).items():
        pattern = Join(p1=pattern, p2=Graph(graph, BGP(list(triples))))
    return pattern_query(pattern, _names(patterns), compilation, once=True)


def _patterns(node: Algebra, home: Argument | None) -> Iterator[Pattern]:
    for triple in node.triples or []:
        yield (*_arguments(triple), home)
    for graph, triples in (node.quads or {}).items():
        for triple in triples:
            yield (*_arguments(triple), argument_from(graph))


def _arguments(triple: Any) -> tuple[Argument, Argument, Argument]:
    return argument_from(triple[0]), argument_from(triple[1]), argument_from(triple[2])


def _names(patterns: Iterable[Pattern]) -> tuple[str, ...]:
    found = {
        argument.name: None
        for pattern in patterns
        for argument in pattern
        if isinstance(argument, Variable) and not argument.name.startswith(HIDDEN)
    }
    return tuple(found)


def _graph(graph: Any) -> Term | str:
    import rdflib

    return term_from(graph) if isinstance(graph, rdflib.URIRef) else str(graph)


def instances(patterns: tuple[Pattern, ...], names: tuple[str, ...], row: Row, blank: str) -> Iterator[Quad]:
    """The quads of a template for one solution, without those that are not RDF; `blank` is the prefix of new labels."""
    values = dict(zip(names, row, strict=True))

    def term(argument: Argument) -> Term | None:
        if isinstance(argument, Constant):
            return argument.term
        if argument.name.startswith(HIDDEN):
            return BlankNode(f"{blank}{argument.name.removeprefix(HIDDEN)}")
        return values[argument.name]

    for *triple, graph in patterns:
        subject, predicate, object_ = (term(argument) for argument in triple if argument is not None)
        named = None if graph is None else term(graph)
        if not isinstance(subject, IRI | BlankNode) or not isinstance(predicate, IRI) or object_ is None:
            continue
        if graph is None or isinstance(named, IRI | BlankNode):
            yield subject, predicate, object_, named
