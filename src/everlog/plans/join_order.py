"""In which order are the atoms of a rule read?

The seed first, if the variant has one. Then always the atom that is expected to match the fewest facts per binding, by
live statistics; one that shares no variable waits, since it multiplies. Comparisons, BINDs and absent atoms come as soon
as their variables are bound. The order is data that can be printed (`everlog plan`).
"""

from __future__ import annotations

from typing import Protocol

from everlog.plans.delta_variants import Variant
from everlog.plans.flat_rules import Attempt, Computation
from everlog.plans.labels import Label
from everlog.plans.operators import Compute, Conclude, Plan, Read, Select, Step, Without
from everlog.rules.syntax import Argument, Atom, Bind, Constant, Filter, Variable, expression_variables


class Statistics(Protocol):
    """What an engine knows about its relations while planning."""

    def matches(self, atom: Atom, bound: frozenset[int]) -> float:
        """How many facts an atom is expected to match per binding, given the columns that are bound."""
        ...


class NoStatistics:
    """Before any data is there: every bound column divides by ten."""

    def matches(self, atom: Atom, bound: frozenset[int]) -> float:
        return float(10.0 ** (len(atom.args) - len(bound)))


def plan_variant(variant: Variant, statistics: Statistics) -> Plan:
    """The steps of a variant in a good order."""
    rule = variant.rule
    bound: set[str] = set()
    steps: list[Step] = []
    waiting_atoms = list(range(len(rule.atoms)))
    waiting_absent = list(rule.absent)
    waiting_computations = list(rule.computations)

    def place_what_is_ready() -> None:
        progress = True
        while progress:
            progress = False
            for computation in list(waiting_computations):
                if _inputs(computation) <= bound:
                    waiting_computations.remove(computation)
                    steps.append(_compute(computation))
                    if not isinstance(computation, Filter):
                        bound.add(computation.variable.name)
                    progress = True
            for atom in list(waiting_absent):
                if {variable.name for variable in atom.variables()} <= bound:
                    waiting_absent.remove(atom)
                    steps.append(Without(atom))
                    progress = True

    def read(position: int) -> None:
        waiting_atoms.remove(position)
        steps.append(_read(rule.atoms[position], variant.labels[position], bound))
        bound.update(variable.name for variable in rule.atoms[position].variables())
        place_what_is_ready()

    place_what_is_ready()
    if variant.seed is not None:
        read(variant.seed)
    while waiting_atoms:
        read(min(waiting_atoms, key=lambda position: _cost(rule.atoms[position], bound, statistics)))
    assert not waiting_absent and not waiting_computations, f"unsafe rule {rule.name} reached planning"
    steps.extend(Conclude(head) for head in rule.heads)
    return Plan(variant, tuple(steps))


def _cost(atom: Atom, bound: set[str], statistics: Statistics) -> tuple[bool, float, int]:
    known = _known_columns(atom, bound)
    # An atom with neither a bound variable nor a constant is a product with everything before it.
    detached = bool(bound) and not any(isinstance(atom.args[c], Variable) for c in known) and len(known) < len(atom.args)
    return detached, statistics.matches(atom, known), -len(known)


def _known_columns(atom: Atom, bound: set[str]) -> frozenset[int]:
    return frozenset(
        column for column, arg in enumerate(atom.args) if isinstance(arg, Constant) or arg.name in bound
    )


def _read(atom: Atom, label: Label, bound: set[str]) -> Read:
    key: list[tuple[int, Argument]] = []
    binds: list[tuple[int, str]] = []
    same: list[tuple[int, int]] = []
    first_use: dict[str, int] = {}
    for column, arg in enumerate(atom.args):
        if isinstance(arg, Constant) or arg.name in bound:
            key.append((column, arg))
        elif arg.name in first_use:
            same.append((first_use[arg.name], column))
        else:
            first_use[arg.name] = column
            binds.append((column, arg.name))
    return Read(atom, label, tuple(key), tuple(binds), tuple(same))


def _inputs(computation: Computation) -> set[str]:
    return {variable.name for variable in expression_variables(computation.expression)}


def _compute(computation: Computation) -> Step:
    match computation:
        case Filter():
            return Select(computation.expression)
        case Bind():
            return Compute(computation.expression, computation.variable.name)
        case Attempt():
            return Compute(computation.expression, computation.variable.name, attempt=True)
