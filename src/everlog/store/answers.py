"""How is a SPARQL query answered from the facts that are there?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from everlog.engines.interface import Engine
from everlog.facts.terms import BlankNode, Term, key_of, term_of
from everlog.maintenance.materialise import Evaluation
from everlog.plans.flat_rules import rule_reads
from everlog.rules.components import maintenance_components
from everlog.rules.syntax import Constant
from everlog.sparql.graphs import Graph, GroundTriple, constructed
from everlog.sparql.query import Query, compile_query
from everlog.sparql.solutions import Solutions, Truth

if TYPE_CHECKING:
    from everlog.store.store import KnowledgeBase

Answer = Solutions | Truth | Graph
_REMEMBERED = 512


def answer(kb: KnowledgeBase, text: str, bindings: Mapping[str, Term] | None, base: str | None = None) -> Answer:
    """Evaluate a query once, on explicit and derived facts, and forget what that took."""
    query, evaluation = _prepared(text, base, kb._prefixes, bindings or {})
    engine, savepoint = kb._engine, kb._engine.savepoint()
    try:
        evaluation.run(engine, kb.limits.watch())
        solutions = collect(engine, query)
    finally:
        engine.rollback(savepoint)
    if query.form == "ask":
        return Truth(bool(solutions))
    if query.form == "construct":
        return constructed(query, solutions)
    if query.form == "describe":
        return Graph(_described(kb, query, solutions))
    return solutions


class Prepared(NamedTuple):
    """A query, and what evaluating it takes."""

    query: Query
    evaluation: Evaluation


def prepare(query: Query) -> Prepared:
    """Work out what evaluating a query takes."""
    return Prepared(query, Evaluation.of(maintenance_components(query.rules, rule_reads)))


def _prepared(text: str, base: str | None, prefixes: Mapping[str, str], bindings: Mapping[str, Term]) -> Prepared:
    """A query that was asked before is known, and engines know its phases again (they keep their plans)."""
    # Terms by their keys: 1 and true are the same to a dictionary.
    given = tuple(sorted((name, key_of(term)) for name, term in bindings.items()))
    asked = text, base, tuple(sorted(prefixes.items())), given
    found = _remembered(*asked)
    # What NOW() and BNODE() give is part of the rules, and another one each time.
    return found if found.query.same_each_time else _prepare_anew(*asked)


def _prepare_anew(
    text: str, base: str | None, prefixes: tuple[tuple[str, str], ...], given: tuple[tuple[str, str], ...]
) -> Prepared:
    bindings = {name: term_of(key) for name, key in given}
    return prepare(compile_query(text, "query", base=base, prefixes=dict(prefixes), bindings=bindings))


_remembered = lru_cache(_REMEMBERED)(_prepare_anew)


def collect(engine: Engine, query: Query) -> Solutions:
    """What the answer relation of a query holds now."""
    facts = engine.collect(query.answer.relation)
    weights = np.asarray(engine.weights(query.answer.relation), np.int64)
    return Solutions.of(query, engine.dictionary, facts.columns, weights)


def _described(kb: KnowledgeBase, query: Query, solutions: Solutions) -> Iterator[GroundTriple]:
    """What is said of terms: the triples they are the subject of, and those of the blank nodes that these lead to."""
    waiting = [argument.term for argument in query.described if isinstance(argument, Constant)]
    waiting += [term for row in solutions for term in row if term is not None]
    seen = set()
    while waiting:
        subject = waiting.pop(0)
        if subject in seen:
            continue
        seen.add(subject)
        for predicate, object_ in kb.query("SELECT ?p ?o { ?s ?p ?o }", bindings={"s": subject}):
            yield subject, predicate, object_
            if isinstance(object_, BlankNode):
                waiting.append(object_)
