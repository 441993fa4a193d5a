"""What does a graph pattern become? A union of rule bodies.

A *branch* is the body of a rule and the set of variables that it binds: every solution of the pattern comes from one
branch, and binds exactly these variables. OPTIONAL and UNION give branches with different variables, so within a branch
it is always known whether a variable is bound (the paper's schemas; DESIGN 7).

All relations that a branch reads are sets, and no variable of its body is ever dropped, so each binding of the body is
one solution: counting bindings gives exact multiplicities. Variables that a subquery hides are renamed, not projected
away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from everlog.plans.flat_rules import Attempt, Computation
from everlog.rules.syntax import Argument, Atom, Bind, Call, Constant, Expression, Filter, Variable
from everlog.sparql.expressions import resolved, told_apart


@dataclass(frozen=True)
class Branch:
    """A rule body, and the variables that solutions have from it."""

    bound: frozenset[str] = frozenset()
    atoms: tuple[Atom, ...] = ()
    absent: tuple[Atom, ...] = ()
    computations: tuple[Computation, ...] = ()
    # Bound variables whose values come only from outside: given values, and what is bound around EXISTS.
    outside: frozenset[str] = frozenset()

    @property
    def own(self) -> frozenset[str]:
        """Variables that the pattern itself binds."""
        return self.bound - self.outside

    @property
    def computed(self) -> frozenset[str]:
        """Variables bound by a computation, not by an atom."""
        return frozenset(c.variable.name for c in self.computations if not isinstance(c, Filter))

    @property
    def equated(self) -> frozenset[str]:
        """Variables whose value a BIND gives, which may be looked up by it."""
        return frozenset(c.variable.name for c in self.computations if isinstance(c, Bind))

    def having(self, *atoms: Atom, binding: bool = True) -> Branch:
        """With more atoms, which bind their variables unless `binding` is False."""
        names = {v.name for atom in atoms for v in atom.variables()} if binding else set()
        return replace(self, bound=self.bound | names, atoms=self.atoms + atoms)

    def without(self, *atoms: Atom) -> Branch:
        return replace(self, absent=self.absent + atoms)

    def where(self, condition: Expression) -> Branch:
        return replace(self, computations=(*self.computations, Filter(condition)))

    def binding(self, expression: Expression, name: str) -> Branch:
        """With a variable bound to the value of an expression; where that fails there is no solution."""
        return replace(
            self, bound=self.bound | {name}, computations=(*self.computations, Bind(expression, Variable(name)))
        )

    def equating(self, expression: Expression, name: str) -> Branch:
        """Restricted to where a variable that is already bound has the value of an expression."""
        same = self.where(Call("sameterm", (expression, Variable(name))))
        return replace(same, outside=self.outside - {name})

    def failing(self, expression: Expression, name: str) -> Branch:
        """Restricted to where an expression has no value; `name` is a variable not used elsewhere."""
        missing = Filter(Call("!", (Call("bound", (Variable(name),)),)))
        return replace(self, computations=(*self.computations, Attempt(expression, Variable(name)), missing))

    def seen_as(self, visible: frozenset[str]) -> Branch:
        """With fewer visible variables; the names of the hidden ones must not be used elsewhere."""
        return replace(self, bound=self.bound & visible, outside=self.outside & visible)

    def renamed(self, names: Mapping[str, str]) -> Branch:
        """With other names for some variables."""
        if not names:
            return self
        bound, outside = (frozenset(names.get(name, name) for name in each) for each in (self.bound, self.outside))
        return replace(
            self.with_arguments({name: Variable(new) for name, new in names.items()}), bound=bound, outside=outside
        )

    def with_arguments(self, arguments: Mapping[str, Argument]) -> Branch:
        """With other variables or constants in the place of some variables."""
        return replace(
            self,
            atoms=tuple(_in_atom(atom, arguments) for atom in self.atoms),
            absent=tuple(_in_atom(atom, arguments) for atom in self.absent),
            computations=tuple(_in_computation(computation, arguments) for computation in self.computations),
        )

    def value(self, expression: Expression) -> Expression:
        """An expression as it is to be evaluated for each solution."""
        solution = tuple(dict.fromkeys(variable for atom in self.atoms for variable in atom.variables()))
        return told_apart(resolved(expression, self.bound), solution)

    def variables(self) -> list[str]:
        """Every variable that a binding of the body has, in order of first use."""
        found = dict.fromkeys(v.name for atom in self.atoms for v in atom.variables())
        return [*found, *(name for name in sorted(self.computed) if name not in found)]


UNIT = Branch()
"""The branch of the empty pattern, whose one solution binds nothing."""


def never(names: Sequence[str]) -> Branch:
    """A branch with these variables and no solution: even an empty relation needs a rule."""
    branch = UNIT.where(Constant(False))
    for name in names:
        branch = branch.binding(Constant(0), name)
    return branch


def concluding(head: Atom, branch: Branch) -> tuple[Atom, Branch]:
    """An equivalent head and body without variables that are only copies of others.

    When a branch is made it is not yet known which of its variables will be used. Copies are removed because a
    computation costs the engine more than an atom.
    """
    names: dict[str, Argument] = {}
    others: list[Computation] = []
    for computation in branch.computations:
        # BIND is for variables that are bound (a branch says which), and so never fails where it only copies.
        if not isinstance(computation, Filter) and isinstance(computation.expression, Variable):
            names[computation.variable.name] = computation.expression
        else:
            others.append(computation)
    for name, stands_for in names.items():
        while isinstance(stands_for, Variable) and stands_for.name in names:  # a copy of a copy
            stands_for = names[stands_for.name]
        names[name] = stands_for
    return _in_atom(head, names), replace(branch, computations=tuple(others)).with_arguments(names)


def joined(left: Branch, right: Branch, fresh: str) -> Branch:
    """Both bodies; what both bind must be the same term. `fresh` is the prefix of names not used elsewhere."""
    conditions: list[Expression] = []
    for name in sorted(left.bound & right.bound):
        if (name in left.equated) != (name in right.equated) and (name in left.computed) != (name in right.computed):
            continue  # one side looks up what the other computes
        # Two computations of one variable, or one that may fail: let one bind another variable, and compare the two.
        own = f"{fresh}{name}"
        if name in right.computed:
            right = right.renamed({name: own})
        elif name in left.computed:
            left = left.renamed({name: own})
        else:
            continue
        conditions.append(Call("sameterm", (Variable(own), Variable(name))))
    both = Branch(
        left.bound | right.bound,
        tuple(dict.fromkeys((*left.atoms, *right.atoms))),
        tuple(dict.fromkeys((*left.absent, *right.absent))),
        (*left.computations, *right.computations),
        (left.outside | right.outside) - left.own - right.own,
    )
    for condition in conditions:
        both = both.where(condition)
    return both


def bound_or_not(branch: Branch, name: str, fresh: str) -> list[Branch]:
    """Two branches: one where a variable is bound, and one where it is not, and a hidden one takes its place."""
    without = branch.seen_as(branch.bound - {name}).renamed({name: fresh})
    return [
        branch.where(Call("bound", (Variable(name),))),
        without.where(Call("!", (Call("bound", (Variable(fresh),)),))),
    ]


def _in_argument(argument: Argument, names: Mapping[str, Argument]) -> Argument:
    return names.get(argument.name, argument) if isinstance(argument, Variable) else argument


def _in_atom(atom: Atom, names: Mapping[str, Argument]) -> Atom:
    return replace(atom, args=tuple(_in_argument(argument, names) for argument in atom.args))


def _in_expression(expression: Expression, names: Mapping[str, Argument]) -> Expression:
    if isinstance(expression, Call):
        return replace(expression, args=tuple(_in_expression(argument, names) for argument in expression.args))
    return _in_argument(expression, names)


def _in_computation(computation: Computation, names: Mapping[str, Argument]) -> Computation:
    expression = _in_expression(computation.expression, names)
    if isinstance(computation, Filter):
        return Filter(expression)
    variable = _in_argument(computation.variable, names)
    assert isinstance(variable, Variable)
    return replace(computation, expression=expression, variable=variable)
