"""How does the answer to a SPARQL query stay true?

A view is a query whose rules stay: they become part of the program, and every update keeps their relations true like
those of any rule. Its answer is a relation, a bag unless the query says DISTINCT, so a change of the answer is what an
update changes in it. Relations that two views share are there once (sparql/sharing.py), and go with the last of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from everlog.dictionary.dictionary import Dictionary
from everlog.engines.interface import Changed, Engine, MaintainingEngine
from everlog.errors import NotFoundError, SparqlError
from everlog.expressions.functions import FUNCTIONS
from everlog.plans.flat_rules import AUXILIARY, EvaluatedRule, FlatRule, is_auxiliary, rule_reads
from everlog.plans.windows import Fact, Weighted, Window, window_over
from everlog.rules.syntax import called_functions
from everlog.sparql.deltas import Delta, weighted
from everlog.sparql.graphs import Graph, constructed
from everlog.sparql.query import Query, compile_query
from everlog.sparql.sharing import shared_names
from everlog.sparql.solutions import Solutions, Truth
from everlog.store.answers import collect

if TYPE_CHECKING:
    from everlog.store.store import KnowledgeBase

_MOST_CHANGES, _MOST_ROWS = 1_000, 1_000_000  # that a view remembers


class ViewChange:
    """What an update did to the answer of a view; a solution that came twice stands there twice."""

    def __init__(self, version: int, solutions: Delta, dictionary: Dictionary) -> None:
        self.version = version
        self._delta, self._dictionary = solutions, dictionary

    @property
    def gained(self) -> Solutions:
        """The solutions that came."""
        return self._solutions(1)

    @property
    def lost(self) -> Solutions:
        """The solutions that went."""
        return self._solutions(-1)

    def _solutions(self, sign: int) -> Solutions:
        times = np.maximum(sign * self._delta.weights, 0)
        columns = [np.repeat(column, times) for column in self._delta.columns]
        return Solutions(self._dictionary, self._delta.names, columns, int(times.sum()))

    def __len__(self) -> int:
        return len(self._delta.weights)

    def __repr__(self) -> str:
        return f"<version {self.version}: {len(self.gained):,} solutions gained, {len(self.lost):,} lost>"


class View:
    """A SPARQL query whose answer is kept; made by `kb.view`."""

    def __init__(self, kb: KnowledgeBase, name: str, text: str, query: Query) -> None:
        self.name, self.text, self.query = name, text, query
        self._kb = kb
        self._window: Window | None = Window(query.ordering, kb._dictionary) if query.order or _is_cut(query) else None
        self._changes: list[ViewChange] = []
        self._remembered = 0  # rows in them
        self._since = kb.version  # what changed before is not known
        self._callbacks: list[Callable[[ViewChange], None]] = []

    def rows(self) -> Solutions | Truth | Graph:
        """The answer as it is now: solutions, a truth value for ASK, a graph for CONSTRUCT."""
        self._kb._view(self.name)  # an error if it was dropped
        solutions = self._solutions()
        if self.query.form == "ask":
            return Truth(bool(solutions))
        return constructed(self.query, solutions) if self.query.form == "construct" else solutions

    def changes(self, since: int) -> list[ViewChange]:
        """What has changed after a version, update by update; versions without a change are left out."""
        if since < self._since:
            raise NotFoundError(
                f"the view {self.name} does not know its changes from version {since} on any more",
                hint=f"it knows those after version {self._since}; take its rows instead",
            )
        return [change for change in self._changes if change.version > since]

    def on_change(self, callback: Callable[[ViewChange], None]) -> None:
        """Call this after every update that changes the answer."""
        self._callbacks.append(callback)

    def drop(self) -> None:
        """Stop keeping the answer."""
        self._kb.drop_view(self.name)

    # --- for the store ------------------------------------------------------------------------------------------------

    def _solutions(self) -> Solutions:
        engine = self._kb._engine
        if self._window is None:
            return collect(engine, self.query)
        shown = self._window.shown()
        columns = [np.array(column, np.int32) for column in zip(*shown, strict=True)]
        names = self.query.shown
        return Solutions(engine.dictionary, names, columns or [np.empty(0, np.int32)] * len(names), len(shown))

    def fill(self) -> None:
        """The answer has come to be without an update to follow."""
        if self._window is not None:
            rows = answer_of(self._kb._engine, self.query)
            self._window = window_over(self.query.ordering, rows, self._kb._dictionary)

    def follow(self, version: int, delta: Delta) -> ViewChange | None:
        """An update has changed the answer relation; says how that changes the answer."""
        if self._window is not None and len(delta.weights):
            delta = Delta.of(self.query.shown, self._seen_to_change(self._window, delta))
        if not len(delta.weights):
            return None
        change = ViewChange(version, replace(delta, names=self.query.shown), self._kb._dictionary)
        self._changes.append(change)
        self._remembered += len(change)
        while len(self._changes) > _MOST_CHANGES or (self._remembered > _MOST_ROWS and len(self._changes) > 1):
            forgotten = self._changes.pop(0)
            self._since, self._remembered = forgotten.version, self._remembered - len(forgotten)
        return change

    def _seen_to_change(self, window: Window, delta: Delta) -> Counter[Fact]:
        """What comes and goes of that which is to be seen; only where some is cut off all of it is looked at."""
        counts: Counter[Fact] = Counter()
        if self.query.ordering.shows_all:
            for fact, weight in delta.facts():
                counts[fact[: len(self.query.shown)]] += weight
            window.change(delta.facts())
        else:
            before = Counter(window.shown())
            window.change(delta.facts())
            counts.update(window.shown())
            counts.subtract(before)
        return counts

    def call(self, change: ViewChange) -> None:
        for callback in self._callbacks:
            callback(change)


def make_view(kb: KnowledgeBase, name: str, text: str) -> View:
    """A view of a query, if one can be kept of it."""
    if AUXILIARY in name or not name:
        raise SparqlError(f"{name!r} is no name for a view", hint=f"use letters and digits, and no {AUXILIARY}")
    query = compile_query(text, name, prefixes=kb._prefixes)
    for reason in _reasons_against(query):
        raise SparqlError(f"the view {name} cannot be kept true: {reason}", hint="ask it as a query instead")
    return View(kb, name, text, replace(query, rules=tuple(shared_names(query.rules, query.answer.relation))))


def _reasons_against(query: Query) -> Iterator[str]:
    if query.form == "describe":
        yield "DESCRIBE follows blank nodes as far as they lead"
    for rule in query.rules:
        for computation in rule.computations if isinstance(rule, FlatRule) else ():
            for function in called_functions(computation.expression):
                if function in FUNCTIONS and not FUNCTIONS[function].deterministic:
                    yield f"{function.upper()}() gives another value each time"


def _is_cut(query: Query) -> bool:
    return query.limit is not None or query.offset > 0


# --- all views of a knowledge base ----------------------------------------------------------------------------------


def view_rules(views: Mapping[str, View]) -> list[EvaluatedRule]:
    """The rules of all views, each once."""
    return list(dict.fromkeys(rule for view in views.values() for rule in view.query.rules))


def view_arities(views: Mapping[str, View]) -> dict[str, int]:
    """The user's relations that views read."""
    return {
        atom.relation: len(atom.args)
        for view in views.values()
        for rule in view.query.rules
        for atom, _ in rule_reads(rule)
        if not is_auxiliary(atom.relation)
    }


def answer_of(engine: Engine, query: Query) -> list[Weighted]:
    """The answer relation of a query, with multiplicities."""
    relation = query.answer.relation
    return weighted(engine.collect(relation).columns, engine.weights(relation))


def bag_changes(engine: MaintainingEngine, views: Iterable[View]) -> dict[str, Delta]:
    """How an update changes the answers of views that are bags; before it is complete."""
    found = {}
    for view in views:
        if _is_bag(view.query):
            facts, changes = engine.weight_changes(view.query.answer.relation)
            found[view.name] = Delta(view.query.columns, tuple(facts.columns), np.asarray(changes, np.int64))
    return found


def set_changes(changed: Mapping[str, Changed], views: Iterable[View]) -> dict[str, Delta]:
    """The same for views that are sets; after it is complete."""
    found = {}
    for view in views:
        if not _is_bag(view.query) and view.query.answer.relation in changed:
            gained, lost = changed[view.query.answer.relation]
            columns = tuple(np.concatenate(pair) for pair in zip(gained.columns, lost.columns, strict=True))
            signs = np.repeat(np.array([1, -1], np.int64), [gained.rows, lost.rows])
            found[view.name] = Delta(view.query.columns, columns, signs)
    return found


def differences(before: Engine, after: Engine, views: Sequence[View]) -> dict[str, Delta]:
    """The same where everything was derived again."""
    found = {}
    for view in views:
        counts = Counter(dict(answer_of(after, view.query)))
        counts.subtract(dict(answer_of(before, view.query)))
        found[view.name] = Delta.of(view.query.columns, counts)
    return found


def _is_bag(query: Query) -> bool:
    return any(
        isinstance(rule, FlatRule) and rule.bag and rule.heads[0].relation == query.answer.relation
        for rule in query.rules
    )
