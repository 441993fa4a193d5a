"""What has changed between two states, where the updates that lead from one to the other are not known?

Whoever follows a knowledge base and falls far behind goes on from a snapshot, with ids of its own. Those who are told
of changes are told this one, for all the updates between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.facts.weighted import WeightedFacts, consolidated
from everlog.plans.flat_rules import is_auxiliary
from everlog.store.changes import Change
from everlog.store.state import State
from everlog.store.view_queries import ViewQuery
from everlog.store.views import ViewChange


def leap(before: State, after: State) -> tuple[Change, dict[str, ViewChange]]:
    """What has changed in relations, and in what views show."""
    facts, views = _relations(after), _views(after)
    old = told(_relations(before), before.dictionary, after.dictionary)
    changes = {name: _difference(now, old.get(name), after.version) for name, now in facts.items()}
    changes = {name: change for name, change in changes.items() if change.rows}
    old = told(_views(before), before.dictionary, after.dictionary)
    shown = {
        name: _difference(now, old.get(name) if _is_same(name, before, after) else None, after.version)
        for name, now in views.items()
    }
    told_views = {
        name: ViewChange(name, after.views[name].query, change, after.dictionary)
        for name, change in shown.items()
        if change.rows
    }
    return Change(after.version, changes, after.dictionary, updates=after.version - before.version), told_views


def _relations(state: State) -> dict[str, WeightedFacts]:
    reader = state.facts.reader()
    return {name: reader.collect(name) for name in state.arities if not is_auxiliary(name)}


def _views(state: State) -> dict[str, WeightedFacts]:
    return {name: _rows(state, view) for name, view in state.views.items()}


def _rows(state: State, view: ViewQuery) -> WeightedFacts:
    shown = state.shown.get(view.name)
    if shown is None:
        return state.facts.reader().collect(view.relation)
    return WeightedFacts.of(Counter(shown), view.arity, state.dictionary.dtype)


def _is_same(name: str, before: State, after: State) -> bool:
    return name in before.views and before.views[name].text == after.views[name].text


def _difference(now: WeightedFacts, then: WeightedFacts | None, version: int) -> WeightedFacts:
    parts = [now] if then is None or then.arity != now.arity else [now, then.negated()]
    change = consolidated(parts)
    assert change is not None
    return WeightedFacts(change.columns, change.weights, version)


def told(changes: Mapping[str, WeightedFacts], out_of: Dictionary, into: Dictionary) -> dict[str, WeightedFacts]:
    """The same facts in the ids of another dictionary."""
    return {
        name: WeightedFacts([_translated(c, out_of, into) for c in facts.columns], facts.weights, facts.version)
        for name, facts in changes.items()
    }


def _translated(column: Ids, out_of: Dictionary, into: Dictionary) -> Ids:
    distinct, places = np.unique(column, return_inverse=True)
    return into.encode_keys([out_of.key(id_) for id_ in distinct.tolist()])[places]
