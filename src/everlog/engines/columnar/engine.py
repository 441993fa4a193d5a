"""How does the columnar engine keep the interface's promises?

Relations, indexes and label bits live in arrays (relations.py); plans become integer programs (programs.py); one
kernel runs a phase whole and another a sweep (kernels.py), driven from runs.py. Updates have a file of their own
(updates.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.engines.columnar import layout as at
from everlog.engines.columnar.batches import slot_operands, stack
from everlog.engines.columnar.cached_plans import AnyVariant, CachedPlans, MakePlans, PlansByPhase, read_atoms
from everlog.engines.columnar.captures import Capture, Captures
from everlog.engines.columnar.entries import begin_sweep, find_chains, find_facts, load_batch
from everlog.engines.columnar.groups import group_columns
from everlog.engines.columnar.outcomes import KnownOutcomes
from everlog.engines.columnar.programs import Integers, KernelProgram, compile_plans
from everlog.engines.columnar.refutations import RefuteStep
from everlog.engines.columnar.relations import Index, Relation, Tables
from everlog.engines.columnar.runs import PhaseRun
from everlog.engines.columnar.touched import states_from
from everlog.engines.columnar.updates import ColumnarUpdates
from everlog.engines.dumps import RelationDump
from everlog.engines.interface import Capabilities, Flow, Phase, PhaseReport, Shape
from everlog.engines.states import FactStates
from everlog.engines.statistics import Sample, SampledStatistics, spread_rows
from everlog.facts.weighted import WeightedFacts
from everlog.limits import Limits, Watch
from everlog.plans.delta_variants import Variant, seeded_variant
from everlog.plans.expected_sizes import ExpectedStatistics
from everlog.plans.flat_rules import Refuted, WholeRule, WindowRule
from everlog.plans.join_order import plan_alternatives, plan_variant
from everlog.plans.operators import Plan
from everlog.plans.sweeps import NO_BOUND, Most, Sweep, SweepReport, SweepVariant
from everlog.plans.windows import Window, window_over
from everlog.rules.syntax import Atom, Constant

_LOAD_BATCH = 1 << 16  # facts per call when loading: the columns are there already, so larger is better
_FIRST_ROOM = 16  # facts; of many relations most stay empty
_NO_BATCH = np.empty((1, 1), np.int32)
_NO_LIMITS = Limits(rounds=None, facts=None)


class ColumnarEngine:
    """Facts in columns, rules in kernels."""

    name = "columnar"
    capabilities = Capabilities(maintains=True, concurrent=True)

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self.tables = Tables()
        self._relations: dict[str, Relation] = {}
        self.tick = 0  # how many updates are complete
        self.captures = Captures()
        self._scratch_from: dict[str, int] | None = None  # rows of each relation when deriving from scratch began
        self.keys = np.empty(at.BATCH, np.uint64)
        self.places = np.empty(at.BATCH, np.int64)
        self.parents = np.empty(at.BATCH, np.int32)
        self.rows = np.empty(at.BATCH, np.int32)
        self._round = 0
        self.grown = 0  # how often something was full
        self.by_number: dict[int, Relation] = {}
        self.plans_by_phase = PlansByPhase()
        self.outcomes = KnownOutcomes()

    @cached_property
    def _updates(self) -> ColumnarUpdates:
        """What updates need; a reader makes none."""
        return ColumnarUpdates(self)

    # --- relations ----------------------------------------------------------------------------------------------------

    def declare(self, shape: Shape) -> None:
        known = self.known(shape.name)
        if known is not None:
            assert (known.arity, known.bag) == (shape.arity, shape.bag), f"{shape.name} was declared otherwise"
            known.keep(self.size(known), self.tables, weights=shape.weighted, ranks=shape.ranked)
            return
        self.new_relation(shape).reserve(0, _FIRST_ROOM, self.tables)

    def new_relation(self, shape: Shape) -> Relation:
        """A relation without room for facts yet."""
        number = self.tables.new_relation(max(1, shape.arity))
        relation = Relation(shape.name, shape.arity, number, shape.bag, shape.weighted, shape.ranked)
        self._relations[shape.name] = self.by_number[number] = relation
        return relation

    def load_dump(self, dump: RelationDump) -> None:
        from everlog.engines.columnar.dumps import load_dump

        load_dump(self, dump)

    def relation(self, name: str) -> Relation:
        """The relation of a name, as this engine keeps it."""
        found = self.known(name)
        if found is None:
            raise KeyError(name)
        return found

    def known(self, name: str) -> Relation | None:
        """The same, or None where there is none."""
        return self._relations.get(name)

    def relations_now(self) -> dict[str, Relation]:
        """All relations by name, as they are now."""
        return self._relations.copy()

    def reserve(self, relation: Relation, room: int) -> None:
        """Make room for so many more rows, and for so many more entries of the journal."""
        self.grown += 1
        relation.journal.reserve(int(self.tables.relations[relation.number, at.R_JOURNAL_SIZE]) + room)
        relation.reserve(self.size(relation), room, self.tables)

    def count(self, relation: str, *, explicit: bool = False) -> int:
        stored = self.relation(relation)
        size = self.size(stored)
        return int(np.count_nonzero(stored.masks[:size] & at.EXPLICIT)) if explicit else size - stored.dead

    def collect(self, relation: str, *, explicit: bool = False) -> WeightedFacts:
        stored = self.relation(relation)
        size = self.size(stored)
        columns = stored.columns(0, size)
        found = WeightedFacts(columns, stored.weights[:size]) if stored.bag else WeightedFacts.present(columns, size)
        if explicit:
            return found.chosen((stored.masks[:size] & at.EXPLICIT) != 0)
        return found.chosen((stored.masks[:size] & at.ABSENT) == 0) if stored.dead or stored.bag else found

    def memory(self) -> dict[str, int]:
        """Bytes that each relation takes, its indexes included."""
        return {name: relation.nbytes(self.size(relation)) for name, relation in self._relations.items()}

    # --- facts in, facts asked about --------------------------------------------------------------------------------

    def load(self, relation: str, columns: Sequence[Ids], rows: int) -> int:
        return self._add(self.relation(relation), columns, rows, at.EXPLICIT)

    def restore(self, relation: str, facts: WeightedFacts | None, explicit: WeightedFacts | None) -> None:
        restored = self.relation(relation)
        assert not self.size(restored), f"{relation} has facts"
        if facts is not None:
            self._add(restored, facts.columns, facts.rows, 0)
            if restored.bag:
                restored.weights[: facts.rows] = facts.weights
        if explicit is not None:
            self._add(restored, explicit.columns, explicit.rows, at.EXPLICIT)
        restored.committed = self.size(restored)

    def take(self, relation: str, facts: WeightedFacts, *, explicit: bool) -> None:
        """Add facts as they come in parts; those of a bag, each in one part, keep their weights."""
        taken = self.relation(relation)
        before = self.size(taken)
        added = self._add(taken, facts.columns, facts.rows, at.EXPLICIT if explicit else 0)
        if taken.bag:
            assert added == facts.rows, f"a fact of the bag {relation} came twice"
            taken.weights[before : before + added] = facts.weights

    def everything_of(self, relation: str) -> RelationDump:
        """The facts of a relation with all that is known of them, as views of the engine's own arrays."""
        stored = self.relation(relation)
        size = self.size(stored)
        shape = Shape(relation, stored.arity, stored.bag, stored.weighted, stored.ranked)
        return RelationDump(
            shape,
            stored.facts[:size],
            (stored.masks[:size] & at.EXPLICIT) != 0,
            stored.weights[:size] if stored.weighted else None,
            stored.ranks[:size] if stored.ranked else None,
        )

    def _add(self, relation: Relation, columns: Sequence[Ids], rows: int, mask: int) -> int:
        added = 0
        code = slot_operands(relation.width)
        keys, places = np.empty(_LOAD_BATCH, np.uint64), np.empty(_LOAD_BATCH, np.int64)
        fresh = np.empty(_LOAD_BATCH, np.int32)
        for start in range(0, rows, _LOAD_BATCH):
            batch = stack(columns, start, min(rows, start + _LOAD_BATCH))
            count = batch.shape[1]
            while True:
                tables = self.tables
                new = load_batch(
                    tables.relations, tables.indexes, relation.number, code, batch, count, mask, keys, places, fresh
                )
                if new >= 0:
                    break
                relation.reserve(self.size(relation), count, tables)
            added += int(new)
        self.settle_rows(relation)
        return added

    def settle_rows(self, relation: Relation) -> None:
        """Everything in the relation is OLD: no round is on."""
        row = self.tables.relations[relation.number]
        row[at.R_LOW] = row[at.R_HIGH] = row[at.R_SIZE]

    def contains(self, relation: str, columns: Sequence[Ids], rows: int, *, explicit: bool = False) -> Sequence[bool]:
        stored = self.known(relation)
        if stored is None:
            return np.zeros(rows, bool)  # type: ignore[return-value]
        found = self._find(stored, columns, rows)
        if explicit:
            found[stored.masks[found] & at.EXPLICIT == 0] = -1
        elif stored.dead:
            found[stored.masks[found] & at.ABSENT != 0] = -1
        return found >= 0  # type: ignore[return-value]

    def _find(self, relation: Relation, columns: Sequence[Ids], rows: int) -> Ids:
        found = np.empty(rows, np.int32)
        code = slot_operands(relation.width)
        room = min(rows, _LOAD_BATCH)
        keys, places = np.empty(room, np.uint64), np.empty(room, np.int64)
        for start in range(0, rows, _LOAD_BATCH):
            batch = stack(columns, start, min(rows, start + _LOAD_BATCH))
            find_facts(
                self.tables.relations, relation.number, code, 0, batch, batch.shape[1], keys, places, found[start:]
            )
        return found

    # --- rounds -------------------------------------------------------------------------------------------------------

    def begin(self, relations: Sequence[str]) -> None:
        self._round = 0
        for relation in self._relations.values():
            self.settle_rows(relation)

    def derive(self, variants: Sequence[Variant]) -> int:
        """One round: the same kernel, told to stop before it advances."""
        runner = PhaseRun(self, Phase("round", tuple(variants), (), ()))
        runner.go(Watch(_NO_LIMITS))
        return runner.applications

    def advance(self, relations: Sequence[str]) -> dict[str, int]:
        gained = {}
        self._round += 1
        for name in relations:
            row = self.tables.relations[self.relation(name).number]
            row[at.R_LOW], row[at.R_HIGH] = row[at.R_HIGH], row[at.R_SIZE]
            gained[name] = int(row[at.R_HIGH] - row[at.R_LOW])
            if self.relation(name).ranked:
                self.relation(name).ranks[row[at.R_LOW] : row[at.R_HIGH]] = self._round
        return gained

    def run(self, phase: Phase, watch: Watch) -> PhaseReport | None:
        if not any(all(map(self._may_match, variant.rule.atoms)) for variant in phase.first):
            return PhaseReport(phase.name, 1, 0, dict.fromkeys(phase.relations, 0))
        before = {name: self.count(name) for name in phase.relations}
        runner = PhaseRun(self, phase)
        try:
            runner.go(watch)
        finally:
            for name in phase.relations:
                self.settle_rows(self.relation(name))
        gained = {name: self.count(name) - before[name] for name in phase.relations}
        return PhaseReport(phase.name, runner.rounds, runner.applications, gained)

    def _may_match(self, atom: Atom) -> bool:
        """Could there be a fact that an atom matches? Quickly, since of many rules most may have nothing to do."""
        relation = self.relation(atom.relation)
        if not self.size(relation):
            return False
        constants = [(column, arg.term) for column, arg in enumerate(atom.args) if isinstance(arg, Constant)]
        index = relation.indexes.get(tuple(column for column, _ in constants))
        if index is None:
            return True
        ids = [self.dictionary.find(term) for _, term in constants]
        return None not in ids and self._first_row(index, ids) >= 0

    def _first_row(self, index: Index, ids: Sequence[int | None]) -> int:
        """A row that has these ids in the columns of an index, or -1."""
        code = np.array([value for id_ in ids for value in (at.CONSTANT, id_)], np.int64)
        found = np.empty(1, np.int32)
        find_chains(
            self.tables.relations, self.tables.indexes, index.number, code, 0, _NO_BATCH, 1, self.keys, found
        )  # fmt: skip
        return int(found[0])

    def group(self, rule: WholeRule) -> int:
        source, target = self.relation(rule.source.relation), self.relation(rule.head.relation)
        if isinstance(rule, WindowRule):
            facts = self.window(rule).facts()
            return self._add(target, [np.array(column, np.int32) for column in zip(*facts, strict=True)], len(facts), 0)
        size = self.size(source)
        columns = group_columns(rule, source.columns(0, size), source.weights[:size], self.dictionary)
        return self._add(target, columns, len(columns[0]), 0)

    def window(self, rule: WindowRule) -> Window:
        """A window over its relation as it is now."""
        source = self.relation(rule.source.relation)
        there = self._present(source)
        facts = map(tuple, source.facts[there, : source.arity].tolist())
        weights = source.weights[there].tolist() if rule.bag else [1] * len(there)
        rows = zip(facts, weights, strict=True)
        return window_over(rule.ordering, rows, self.dictionary)

    def statistics(self) -> SampledStatistics:
        return SampledStatistics(self._size_of, self._sample, self.dictionary)

    def _size_of(self, relation: str) -> int:
        """How many facts there are, in the midst of an update too."""
        stored = self.known(relation)
        if stored is None:
            return 0
        at_work = int(self.tables.relations[stored.number, at.R_JOURNAL_SIZE]) > 0
        return self._updates.count_now(stored) if at_work else self.size(stored) - stored.dead

    def _present(self, relation: Relation) -> Ids:
        """The rows whose fact is there."""
        return np.flatnonzero((relation.masks[: self.size(relation)] & at.ABSENT) == 0)

    def _sample(self, relation: str) -> Sample:
        stored, facts = self.relation(relation), self._size_of(relation)
        if stored.sample is None or not stored.sample.still_fits(facts):
            stored.sample = Sample(stored.facts, *self._sampled_rows(stored))
        return stored.sample

    def _sampled_rows(self, relation: Relation) -> tuple[Ids, int]:
        """Rows to sample, all of which are there, and of how many."""
        size = self.size(relation)
        rows = spread_rows(size)
        present = rows[(relation.masks[rows] & at.ABSENT) == 0]
        if 4 * len(present) >= len(rows):
            return present, self._size_of(relation.name)
        every = self._present(relation)  # hardly any row is there: look for them
        return every[spread_rows(len(every))], len(every)

    # --- updates ----------------------------------------------------------------------------------------------------

    def count_before(self, relation: str) -> int:
        return self._updates.count_before(self.relation(relation))

    def edit(self, relation: str, columns: Sequence[Ids], rows: int, *, explicit: bool) -> int:
        return self._updates.edit(self.relation(relation), columns, rows, explicit)

    def settle(self, relation: str, heads: Sequence[Atom]) -> Flow:
        return self._updates.settle(self.relation(relation), heads)

    def sweep(self, sweep: Sweep, watch: Watch, limit: int = 0, most: Most = NO_BOUND) -> SweepReport:
        return self._updates.sweep(sweep, watch, limit, most)

    def reaches(self, reads: tuple[Atom, ...], heads: tuple[Atom, ...]) -> bool:
        return self._updates.reaches(reads, heads)

    def touched_values(self, relation: str, columns: tuple[int, ...], *, edited: bool) -> set[tuple[int, ...]]:
        return self._updates.touched_values(self.relation(relation), columns, edited)

    def overdelete(self, heads: tuple[Atom, ...]) -> int:
        return self._updates.overdelete(heads)

    def suspect_derived(self, heads: tuple[Atom, ...]) -> int:
        return self._updates.suspect_derived(heads)

    def uncount(self, heads: tuple[Atom, ...]) -> None:
        self._updates.uncount(heads)

    def finish(self, heads: tuple[Atom, ...], *, counted: bool) -> dict[str, Flow]:
        return self._updates.finish(heads, counted)

    def lift(self, heads: tuple[Atom, ...], by: int) -> int:
        return self._updates.lift(heads, by)

    def regroup(self, rule: WholeRule, *, new: bool = False) -> Flow:
        return self._updates.regroup(rule, new)

    def forget(self, sweeps: Sequence[Sweep]) -> None:
        self._updates.forget(sweeps)

    def drop(self, relation: str) -> None:
        dropped = self.known(relation)
        if dropped is None:
            return
        self._updates.drop(dropped)
        del self._relations[relation], self.by_number[dropped.number]
        self.tables.drop_relation(dropped)

    def record_witnesses(self) -> None:
        self._updates.marks.record_witnesses()

    def mark(self, relation: str, columns: Sequence[Ids], rows: int) -> tuple[int, int]:
        stored = self.relation(relation)
        return self._updates.marks.mark(stored, self._find(stored, columns, rows))

    def suspect_marked(self) -> int:
        return self._updates.suspect_marked()

    def reclaim(self) -> None:
        self._updates.reclaim()

    def tidy(self) -> None:
        for relation in self._relations.values():
            if relation.dead:
                self.compact(relation)
            for known in (relation.ranks, relation.weights):
                known[: self.size(relation)] = 0

    def begin_from_scratch(self) -> None:
        self._scratch_from = {name: self.size(relation) for name, relation in self._relations.items()}

    def changes(self) -> dict[str, WeightedFacts]:
        if self._scratch_from is None:
            return self._updates.changes()
        found = {}
        for name, relation in self._relations.items():
            first, size = self._scratch_from.get(name, 0), self.size(relation)
            if size > first:
                columns = relation.columns(first, size)
                if relation.bag:
                    found[name] = WeightedFacts(columns, relation.weights[first:size].copy())
                else:
                    found[name] = WeightedFacts.present(columns, size - first)
        return found

    def explicit_changes(self, relations: Iterable[str]) -> dict[str, WeightedFacts]:
        if self._scratch_from is None:
            return self._updates.explicit_changes(relations)
        found = {}
        for name in relations:
            relation = self.relation(name)
            first, size = self._scratch_from.get(name, 0), self.size(relation)
            columns = relation.columns(first, size)
            explicit = (relation.masks[first:size] & at.EXPLICIT) != 0
            if not explicit.all():
                columns = [column[explicit] for column in columns]
            found[name] = WeightedFacts.present(columns, int(explicit.sum()))
        return found

    def touched(self) -> dict[str, FactStates]:
        if self._scratch_from is None:
            return self._updates.touched()
        known = self._scratch_from
        return {
            name: states
            for name, relation in self._relations.items()
            if (states := states_from(relation, known.get(name, 0), self.size(relation))).rows
        }

    def publish(self, tick: int) -> None:
        self.captures.published = tick

    def commit(self, *, publish: bool = True) -> None:
        if self._scratch_from is None:
            self._updates.commit(publish)
        else:
            self._commit_from_scratch(self._scratch_from, publish)

    def _commit_from_scratch(self, sizes: dict[str, int], publish: bool) -> None:
        tick = self.tick + 1
        with self.captures.closing:
            watched = bool(self.captures)
            for name, relation in self._relations.items():
                first, size = sizes.get(name, 0), self.size(relation)
                if first == 0:
                    relation.filled_at = tick
                elif watched or not publish:
                    relation.follow_rows(self.tables)
                    assert relation.lives is not None
                    relation.lives[first:size] = tick
                if size > first:
                    relation.changed_at = tick
                relation.committed = size
            self.tick, self._scratch_from = tick, None
            if publish:
                self.captures.published = tick

    def abort(self) -> None:
        if self._scratch_from is None:
            self._updates.abort()
            return
        for name, relation in list(self._relations.items()):
            relation.describe(self.tables)  # an interrupt may have come while it grew
            if name not in self._scratch_from:
                del self._relations[name], self.by_number[relation.number]
                self.tables.drop_relation(relation)
                continue
            size = self._scratch_from[name]
            if self.size(relation) > size:
                self._truncate(relation, size)
            for known in (relation.ranks, relation.weights):
                known[:size] = 0  # nothing was derived before
        self._scratch_from = None

    def capture(self, *, latest: bool = False) -> Capture:
        return self.captures.take(self, latest)

    def begin_sweep(self, own: Integers, owners: Integers, code: Integers, begins: Integers) -> None:
        """Queue the facts that a sweep begins with."""
        begin_sweep(self.tables.relations, own, owners, code, begins)

    def compact(self, relation: Relation) -> None:
        """Drop the rows without a fact. Arrays that were handed out stay as they are."""
        self._updates.marks.forget()  # which knows facts by rows
        self.captures.before_moving(relation)
        relation.keep_rows(self._present(relation), self.tables)
        self.settle_rows(relation)

    def _truncate(self, relation: Relation, size: int) -> None:
        relation.truncate(size, self.tables)
        self.settle_rows(relation)

    # --- for the run ------------------------------------------------------------------------------------------------

    def size(self, relation: Relation) -> int:
        return int(self.tables.relations[relation.number, at.R_SIZE])

    def rows_in_all(self) -> int:
        """Rows of all relations."""
        return int(self.tables.relations[: self.tables.relation_count, at.R_SIZE].sum())

    def sizes_of(self, atoms: Iterable[Atom]) -> dict[Atom, float]:
        """How many facts have the constants of atoms, about."""
        statistics = self.statistics()
        return {atom: statistics.rows(atom) for atom in atoms}

    def plan(self, variants: Sequence[AnyVariant]) -> CachedPlans:
        """Plans for variants by what is there now."""
        return CachedPlans.made(variants, self.sizes_of(read_atoms(variants)), self._plan_maker(variants))

    def plan_again(self, known: CachedPlans, growth: float) -> CachedPlans:
        """The same plans, but new ones where sizes have changed by this factor: the facts have, so they are sampled."""
        for name in {atom.relation for atom in known.sizes}:
            if (relation := self.known(name)) is not None and not relation.is_read_only:
                relation.sample = None
        return known.made_again(self.sizes_of(known.sizes), self._plan_maker(known.variants), growth)

    def _plan_maker(self, variants: Sequence[AnyVariant]) -> MakePlans:
        adding = (v.rule for v in variants if isinstance(v, Variant) or v.effect.create)
        statistics = ExpectedStatistics(self.statistics(), adding)

        def make(variant: AnyVariant) -> list[Plan]:
            if isinstance(variant, SweepVariant):
                return plan_alternatives(variant, statistics)
            return [plan_variant(variant, statistics)]

        return make

    def plan_phase(self, phase: Phase) -> CachedPlans:
        """Plans for a phase that begins; those that were made before are used while they fit."""
        known = self.plans_by_phase.get(phase)
        if known is None:
            planned = self.plan((*phase.first, *phase.loop))
        else:
            planned = known.made_again(self.sizes_of(known.sizes), self._plan_maker(known.variants))
        if planned is not known:
            self.plans_by_phase.put(phase, planned)
        return planned

    def compile_plans(self, plans: Sequence[Plan], heads: Sequence[Atom] = ()) -> KernelProgram:
        """Plans as a program for the kernel; `heads` are those of the component at work."""
        relations = self.relation
        return compile_plans(plans, relations, self.tables, self.dictionary, self._refute, self.outcomes, heads)

    def _refute(self, refuted: Refuted, slots: Sequence[int]) -> RefuteStep:
        seed, hit = (self.relation(atom.relation) for atom in (refuted.seed, refuted.body.heads[0]))
        phase = Phase("refuted", (seeded_variant(refuted.body),), (), ())  # always the same one: plans are cached

        def hits(bindings: list[tuple[int, ...]]) -> set[tuple[int, ...]]:
            for relation in (seed, hit):
                self._truncate(relation, 0)
            columns = [np.array(column, np.int32) for column in zip(*bindings, strict=True)]
            self._add(seed, columns, len(bindings), 0)
            for relation in self._relations.values():
                if relation.has_absent(self.tables):
                    self.settle_rows(relation)  # an update has added rows that the body may read
            PhaseRun(self, phase).go(Watch(_NO_LIMITS))
            found = self.collect(hit.name)
            return set(zip(*(column.tolist() for column in found.columns), strict=True)) or (
                {()} if found.rows else set()
            )

        return RefuteStep(slots, hits)
