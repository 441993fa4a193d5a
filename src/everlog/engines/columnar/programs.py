"""How does a plan become the integers that the kernel interprets?

Each variable of a rule gets a slot, a column of the batches. A step carries over the slots that later steps still need
and no others. Constants become ids; expressions that the kernel cannot evaluate become numbered Python steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import UNBOUND, Dictionary
from everlog.engines.columnar import layout as at
from everlog.engines.columnar.expressions import ExpressionStep, PythonStep
from everlog.engines.columnar.outcomes import KnownOutcomes
from everlog.engines.columnar.relations import Relation, Tables
from everlog.engines.columnar.smaller_steps import smaller_steps
from everlog.plans.flat_rules import Refuted
from everlog.plans.labels import CHANGED, FROM_SCRATCH, Label
from everlog.plans.operators import (
    Compute,
    Conclude,
    Plan,
    Read,
    Refute,
    Select,
    Shorter,
    Step,
    Without,
    step_binds,
    step_uses,
)
from everlog.plans.sweep_variants import covers
from everlog.plans.sweeps import Marks, Ranks, SweepVariant
from everlog.rules.syntax import Argument, Atom, Call, Constant, Variable, expression_variables

_RANGES = {
    Label.ALL: at.RANGE_ALL,
    Label.NEW: at.RANGE_NEW,
    Label.OLD: at.RANGE_OLD,
    Label.FRONTIER: at.RANGE_FRONTIER,
    **dict.fromkeys(CHANGED, at.RANGE_JOURNAL),
}
_SEEDS = (Label.NEW, Label.FRONTIER, *CHANGED)  # short lists without an index of their own
_RANK, _ORIGIN, _WITNESS, _WITNESS_ROW = (
    "~rank",
    "~origin",
    "~witness",
    "~witness row",
)  # slots beside those of the rule's variables
_COMPARISONS = {"=": at.EQ, "!=": at.NE, "<": at.LT, "<=": at.LE, ">": at.GT, ">=": at.GE}

Integers = npt.NDArray[np.int64]


@dataclass
class KernelProgram:
    """Plans as arrays, with the Python steps that they refer to."""

    plans: Sequence[Plan]
    code: Integers
    starts: Integers  # where each step begins in the code
    variants: Integers
    compares: bool  # some step compares values
    expressions: list[PythonStep]
    depth: int  # steps of the longest plan
    slots: int  # variables of the widest rule


def compile_plans(
    plans: Sequence[Plan],
    relation: Callable[[str], Relation],
    tables: Tables,
    dictionary: Dictionary,
    refute: Callable[[Refuted, Sequence[int]], PythonStep],
    known: KnownOutcomes,
    heads: Sequence[Atom] = (),
) -> KernelProgram:
    """One program for all plans of a phase; `refute` makes the Python step of a refuted body.

    `heads` are those of the current component, for sweeps: they tell its facts from those of others.
    """
    writer = _Writer(relation, tables, dictionary, refute, known, heads)
    for plan in plans:
        writer.add(plan)
    return writer.program()


class _Writer:
    def __init__(
        self,
        relation: Callable[[str], Relation],
        tables: Tables,
        dictionary: Dictionary,
        refute: Callable[[Refuted, Sequence[int]], PythonStep],
        known: KnownOutcomes,
        heads: Sequence[Atom],
    ) -> None:
        self._heads, self._known = heads, known
        self._relation, self._tables, self._dictionary, self._refute = relation, tables, dictionary, refute
        self._plans: list[Plan] = []
        self._code: list[int] = [0]  # so that no list is at position 0, which means none
        self._sweep: SweepVariant | None = None
        self._own: dict[Atom, bool] = {}
        self._starts: list[int] = []
        self._variants: list[list[int]] = []
        self._expressions: list[PythonStep] = []
        self._slots: dict[str, int] = {}
        self._most_slots = 1
        self._compares = False
        self._extra: set[str] = set()
        self._owners_at = 0
        self._has_read = False

    def program(self) -> KernelProgram:
        return KernelProgram(
            self._plans,
            np.array(self._code, np.int64),
            np.array(self._starts or [0], np.int64),
            np.array(self._variants, np.int64).reshape(-1, at.V_SIZE),
            self._compares,
            self._expressions,
            max((variant[at.V_STEPS] for variant in self._variants), default=1),
            self._most_slots,
        )

    def add(self, plan: Plan) -> None:
        self._plans.append(plan)
        first = len(self._starts)
        self._slots = {}
        self._sweep = variant = plan.variant if isinstance(plan.variant, SweepVariant) else None
        extra: set[str] = set()
        if variant is not None:
            self._own = dict(zip(variant.rule.atoms, variant.own, strict=True))
            extra |= {_RANK} if variant.ranks is not Ranks.IGNORED and variant.rule.atoms else set()
            extra |= {_ORIGIN} if variant.enough or variant.limited else set()
            if variant.marks is not Marks.NONE and variant.rule.atoms:
                extra |= {_WITNESS, _WITNESS_ROW}
                assert (self._slot(_WITNESS), self._slot(_WITNESS_ROW)) == (0, 1)  # side by side
        steps = smaller_steps(plan.steps)
        needed_after = _needed_after(steps)
        bound: set[str] = set()
        self._has_read = False
        for step, needed in zip(steps, needed_after, strict=True):
            owners = self._owners(step.atom) if isinstance(step, Read) and extra else 0
            self._starts.append(len(self._code))
            self._extra, self._owners_at = extra, owners
            self._step(step, sorted(bound & (needed | extra)), needed)
            bound |= step_binds(step)
            if isinstance(step, Read):
                self._has_read = True
                bound |= extra
        self._most_slots = max(self._most_slots, len(self._slots))
        self._variants.append([first, len(steps), 0, 0])

    def _step(self, step: Step, carried: Sequence[str], needed: set[str]) -> None:
        match step:
            case Read():
                self._read(step, carried, needed)
            case Shorter():
                self._shorter(step, carried)
            case Without():
                relation = self._relation(step.atom.relation)
                care, want = step.label.condition
                if relation.is_read_only:
                    care, want = 0, 1  # no row that a reader finds is absent
                self._write(
                    at.OP_ABSENT, carried, relation=relation.number, operands=self._fact(step.atom.args), care=care,
                    want=want,
                )  # fmt: skip
            case Select(Call(function, ((Variable() | Constant()) as left, (Variable() | Constant()) as right))) if (
                function in _COMPARISONS
            ):
                self._compares = True
                self._compare(_COMPARISONS[function], left, right, carried, index=self._python_step(step))
            case Select(Call("sameterm", ((Variable() | Constant()) as left, (Variable() | Constant()) as right))):
                self._compare(at.SAME, left, right, carried)
            case Select(Call("bound", (Variable() as asked,))):
                self._compare(at.SAME, asked, asked, carried)
            case Select(Call("!", (Call("bound", (Variable() as asked,)),))):
                self._compare(at.IS_UNBOUND, asked, asked, carried)
            case Compute((Variable() | Constant()) as copied, variable, attempt):
                self._copy(self._operand(copied), variable, carried, may_be_unbound=attempt)
            case Compute(Call("coalesce", ()), variable, attempt):
                self._copy((at.CONSTANT, UNBOUND), variable, carried, may_be_unbound=attempt)
            case Refute():
                slots = [self._slot(variable.name) for variable in step.refuted.outer]
                self._expressions.append(self._refute(step.refuted, slots))
                self._write(at.OP_PYTHON, carried, index=len(self._expressions) - 1)
            case Select() | Compute():
                self._write(at.OP_PYTHON, carried, index=self._python_step(step))
            case Conclude():
                self._conclude(step)

    def _compare(
        self, comparison: int, left: Argument, right: Argument, carried: Sequence[str], *, index: int = -1
    ) -> None:
        operands = [self._operand(left), self._operand(right)]
        self._write(at.OP_COMPARE, carried, index=index, operands=operands, extra=comparison)

    def _copy(self, operand: tuple[int, int], variable: str, carried: Sequence[str], *, may_be_unbound: bool) -> None:
        outputs = [(0, self._slot(variable))]
        self._write(at.OP_COPY, carried, operands=[operand], outputs=outputs, extra=int(may_be_unbound))

    def _read(self, step: Read, carried: Sequence[str], needed: set[str]) -> None:
        relation = self._relation(step.atom.relation)
        outputs = [(column, self._slot(name)) for column, name in step.binds if name in needed]
        checks = [(at.CHECK_COLUMN, left, right) for left, right in step.same]
        which = _RANGES.get(step.label, at.RANGE_ROWS)
        care, want = map(int, step.label.condition)
        if relation.is_read_only:
            care = want = 0
            which = at.RANGE_VERSION if relation.tick is not None and step.label is not Label.NEW else which
        elif step.label in FROM_SCRATCH and not relation.has_absent(self._tables):
            care = want = 0  # every row is there
        from_constants = step.label in _SEEDS and all(isinstance(arg, Constant) for _, arg in step.key)
        if len(step.key) == len(step.atom.args) and which not in (at.RANGE_FRONTIER, at.RANGE_JOURNAL):
            operands = self._fact(step.atom.args)
            self._write(
                at.OP_LOOKUP, carried, relation=relation.number, which=which, operands=operands, care=care, want=want,
                ranked=self._rank_use(step.atom),
            )  # fmt: skip
        elif not step.key or from_constants:
            # A delta is short and has no index of its own: scan it, and check its constants row by row.
            checks += [(at.CHECK_CONSTANT, column, self._operand(arg)[1]) for column, arg in step.key]
            self._write(
                at.OP_SCAN, carried, relation=relation.number, which=which, outputs=outputs, checks=checks, care=care,
                want=want, ranked=self._rank_use(step.atom),
            )  # fmt: skip
        else:
            index = relation.index_on(tuple(column for column, _ in step.key), self._tables)
            operands = [self._operand(arg) for _, arg in step.key]
            self._write(
                at.OP_PROBE, carried, relation=relation.number, index=index.number, which=which, operands=operands,
                outputs=outputs, checks=checks, care=care, want=want, ranked=self._rank_use(step.atom),
            )  # fmt: skip

    def _shorter(self, step: Shorter, carried: Sequence[str]) -> None:
        indexes, operands = [], []
        for read in (step.read, step.other):
            relation = self._relation(read.atom.relation)
            indexes.append(relation.index_on(tuple(column for column, _ in read.key), self._tables).number)
            operands += [self._operand(arg) for _, arg in read.key]
        start = len(self._code)
        self._write(at.OP_SHORTER, carried, index=indexes[0], operands=operands, extra=indexes[1])
        self._code[start + at.S_WANT] = int(step.ties)
        self._code[start + at.S_ENOUGH] = 0

    def _rank_use(self, atom: Atom) -> int:
        if self._sweep is None or _RANK not in self._extra:
            return at.RANK_UNUSED
        own = self._own[atom] and self._relation(atom.relation).ranked
        if not self._has_read:
            return at.RANK_START if own else at.RANK_OUTSIDE
        if not own:
            return at.RANK_UNUSED
        return at.RANK_CARRY if self._sweep.ranks is Ranks.CARRIED else at.RANK_BELOW

    def _owners(self, atom: Atom) -> int:
        """The position of the patterns of own facts, if facts of other components match the atom too; else 0."""
        if not self._own.get(atom) or any(covers(head, atom) for head in self._heads):
            return 0
        place = len(self._code)
        self._code += owner_patterns(self._heads, atom.relation, self._dictionary)
        return place

    def _conclude(self, step: Conclude) -> None:
        relation, operands = self._relation(step.head.relation), self._fact(step.head.args)
        if self._sweep is None:
            self._write(at.OP_EMIT, (), relation=relation.number, operands=operands)
            return
        effect = self._sweep.effect
        flags = at.FLAG_CREATE * effect.create | at.FLAG_QUEUE * (effect.queue is not None)
        flags |= (at.FLAG_ABOVE * effect.above | at.FLAG_RANK * effect.rank) * relation.ranked
        start = len(self._code)
        self._write(
            at.OP_EFFECT, (), relation=relation.number, operands=operands, care=effect.require.care,
            want=effect.require.want, flags=flags,
        )  # fmt: skip
        self._code[start + at.S_SET], self._code[start + at.S_CLEAR] = effect.relabel.set, effect.relabel.clear
        self._code[start + at.S_WEIGH] = effect.weigh
        if effect.queue is not None:
            self._code[start + at.S_QUEUE_CARE], self._code[start + at.S_QUEUE_WANT] = effect.queue

    def _write(
        self,
        operation: int,
        carried: Sequence[str],
        *,
        relation: int = -1,
        index: int = -1,
        which: int = at.RANGE_ALL,
        operands: Sequence[tuple[int, int]] = (),
        outputs: Sequence[tuple[int, int]] = (),
        checks: Sequence[tuple[int, int, int]] = (),
        extra: int = 0,
        care: int = 0,
        want: int = 0,
        ranked: int = at.RANK_UNUSED,
        flags: int = 0,
    ) -> None:
        header = [0] * at.S_LISTS
        header[at.S_OP], header[at.S_RELATION], header[at.S_INDEX] = operation, relation, index
        header[at.S_RANGE], header[at.S_EXTRA] = which, extra
        header[at.S_OPERANDS], header[at.S_OUTPUTS] = len(operands), len(outputs)
        header[at.S_COPIES], header[at.S_CHECKS] = len(carried), len(checks)
        header[at.S_CARE], header[at.S_WANT] = int(care), int(want)
        header[at.S_RANK] = self._slot(_RANK) if _RANK in self._extra else -1
        header[at.S_RANK_USE], header[at.S_OWNERS] = ranked, self._owners_at
        header[at.S_WITNESS] = self._slot(_WITNESS) if _WITNESS in self._extra else -1
        if header[at.S_WITNESS] >= 0 and operation in (at.OP_SCAN, at.OP_PROBE, at.OP_LOOKUP):
            header[at.S_WITNESS_USE] = at.WITNESS_CARRY if self._has_read else at.WITNESS_START
            assert self._sweep is not None
            flags |= at.FLAG_MARKS_ANY if self._sweep.marks is Marks.ANY else 0
        header[at.S_ORIGIN] = -1
        if _ORIGIN in self._extra:
            assert self._sweep is not None and self._sweep.seed is not None
            header[at.S_ORIGIN] = self._slot(_ORIGIN)
            header[at.S_ORIGIN_RELATION] = self._relation(self._sweep.rule.atoms[self._sweep.seed].relation).number
            header[at.S_ENOUGH] = int(self._sweep.enough) if self._has_read else 0
            flags |= 0 if self._has_read else at.FLAG_ORIGIN
        header[at.S_FLAGS] = flags
        self._code += header
        for group in (operands, outputs):
            for pair in group:
                self._code += pair
        self._code += [self._slot(name) for name in carried]
        for check in checks:
            self._code += check

    def _python_step(self, step: Select | Compute) -> int:
        names = sorted({variable.name for variable in expression_variables(step.expression)})
        output = self._slot(step.variable) if isinstance(step, Compute) else None
        slots = [self._slot(name) for name in names]
        self._expressions.append(ExpressionStep(step, names, slots, output, self._dictionary, self._known))
        return len(self._expressions) - 1

    def _fact(self, args: Sequence[Argument]) -> list[tuple[int, int]]:
        # A nullary relation stores the one fact it can have as a column of zeros.
        return [self._operand(arg) for arg in args] or [(at.CONSTANT, 0)]

    def _operand(self, arg: Argument) -> tuple[int, int]:
        if isinstance(arg, Constant):
            return at.CONSTANT, self._dictionary.encode(arg.term)
        return at.SLOT, self._slot(arg.name)

    def _slot(self, name: str) -> int:
        return self._slots.setdefault(name, len(self._slots))


def owner_patterns(heads: Sequence[Atom], relation: str, dictionary: Dictionary) -> list[int]:
    """The patterns of the facts of a relation that these heads may conclude, as layout.py describes them."""
    patterns: list[list[int]] = []
    for head in heads:
        if head.relation != relation:
            continue
        pattern: list[int] = []
        for column, arg in enumerate(head.args):
            first = head.args.index(arg)
            if isinstance(arg, Constant):
                pattern += at.PATTERN_CONSTANT, dictionary.encode(arg.term)
            elif first < column:
                pattern += at.PATTERN_COLUMN, first
            else:
                pattern += at.PATTERN_ANY, 0
        patterns.append(pattern or [at.PATTERN_ANY, 0])
    return [len(patterns), *(value for pattern in patterns for value in pattern)]


def _needed_after(steps: Sequence[Step]) -> list[set[str]]:
    """For each step, the variables that some later step uses."""
    needed: list[set[str]] = []
    later: set[str] = set()
    for step in reversed(steps):
        needed.append(set(later))
        later |= step_uses(step)
    needed.reverse()
    return needed
