"""Can rules be evaluated part by part, and by which argument are their facts divided?

`path(x, z) :- path(x, y), edge(y, z)` keeps the first argument of path in place: what begins with x follows from what
begins with x. If the facts of path are divided by their first argument, each part has a fixpoint of its own that needs
no fact of another; only edge must be known whole. That argument is the *pivot*.

Heads, and atoms that may match what they conclude (*own* atoms), form classes by unification: `[?x, a, :Person]` and
`[?x, :knows, ?y]` are two, though both are triples. Each class gets one position, such that in every rule the
argument of the head there is a variable, and the same one stands in each own atom at the position of its class. An atom
that is not own is divided too if it has that variable, and otherwise must be known whole in every part.

- *Exit* rules, which read nothing of their own, need their pivot in some atom of the body. In a recursive component
  they may do without: then they are evaluated before, and what they conclude is divided (`Pivot.outside`).
- An aggregate goes by one of the arguments that it groups by.
- A refuted body (plans/flat_rules.Refuted) and a window look at more than one part: there is no pivot.
- A rule that waits for a fact which is hardly ever there (`r~shared()`, plans/rewrites.py) is left out, and the pivot
  holds only while there is no such fact (`Pivot.unless`).

>>> from everlog.rules.parser import parse_program
>>> from everlog.plans.flat_rules import flatten_rules
>>> from everlog.rules.names import name_rules
>>> text = "path(X, Y) :- edge(X, Y).  path(X, Z) :- path(X, Y), edge(Y, Z)."
>>> find_pivot(flatten_rules(name_rules(parse_program(text).rules)))
Pivot(positions=(('path', 0),), outside=())
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from everlog.plans.flat_rules import EvaluatedRule, FlatRule, GroupRule
from everlog.plans.rewrites import SHARED
from everlog.rules.atom_index import AtomIndex
from everlog.rules.components import Component
from everlog.rules.extents import extent, print_extent
from everlog.rules.printer import print_atom
from everlog.rules.syntax import Atom, Variable

_MOST_TRIES = 2_000  # assignments that are tried before giving up; honest programs need a few


@dataclass(frozen=True)
class Pivot:
    """By which argument the facts of each class are divided."""

    heads: tuple[tuple[Atom, int], ...] = field(repr=False)  # every head with the position of its class
    outside: tuple[FlatRule, ...] = ()  # exit rules that are evaluated before, as they cannot be divided
    unless: tuple[str, ...] = ()  # relations without arguments: where one has its fact, there is no pivot

    @property
    def positions(self) -> tuple[tuple[str, int], ...]:
        """Relations and the positions by which facts of them are divided."""
        return tuple(dict.fromkeys((head.relation, position) for head, position in self.heads))

    def __repr__(self) -> str:
        return f"Pivot(positions={self.positions}, outside={tuple(rule.name for rule in self.outside)})"

    def __str__(self) -> str:
        return self.of([head for head, _ in self.heads])

    def of(self, heads: Sequence[Atom], prefixes: Mapping[str, str] | None = None) -> str:
        """By which argument the facts of some heads are divided, in the words of reports."""
        positions = dict(self.heads)
        numbers = {positions[head] + 1 for head in heads}
        if len(numbers) == 1:
            return f"c{numbers.pop()}"
        named = (f"{print_extent(extent(head), prefixes)} c{positions[head] + 1}" for head in heads)
        return ", ".join(dict.fromkeys(named))


@dataclass(frozen=True)
class NoPivot:
    """Why rules cannot be evaluated part by part, in a sentence."""

    reason: str

    def __str__(self) -> str:
        return self.reason


def component_pivot(component: Component[EvaluatedRule]) -> Pivot | NoPivot:
    """The pivot of one component."""
    return find_pivot(component.rules, loose=component.rules if component.recursive else ())


def find_pivot(rules: Sequence[EvaluatedRule], loose: Sequence[EvaluatedRule] = ()) -> Pivot | NoPivot:
    """The pivot of rules that are evaluated together, one or several components.

    `loose`: rules of recursive components, of which those that read nothing of their own may stay outside.
    """
    concluded = {head.relation for rule in rules for head in rule.heads}
    waiting = {id(rule): name for rule in rules for name in waits_for(rule) if name not in concluded}
    rules = [rule for rule in rules if id(rule) not in waiting]
    for rule in rules:
        reason = _never(rule)
        if reason is not None:
            return NoPivot(reason)
    classes = _Classes(rules)
    loose_ids = {id(rule) for rule in loose}
    constraints = [each for rule in rules for each in _constraints(rule, classes, loose=id(rule) in loose_ids)]
    found = _solve(classes.domains(), constraints)
    if found is None:
        return NoPivot(_why_not(rules, classes, constraints))
    heads = {head: found[number] for head, number in classes.of_head.items()}
    outside = tuple(
        rule
        for rule in rules
        if isinstance(rule, FlatRule)
        and not any(True for _ in classes.own(rule))
        and not all(heads[head] in _bound_positions(rule, head) for head in rule.heads)
    )
    return Pivot(tuple(heads.items()), outside, tuple(dict.fromkeys(waiting.values())))


def waits_for(rule: EvaluatedRule) -> Iterator[str]:
    """Relations without arguments that a guarded closure waits for (plans/rewrites.py)."""
    if isinstance(rule, FlatRule):
        yield from (atom.relation for atom in rule.atoms if not atom.args and atom.relation.endswith(SHARED))


def _never(rule: EvaluatedRule) -> str | None:
    if any(not head.args for head in rule.heads):
        return f"{rule.name} concludes a fact without arguments: there is nothing to divide it by"
    if isinstance(rule, FlatRule):
        if rule.refuted:
            return f"{rule.name} negates a condition on what its own recursion binds, which needs all facts at once"
        return None
    if isinstance(rule, GroupRule):
        return None if rule.group else f"{rule.name} aggregates everything into one group"
    return f"{rule.name} orders all of its rows"


class _Classes:
    """Heads and own atoms that unify, directly or through others, by number."""

    def __init__(self, rules: Sequence[EvaluatedRule]) -> None:
        heads = list(dict.fromkeys(head for rule in rules for head in rule.heads))
        self._heads = heads
        self._index = AtomIndex(enumerate(heads))
        parent = list(range(len(heads)))

        def find(number: int) -> int:
            while parent[number] != number:
                number = parent[number] = parent[parent[number]]
            return number

        for number, head in enumerate(heads):
            for other in self._index.unifying(head):
                parent[find(number)] = find(other)
        for rule in rules:
            for atom in _reads(rule):
                matching = list(self._index.unifying(atom))
                for other in matching[1:]:
                    parent[find(matching[0])] = find(other)
        self.of_head = {head: find(number) for number, head in enumerate(heads)}
        self._find = find

    def of_atom(self, atom: Atom) -> int | None:
        """The class of an own atom; None where the rules conclude nothing that it could match."""
        found = next(iter(self._index.unifying(atom)), None)
        return None if found is None else self._find(found)

    def own(self, rule: EvaluatedRule) -> Iterator[tuple[Atom, int]]:
        for atom in _reads(rule):
            number = self.of_atom(atom)
            if number is not None:
                yield atom, number

    def domains(self) -> dict[int, list[int]]:
        """The positions that each class may have."""
        found: dict[int, list[int]] = {}
        for head, number in self.of_head.items():
            found.setdefault(number, list(range(len(head.args))))
        return found


def _reads(rule: EvaluatedRule) -> Iterator[Atom]:
    if isinstance(rule, FlatRule):
        yield from rule.atoms
        yield from rule.absent
    else:
        yield rule.source


@dataclass(frozen=True)
class _Constraint:
    """The pairs of positions that two classes may have together; one class twice where it stands alone."""

    rule: EvaluatedRule
    first: int
    second: int
    pairs: frozenset[tuple[int, int]]


def _constraints(rule: EvaluatedRule, classes: _Classes, *, loose: bool) -> Iterator[_Constraint]:
    own = list(classes.own(rule))
    for head in rule.heads:
        number = classes.of_head[head]
        allowed = _bound_positions(rule, head)
        if own or not loose:
            yield _Constraint(rule, number, number, frozenset((position, position) for position in allowed))
        for atom, other in own:
            if isinstance(rule, FlatRule):
                pairs = ((p, q) for p in allowed for q, arg in enumerate(atom.args) if arg == head.args[p])
            else:
                pairs = ((p, p) for p in allowed)
            # A class is at one position: a rule from a class to itself must keep the argument where it is.
            kept = frozenset(pair for pair in pairs if number != other or pair[0] == pair[1])
            yield _Constraint(rule, number, other, kept)


def _bound_positions(rule: EvaluatedRule, head: Atom) -> list[int]:
    """The positions of a head whose argument is a variable that an atom of the body binds."""
    if not isinstance(rule, FlatRule):
        return list(range(rule.group)) if isinstance(rule, GroupRule) else []
    bound = {variable.name for atom in rule.atoms for variable in atom.variables()}
    return [place for place, arg in enumerate(head.args) if isinstance(arg, Variable) and arg.name in bound]


def _solve(domains: dict[int, list[int]], constraints: Sequence[_Constraint]) -> dict[int, int] | None:
    """A position for each class; the first that fit, those in front preferred."""
    tries = 0

    def search(open_: dict[int, list[int]]) -> dict[int, int] | None:
        nonlocal tries
        tries += 1
        narrowed = _narrowed(open_, constraints)
        if narrowed is None or tries > _MOST_TRIES:
            return None
        undecided = [number for number, places in narrowed.items() if len(places) > 1]
        if not undecided:
            return {number: places[0] for number, places in narrowed.items()}
        number = min(undecided, key=lambda each: len(narrowed[each]))
        for place in narrowed[number]:
            found = search({**narrowed, number: [place]})
            if found is not None:
                return found
        return None

    return search(domains)


def _narrowed(domains: dict[int, list[int]], constraints: Sequence[_Constraint]) -> dict[int, list[int]] | None:
    """The positions that no constraint excludes by itself; None where a class has none left."""
    current = dict(domains)
    changed = True
    while changed:
        changed = False
        for constraint in constraints:
            firsts, seconds = current[constraint.first], current[constraint.second]
            fitting = [pair for pair in constraint.pairs if pair[0] in firsts and pair[1] in seconds]
            for number, side in ((constraint.first, 0), (constraint.second, 1)):
                stays = {pair[side] for pair in fitting}
                kept = [place for place in current[number] if place in stays]
                if not kept:
                    return None
                if len(kept) < len(current[number]):
                    current[number] = kept
                    changed = True
    return current


def _why_not(rules: Sequence[EvaluatedRule], classes: _Classes, constraints: Sequence[_Constraint]) -> str:
    """Which rule leaves no position."""
    taken: list[_Constraint] = []
    for rule in rules:
        mine = [constraint for constraint in constraints if constraint.rule is rule]
        taken += mine
        if _solve(classes.domains(), taken) is not None:
            continue
        heads = ", ".join(print_atom(head) for head in rule.heads)
        own = ", ".join(print_atom(atom) for atom, _ in classes.own(rule))
        if _solve(classes.domains(), mine) is None:
            if own:
                return f"{rule.name} keeps no argument in place from {own} to {heads}"
            return f"no atom of {rule.name} binds an argument of {heads}"
        return (
            f"{rule.name} keeps another argument in place than the rules before it, from {own or 'its body'} to {heads}"
        )
    return "no argument stays in place in all rules"
