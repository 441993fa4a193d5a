"""How is a query answered from the facts of a state?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from everlog.engines.interface import Engine
from everlog.errors import ProgramError
from everlog.facts.terms import BlankNode, Term, key_of, term_of
from everlog.maintenance.materialise import Evaluation, evaluation_components, materialise
from everlog.plans.flat_rules import AUXILIARY, WindowRule, rule_reads
from everlog.rules.components import maintenance_components
from everlog.rules.syntax import (
    Aggregate,
    Atom,
    Bind,
    Constant,
    Literal,
    Program,
    Rule,
    Variable,
    literal_variables,
)
from everlog.sparql.graphs import Graph, GroundTriple, constructed
from everlog.sparql.query import Query, compile_query
from everlog.sparql.solutions import Solutions, Truth
from everlog.store.engines import refuse_windows
from everlog.store.rows import Rows
from everlog.store.state import State
from everlog.store.unknown_relations import point_out, unknown_in_query
from everlog.store.view_queries import ViewQuery

Answer = Solutions | Truth | Graph
_REMEMBERED = 512
_OWN = f"query{AUXILIARY}"  # begins the names of a query's own relations, and of none that rules or views have


def answer(state: State, text: str, bindings: Mapping[str, Term] | None = None, base: str | None = None) -> Answer:
    """Evaluate a SPARQL query once, on explicit and derived facts."""
    query, evaluation = _prepared(text, base, state.prefixes, bindings or {})
    return _in_form(state, query, solutions_of(state, Prepared(query, evaluation)))


def solutions_of(state: State, prepared: Prepared) -> Solutions:
    """Evaluate a query, and forget what that took."""
    query, evaluation = prepared
    engine = state.facts.reader()
    if any(isinstance(rule, WindowRule) for rule in query.rules):
        refuse_windows(engine)
    evaluation.run(engine, state.limits.watch())
    return _collect(engine, query)


def _in_form(state: State, query: Query, solutions: Solutions) -> Answer:
    if query.form == "ask":
        return Truth(bool(solutions))
    if query.form == "construct":
        return constructed(query, solutions)
    if query.form == "describe":
        return Graph(_described(state, query, solutions))
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
    return prepare(compile_query(text, _OWN, base=base, prefixes=dict(prefixes), bindings=bindings))


_remembered = lru_cache(_REMEMBERED)(_prepare_anew)


def _collect(engine: Engine, query: Query) -> Solutions:
    """What the answer relation of a query holds."""
    facts = engine.collect(query.answer.relation)
    return Solutions.of(query, engine.dictionary, facts.columns, facts.weights)


def view_answer(state: State, view: ViewQuery) -> Answer:
    """The answer of a view at a state; found once."""
    found: Answer | None = state.known.get(view.name)
    if found is None:
        if view.name in state.shown:
            solutions = _shown(state, view)
        else:
            solutions = _collect(state.facts.reader(), view.query)
        found = state.known[view.name] = _in_form(state, view.query, solutions)
    return found


def _shown(state: State, view: ViewQuery) -> Solutions:
    rows, names, dtype = state.shown[view.name], view.query.shown, state.dictionary.dtype
    columns = [np.array(column, dtype) for column in zip(*rows, strict=True)]
    return Solutions(state.dictionary, names, columns or [np.empty(0, dtype)] * len(names), len(rows))


def _described(state: State, query: Query, solutions: Solutions) -> Iterator[GroundTriple]:
    """What is said of terms: the triples they are the subject of, and those of the blank nodes that these lead to."""
    waiting = [argument.term for argument in query.described if isinstance(argument, Constant)]
    waiting += [term for row in solutions for term in row if term is not None]
    seen = set()
    while waiting:
        subject = waiting.pop(0)
        if subject in seen:
            continue
        seen.add(subject)
        found = answer(state, "SELECT ?p ?o { ?s ?p ?o }", {"s": subject})
        assert isinstance(found, Solutions)
        for predicate, object_ in found:
            assert predicate is not None and object_ is not None
            yield subject, predicate, object_
            if isinstance(object_, BlankNode):
                waiting.append(object_)


# --- Datalog ----------------------------------------------------------------------------------------------------------


def datalog_answer(state: State, text: str, *, strict: bool = False) -> Rows:
    """The answers to a body of literals, one for each way to give its variables values."""
    from everlog.rules.checks import check_program
    from everlog.rules.parser import parse_body

    body = parse_body(text, prefixes=state.prefixes)
    variables = _query_variables(body)
    head = Atom("answer~", variables)
    rule = Rule((head,), body, name=_OWN)
    problems = check_program(Program(rules=(rule,)), dict(state.arities))
    if problems:
        raise ProgramError(problems)
    point_out(unknown_in_query(rule, state.arities), strict=strict)
    engine = state.facts.reader()
    materialise(engine, evaluation_components((rule,)), state.limits.watch())
    answers = engine.collect(head.relation)
    return Rows(engine.dictionary, [variable.name for variable in variables], answers.columns, answers.rows)


def _query_variables(body: Sequence[Literal]) -> tuple[Variable, ...]:
    """The variables that a query's answers show, in order of first use; those local to NOT do not count."""
    shown: dict[str, Variable] = {}
    for literal in body:
        if isinstance(literal, Atom | Bind | Aggregate):
            for variable in literal_variables(literal):
                if not variable.anonymous:
                    shown.setdefault(variable.name, Variable(variable.name))
    return tuple(shown.values())
