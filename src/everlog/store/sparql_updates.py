"""How does a request in SPARQL Update become updates?

Each operation becomes one update, since it must see what those before it did, derived triples included. Only what is
explicit can be deleted. If an operation fails, those before it are undone, by further updates: a request that fails has
changed nothing in the end. A process that is killed between two operations leaves those before.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import numpy as np

from everlog.engines.interface import FactColumns
from everlog.errors import EverlogError, SparqlError
from everlog.facts.terms import Term, keys_of
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
from everlog.store.answers import collect, prepare
from everlog.store.changes import Change
from everlog.store.encoding import EncodedFacts, FactEncoder
from everlog.store.updates import Update

if TYPE_CHECKING:
    from everlog.store.store import KnowledgeBase

Facts = list[EncodedFacts]


def apply_request(kb: KnowledgeBase, text: str, base: str | None, load_from: Path | None) -> list[Change]:
    """Apply the operations of a request in order; gives a change for each."""
    operations = read_request(text, "update", base=base, prefixes=kb._prefixes)
    changes: list[Change] = []
    undo: list[Update] = []
    try:
        for operation in operations:
            update = _update(kb, operation, load_from)
            if operation is not operations[-1]:  # if the last one fails, it has done nothing
                undo.append(_inverse(kb, update))
            changes.append(kb._update(update))
    except BaseException:
        for update in reversed(undo[: len(changes)]):
            kb._update(update)
        raise
    return changes


def _update(kb: KnowledgeBase, operation: Operation, load_from: Path | None) -> Update:
    match operation:
        case Modify():
            return _modify(kb, operation)
        case GroundData():
            return Update(operation.insert, operation.delete)
        case Clear():
            return Update(delete=_explicit(kb, operation.graph))
        case Transfer():
            return _transfer(kb, operation)
        case Load():
            return _load(kb, operation, load_from)


def _modify(kb: KnowledgeBase, operation: Modify) -> Update:
    names: tuple[str, ...] = ()
    rows: Iterable[tuple[Term | None, ...]] = [()]
    if operation.query is not None:
        engine, savepoint = kb._engine, kb._engine.savepoint()
        try:
            prepare(operation.query).evaluation.run(engine, kb.limits.watch())
            rows, names = list(collect(engine, operation.query)), operation.query.shown
        finally:
            engine.rollback(savepoint)
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


def _explicit(kb: KnowledgeBase, graph: Term | str) -> Facts:
    """The explicit triples of a graph, or of several, where they stand."""
    found = []
    if graph in (DEFAULT, ALL) and TRIPLE in kb._arities:
        found.append(EncodedFacts(TRIPLE, *kb._engine.collect(TRIPLE, explicit=True)))
    if graph != DEFAULT and QUAD in kb._arities:
        facts = kb._engine.collect(QUAD, explicit=True)
        if graph not in (NAMED, ALL):
            facts = _chosen(facts, np.asarray(facts.columns[3]) == kb._dictionary.encode(graph))
        found.append(EncodedFacts(QUAD, *facts))
    return found


def _chosen(facts: FactColumns, chosen: np.ndarray) -> FactColumns:
    return FactColumns([np.asarray(column)[chosen] for column in facts.columns], int(chosen.sum()))


def _transfer(kb: KnowledgeBase, operation: Transfer) -> Update:
    source = _explicit(kb, operation.source)
    moved = [_in_graph(kb, facts, operation.target) for facts in source]
    delete = (_explicit(kb, operation.target) if operation.clears else []) + (source if operation.empties else [])
    return Update(moved, delete)


def _in_graph(kb: KnowledgeBase, facts: EncodedFacts, graph: Term | str) -> EncodedFacts:
    columns = list(facts.columns[:3])
    if graph == DEFAULT:
        return EncodedFacts(TRIPLE, columns, facts.rows)
    name = np.full(facts.rows, kb._dictionary.encode(graph), np.int32)
    return EncodedFacts(QUAD, [*columns, name], facts.rows)


def _load(kb: KnowledgeBase, operation: Load, load_from: Path | None) -> Update:
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


def _inverse(kb: KnowledgeBase, update: Update) -> Update:
    """The update that undoes another, which is not applied yet."""
    found: list[Facts] = []
    for given, wanted in ((update.insert, False), (update.delete, True)):
        encoder = FactEncoder(kb._dictionary, kb._arities)
        encoder.add(given)
        parts: Facts = []
        for batch in encoder.batches.values():
            facts = FactColumns(batch.columns(), batch.rows)
            there = np.asarray(kb._engine.contains(batch.relation, *facts, explicit=True), bool)
            chosen = _chosen(facts, there == wanted)
            parts.append(EncodedFacts(batch.relation, chosen.columns, chosen.rows))
        found.append(parts)
    inserted, deleted = found
    return Update(deleted, inserted)
