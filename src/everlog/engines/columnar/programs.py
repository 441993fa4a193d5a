"""How does a plan become the integers that the kernel interprets?

Each variable of a rule gets a slot, a column of the batches. A step carries over the slots that later steps still need
and no others. Constants become ids; expressions that the kernel cannot evaluate become numbered Python steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Dictionary
from everlog.engines.columnar import layout as at
from everlog.engines.columnar.expressions import ExpressionStep, PythonStep
from everlog.engines.columnar.relations import Relation, Tables
from everlog.plans.flat_rules import Refuted
from everlog.plans.labels import Label
from everlog.plans.operators import Compute, Conclude, Plan, Read, Refute, Select, Step, Without, step_binds, step_uses
from everlog.rules.syntax import Argument, Call, Constant, expression_variables

_RANGES = {Label.ALL: at.RANGE_ALL, Label.NEW: at.RANGE_NEW, Label.OLD: at.RANGE_OLD}
_COMPARISONS = {"=": at.EQ, "!=": at.NE, "<": at.LT, "<=": at.LE, ">": at.GT, ">=": at.GE}

Integers = npt.NDArray[np.int64]


@dataclass
class Program:
    """Plans as arrays, with the Python steps that they refer to."""

    plans: Sequence[Plan]
    code: Integers
    starts: Integers  # where each step begins in the code
    variants: Integers
    work: Integers  # what each step has done so far
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
) -> Program:
    """One program for all plans of a phase; `refute` makes the Python step of a refuted body."""
    writer = _Writer(relation, tables, dictionary, refute)
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
    ) -> None:
        self._relation, self._tables, self._dictionary, self._refute = relation, tables, dictionary, refute
        self._plans: list[Plan] = []
        self._code: list[int] = []
        self._starts: list[int] = []
        self._variants: list[list[int]] = []
        self._expressions: list[PythonStep] = []
        self._slots: dict[str, int] = {}
        self._most_slots = 1
        self._compares = False

    def program(self) -> Program:
        return Program(
            self._plans,
            np.array(self._code or [0], np.int64),
            np.array(self._starts or [0], np.int64),
            np.array(self._variants, np.int64).reshape(-1, at.V_SIZE),
            np.zeros((max(1, len(self._starts)), at.W_SIZE), np.int64),
            self._compares,
            self._expressions,
            max((variant[at.V_STEPS] for variant in self._variants), default=1),
            self._most_slots,
        )

    def add(self, plan: Plan) -> None:
        self._plans.append(plan)
        first = len(self._starts)
        self._slots = {}
        needed_after = _needed_after(plan.steps)
        bound: set[str] = set()
        for step, needed in zip(plan.steps, needed_after, strict=True):
            self._starts.append(len(self._code))
            self._step(step, sorted(bound & needed), needed)
            bound |= step_binds(step)
        self._most_slots = max(self._most_slots, len(self._slots))
        self._variants.append([first, len(plan.steps), 0])

    def _step(self, step: Step, carried: Sequence[str], needed: set[str]) -> None:
        match step:
            case Read():
                self._read(step, carried, needed)
            case Without():
                relation = self._relation(step.atom.relation)
                self._write(at.OP_ABSENT, carried, relation=relation.number, operands=self._fact(step.atom.args))
            case Select(Call(function, (left, right))) if (
                function in _COMPARISONS and isinstance(left, Argument) and isinstance(right, Argument)
            ):
                self._compares = True
                number = self._python_step(step)
                operands = [self._operand(left), self._operand(right)]
                self._write(at.OP_COMPARE, carried, index=number, operands=operands, extra=_COMPARISONS[function])
            case Refute():
                slots = [self._slot(variable.name) for variable in step.refuted.outer]
                self._expressions.append(self._refute(step.refuted, slots))
                self._write(at.OP_PYTHON, carried, index=len(self._expressions) - 1)
            case Select() | Compute():
                self._write(at.OP_PYTHON, carried, index=self._python_step(step))
            case Conclude():
                relation = self._relation(step.head.relation)
                self._write(at.OP_EMIT, (), relation=relation.number, operands=self._fact(step.head.args))

    def _read(self, step: Read, carried: Sequence[str], needed: set[str]) -> None:
        relation = self._relation(step.atom.relation)
        outputs = [(column, self._slot(name)) for column, name in step.binds if name in needed]
        checks = [(at.CHECK_COLUMN, left, right) for left, right in step.same]
        which = _RANGES[step.label]
        if len(step.key) == len(step.atom.args):
            operands = self._fact(step.atom.args)
            self._write(at.OP_LOOKUP, carried, relation=relation.number, which=which, operands=operands)
        elif not step.key or (step.label is Label.NEW and all(isinstance(arg, Constant) for _, arg in step.key)):
            # A delta is short and has no index of its own: scan it, and check its constants row by row.
            checks += [(at.CHECK_CONSTANT, column, self._operand(arg)[1]) for column, arg in step.key]
            self._write(at.OP_SCAN, carried, relation=relation.number, which=which, outputs=outputs, checks=checks)
        else:
            index = relation.index_on(tuple(column for column, _ in step.key), self._tables)
            operands = [self._operand(arg) for _, arg in step.key]
            self._write(
                at.OP_PROBE, carried, relation=relation.number, index=index.number, which=which, operands=operands,
                outputs=outputs, checks=checks,
            )  # fmt: skip

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
    ) -> None:
        header = [0] * at.S_LISTS
        header[at.S_OP], header[at.S_RELATION], header[at.S_INDEX] = operation, relation, index
        header[at.S_RANGE], header[at.S_EXTRA] = which, extra
        header[at.S_OPERANDS], header[at.S_OUTPUTS] = len(operands), len(outputs)
        header[at.S_COPIES], header[at.S_CHECKS] = len(carried), len(checks)
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
        self._expressions.append(ExpressionStep(step, names, slots, output, self._dictionary))
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


def _needed_after(steps: Sequence[Step]) -> list[set[str]]:
    """For each step, the variables that some later step uses."""
    needed: list[set[str]] = []
    later: set[str] = set()
    for step in reversed(steps):
        needed.append(set(later))
        later |= step_uses(step)
    needed.reverse()
    return needed
