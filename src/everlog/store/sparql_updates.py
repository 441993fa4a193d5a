"""How does a request in SPARQL Update become updates?

Each operation becomes one update of a transaction, since it must see what those before it did, derived triples
included. Only what is explicit can be deleted. A request is one transaction: if an operation fails, none was made.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import numpy as np

from everlog.errors import EverlogError, SparqlError
from everlog.facts.terms import Term, keys_of
from everlog.facts.weighted import WeightedFacts
from everlog.limits import Watch
from everlog.rules.syntax import QUAD, TRIPLE
from everlog.sparql.ground_data import GroundData
from everlog.sparql.requests import (
    ALL,
    DEFAULT,
    NAMED,
    Clear,
    Load,
    Modify,
    Operation,
    Quad,
    Transfer,
    instances,
    new_label,
    read_request,
)
from everlog.store.answers import prepare, solutions_of
from everlog.store.changes import Change
from everlog.store.given_facts import EncodedFacts
from everlog.store.state import State
from everlog.store.updates import Update

if TYPE_CHECKING:
    from everlog.store.transactions import Transaction

Facts = list[EncodedFacts]


def apply_request(
    transaction: Transaction, text: str, base: str | None, load_from: Path | None, watch: Watch
) -> list[Change]:
    """Apply the operations of a request in order; gives a change for each. They share what time there is."""
    operations = read_request(text, "update", base=base, prefixes=transaction.state().prefixes)
    changes = []
    for operation in operations:
        update = _update(transaction.state().limited(watch.left()), operation, load_from)
        changes.append(transaction.apply(update, limits=watch.left()))
    return changes


def _update(state: State, operation: Operation, load_from: Path | None) -> Update:
    match operation:
        case Modify():
            return _modify(state, operation)
        case GroundData():
            return Update(operation.insert, operation.delete)
        case Clear():
            return Update(delete=_explicit(state, operation.graph))
        case Transfer():
            return _transfer(state, operation)
        case Load():
            return _load(operation, load_from)


def _modify(state: State, operation: Modify) -> Update:
    names: tuple[str, ...] = ()
    rows: Iterable[tuple[Term | None, ...]] = [()]
    if operation.query is not None:
        rows, names = list(solutions_of(state, prepare(operation.query))), operation.query.shown
    insert: list[Quad] = []
    delete: list[Quad] = []
    for row in rows:
        blank = new_label() if operation.insert else ""
        delete += instances(operation.delete, names, row, blank)
        insert += instances(operation.insert, names, row, blank)
    return Update(_by_relation(insert), _by_relation(delete))


def _by_relation(quads: Iterable[Quad]) -> dict[str, list[tuple[Term, ...]]]:
    found: dict[str, list[tuple[Term, ...]]] = {}
    for subject, predicate, object_, graph in {keys_of(quad): quad for quad in quads}.values():
        if graph is None:
            found.setdefault(TRIPLE, []).append((subject, predicate, object_))
        else:
            found.setdefault(QUAD, []).append((subject, predicate, object_, graph))
    return found


def _explicit(state: State, graph: Term | str) -> Facts:
    """The explicit triples of a graph, or of several, where they stand."""
    found = []
    reader = state.facts.reader()
    if graph in (DEFAULT, ALL) and TRIPLE in state.arities:
        found.append(EncodedFacts(TRIPLE, reader.collect(TRIPLE, explicit=True)))
    if graph != DEFAULT and QUAD in state.arities:
        facts = reader.collect(QUAD, explicit=True)
        if graph not in (NAMED, ALL):
            facts = facts.chosen(facts.columns[3] == state.dictionary.find(graph))
        found.append(EncodedFacts(QUAD, facts))
    return found


def _transfer(state: State, operation: Transfer) -> Update:
    source = _explicit(state, operation.source)
    moved = [_in_graph(state, named.facts, operation.target) for named in source]
    delete = (_explicit(state, operation.target) if operation.clears else []) + (source if operation.empties else [])
    return Update(moved, delete)


def _in_graph(state: State, facts: WeightedFacts, graph: Term | str) -> EncodedFacts:
    columns = facts.columns[:3]
    if graph == DEFAULT:
        return EncodedFacts(TRIPLE, WeightedFacts.present(columns, facts.rows))
    name = np.full(facts.rows, state.dictionary.encode(graph), state.dictionary.dtype)
    return EncodedFacts(QUAD, WeightedFacts.present([*columns, name], facts.rows))


def _load(operation: Load, load_from: Path | None) -> Update:
    from everlog.formats.reading import read_facts

    try:
        path = _allowed(operation.iri, load_from)
        graph = None if operation.graph is None else operation.graph.value  # type: ignore[union-attr]
        return Update(insert=list(read_facts(path, graph=graph)))
    except EverlogError:
        if operation.silent:
            return Update()
        raise


def _allowed(iri: str, folder: Path | None) -> Path:
    """The local file that an IRI names, if it lies in the folder from which files may be loaded."""
    parts = urlsplit(iri)
    if parts.scheme not in ("", "file"):
        raise SparqlError(f"LOAD <{iri}>: only local files are loaded", hint="download it first")
    if folder is None:
        raise SparqlError(
            f"LOAD <{iri}>: no folder was named from which files may be loaded",
            hint="sparql_update(…, load_from=folder)",
        )
    path = (folder / unquote(parts.path)).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise SparqlError(
            f"LOAD <{iri}>: {path} lies outside of {folder}", hint="only files below that folder are loaded"
        )
    return path
