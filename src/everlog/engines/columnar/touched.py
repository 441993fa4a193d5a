"""What has an update changed of a relation's facts, and what is known of them now? See engines/states.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Ids
from everlog.engines.columnar import layout as at
from everlog.engines.columnar.relations import Relation
from everlog.engines.states import FactStates

Array = npt.NDArray[Any]


def changed_states(relation: Relation, entries: int, lifted: Ids | None) -> FactStates:
    """The rows that differ, of those in the journal and of all that were lifted; `lifted`: what their ranks were."""
    journal, rows = relation.journal, relation.journal.rows[:entries]
    was_explicit, was_weight, was_rank = journal.masks[:entries], journal.weights[:entries], journal.ranks[:entries]
    if lifted is not None:
        others = np.ones(len(lifted), bool)
        others[rows[rows < len(lifted)]] = False
        more = np.flatnonzero(others).astype(rows.dtype)
        rows = np.concatenate([rows, more])
        was_explicit = np.concatenate([was_explicit, relation.masks[more]])
        was_weight = np.concatenate([was_weight, relation.weights[more]]) if relation.weighted else was_weight
        known = was_rank if relation.ranked else np.zeros(entries, np.int32)
        below = rows[:entries] < len(lifted)
        known = np.where(below, lifted[np.where(below, rows[:entries], 0)] if len(lifted) else 0, known)
        was_rank = np.concatenate([known, lifted[more]])
    masks = relation.masks[rows]
    there, was_there = (masks & at.ABSENT) == 0, (masks & at.WAS_ABSENT) == 0
    change = there.astype(np.int64) - was_there
    if relation.bag:
        change = relation.weights[rows] - was_weight
    differs = (change != 0) | (there & (((masks ^ was_explicit) & at.EXPLICIT) != 0))
    if relation.weighted:
        differs |= there & (relation.weights[rows] != was_weight)
    if relation.ranked:
        differs |= there & (relation.ranks[rows] != was_rank)
    return _states(relation, rows[differs], change[differs])


def states_from(relation: Relation, first: int, size: int) -> FactStates:
    """All rows from a number on, which are new, and those before of which something is known now."""
    rows = np.arange(size)
    change = (rows >= first).astype(np.int64)
    if relation.bag:
        change *= relation.weights[:size]
    known = rows >= first
    for values in (relation.weights[:size] if relation.weighted else None, relation.ranks[:size]):
        if values is not None and len(values):
            known |= values != 0
    return _states(relation, rows[known], change[known])


def _states(relation: Relation, rows: Array, change: Array) -> FactStates:
    there = (relation.masks[rows] & at.ABSENT) == 0
    nothing = np.zeros(len(rows), np.int64)
    return FactStates(
        tuple(relation.facts[rows, position] for position in range(relation.arity)),
        change,
        there & ((relation.masks[rows] & at.EXPLICIT) != 0),
        np.where(there, relation.weights[rows], 0) if relation.weighted else nothing,
        np.where(there, relation.ranks[rows], 0).astype(np.int32) if relation.ranked else nothing.astype(np.int32),
    )
