"""How does the columnar engine carry an update through: edits, sweeps, and at the end commit or abort?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np

from everlog.dictionary.dictionary import Ids
from everlog.engines.columnar import layout as at
from everlog.engines.columnar.batches import slot_operands, stack
from everlog.engines.columnar.entries import (
    abort_rows,
    changed_rows,
    commit_rows,
    edit_batch,
    finish_component,
    lift_rows,
    overdelete_rows,
    settle_unowned,
    suspect_rows,
    touches_pattern,
    uncount_rows,
)
from everlog.engines.columnar.marks import ColumnarMarks
from everlog.engines.columnar.programs import Integers
from everlog.engines.columnar.regroup import GroupBook
from everlog.engines.columnar.relations import Relation, Undo
from everlog.engines.columnar.reserved import lengthened
from everlog.engines.columnar.runs import BatchStack, SweepRun, owned_relations
from everlog.engines.columnar.touched import changed_states
from everlog.engines.interface import Flow
from everlog.engines.states import FactStates
from everlog.facts.weighted import WeightedFacts
from everlog.limits import Watch
from everlog.plans.flat_rules import WholeRule
from everlog.plans.sweeps import Most, Sweep, SweepReport
from everlog.rules.syntax import Atom

if TYPE_CHECKING:
    from everlog.engines.columnar.engine import ColumnarEngine

_EDIT_BATCH = 1 << 14
_COMPACT_FROM = 1 << 13  # dead rows below which compacting is not worth the while
_LONG_COMMIT = 1 << 16  # rows from which a commit takes a while, and nobody is to wait for it
_MANY = 1 << 10  # rows from which on sorting them costs less than looking at each in Python
_MOST_OWNED = 1 << 12  # sets of heads whose patterns are remembered
_NOBODY = np.full(1, -1, np.int64)


class ColumnarUpdates:
    """The part of an engine that keeps facts true."""

    def __init__(self, engine: ColumnarEngine) -> None:
        self._engine = engine
        self._scratch = BatchStack()
        self._sweeps: dict[int, tuple[Sweep, SweepRun]] = {}  # by identity: hashing a sweep costs more than running it
        self._owned: dict[tuple[Atom, ...], tuple[Ids, Ids]] = {}
        self._patterns: dict[int, tuple[tuple[Atom, ...], list[int], Integers, Integers]] = {}  # by identity too
        self._ranks: dict[str, Ids] = {}  # as they were before they were lifted, by relation
        self._sizes: dict[str, int] = {}  # rows when the update began, of the relations it has touched
        self._oldest = 0  # the oldest tick that somebody may read
        self._shrunk: set[str] = set()  # relations that updates have left with many dead rows
        self.marks = ColumnarMarks(engine)
        self._groups = GroupBook(engine)

    def edit(self, relation: Relation, columns: Sequence[Ids], rows: int, explicit: bool) -> int:
        engine = self._engine
        self._began(relation)
        code = slot_operands(relation.width)
        changed = 0
        for start in range(0, rows, _EDIT_BATCH):
            batch = stack(columns, start, min(rows, start + _EDIT_BATCH))
            count = batch.shape[1]
            keys, places = np.empty(count, np.uint64), np.empty(count, np.int64)
            fresh, found = np.empty(count, np.int32), np.empty(count, np.int32)
            while True:
                tables = engine.tables
                made = edit_batch(
                    tables.relations, tables.indexes, relation.number, code, batch, count, explicit, keys, places,
                    fresh, found,
                )  # fmt: skip
                if made >= 0:
                    break
                engine.reserve(relation, count)
            changed += int(made)
        return changed

    def count_before(self, relation: Relation) -> int:
        return self._sizes.get(relation.name, self._engine.size(relation)) - relation.dead

    def count_now(self, relation: Relation) -> int:
        """How many facts a relation has by now; an update that is on has touched few of them."""
        _, changes = relation.presence_changes(self._engine.tables)
        return self.count_before(relation) + int(changes.sum())

    def _began(self, relation: Relation) -> None:
        """Before an update first touches a relation."""
        if relation.name in self._sizes:
            return
        engine = self._engine
        if not self._sizes:
            self._oldest = engine.captures.oldest_needed()
            engine.captures.adopt(engine)
        self._sizes[relation.name] = engine.size(relation)
        relation.writes += 1
        relation.follow_rows(engine.tables)
        row = engine.tables.relations[relation.number]
        row[at.R_OLDEST] = -1
        if relation.dead and self._oldest < engine.tick:
            if relation.newer is None:
                relation.newer = lengthened(np.empty(0, np.int32), relation.capacity, 0)
                row[at.R_NEWER] = relation.newer.ctypes.data
            row[at.R_OLDEST] = self._oldest

    def settle(self, relation: Relation, heads: Sequence[Atom]) -> Flow:
        if not any(head.relation == relation.name for head in heads):
            return Flow(*settle_unowned(self._engine.tables.relations, relation.number, _NOBODY, -1))
        code, places = self._owners(tuple(head for head in heads if head.relation == relation.name))
        if places[0] == 0:
            return Flow(0, 0)
        return Flow(*settle_unowned(self._engine.tables.relations, relation.number, code, places[0]))

    def _owners(self, heads: tuple[Atom, ...]) -> tuple[Ids, Ids]:
        if heads not in self._owned:
            if len(self._owned) >= _MOST_OWNED:
                self._owned.clear()
            self._owned[heads] = owned_relations(self._engine, heads)
        return self._owned[heads]

    def sweep(self, sweep: Sweep, watch: Watch, limit: int, most: Most) -> SweepReport:
        known = self._sweeps.get(id(sweep))
        if known is None:
            known = self._sweeps[id(sweep)] = (sweep, SweepRun(self._engine, sweep, self._scratch))
        for relation in known[1].own:
            self._began(relation)
        return known[1].go(watch, limit, most)

    def reaches(self, reads: tuple[Atom, ...], heads: tuple[Atom, ...]) -> bool:
        return self._any_touched(reads, edited=False) or self._any_touched(heads, edited=True)

    def touched_values(self, relation: Relation, columns: tuple[int, ...], edited: bool) -> set[tuple[int, ...]]:
        entries = int(self._engine.tables.relations[relation.number, at.R_JOURNAL_SIZE])
        rows = relation.journal.rows[:entries]
        masks = relation.masks[rows]
        if edited:
            rows = rows[(masks & at.EDITED) != 0]
        else:
            state = masks & at.DEAD
            rows = rows[(state == at.ABSENT) | (state == at.WAS_ABSENT)]
        facts = relation.facts[rows][:, columns]
        if len(facts) > _MANY:
            facts = np.unique(facts, axis=0)
        return set(map(tuple, facts.tolist()))

    def _any_touched(self, atoms: tuple[Atom, ...], *, edited: bool) -> bool:
        known = self._patterns.get(id(atoms))
        if known is None:
            names = [name for name in dict.fromkeys(atom.relation for atom in atoms)]
            numbers = [self._engine.relation(name).number for name in names]
            known = self._patterns[id(atoms)] = (atoms, numbers, *owned_relations(self._engine, atoms))
        _, numbers, code, places = known
        table = self._engine.tables.relations
        return any(
            touches_pattern(table, number, code, place, edited)
            for number, place in zip(numbers, places.tolist(), strict=True)
            if table[number, at.R_JOURNAL_SIZE]
        )

    def overdelete(self, heads: tuple[Atom, ...]) -> int:
        return self._over_own(heads, overdelete_rows)

    def suspect_derived(self, heads: tuple[Atom, ...]) -> int:
        return self._over_own(heads, suspect_rows)

    def uncount(self, heads: tuple[Atom, ...]) -> None:
        self._over_own(heads, uncount_rows)

    def _over_own(self, heads: tuple[Atom, ...], kernel: Callable[..., int]) -> int:
        engine, done = self._engine, 0
        code, places = self._owners(heads)
        for name, place in zip(dict.fromkeys(head.relation for head in heads), places.tolist(), strict=True):
            relation = engine.relation(name)
            self._began(relation)
            relation.reserve_journal(engine.size(relation), engine.tables)
            done += int(kernel(engine.tables.relations, relation.number, code, place))
        return done

    def lift(self, heads: tuple[Atom, ...], by: int) -> int:
        assert not self._sizes, "ranks are lifted before the first edit"
        engine, highest = self._engine, by - 1
        code, places = self._owners(heads)
        for name, place in zip(dict.fromkeys(head.relation for head in heads), places.tolist(), strict=True):
            relation = engine.relation(name)
            relation.keep(engine.size(relation), engine.tables, weights=False, ranks=True)
            # Copied first: an interrupt at any time finds what to go back to, and a reader what was.
            if name not in self._ranks:
                before = self._ranks[name] = relation.ranks[: engine.size(relation)].copy()
                if engine.captures:  # only who writes a snapshot of a state reads ranks, and has it captured by now
                    relation.undo.append(Undo(engine.tick + 1, np.arange(len(before)), None, None, before))
            highest = max(highest, int(lift_rows(engine.tables.relations, relation.number, code, place, by)))
        return highest

    def finish(self, heads: tuple[Atom, ...], counted: bool) -> dict[str, Flow]:
        code, places = self._owners(heads)
        flows = {}
        for name, place in zip(dict.fromkeys(head.relation for head in heads), places.tolist(), strict=True):
            number = self._engine.relation(name).number
            flows[name] = Flow(*finish_component(self._engine.tables.relations, number, code, place, counted))
        return flows

    def regroup(self, rule: WholeRule, new: bool) -> Flow:
        self._began(self._engine.relation(rule.head.relation))
        return self._groups.regroup(rule, new)

    def forget(self, sweeps: Sequence[Sweep]) -> None:
        for sweep in sweeps:
            self._sweeps.pop(id(sweep), None)

    def drop(self, relation: Relation) -> None:
        """What was known of a relation is not to be taken for what is known of the next of that number or name."""
        self.marks.forget()
        self._groups.drop(relation.name)
        self._owned.clear()
        self._patterns.clear()

    def suspect_marked(self) -> int:
        for relation in self.marks.relations():
            self._began(relation)
        return self.marks.suspect()

    def changes(self) -> dict[str, WeightedFacts]:
        """What the update has changed so far, by relation: presence in sets, weights in bags."""
        found = {}
        for name in self._sizes:
            relation = self._engine.relation(name)
            if relation.bag:
                rows, weights = relation.weight_changes(self._engine.tables)
            else:
                changed_rows(self._engine.tables.relations, relation.number)
                row = self._engine.tables.relations[relation.number]
                gains, losses = row[at.R_QUEUE_SIZE], row[at.R_FRONTIER_SIZE]
                came, went = relation.journal.queue[:gains], relation.journal.frontier[:losses]
                if not losses:
                    if gains:
                        found[name] = WeightedFacts.present(_columns(relation, came), int(gains))
                    continue
                rows = np.concatenate([came, went])
                weights = np.ones(gains + losses, np.int64)
                weights[gains:] = -1
            if len(rows):
                found[name] = WeightedFacts(_columns(relation, rows), weights)
        return found

    def touched(self) -> dict[str, FactStates]:
        """The facts of which the update has changed anything, and what is known of them now."""
        engine = self._engine
        found = {}
        for name in {**self._sizes, **self._ranks}:
            relation = engine.relation(name)
            entries = int(engine.tables.relations[relation.number, at.R_JOURNAL_SIZE])
            states = changed_states(relation, entries, self._ranks.get(name))
            if states.rows:
                found[name] = states
        return found

    def explicit_changes(self, relations: Iterable[str]) -> dict[str, WeightedFacts]:
        """Which facts of some relations have become explicit, or no longer are."""
        found = {}
        for name in relations:
            relation = self._engine.relation(name)
            touched = int(self._engine.tables.relations[relation.number, at.R_JOURNAL_SIZE])
            rows = relation.journal.rows[:touched]
            now, was = relation.masks[rows] & at.EXPLICIT, relation.journal.masks[:touched] & at.EXPLICIT
            changed = now != was
            if changed.any():
                weights = np.where(now[changed], 1, -1).astype(np.int64)
                found[name] = WeightedFacts(_columns(relation, rows[changed]), weights)
        return found

    def commit(self, publish: bool) -> None:
        engine = self._engine
        self._groups.commit()
        tick, relations = engine.tick + 1, [(engine.relation(name), size) for name, size in self._sizes.items()]
        for relation, _ in relations:
            self.marks.note_journal(relation)
        watched = not publish or self._touched() > _LONG_COMMIT
        if watched:
            self._note_undo(tick)
        with nullcontext() if watched else engine.captures.closing:
            if not watched and engine.captures:
                self._note_undo(tick)
            for relation, size in relations:
                died = commit_rows(engine.tables.relations, relation.number, tick)
                relation.dead += int(died) + engine.size(relation) - size
                self._ended(relation, tick)
            engine.tick = tick
            if publish:
                engine.captures.published = tick
        self._shrunk.update([relation.name for relation, _ in relations if relation.dead > _COMPACT_FROM])
        self._sizes.clear()
        self._ranks.clear()

    def reclaim(self) -> None:
        """Drop dead rows where they are many."""
        engine = self._engine
        while self._shrunk:
            relation = engine.known(self._shrunk.pop())
            if relation is not None and 4 * relation.dead > engine.size(relation):
                engine.compact(relation)

    def abort(self) -> None:
        engine = self._engine
        self._groups.abort()
        self._note_undo(engine.tick + 1)
        for name, size in self._sizes.items():
            relation = engine.relation(name)
            relation.describe(engine.tables)  # the update may have been interrupted while it grew
            abort_rows(engine.tables.relations, relation.number)
            relation.dead += engine.size(relation) - size  # rows that the update made stay, without a fact
            self._ended(relation, relation.changed_at)
        self._sizes.clear()
        for name, ranks in self._ranks.items():
            engine.relation(name).ranks[: len(ranks)] = ranks
        self._ranks.clear()

    def _ended(self, relation: Relation, tick: int) -> None:
        relation.changed_at, relation.committed = tick, self._engine.size(relation)
        relation.writes += 1
        if relation.undo and not self._engine.captures:
            relation.undo.clear()
        self._engine.settle_rows(relation)

    def _touched(self) -> int:
        """How many rows the update has touched."""
        table = self._engine.tables.relations
        return sum([int(table[self._engine.relation(name).number, at.R_JOURNAL_SIZE]) for name in self._sizes])

    def _note_undo(self, tick: int) -> None:
        """Write down what the touched rows were, for those who read an older tick."""
        oldest = self._engine.captures.oldest_needed()
        for name in self._sizes:
            relation = self._engine.relation(name)
            if relation.undo and relation.undo[0].tick <= oldest:
                relation.undo[:] = [undo for undo in relation.undo if undo.tick > oldest]
            touched = int(self._engine.tables.relations[relation.number, at.R_JOURNAL_SIZE])
            if touched:
                relation.undo.append(relation.journaled(touched, tick))


def _columns(relation: Relation, rows: Ids) -> tuple[Ids, ...]:
    facts = relation.facts[rows]
    return tuple(facts[:, position] for position in range(relation.arity))
