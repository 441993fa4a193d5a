"""How is a computed value found from both sides of a join?

In `next(X, Y) :- number(X), BIND(X + 1 AS Y), number(Y)` a number X has a look-up to make: Y. But a new number Y asks
for the X whose sum it is, and expressions are not turned round. So what is computed from the variables of one atom, and
looked up in another, becomes a relation of its own, which has an index on the value too:

    r~key1(X, Y) :- number(X), BIND(X + 1 AS Y).           next(X, Y) :- r~key1(X, Y), number(Y).

Then a change on either side takes work in proportion to it, and a recursion over the value a step per fact. A value
that needs variables of several atoms is looked up where these are bound, and compared elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from everlog.rules.syntax import Atom, Bind, Filter, Variable, expression_variables


@dataclass(frozen=True)
class ComputedKey:
    """An atom, and what is computed from its variables and looked up elsewhere."""

    atom: Atom
    binds: tuple[Bind, ...]

    def variables(self) -> tuple[Variable, ...]:
        """All that the atom and the values bind, each once."""
        own = [*self.atom.variables(), *(bind.variable for bind in self.binds)]
        return tuple({variable.name: variable for variable in own}.values())


def computed_keys(atoms: Sequence[Atom], computations: Sequence[Bind | Filter]) -> list[ComputedKey]:
    """The atoms of a body from which keys of other atoms are computed, in the order of the body."""
    binds = [each for each in computations if isinstance(each, Bind)]
    found: list[ComputedKey] = []
    taken: list[Bind] = []
    for position, atom in enumerate(atoms):
        elsewhere = {v.name for other in (*atoms[:position], *atoms[position + 1 :]) for v in other.variables()}
        mine = _computed_from(atom, [bind for bind in binds if bind not in taken])
        keys = {bind.variable.name for bind in mine if bind.variable.name in elsewhere}
        needed = _needed_for(keys, mine)
        if needed:
            found.append(ComputedKey(atom, needed))
            taken += needed
    return found


def _computed_from(atom: Atom, binds: Sequence[Bind]) -> list[Bind]:
    """What the variables of an atom alone give, in an order in which it can be computed."""
    bound = {variable.name for variable in atom.variables()}
    found: list[Bind] = []
    waiting = [bind for bind in binds if bind.variable.name not in bound and _inputs(bind)]
    while ready := [bind for bind in waiting if _inputs(bind) <= bound]:
        found += ready
        bound |= {bind.variable.name for bind in ready}
        waiting = [bind for bind in waiting if bind not in ready]
    return found


def _needed_for(keys: set[str], binds: Sequence[Bind]) -> tuple[Bind, ...]:
    """The binds that give these variables, and those that their expressions need."""
    wanted = set(keys)
    needed: list[Bind] = []
    for bind in reversed(binds):
        if bind.variable.name in wanted:
            needed.append(bind)
            wanted |= _inputs(bind)
    return tuple(reversed(needed))


def _inputs(bind: Bind) -> set[str]:
    return {variable.name for variable in expression_variables(bind.expression)}
