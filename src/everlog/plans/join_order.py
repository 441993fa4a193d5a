"""In which order are the atoms of a rule read?

The order that is expected to touch the fewest bindings, by live statistics: all orders are considered for bodies of
usual size (by dynamic programming over sets of atoms), and the cheapest next atom is taken in very long ones. A
variant with a seed starts there. Comparisons, BINDs and absent atoms come as soon as their variables are bound; what
BIND gives to a variable of an atom is part of the key by which the atom is looked up, or is compared with what the atom
gave before. The order is data that can be printed (`everlog plan`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import count
from operator import or_
from typing import NamedTuple, Protocol

from everlog.plans.delta_variants import Variant
from everlog.plans.flat_rules import Attempt, Computation, FlatRule
from everlog.plans.labels import Label
from everlog.plans.operators import Compute, Conclude, Plan, Read, Refute, Select, Shorter, Step, Without
from everlog.plans.sweeps import SweepVariant
from everlog.rules.syntax import Argument, Atom, Bind, Call, Constant, Filter, Variable, expression_variables

_MOST_ATOMS = 9  # planning 2**9 sets of atoms takes a few milliseconds
_LOOK_COST = 0.3  # the cost of a look-up that matches nothing, relative to that of passing on a binding
_COMPARISON_SHARE = 0.5  # the share of bindings assumed to pass a FILTER
_SMALL_PRODUCT = 1_000  # bindings; two atoms without a common variable may be paired up to this many


class Statistics(Protocol):
    """What an engine knows about its relations while planning."""

    def matches(self, atom: Atom, bound: frozenset[int]) -> float:
        """How many facts an atom is expected to match per binding, given the columns that are bound."""
        ...


class NoStatistics:
    """Without any data: every bound column divides the matches by ten."""

    def matches(self, atom: Atom, bound: frozenset[int]) -> float:
        return float(10.0 ** (len(atom.args) - len(bound)))


def plan_alternatives(variant: SweepVariant, statistics: Statistics) -> list[Plan]:
    """Plans that share the bindings of a variant's seed between them, where it may matter which atom is read next.

    Where one instance per seed is enough, most of the work is done for seeds that have none: all of their bindings are
    looked at. So each goes to the plan that begins with fewer facts.
    """
    seed, atoms = variant.seed, variant.rule.atoms
    if not variant.enough or seed is None or len(atoms) < 3:
        return [plan_variant(variant, statistics)]
    bound = {variable.name for variable in atoms[seed].variables()}
    reads = {p: _read(atoms[p], variant.labels[p], bound) for p in range(len(atoms)) if p != seed}
    partly = [p for p, read in reads.items() if 0 < len(read.key) < len(read.atom.args)]
    if len(partly) < 2 or any(len(read.key) == len(read.atom.args) for read in reads.values()):
        return [plan_variant(variant, statistics)]
    matches = {p: statistics.matches(atoms[p], frozenset(column for column, _ in reads[p].key)) for p in partly}
    one, other = sorted(partly, key=lambda p: matches[p])[:2]
    return [
        plan_variant(variant, statistics, Shorter(reads[one], reads[other], ties=True)),
        plan_variant(variant, statistics, Shorter(reads[other], reads[one], ties=False)),
    ]


def plan_variant(variant: Variant | SweepVariant, statistics: Statistics, shorter: Shorter | None = None) -> Plan:
    """The steps of a variant in a good order; with `shorter`, the seed comes first and then the atom it prefers."""
    rule = variant.rule
    bound: set[str] = set()
    steps: list[Step] = []
    waiting_absent = list(zip(rule.absent, variant.absent, strict=True))
    waiting_refuted = list(rule.refuted)
    waiting_computations = list(rule.computations)
    numbers = count()

    def place_what_is_ready() -> None:
        progress = True
        while progress:
            progress = False
            for computation in list(waiting_computations):
                if _inputs(computation) <= bound:
                    waiting_computations.remove(computation)
                    steps.extend(_compute(computation, bound, numbers))
                    if not isinstance(computation, Filter):
                        bound.add(computation.variable.name)
                    progress = True
            for pair in list(waiting_absent):
                if {variable.name for variable in pair[0].variables()} <= bound:
                    waiting_absent.remove(pair)
                    steps.append(Without(*pair))
                    progress = True
            for refuted in list(waiting_refuted):
                if {variable.name for variable in refuted.outer} <= bound:
                    waiting_refuted.remove(refuted)
                    steps.append(Refute(refuted))
                    progress = True

    place_what_is_ready()
    second = () if shorter is None else (rule.atoms.index(shorter.read.atom),)
    for number, position in enumerate(atom_order(variant, statistics, second)):
        if shorter is not None and number == 1:
            steps.append(shorter)
        steps.append(_read(rule.atoms[position], variant.labels[position], bound))
        bound.update(variable.name for variable in rule.atoms[position].variables())
        place_what_is_ready()
    waiting = (waiting_absent, waiting_refuted, waiting_computations)
    assert not any(waiting), f"unsafe rule {rule.name} reached planning"
    steps.extend(Conclude(head) for head in rule.heads)
    return Plan(variant, tuple(steps))


def atom_order(
    variant: Variant | SweepVariant, statistics: Statistics, second: tuple[int, ...] = ()
) -> tuple[int, ...]:
    """Positions of the atoms in the order they are read; `second` is to come after the seed."""
    count = len(variant.rule.atoms)
    search = _Search(variant.rule, statistics, variant.own)
    start = second if variant.seed is None else (variant.seed, *second)
    if count - len(start) <= 1:
        return (*start, *(position for position in range(count) if position not in start))
    return search.best(start)


def expected_work(rule: FlatRule, statistics: Statistics) -> float:
    """How many bindings evaluating a rule over everything is expected to touch, in the best order."""
    return _Search(rule, statistics).cheapest(()).cost


def expected_matches(rule: FlatRule, statistics: Statistics) -> float:
    """How many bindings the whole body of a rule is expected to have."""
    return _Search(rule, statistics).cheapest(()).bindings


class _Prefix(NamedTuple):
    """The beginning of an order: what it costs so far, and the bindings it leaves."""

    cost: float
    bindings: float
    order: tuple[int, ...]


class _Search:
    """Orders of a rule's atoms. Sets of atoms, columns and variables are bits of an integer: there are many of them."""

    def __init__(self, rule: FlatRule, statistics: Statistics, own: Sequence[bool] = ()) -> None:
        self._rule, self._statistics = rule, statistics
        self._growing = _union(1 << position for position, is_own in enumerate(own) if is_own)
        self._bits: dict[str, int] = {}
        self._columns = [
            [0 if isinstance(a, Constant) else self._bit(a.name) for a in atom.args] for atom in rule.atoms
        ]
        self._variables = [_union(columns) for columns in self._columns]
        self._filters = [self._inputs(c) for c in rule.computations if isinstance(c, Filter)]
        self._values = [
            (self._inputs(c), self._bit(c.variable.name)) for c in rule.computations if not isinstance(c, Filter)
        ]
        self._bound: dict[int, int] = {}
        self._matches: dict[tuple[int, int], float] = {}

    def _bit(self, name: str) -> int:
        return self._bits.setdefault(name, 1 << len(self._bits))

    def _inputs(self, computation: Computation) -> int:
        return _union(map(self._bit, _inputs(computation)))

    def best(self, start: tuple[int, ...]) -> tuple[int, ...]:
        """The cheapest of all orders for bodies of usual size, and a good one for very long ones."""
        return self.cheapest(start).order

    def cheapest(self, start: tuple[int, ...]) -> _Prefix:
        greedy = self._greedy(start)
        return self._best(start, greedy) if len(self._rule.atoms) <= _MOST_ATOMS else greedy

    def _best(self, start: tuple[int, ...], known: _Prefix) -> _Prefix:
        """For each set of atoms only the cheapest order of it is kept, and none that costs more than one that is known.

        Most orders do by far, so that few of the sets are ever looked at.
        """
        prefixes = {_union(1 << position for position in start): _Prefix(0.0, 1.0, start)}
        for _ in range(len(self._rule.atoms) - len(start)):
            longer: dict[int, _Prefix] = {}
            for chosen, prefix in prefixes.items():
                for position, extended in self._extensions(chosen, prefix):
                    if extended.cost > known.cost:
                        continue
                    key = chosen | 1 << position
                    if key not in longer or extended < longer[key]:
                        longer[key] = extended
            prefixes = longer
        return min([known, *prefixes.values()])

    def _greedy(self, start: tuple[int, ...]) -> _Prefix:
        prefix = _Prefix(0.0, 1.0, start)
        while len(prefix.order) < len(self._rule.atoms):
            chosen = _union(1 << position for position in prefix.order)
            prefix = min(extended for _, extended in self._extensions(chosen, prefix))
        return prefix

    def _extensions(self, chosen: int, prefix: _Prefix) -> list[tuple[int, _Prefix]]:
        """The orders with one atom more that are worth a look.

        An atom that leaves no more bindings than there are is read at once, since all that comes after it costs no more
        for it. Large products only where every other atom would make one too: a product is as large as it looks, a join
        often smaller than estimates from sizes alone say, so that comparing the two would choose the product. And what
        the running component derives may be little now, but grows while the plan is in use.
        """
        before = self._bound_by(chosen)
        found, sane = [], []
        for position in self._candidates(chosen, before):
            variables = self._variables[position]
            extended = self._extend(chosen, before, prefix, position)
            found.append((position, extended))
            if not chosen or variables & before or extended.bindings <= _SMALL_PRODUCT:
                sane.append((position, extended))
        # Prefer an atom that shares a variable with the bindings: estimates of the others may be far off.
        least = min(found, key=lambda each: (each[1].bindings, not self._variables[each[0]] & before))
        return [least] if least[1].bindings <= prefix.bindings else sane or found

    def _candidates(self, chosen: int, before: int) -> list[int]:
        """The atoms not read yet, without products with what grows where there is another one."""
        waiting = [position for position in range(len(self._variables)) if not chosen >> position & 1]
        if not chosen or not self._growing:
            return waiting
        apart = [p for p in waiting if self._variables[p] and not self._variables[p] & before]
        stable = [p for p in waiting if not self._growing >> p & 1 or p not in apart]
        return stable or waiting

    def _extend(self, chosen: int, before: int, prefix: _Prefix, position: int) -> _Prefix:
        known = position, self._variables[position] & before
        matches = self._matches.get(known)
        if matches is None:
            # A constant has no bit, and is known like a variable that is bound.
            columns = self._columns[position]
            names = frozenset(column for column, bit in enumerate(columns) if not bit or bit & before)
            matches = self._matches[known] = self._statistics.matches(self._rule.atoms[position], names)
        read = prefix.bindings * matches
        bindings = read
        if self._filters:
            after = self._bound_by(chosen | 1 << position)
            decided = sum(1 for inputs in self._filters if not inputs & ~after and inputs & ~before)
            bindings *= _COMPARISON_SHARE**decided
        return _Prefix(prefix.cost + _LOOK_COST * prefix.bindings + read, bindings, (*prefix.order, position))

    def _bound_by(self, chosen: int) -> int:
        """Variables that these atoms bind, with what can be computed from them."""
        if chosen not in self._bound:
            bound = _union(own for position, own in enumerate(self._variables) if chosen >> position & 1)
            waiting = self._values
            while ready := [value for value in waiting if not value[0] & ~bound]:
                bound |= _union(output for _, output in ready)
                waiting = [value for value in waiting if value[0] & ~bound]
            self._bound[chosen] = bound
        return self._bound[chosen]


def _union(bits: Iterable[int]) -> int:
    return reduce(or_, bits, 0)


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


def _compute(computation: Computation, bound: set[str], numbers: Iterator[int]) -> list[Step]:
    match computation:
        case Filter():
            return [Select(computation.expression)]
        case Bind() if computation.variable.name in bound:
            # The value first, computed once for each distinct input: two terms are what engines compare fastest.
            value = Variable(f"~value{next(numbers)}")
            same = Call("sameterm", (value, computation.variable))
            return [Compute(computation.expression, value.name), Select(same)]
        case Bind():
            return [Compute(computation.expression, computation.variable.name)]
        case Attempt():
            return [Compute(computation.expression, computation.variable.name, attempt=True)]
