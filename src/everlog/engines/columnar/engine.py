"""How does the columnar engine keep the interface's promises?

Relations, indexes and label bits live in arrays (relations.py); plans become integer programs (programs.py); one
kernel runs a phase whole (kernels.py). This file is the Python side of that kernel: it grows what is full, evaluates
what needs Python, plans anew when relations have outgrown their plans, and watches limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.engines.columnar import layout as at
from everlog.engines.columnar.fact_kernels import find_facts, load_batch, rebuild
from everlog.engines.columnar.groups import group_columns
from everlog.engines.columnar.kernels import run
from everlog.engines.columnar.programs import Program, compile_plans
from everlog.engines.columnar.refutations import RefuteStep
from everlog.engines.columnar.relations import Relation, Tables
from everlog.engines.columnar.statistics import SampledStatistics
from everlog.engines.columnar.tables import EMPTY
from everlog.engines.interface import FactColumns, Phase, PhaseReport, Shape
from everlog.limits import Limits, Watch
from everlog.plans.delta_variants import Variant, seeded_variant
from everlog.plans.flat_rules import GroupRule, Refuted
from everlog.plans.join_order import Statistics, plan_variant

_LOAD_BATCH = 1 << 16  # facts per call when loading: the columns are there already, so larger is better
_BUDGET = 1 << 24  # bindings between two looks at limits and Ctrl-C, about a second of work
_NO_LIMITS = Limits(rounds=None, facts=None)
_NOTHING_DESCRIBED = np.empty(0, np.uint8), np.empty(0, np.float64)
_REPLAN_GROWTH = 4  # plans are made anew when a relation is so many times larger


@dataclass(frozen=True)
class Savepoint:
    """What there was: the rows of each relation, and how far the journal of explicit bits went."""

    sizes: dict[str, int]
    journal: int


class ColumnarEngine:
    """Facts in columns, rules in kernels."""

    name = "columnar"

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self._tables = Tables()
        self._relations: dict[str, Relation] = {}
        self._journal: list[tuple[str, Ids]] = []  # rows that became explicit after they were there, by relation
        self._keys = np.empty(at.BATCH, np.uint64)
        self._places = np.empty(at.BATCH, np.int64)
        self._parents = np.empty(at.BATCH, np.int32)
        self._rows = np.empty(at.BATCH, np.int32)
        self._in_phase: tuple[str, ...] = ()

    # --- relations ----------------------------------------------------------------------------------------------------

    def declare(self, shape: Shape) -> None:
        known = self._relations.get(shape.name)
        if known is not None:
            assert (known.arity, known.bag) == (shape.arity, shape.bag), f"{shape.name} was declared otherwise"
            return
        number = self._tables.new_relation(max(1, shape.arity))
        relation = self._relations[shape.name] = Relation(shape.name, shape.arity, number, shape.bag)
        relation.reserve(0, at.BATCH, self._tables)

    def count(self, relation: str, *, explicit: bool = False) -> int:
        kept = self._relations[relation]
        size = self._size(kept)
        return int(np.count_nonzero(kept.masks[:size] & at.EXPLICIT)) if explicit else size

    def collect(self, relation: str, *, explicit: bool = False) -> FactColumns:
        kept = self._relations[relation]
        size = self._size(kept)
        columns = kept.columns(0, size)
        if not explicit:
            return FactColumns(columns, size)
        chosen = (kept.masks[:size] & at.EXPLICIT) != 0
        return FactColumns([column[chosen] for column in columns], int(chosen.sum()))

    def weights(self, relation: str) -> Sequence[int]:
        kept = self._relations[relation]
        size = self._size(kept)
        weights: list[int] = kept.weights[:size].tolist() if kept.bag else [1] * size
        return weights

    def memory(self) -> dict[str, int]:
        """Bytes that each relation takes, its indexes included."""
        return {name: relation.nbytes(self._size(relation)) for name, relation in self._relations.items()}

    # --- facts in, facts asked about --------------------------------------------------------------------------------

    def load(self, relation: str, columns: Sequence[Ids], rows: int) -> int:
        kept = self._relations[relation]
        if self._size(kept):
            self._remember_implicit(kept, columns, rows)
        return self._add(kept, columns, rows, at.EXPLICIT)

    def _add(self, relation: Relation, columns: Sequence[Ids], rows: int, mask: int) -> int:
        added = 0
        code = _slot_operands(relation.width)
        keys, places = np.empty(_LOAD_BATCH, np.uint64), np.empty(_LOAD_BATCH, np.int64)
        fresh = np.empty(_LOAD_BATCH, np.int32)
        for start in range(0, rows, _LOAD_BATCH):
            batch = _stack(columns, start, min(rows, start + _LOAD_BATCH))
            count = batch.shape[1]
            while True:
                tables = self._tables
                new = load_batch(
                    tables.relations, tables.indexes, relation.number, code, batch, count, mask, keys, places, fresh
                )
                if new >= 0:
                    break
                relation.reserve(self._size(relation), count, tables)
            added += int(new)
        self._settle(relation)
        return added

    def _settle(self, relation: Relation) -> None:
        """Everything in the relation is OLD: no round is on."""
        row = self._tables.relations[relation.number]
        row[at.R_LOW] = row[at.R_HIGH] = row[at.R_SIZE]

    def _remember_implicit(self, relation: Relation, columns: Sequence[Ids], rows: int) -> None:
        found = self._find(relation, columns, rows)
        found = np.unique(found[found >= 0])
        implicit = found[(relation.masks[found] & at.EXPLICIT) == 0]
        if len(implicit):
            self._journal.append((relation.name, implicit))

    def contains(self, relation: str, columns: Sequence[Ids], rows: int) -> Sequence[bool]:
        kept = self._relations.get(relation)
        if kept is None:
            return np.zeros(rows, bool)  # type: ignore[return-value]
        return self._find(kept, columns, rows) >= 0  # type: ignore[return-value]

    def _find(self, relation: Relation, columns: Sequence[Ids], rows: int) -> Ids:
        found = np.empty(rows, np.int32)
        code = _slot_operands(relation.width)
        keys, places = np.empty(_LOAD_BATCH, np.uint64), np.empty(_LOAD_BATCH, np.int64)
        for start in range(0, rows, _LOAD_BATCH):
            batch = _stack(columns, start, min(rows, start + _LOAD_BATCH))
            find_facts(
                self._tables.relations, relation.number, code, 0, batch, batch.shape[1], keys, places, found[start:]
            )
        return found

    # --- rounds -------------------------------------------------------------------------------------------------------

    def begin(self, relations: Sequence[str]) -> None:
        self._in_phase = tuple(relations)
        for relation in self._relations.values():
            self._settle(relation)

    def derive(self, variants: Sequence[Variant]) -> int:
        """One round: the same kernel, told to stop before it advances."""
        runner = _Run(self, variants, (), ())
        runner.go(Watch(_NO_LIMITS))
        return runner.applications

    def advance(self, relations: Sequence[str]) -> dict[str, int]:
        gained = {}
        for name in relations:
            row = self._tables.relations[self._relations[name].number]
            row[at.R_LOW], row[at.R_HIGH] = row[at.R_HIGH], row[at.R_SIZE]
            gained[name] = int(row[at.R_HIGH] - row[at.R_LOW])
        return gained

    def run(self, phase: Phase, watch: Watch) -> PhaseReport | None:
        self.begin(phase.relations)
        before = {name: self.count(name) for name in phase.relations}
        runner = _Run(self, phase.first, phase.loop, phase.relations)
        runner.go(watch)
        gained = {name: self.count(name) - before[name] for name in phase.relations}
        return PhaseReport(phase.name, runner.rounds, runner.applications, gained)

    def group(self, rule: GroupRule) -> int:
        source = self._relations[rule.source.relation]
        size = self._size(source)
        columns = group_columns(rule, source.columns(0, size), source.weights[:size], self.dictionary)
        target = self._relations[rule.head.relation]
        return self._add(target, columns, len(columns[0]), 0)

    def statistics(self) -> Statistics:
        facts = {name: relation.facts[: self._size(relation)] for name, relation in self._relations.items()}
        return SampledStatistics(facts, self.dictionary)

    # --- going back -------------------------------------------------------------------------------------------------

    def savepoint(self) -> Savepoint:
        return Savepoint({name: self._size(kept) for name, kept in self._relations.items()}, len(self._journal))

    def rollback(self, savepoint: Savepoint) -> None:
        for name, rows in reversed(self._journal[savepoint.journal :]):
            relation = self._relations[name]
            relation.masks[rows[rows < savepoint.sizes.get(name, 0)]] &= np.uint16(0xFFFF ^ at.EXPLICIT)
        del self._journal[savepoint.journal :]
        for name, relation in list(self._relations.items()):
            if name not in savepoint.sizes:
                del self._relations[name]
                self._tables.drop_relation(relation)
            elif self._size(relation) > savepoint.sizes[name]:
                self._truncate(relation, savepoint.sizes[name])

    def _truncate(self, relation: Relation, size: int) -> None:
        relation.table.keys.fill(EMPTY)
        for index in relation.indexes.values():
            index.table.keys.fill(EMPTY)
        self._tables.relations[relation.number, at.R_SIZE] = size
        rebuild(self._tables.relations, self._tables.indexes, relation.number, self._keys)
        self._settle(relation)

    def since(self, savepoint: Savepoint, relation: str) -> FactColumns:
        kept = self._relations[relation]
        first, size = savepoint.sizes.get(relation, 0), self._size(kept)
        return FactColumns(kept.columns(first, size), size - first)

    # --- for the run ------------------------------------------------------------------------------------------------

    def _size(self, relation: Relation) -> int:
        return int(self._tables.relations[relation.number, at.R_SIZE])

    def _compile(self, variants: Sequence[Variant]) -> Program:
        statistics = self.statistics()
        plans = [plan_variant(variant, statistics) for variant in variants]
        return compile_plans(plans, self._relations.__getitem__, self._tables, self.dictionary, self._refute)

    def _refute(self, refuted: Refuted, slots: Sequence[int]) -> RefuteStep:
        seed, hit = (self._relations[atom.relation] for atom in (refuted.seed, refuted.body.heads[0]))

        def hits(bindings: list[tuple[int, ...]]) -> set[tuple[int, ...]]:
            for relation in (seed, hit):
                self._truncate(relation, 0)
            columns = [np.array(column, np.int32) for column in zip(*bindings, strict=True)]
            self._add(seed, columns, len(bindings), 0)
            _Run(self, (seeded_variant(refuted.body),), (), ()).go(Watch(_NO_LIMITS))
            found = self.collect(hit.name)
            return set(zip(*(column.tolist() for column in found.columns), strict=True)) or (
                {()} if found.rows else set()
            )

        return RefuteStep(slots, hits)


class _Run:
    """One call of the kernel after another until a phase is over."""

    def __init__(
        self, engine: ColumnarEngine, first: Sequence[Variant], loop: Sequence[Variant], relations: Sequence[str]
    ) -> None:
        self._engine, self._first, self._loop = engine, first, loop
        self._by_number = {relation.number: relation for relation in engine._relations.values()}
        self._tracked = np.array([engine._relations[name].number for name in relations], np.int64)
        self._state = np.zeros(at.T_SIZE, np.int64)
        self._state[[at.T_LEVEL, at.T_FIRST, at.T_VARIANTS]] = -1, len(first), len(first) + len(loop)
        self.applications = 0
        self._plan()

    @property
    def rounds(self) -> int:
        return int(self._state[at.T_ROUND])

    def _plan(self) -> None:
        engine = self._engine
        self._program = program = engine._compile((*self._first, *self._loop))
        depth, slots = program.depth + 1, program.slots
        self._batches = np.empty((depth, slots, at.BATCH), np.int32)
        self._counts = np.zeros(depth, np.int64)
        self._cursors = np.zeros((depth, 2), np.int64)
        self._chains = np.empty((depth, at.BATCH), np.int32)
        rows = engine._tables.relations
        for number in self._tracked:
            rows[number, at.R_PLANNED] = max(_REPLAN_GROWTH * rows[number, at.R_SIZE], 4 * at.BATCH)

    def go(self, watch: Watch) -> None:
        """Run to the fixpoint."""
        engine, state = self._engine, self._state
        while True:
            state[at.T_BUDGET] = _BUDGET
            tables, program = engine._tables, self._program
            # Describing every term takes a while, and only comparisons ask.
            kinds, numbers = engine.dictionary.described() if program.compares else _NOTHING_DESCRIBED
            outcome = run(
                tables.relations, tables.indexes, self._tracked, program.code, program.starts, program.variants,
                program.work, state, self._batches, self._counts, self._cursors, self._chains, engine._keys,
                engine._places, engine._parents, engine._rows, kinds, numbers,
            )  # fmt: skip
            if outcome == at.GROW:
                relation = self._by_number[int(state[at.T_RELATION])]
                relation.reserve(engine._size(relation), at.BATCH * self._heads(), tables)
            elif outcome == at.EVALUATE:
                self._evaluate(int(state[at.T_LEVEL]))
            if outcome in (at.PAUSE, at.GROW, at.ROUND_OVER, at.DONE):
                facts = int(sum(engine._size(relation) for relation in self._by_number.values()))
                watch.check(rounds=self.rounds, facts=facts)
            if outcome == at.ROUND_OVER:
                self._count_applications()
                self._plan()
            if outcome == at.DONE:
                self._count_applications()
                return

    def _heads(self) -> int:
        return max(len(variant.rule.heads) for variant in (*self._first, *self._loop))

    def _count_applications(self) -> None:
        self.applications += int(self._program.variants[:, at.V_APPLICATIONS].sum())
        self._program.variants[:, at.V_APPLICATIONS] = 0

    def _evaluate(self, level: int) -> None:
        """Take the batch that waits at a step through its expression, and hand what remains to the next step."""
        program, state = self._program, self._state
        variant = program.variants[state[at.T_VARIANT]]
        step = int(program.starts[variant[at.V_FIRST_STEP] + level])
        code = program.code
        expression = program.expressions[int(code[step + at.S_INDEX])]
        count = int(self._counts[level])
        batch, following = self._batches[level], self._batches[level + 1]
        values, keep = expression.apply([batch[slot, :count] for slot in expression.slots], count)
        kept = int(np.count_nonzero(keep))
        copies = step + at.S_LISTS + 2 * int(code[step + at.S_OPERANDS]) + 2 * int(code[step + at.S_OUTPUTS])
        for slot in code[copies : copies + int(code[step + at.S_COPIES])].tolist():
            following[slot, :kept] = batch[slot, :count][keep]
        if values is not None:
            following[expression.output, :kept] = values[keep]
        self._cursors[level, 0] = count
        if kept:
            self._counts[level + 1] = kept
            self._cursors[level + 1] = 0, -2
            state[at.T_LEVEL] = level + 1


def _slot_operands(width: int) -> npt.NDArray[np.int64]:
    """Operands that name the first slots in order."""
    return np.array([[at.SLOT, position] for position in range(width)], np.int64).ravel()


def _stack(columns: Sequence[Ids], start: int, end: int) -> Ids:
    if not columns:
        return np.zeros((1, end - start), np.int32)
    return np.stack([np.asarray(column[start:end], np.int32) for column in columns])
