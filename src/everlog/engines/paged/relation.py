"""What does the paged engine know of a relation, and how is it read and changed?

Below are the runs, above them the held facts (held.py): a fact that is held is what its row says, any other is what the
runs say. An update takes a fact that it changes into memory and records what it was, so that it can be undone; reading
alone takes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Ids
from everlog.engines.interface import Shape
from everlog.engines.paged.held import Held
from everlog.engines.paged.relation_runs import Columns, Glimpse, RelationRuns
from everlog.engines.paged.stored_facts import EXPLICIT, GONE, StoredFacts, distinct
from everlog.engines.states import FactStates
from everlog.facts.weighted import WeightedFacts
from everlog.plans.labels import Bit, Condition
from everlog.plans.sweeps import ANYTHING
from everlog.rules.syntax import Atom, Constant

Array = npt.NDArray[Any]
Rows = npt.NDArray[np.int64]
Find = Callable[[Constant], int]

DEAD = int(Bit.ABSENT | Bit.WAS_ABSENT)
_ABSENT, _WAS_ABSENT, _TOUCHED, _EXPLICIT = int(Bit.ABSENT), int(Bit.WAS_ABSENT), int(Bit.TOUCHED), int(Bit.EXPLICIT)


class Found(NamedTuple):
    """Facts that were read: what is known of each, and its row, -1 if it is not held."""

    columns: tuple[Ids, ...]
    masks: Array
    weights: Array
    ranks: Array
    rows: Rows

    @property
    def size(self) -> int:
        return len(self.masks)

    def chosen(self, which: Array) -> Found:
        return Found(tuple(column[which] for column in self.columns), *(part[which] for part in self[1:]))


class _Touched(NamedTuple):
    """Rows of the journal, and what they were."""

    rows: Rows
    masks: Array
    weights: Array
    ranks: Array


class PagedRelation:
    """The facts of one relation."""

    def __init__(
        self,
        shape: Shape,
        runs: RelationRuns,
        held: Held,
        spend: Callable[[int, str], None],
        *,
        facts: int,
        explicit: int,
    ) -> None:
        self.shape, self.runs, self.held = shape, runs, held
        self._spend = spend
        self.facts, self.explicit = facts, explicit  # how many there were after the last commit
        self._journal: list[_Touched] = []
        self._lifted: _Touched | None = None
        self.changed: list[Rows] = []  # rows that commits have changed since they were last written

    @property
    def width(self) -> int:
        return self.held.width

    def frozen(self) -> PagedRelation:
        """The same as it is now, whatever becomes of this one."""
        runs, held = self.runs.copy(), self.held.frozen()
        return PagedRelation(self.shape, runs, held, self._spend, facts=self.facts, explicit=self.explicit)

    def shared(self, spend: Callable[[int, str], None]) -> PagedRelation:
        """The same for a reader that changes nothing in it."""
        return PagedRelation(self.shape, self.runs, self.held, spend, facts=self.facts, explicit=self.explicit)

    # --- reading ------------------------------------------------------------------------------------------------------

    def read(
        self, columns: Columns, keys: Sequence[Ids], condition: Condition, glimpse: Glimpse | None = None
    ) -> tuple[Rows, Found]:
        """The facts of which a condition holds with these keys, which are distinct; each with the number of its key."""
        which, rows = self.held.matching(columns, keys)
        found = self.of_rows(rows)
        if _may_hold_in_runs(condition) and self.runs.runs:
            below, stored = self.runs.look_up(columns, keys, self._spend_on_reading, glimpse)
            if stored.rows:
                more = self._not_held(stored)
                which = np.concatenate([which, below[more]])
                found = _joined(found, _as_found(stored.chosen(more)))
        return _filtered(which, found, condition)

    def scan(self, condition: Condition) -> Found:
        """All facts of which a condition holds."""
        found = self.of_rows(np.arange(self.held.size))
        if _may_hold_in_runs(condition) and self.runs.runs:
            self._spend(self.runs.rows, f"all {self.runs.rows:,} facts of {self.shape.name} would be read")
            stored = self.runs.all()
            found = _joined(found, _as_found(stored.chosen(self._not_held(stored))))
        return _filtered(np.arange(found.size), found, condition)[1]

    def look_up(self, columns: Sequence[Ids]) -> Found:
        """What is known of distinct facts; the mask of one that was never there is that of a fact that is gone."""
        rows = self.held.rows_of(columns)
        found = self.of_rows(np.where(rows >= 0, rows, 0)) if self.held.size else _unknown(len(rows))
        missing = rows < 0
        if missing.any():
            masks, weights, ranks = found.masks.copy(), found.weights.copy(), found.ranks.copy()
            masks[missing], weights[missing], ranks[missing] = DEAD, 0, 0
            if self.runs.runs:
                places = np.flatnonzero(missing)
                every = tuple(range(self.width))
                which, stored = self.runs.look_up(every, [c[places] for c in columns], self._spend_on_reading)
                at, below = places[which], _as_found(stored)
                masks[at], weights[at], ranks[at] = below.masks, below.weights, below.ranks
            found = Found((), masks, weights, ranks, rows)
        return Found(tuple(columns), found.masks, found.weights, found.ranks, rows)

    def of_rows(self, rows: Rows) -> Found:
        """What is known of held facts."""
        held = self.held
        return Found(tuple(held.columns(rows)), held.masks[rows], held.weights[rows], held.ranks[rows], rows)

    def _not_held(self, stored: StoredFacts) -> Array:
        return np.flatnonzero(self.held.rows_of(stored.columns) < 0)

    def _spend_on_reading(self, rows: int) -> None:
        self._spend(rows, f"{rows:,} facts of {self.shape.name} would be read for one step of a rule")

    def all_present(self, *, explicit: bool = False) -> Found:
        """Every fact that is there, or is explicit, however many there are."""
        found = self.of_rows(np.arange(self.held.size))
        if self.runs.runs:
            stored = self.runs.all()
            found = _joined(found, _as_found(stored.chosen(self._not_held(stored))))
        there = (found.masks & _EXPLICIT) != 0 if explicit else (found.masks & _ABSENT) == 0
        return found.chosen(there)

    # --- which facts an atom or a head means --------------------------------------------------------------------------

    def matches(self, atoms: Sequence[Atom], columns: Sequence[Ids], find: Find) -> Array:
        """Which facts match one of these atoms?"""
        count = len(columns[0])
        result = np.zeros(count, bool)
        for atom in atoms:
            if atom.relation != self.shape.name:
                continue
            holds = np.ones(count, bool)
            first: dict[str, int] = {}
            for place, arg in enumerate(atom.args):
                if isinstance(arg, Constant):
                    holds &= columns[place] == find(arg)
                elif first.setdefault(arg.name, place) != place:
                    holds &= columns[place] == columns[first[arg.name]]
            result |= holds
        return result

    def hold_matching(self, heads: Sequence[Atom], find: Find) -> Rows:
        """Take all facts into memory that one of these heads may conclude."""
        parts: list[Rows] = []
        for head in heads:
            if head.relation != self.shape.name:
                continue
            fixed = tuple(place for place, arg in enumerate(head.args) if isinstance(arg, Constant))
            if fixed:
                keys = [np.array([find(head.args[place])], self.held.dtype) for place in fixed]  # type: ignore[arg-type]
                _, found = self.read(fixed, keys, ANYTHING)
            else:
                found = self.scan(ANYTHING)
            if found.size:
                parts.append(self.hold(found.chosen(self.matches([head], found.columns, find))))
        return np.unique(np.concatenate(parts)) if parts else np.empty(0, np.int64)

    # --- changing -----------------------------------------------------------------------------------------------------

    def hold(self, found: Found) -> Rows:
        """The rows of facts that were looked up, made where there are none."""
        rows = found.rows
        missing = np.flatnonzero(rows < 0)
        if len(missing):
            rows = rows.copy()
            columns = [column[missing] for column in found.columns]
            rows[missing] = self.held.append(
                columns, found.masks[missing], found.weights[missing], found.ranks[missing]
            )
        return rows

    def touch(self, rows: Rows) -> None:
        """Record what these rows are, before they are changed for the first time."""
        held = self.held
        new = rows[(held.masks[rows] & _TOUCHED) == 0]
        if len(new):
            self._journal.append(_Touched(new, held.masks[new], held.weights[new], held.ranks[new]))
            held.masks[new] |= _TOUCHED

    def lift(self, rows: Rows, by: int) -> None:
        """Add to the ranks of these rows."""
        held = self.held
        if self._lifted is not None:
            before = np.isin(rows, self._lifted.rows, assume_unique=True)
            more = rows[~before]
            ranks = np.concatenate([self._lifted.ranks, held.ranks[more]])
            self._lifted = _Touched(np.concatenate([self._lifted.rows, more]), ranks, ranks, ranks)
        else:
            ranks = held.ranks[rows]
            self._lifted = _Touched(rows, ranks, ranks, ranks)
        held.ranks[rows] += by

    @property
    def journal(self) -> Rows:
        """The rows that the update has touched."""
        if len(self._journal) > 1:
            self._journal = [_Touched(*(np.concatenate(parts) for parts in zip(*self._journal, strict=True)))]
        return self._journal[0].rows if self._journal else np.empty(0, np.int64)

    @property
    def is_touched(self) -> bool:
        return bool(self._journal) or self._lifted is not None

    # --- what the update has come to ----------------------------------------------------------------------------------

    def differences(self) -> tuple[Rows, Array]:
        """The rows of the journal, and the change of each: of presence, or of a bag's weight."""
        rows = self.journal
        masks = self.held.masks[rows]
        if self.shape.bag:
            before = self._journal[0].weights if self._journal else np.empty(0, np.int64)
            return rows, self.held.weights[rows] - before
        return rows, _presence(masks, _ABSENT) - _presence(masks, _WAS_ABSENT)

    def explicit_differences(self) -> tuple[Rows, Array]:
        """The rows of the journal, and for each 1 if it has become explicit, -1 if it no longer is."""
        rows = self.journal
        if not len(rows):
            return rows, np.empty(0, np.int64)
        before = (self._journal[0].masks & _EXPLICIT) != 0
        now = (self.held.masks[rows] & _EXPLICIT) != 0
        return rows, now.astype(np.int64) - before

    def changes(self, rows: Rows, change: Array) -> WeightedFacts:
        """The facts of rows that changed, with their changes as weights."""
        changed = change != 0
        return WeightedFacts(self.held.columns(rows[changed])[: self.shape.arity], change[changed])

    def count_now(self, *, explicit: bool = False) -> int:
        if explicit:
            return self.explicit + int(self.explicit_differences()[1].sum())
        rows = self.journal
        masks = self.held.masks[rows]
        return self.facts + int((_presence(masks, _ABSENT) - _presence(masks, _WAS_ABSENT)).sum())

    def touched(self) -> FactStates:
        """The facts of which anything has changed that outlives the update."""
        rows, change = self.differences()
        held = self.held
        if len(rows):
            _, was_mask, was_weight, was_rank = self._journal[0]
        else:
            was_mask = was_weight = was_rank = rows
        if self._lifted is not None:
            rank_before = np.empty(held.size, np.int64)
            rank_before[rows] = was_rank
            rank_before[self._lifted.rows] = self._lifted.ranks  # recorded before anything was touched
            more = np.setdiff1d(self._lifted.rows, rows, assume_unique=True)
            rows = np.concatenate([rows, more])
            was_mask = np.concatenate([was_mask, held.masks[more]])
            was_weight = np.concatenate([was_weight, held.weights[more]])
            was_rank = rank_before[rows]
            change = np.concatenate([change, np.zeros(len(more), np.int64)])
        there = (held.masks[rows] & _ABSENT) == 0
        differs = (change != 0) | (
            there
            & (
                (((held.masks[rows] ^ was_mask) & _EXPLICIT) != 0)
                | (held.weights[rows] != was_weight)
                | (held.ranks[rows] != was_rank)
            )
        )
        rows, change = rows[differs], change[differs]
        there = (held.masks[rows] & _ABSENT) == 0
        return FactStates(
            tuple(held.columns(rows))[: self.shape.arity],
            change,
            there & ((held.masks[rows] & _EXPLICIT) != 0),
            np.where(there, held.weights[rows], 0),
            np.where(there, held.ranks[rows], 0).astype(np.int32),
        )

    def commit(self) -> None:
        """What was done becomes the state."""
        rows = self.journal
        if len(rows):
            self.facts, self.explicit = self.count_now(), self.count_now(explicit=True)
            held = self.held
            masks = held.masks[rows]
            absent = (masks & _ABSENT) != 0
            held.masks[rows] = np.where(absent, DEAD, masks & _EXPLICIT)
            held.weights[rows[absent]] = held.ranks[rows[absent]] = 0
            self.changed.append(rows)
            self._journal = []
        if self._lifted is not None:
            self.changed.append(self._lifted.rows)
            self._lifted = None

    def abort(self) -> None:
        """What was done never was."""
        if len(self.journal):
            rows, masks, weights, ranks = self._journal[0]
            held = self.held
            held.masks[rows], held.weights[rows], held.ranks[rows] = masks, weights, ranks
            self._journal = []
        if self._lifted is not None:
            self.held.ranks[self._lifted.rows] = self._lifted.ranks
            self._lifted = None

    # --- to and from files --------------------------------------------------------------------------------------------

    def changed_facts(self) -> StoredFacts | None:
        """The facts that commits have changed since they were last written."""
        return self.stored(np.unique(np.concatenate(self.changed))) if self.changed else None

    def stored(self, rows: Rows | None = None) -> StoredFacts:
        """Held facts as they go into a file."""
        rows = np.arange(self.held.size) if rows is None else rows
        found = self.of_rows(rows)
        absent = (found.masks & _ABSENT) != 0
        states = np.where(absent, GONE, np.where((found.masks & _EXPLICIT) != 0, EXPLICIT, 0)).astype(np.uint8)
        return StoredFacts(found.columns, states, found.weights, found.ranks.astype(np.int32))

    def hold_nothing(self) -> None:
        """All that is held stands in runs now."""
        self.held, self.changed = Held(self.width, self.held.dtype), []

    def take_over(self, facts: StoredFacts) -> None:
        """Hold facts as they stood in a file; a later one of equal facts counts."""
        found = _as_found(facts)
        first, inverse = distinct(facts.columns)
        last = np.zeros(len(first), np.int64)
        np.maximum.at(last, inverse, np.arange(facts.rows))
        found = found.chosen(last)._replace(rows=self.held.rows_of([column[last] for column in facts.columns]))
        known = found.rows >= 0
        rows = found.rows[known]
        held = self.held
        held.masks[rows], held.weights[rows], held.ranks[rows] = (
            part[known] for part in (found.masks, found.weights, found.ranks)
        )
        self.hold(found.chosen(~known))


def _presence(masks: Array, bit: int) -> npt.NDArray[np.int64]:
    present: Array = (masks & bit) == 0
    return present.astype(np.int64)


def _may_hold_in_runs(condition: Condition) -> bool:
    """May a condition hold of a fact that no update has touched? It has no bit, or is explicit."""
    return not condition.want & ~_EXPLICIT


def _as_found(stored: StoredFacts) -> Found:
    masks = np.where(stored.gone, DEAD, np.where(stored.explicit, _EXPLICIT, 0)).astype(np.int32)
    nowhere = np.full(stored.rows, -1, np.int64)
    return Found(stored.columns, masks, stored.weights, stored.ranks.astype(np.int64), nowhere)


def _unknown(count: int) -> Found:
    nothing = np.zeros(count, np.int64)
    return Found((), np.full(count, DEAD, np.int32), nothing, nothing, np.full(count, -1, np.int64))


def _joined(one: Found, other: Found) -> Found:
    if not one.size:
        return other
    if not other.size:
        return one
    columns = tuple(np.concatenate(pair) for pair in zip(one.columns, other.columns, strict=True))
    return Found(columns, *(np.concatenate(pair) for pair in zip(one[1:], other[1:], strict=True)))


def _filtered(which: Rows, found: Found, condition: Condition) -> tuple[Rows, Found]:
    holds = (found.masks & condition.care) == condition.want
    return (which, found) if holds.all() else (which[holds], found.chosen(holds))
