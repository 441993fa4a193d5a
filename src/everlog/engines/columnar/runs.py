"""How is a kernel driven from Python until a phase or a sweep is over?

Kernels return when something is full, when an expression needs Python, and now and then for limits. This file does what
is needed and calls them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from everlog.engines.columnar import layout as at
from everlog.engines.columnar.cached_plans import CachedPlans, read_atoms, still_fits
from everlog.engines.columnar.entries import run, sweep
from everlog.engines.columnar.programs import KernelProgram, owner_patterns
from everlog.engines.columnar.refutations import RefuteStep
from everlog.engines.interface import Phase
from everlog.limits import Watch
from everlog.plans.sweep_variants import covers
from everlog.plans.sweeps import Most, Relabel, Sweep, SweepReport
from everlog.rules.syntax import Atom, Variable

if TYPE_CHECKING:
    from everlog.engines.columnar.engine import ColumnarEngine

_BUDGET = 1 << 24  # bindings between two looks at limits and Ctrl-C, about a second of work
_IN_PYTHON = 64  # the weight in the budget of a binding that Python evaluates …
_LEAST_IN_PYTHON = 256  # … and the least number of bindings that a batch counts for
_NOTHING_DESCRIBED = np.empty(0, np.uint8), np.empty(0, np.float64)
_COUNTS = [at.T_ROUND, at.T_APPLICATIONS, at.T_EFFECTS, at.T_WORKED_ON, at.T_MARKED]
_LOOK_AFTER = at.BATCH  # new facts after which a run looks whether its plans fit; then when they are twice as many, …
_OUTGROWN = 4  # a plan is made anew when so many times more facts match one of its atoms than it was made for
_CHANGED = 2  # the same for atoms that a sweep reads whole
_MORE_ROWS = 1 / 16  # rows that come between two looks at the plans of a sweep, as a share of those there are


class BatchStack:
    """Batches of bindings, a level for each step of a plan."""

    def __init__(self) -> None:
        self.make_room(1, 1)

    def make_room(self, depth: int, slots: int) -> None:
        self.batches = np.empty((depth, slots, at.BATCH), np.int32)
        self.counts = np.zeros(depth, np.int64)
        self.cursors = np.zeros((depth, 3), np.int64)  # the binding, the row, rows passed over
        self.chains = np.empty((depth, at.BATCH), np.int32)

    def fit(self, program: KernelProgram) -> None:
        depth, slots, _ = self.batches.shape
        if program.depth + 1 > depth or program.slots > slots:
            self.make_room(max(depth, program.depth + 1), max(slots, program.slots))


class Driver:
    """What phases and sweeps have in common."""

    _program: KernelProgram

    def __init__(self, engine: ColumnarEngine, scratch: BatchStack) -> None:
        self._engine, self._scratch = engine, scratch
        self._state = np.zeros(at.T_SIZE, np.int64)

    @property
    def rounds(self) -> int:
        return int(self._state[at.T_ROUND])

    @property
    def looked_at(self) -> int:
        """Bindings made by all steps, and rows passed over meanwhile: the work, whatever the machine."""
        return int(self._state[at.T_BINDINGS] + self._state[at.T_PASSED])

    def _call(self, kernel_: object, *leading: object) -> int:
        engine, program, scratch = self._engine, self._program, self._scratch
        # Describing every term takes a while, and only comparisons ask.
        kinds, numbers = engine.dictionary.described() if program.compares else _NOTHING_DESCRIBED
        outcome: int = kernel_(  # type: ignore[operator]
            engine.tables.relations, engine.tables.indexes, *leading, program.code, program.starts, program.variants,
            self._state, scratch.batches, scratch.counts, scratch.cursors, scratch.chains, engine.keys,
            engine.places, engine.parents, engine.rows, kinds, numbers,
        )  # fmt: skip
        if outcome == at.GROW:
            self._grow()
        elif outcome == at.EVALUATE:
            self._evaluate(int(self._state[at.T_LEVEL]))
        return outcome

    def _check(self, outcome: int, watch: Watch) -> None:
        """Check the limits, unless the kernel returned only for an expression and its budget is not used up."""
        if outcome == at.EVALUATE and self._state[at.T_BUDGET] > 0:
            return
        self._state[at.T_BUDGET] = _BUDGET
        watch.check(rounds=self.rounds, facts=self._engine.rows_in_all())

    def _grow(self) -> None:
        engine = self._engine
        relation = engine.by_number[int(self._state[at.T_RELATION])]
        room = at.BATCH * max(1, max((len(plan.variant.rule.heads) for plan in self._program.plans), default=1))
        engine.reserve(relation, room)

    def _evaluate(self, level: int) -> None:
        """Evaluate the expression of a step for its batch, and hand the bindings that pass to the next step."""
        program, state, scratch = self._program, self._state, self._scratch
        variant = program.variants[state[at.T_VARIANT]]
        step = int(program.starts[variant[at.V_FIRST_STEP] + level])
        code = program.code
        expression = program.expressions[int(code[step + at.S_INDEX])]
        count = int(scratch.counts[level])
        batch, following = scratch.batches[level], scratch.batches[level + 1]
        state[at.T_BUDGET] -= _IN_PYTHON * max(count, _LEAST_IN_PYTHON)
        values, keep = expression.apply([batch[slot, :count] for slot in expression.slots], count)
        kept = int(np.count_nonzero(keep))
        copies = step + at.S_LISTS + 2 * int(code[step + at.S_OPERANDS]) + 2 * int(code[step + at.S_OUTPUTS])
        for slot in code[copies : copies + int(code[step + at.S_COPIES])].tolist():
            following[slot, :kept] = batch[slot, :count][keep]
        if values is not None:
            following[expression.output, :kept] = values[keep]
        scratch.cursors[level, 0] = count
        if kept:
            scratch.counts[level + 1] = kept
            scratch.cursors[level + 1, :2] = 0, -2
            state[at.T_LEVEL] = level + 1


class PhaseRun(Driver):
    """One call of the kernel after another until a phase is over."""

    def __init__(self, engine: ColumnarEngine, phase: Phase) -> None:
        super().__init__(engine, BatchStack())
        self._tracked = np.array([engine.relation(name).number for name in phase.relations], np.int64)
        first, loop = len(phase.first), len(phase.loop)
        self._state[[at.T_LEVEL, at.T_FIRST, at.T_VARIANTS]] = -1, first, first + loop
        self._state[[at.T_BUDGET, at.T_LOOK]] = _BUDGET, _LOOK_AFTER
        self.applications = 0
        self._use(engine.plan_phase(phase))

    def _use(self, plans: CachedPlans) -> None:
        self._plans = plans
        self._program = self._engine.compile_plans(plans.plans)
        self._scratch.fit(self._program)

    def go(self, watch: Watch) -> None:
        """Run to the fixpoint."""
        while True:
            outcome = self._call(run, self._tracked)
            self._check(outcome, watch)
            if outcome in (at.ROUND_OVER, at.DONE):
                self.applications += int(self._program.variants[:, at.V_APPLICATIONS].sum())
                self._program.variants[:, at.V_APPLICATIONS] = 0
            if outcome == at.ROUND_OVER:
                self._look_again()
            if outcome == at.DONE:
                return

    def _look_again(self) -> None:
        """Many facts have come: do the plans still fit?"""
        self._state[at.T_LOOK] = 2 * self._state[at.T_WORKED_ON]
        planned = self._engine.plan_again(self._plans, _OUTGROWN)
        if planned is not self._plans:
            self._use(planned)


class SweepRun(Driver):
    """A sweep, compiled, to be run as often as updates need it."""

    def __init__(self, engine: ColumnarEngine, sweep_: Sweep, scratch: BatchStack) -> None:
        super().__init__(engine, scratch)
        self._sweep = sweep_
        self.own = [engine.relation(name) for name in sweep_.relations]
        self._own = np.array([relation.number for relation in self.own], np.int64)
        self._owner_code, self._owners = owned_relations(engine, sweep_.heads)
        self._begins = np.array(
            [
                [b.where.care, b.where.want, b.relabel.set, b.relabel.clear, {None: 0, True: 1, False: 2}[b.counted]]
                for b in sweep_.begin
            ],
            np.int64,
        ).reshape(-1, 5)
        self._labels = _labels(sweep_)
        self._initial = np.zeros(at.T_SIZE, np.int64)
        self._initial[[at.T_LEVEL, at.T_BUDGET, at.T_LOOK]] = -1, _BUDGET, _LOOK_AFTER
        self._refutes = any(variant.rule.refuted for variant in (*sweep_.first, *sweep_.check, *sweep_.loop))
        self._limited = any(variant.limited for variant in sweep_.check)
        self._variants = (*sweep_.first, *sweep_.check, *sweep_.loop)
        self._read = np.array(
            [engine.relation(name).number for name in {atom.relation for atom in read_atoms(self._variants)}], np.int64
        )
        # Without a seed a plan reads whole relations, whose sizes differ from update to update.
        self._whole = read_atoms([variant for variant in self._variants if variant.seed is None])
        self._use(engine.plan(self._variants))

    def _use(self, plans: CachedPlans) -> None:
        engine, sweep_ = self._engine, self._sweep
        self._plans = plans
        counts = [len(alternatives) for alternatives in plans.by_variant]
        first, checks = len(sweep_.first), len(sweep_.first) + len(sweep_.check)
        self._initial[[at.T_FIRST, at.T_CHECKS, at.T_VARIANTS]] = sum(counts[:first]), sum(counts[:checks]), sum(counts)
        self._program = engine.compile_plans(plans.plans, sweep_.heads)
        self._sizes = {atom: plans.sizes[atom] for atom in self._whole}
        self._looked()

    def _looked(self) -> None:
        """Plans fit: from how many rows on may they not?"""
        engine = self._engine
        self._grown_when_looked = engine.grown
        sizes = engine.tables.relations[self._read, at.R_SIZE]
        self._until = sizes + np.maximum(sizes * _MORE_ROWS, 4 * at.BATCH)

    def _look_again(self, growth: float) -> bool:
        """Make those plans anew that no longer fit; says whether there were any."""
        planned = self._engine.plan_again(self._plans, growth)
        self._looked()
        if planned is self._plans:
            return False
        self._use(planned)
        return True

    def _look_between_rounds(self, limit: int) -> None:
        """Many facts have come or gone: do the plans fit for the round that is about to begin?"""
        state = self._state
        state[at.T_LOOK] = 2 * state[at.T_WORKED_ON]
        if self._look_again(_OUTGROWN):
            stages = [at.T_FIRST, at.T_CHECKS, at.T_VARIANTS]
            state[stages] = self._initial[stages]
            state[at.T_VARIANT] = state[at.T_FIRST]
            self._scratch.fit(self._program)
            self._bound(limit)

    def _bound(self, limit: int) -> None:
        if self._limited:
            self._program.variants[:, at.V_LIMIT] = limit

    def go(self, watch: Watch, limit: int, most: Most) -> SweepReport:
        """Run to the end of the queue."""
        engine, state = self._engine, self._state
        watch.look()
        if engine.grown != self._grown_when_looked:  # relations cannot have grown much without that
            self._grown_when_looked = engine.grown
            if (engine.tables.relations[self._read, at.R_SIZE] > self._until).any():
                self._look_again(_OUTGROWN)
        if not still_fits(self._sizes, engine.sizes_of(self._sizes)):
            self._look_again(_CHANGED)
        self._scratch.fit(self._program)
        grown = engine.grown
        state[:] = self._initial
        state[at.T_MOST], state[at.T_MOST_BINDINGS] = most.facts, most.bindings
        self._bound(limit)
        if self._refutes:
            for step in self._program.expressions:
                if isinstance(step, RefuteStep):
                    step.forget()
        engine.begin_sweep(self._own, self._owners, self._owner_code, self._begins)
        while True:
            outcome = self._call(sweep, self._own, self._labels)
            if outcome in (at.DONE, at.STOPPED):
                break
            self._check(outcome, watch)
            if outcome == at.ROUND_OVER:
                self._look_between_rounds(limit)
        rounds, most_rounds = self.rounds, watch.limits.rounds
        if engine.grown != grown or (most_rounds is not None and rounds > most_rounds):
            watch.check(rounds=rounds, facts=engine.rows_in_all())  # too expensive after each small sweep
        _, applications, effects, worked_on, marked = state[_COUNTS].tolist()
        return SweepReport(rounds, applications, effects, worked_on, marked, outcome == at.STOPPED)


def owned_relations(
    engine: ColumnarEngine, heads: Sequence[Atom]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Patterns of the facts that heads may conclude, and the position of those of each relation; 0: all facts."""
    code, places = [0], []
    for name in dict.fromkeys(head.relation for head in heads):
        whole = Atom(name, tuple(Variable(f"c{column}") for column in range(engine.relation(name).arity)))
        if any(covers(head, whole) for head in heads):
            places.append(0)
        else:
            places.append(len(code))
            code += owner_patterns(heads, name, engine.dictionary)
    return np.array(code, np.int64), np.array(places, np.int64)


def _labels(sweep_: Sweep) -> npt.NDArray[np.int64]:
    labels = np.zeros(at.L_SIZE, np.int64)
    for place, relabel in (
        (at.L_ENTER_SET, sweep_.enter),
        (at.L_SURVIVORS_SET, sweep_.survivors),
        (at.L_OTHERS_SET, sweep_.others),
        (at.L_DONE_SET, sweep_.done),
    ):
        labels[place : place + 2] = _bits(relabel)
    if sweep_.survives is not None:
        labels[at.L_SURVIVES_CARE], labels[at.L_SURVIVES_WANT] = sweep_.survives
    labels[at.L_BY_RANK] = sweep_.by_rank
    return labels


def _bits(relabel: Relabel) -> tuple[int, int]:
    return int(relabel.set), int(relabel.clear)
