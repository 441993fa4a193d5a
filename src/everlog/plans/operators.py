"""What are the steps of evaluating a rule?

A plan is a sequence of steps over bindings of variables. It starts with one empty binding; each step turns bindings
into more, fewer or longer ones; `Conclude` at the end gives facts. Plans are plain data that engines interpret.
"""

from __future__ import annotations

from dataclasses import dataclass

from everlog.plans.delta_variants import Variant
from everlog.plans.flat_rules import Refuted
from everlog.plans.labels import Label
from everlog.plans.sweeps import SweepVariant
from everlog.rules.syntax import Argument, Atom, Expression, Variable, expression_variables


@dataclass(frozen=True)
class Read:
    """Extend each binding by the facts of a labelled set that match it."""

    atom: Atom
    label: Label
    key: tuple[tuple[int, Argument], ...]  # columns whose value is known: a constant or a variable bound before
    binds: tuple[tuple[int, str], ...]  # columns that bind a variable
    same: tuple[tuple[int, int], ...]  # pairs of columns that must be equal: a variable new here, used twice


@dataclass(frozen=True)
class Shorter:
    """Keep bindings for which `read` matches fewer facts than `other`, or as many if `ties`.

    A plan that begins with the shorter side of a join is split in two: which side that is differs from binding to
    binding where some terms occur in many facts.
    """

    read: Read
    other: Read
    ties: bool  # whether a binding for which both match equally many facts passes


@dataclass(frozen=True)
class Without:
    """Keep bindings for which the fact is not there, in the sense of the label."""

    atom: Atom
    label: Label = Label.NOT_NOW


@dataclass(frozen=True)
class Refute:
    """Keep bindings for which a body, seeded with them, has no instance."""

    refuted: Refuted


@dataclass(frozen=True)
class Compute:
    """Bind a variable to a value; without one the binding is dropped, or the variable is UNBOUND if `attempt`."""

    expression: Expression
    variable: str
    attempt: bool = False


@dataclass(frozen=True)
class Select:
    """Keep bindings for which the expression is true."""

    expression: Expression


@dataclass(frozen=True)
class Conclude:
    """One fact per binding."""

    head: Atom


Step = Read | Shorter | Without | Refute | Compute | Select | Conclude


@dataclass(frozen=True)
class Plan:
    """The steps of one variant of a rule, in order."""

    variant: Variant | SweepVariant
    steps: tuple[Step, ...]


def step_uses(step: Step) -> set[str]:
    """The variables that a step needs bound before it."""
    match step:
        case Read():
            return {arg.name for _, arg in step.key if isinstance(arg, Variable)}
        case Shorter():
            return {arg.name for read in (step.read, step.other) for _, arg in read.key if isinstance(arg, Variable)}
        case Without():
            return {variable.name for variable in step.atom.variables()}
        case Refute():
            return {variable.name for variable in step.refuted.outer}
        case Select() | Compute():
            return {variable.name for variable in expression_variables(step.expression)}
        case Conclude():
            return {variable.name for variable in step.head.variables()}


def step_binds(step: Step) -> set[str]:
    """The variables that a step binds."""
    match step:
        case Read():
            return {name for _, name in step.binds}
        case Compute():
            return {step.variable}
        case _:
            return set()
