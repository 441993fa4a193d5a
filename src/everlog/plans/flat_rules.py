"""How does a rule look once everything nested in it is a relation of its own?

Engines evaluate *flat* rules: positive atoms, atoms that must be absent with every variable bound elsewhere, and
computations. What is nested becomes an auxiliary relation, named after its rule with a `~` that no user's name has:

    a :- b(X), NOT c(X, Y).                     r~not1(X) :- c(X, Y).         a :- b(X), absent r~not1(X).
    a :- AGGREGATE(b(X, Y) ON X BIND MAX(Y) AS M).
                                                r~rows1(X, Y) :- b(X, Y).     a bag: its weights count bindings
                                                r~group1(X, M) = groups of r~rows1
                                                a :- r~group1(X, M).

    a :- b(X), NOT EXISTS Y IN (c(Y), FILTER(Y > X)).
                                                r~not1(X) :- b(X), c(Y), Y > X.   seeded with what binds X outside
    a :- b(X), c(X + 1).                        r~key1(X, Y) :- b(X), BIND(X + 1 AS Y).   (computed_keys.py)
                                                a :- r~key1(X, Y), c(Y).

So negation is a look-up of one fact (its presence changes when the first derivation of an `~not` fact comes or the last
goes), and an aggregate is a function of a bag that keeps counts of what it needs, not the join below it. Where only the
rule's own recursion binds a variable that the negated body needs, an auxiliary relation would have to wait for itself;
there the body is *refuted* instead: it is evaluated for the current bindings, and those with no instance pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from everlog.plans.computed_keys import computed_keys
from everlog.plans.windows import Ordering
from everlog.rules.atom_index import unify
from everlog.rules.components import hyper_nodes
from everlog.rules.dependencies import body_atoms
from everlog.rules.hashing import hashed_once
from everlog.rules.syntax import (
    Aggregate,
    AggregateBinding,
    Atom,
    Bind,
    Expression,
    Filter,
    Literal,
    Negation,
    Rule,
    Variable,
    expression_variables,
    literal_variables,
)

AUXILIARY = "~"


def is_auxiliary(relation: str) -> bool:
    """Was this relation introduced by flattening?"""
    return AUXILIARY in relation


def rule_of_auxiliary(relation: str) -> str:
    """The name of the rule that an auxiliary relation is for."""
    return relation.partition(AUXILIARY)[0]


@dataclass(frozen=True)
class Attempt:
    """Like BIND, but where the expression fails the variable is UNBOUND and the binding goes on: it counts as a row."""

    expression: Expression
    variable: Variable


Computation = Filter | Bind | Attempt


@dataclass(frozen=True)
class Refuted:
    """Keep a binding if `body`, seeded with it, concludes nothing. The first atom of the body is the seed."""

    outer: tuple[Variable, ...]
    body: FlatRule

    @property
    def seed(self) -> Atom:
        return self.body.atoms[0]


@hashed_once
@dataclass(frozen=True)
class FlatRule:
    """A rule without nesting. `bag`: the head's weight counts the bindings of the body."""

    name: str
    heads: tuple[Atom, ...]
    atoms: tuple[Atom, ...]
    absent: tuple[Atom, ...] = ()
    computations: tuple[Computation, ...] = ()
    bag: bool = False
    refuted: tuple[Refuted, ...] = ()

    def __post_init__(self) -> None:
        assert self.heads, f"{self.name} concludes nothing"


@dataclass(frozen=True)
class GroupFunction:
    """One aggregate of a group rule; `column` of the bag holds its argument, None for COUNT(*)."""

    function: str
    column: int | None
    distinct: bool
    separator: str = " "  # of GROUP_CONCAT


@dataclass(frozen=True)
class GroupRule:
    """`head(group…, results…)`: one fact per distinct first `group` columns of the bag `source`.

    With no group columns there is one group even when the bag is empty. A group whose functions do not all succeed
    gives no fact; or, with `keep_failed`, a fact that has UNBOUND for those.
    """

    name: str
    head: Atom
    source: Atom
    group: int
    functions: tuple[GroupFunction, ...]
    keep_failed: bool = False

    @property
    def heads(self) -> tuple[Atom, ...]:
        return (self.head,)


@dataclass(frozen=True)
class WindowRule:
    """`head(number, columns…)`: what an ordering shows of the bag `source`; equal rows are numbered."""

    name: str
    head: Atom
    source: Atom
    ordering: Ordering
    bag: bool  # does a row of the source count as often as its weight says?

    @property
    def heads(self) -> tuple[Atom, ...]:
        return (self.head,)


WholeRule = GroupRule | WindowRule
"""A rule that looks at a whole relation, which must be complete before."""

EvaluatedRule = FlatRule | GroupRule | WindowRule


def rule_reads(rule: EvaluatedRule) -> Iterator[tuple[Atom, bool]]:
    """Every atom that a flat rule reads, and whether it must be complete before."""
    if not isinstance(rule, FlatRule):
        yield rule.source, True
    else:
        yield from ((atom, False) for atom in rule.atoms)
        yield from ((atom, True) for atom in rule.absent)
        for refuted in rule.refuted:
            yield from ((atom, True) for atom, _ in rule_reads(refuted.body) if atom != refuted.seed)


def auxiliary_atoms(rule: EvaluatedRule) -> Iterator[Atom]:
    """Atoms of relations that are filled only while a rule is evaluated."""
    if isinstance(rule, FlatRule):
        for refuted in rule.refuted:
            yield refuted.seed
            yield from refuted.body.heads
            yield from auxiliary_atoms(refuted.body)


def flatten_rules(rules: Iterable[Rule]) -> list[EvaluatedRule]:
    """Flat rules for named rules, each followed by the auxiliary ones it needs."""
    return [flat for flattened in flatten_each(rules, {}).values() for flat in flattened.flat]


class Flattened(NamedTuple):
    """What became of a rule, given the heads on a cycle with it."""

    heads: tuple[Atom, ...]
    flat: Sequence[EvaluatedRule]


def flatten_each(rules: Iterable[Rule], known: Mapping[Rule, Flattened]) -> dict[Rule, Flattened]:
    """The same, rule by rule; what is known from before is used again."""
    listed = list(rules)
    own_recursion = _heads_on_a_cycle_with(listed)
    flattened: dict[Rule, Flattened] = {}
    for rule, heads in zip(listed, own_recursion, strict=True):
        assert rule.name is not None, "rules are named before they are flattened"
        before = known.get(rule)
        if before is None or before.heads != heads:
            before = Flattened(heads, _Flattening(rule.name, heads).flatten(rule))
        flattened[rule] = before
    return flattened


def _heads_on_a_cycle_with(rules: Sequence[Rule]) -> list[tuple[Atom, ...]]:
    """For each rule, the heads of all rules on a cycle with it, its own included; empty for most rules."""
    # Only a condition inside NOT may ask for what is bound around it.
    nots = (literal for rule in rules for literal in rule.body if isinstance(literal, Negation))
    if all(isinstance(inner, Atom) for negation in nots for inner in negation.body):
        return [()] * len(rules)
    found: list[tuple[Atom, ...]] = [()] * len(rules)
    position_of = {id(rule): position for position, rule in enumerate(rules)}
    for node in hyper_nodes(rules, body_atoms):
        if node.recursive:
            heads = tuple(head for rule in node.rules for head in rule.heads)
            for rule in node.rules:
                found[position_of[id(rule)]] = heads
    return found


class _Flattening:
    """The auxiliary relations of one rule, numbered as they come."""

    def __init__(self, name: str, waits_for_itself: tuple[Atom, ...] = ()) -> None:
        self._name = name
        self._waits_for_itself = waits_for_itself  # atoms that unify with these cannot seed an auxiliary relation
        self._made = 0
        self._rules: list[EvaluatedRule] = []

    def flatten(self, rule: Rule) -> list[EvaluatedRule]:
        self._rules.append(self._flat(rule.heads, rule.body, bag=False))
        self._rules.reverse()  # the rule itself first
        return self._rules

    def _fresh(self, what: str) -> str:
        self._made += 1
        return f"{self._name}{AUXILIARY}{what}{self._made}"

    def _flat(
        self,
        heads: tuple[Atom, ...],
        body: Sequence[Literal],
        *,
        bag: bool,
        attempts: Sequence[Attempt] = (),
        keys: bool = True,
    ) -> FlatRule:
        atoms: list[Atom] = []
        absent: list[Atom] = []
        computations: list[Filter | Bind] = []
        refuted: list[Refuted] = []
        for position, literal in enumerate(body):
            match literal:
                case Atom():
                    atoms.append(literal)
                case Filter() | Bind():
                    computations.append(literal)
                case Aggregate():
                    atoms.append(self._aggregate(literal))
                case Negation():
                    others = [*body[:position], *body[position + 1 :]]
                    negated = self._negation(literal, heads, others, attempts)
                    if isinstance(negated, Refuted):
                        refuted.append(negated)
                    else:
                        absent.append(negated)
        if keys:
            self._keep_keys(atoms, computations)
        return FlatRule(self._name, heads, tuple(atoms), tuple(absent), (*computations, *attempts), bag, tuple(refuted))

    def _keep_keys(self, atoms: list[Atom], computations: list[Filter | Bind]) -> None:
        """Let relations of their own take the place of atoms from which keys of others are computed."""
        for key in computed_keys(atoms, computations):
            kept = Atom(self._fresh("key"), key.variables())
            self._rules.append(FlatRule(self._name, (kept,), (key.atom,), computations=key.binds))
            atoms[atoms.index(key.atom)] = kept
            computations[:] = [each for each in computations if each not in key.binds]

    def _negation(
        self, negation: Negation, heads: Sequence[Atom], others: Sequence[Literal], attempts: Sequence[Attempt]
    ) -> Atom | Refuted:
        outside = {variable.name for head in heads for variable in head.variables()}
        outside |= {variable.name for literal in others for variable in _shown(literal)}
        outside |= {variable.name for attempt in attempts for variable in expression_variables(attempt.expression)}
        outside -= {variable.name for variable in negation.exists}
        inside = list(
            dict.fromkeys(variable.name for literal in negation.body for variable in literal_variables(literal))
        )
        shared = tuple(Variable(name) for name in inside if name in outside)
        inner = negation.body[0]
        if len(negation.body) == 1 and isinstance(inner, Atom) and len(shared) == len(inside):
            return inner
        body = list(negation.body)
        if not _binds(body, shared):
            # A condition on an outer variable, such as FILTER(?y > ?outer): seed it with the outer bindings.
            seeds = [literal for literal in others if self._can_seed(literal)]
            if not _binds([*seeds, *body], shared):
                return self._refute(shared, body)
            body = [*seeds, *body]
        auxiliary = Atom(self._fresh("not"), shared)
        self._rules.append(self._flat((auxiliary,), body, bag=False))
        return auxiliary

    def _can_seed(self, literal: Literal) -> bool:
        if isinstance(literal, Atom):
            return not any(unify(literal, head) for head in self._waits_for_itself)
        return isinstance(literal, Bind | Aggregate)

    def _refute(self, outer: tuple[Variable, ...], body: Sequence[Literal]) -> Refuted:
        seed = Atom(self._fresh("seed"), outer)
        before, self._waits_for_itself = self._waits_for_itself, (*self._waits_for_itself, seed)
        hit = Atom(self._fresh("hit"), outer)
        # It begins with the seed, whose facts are there for the moment only.
        refuted = Refuted(outer, self._flat((hit,), [seed, *body], bag=False, keys=False))
        self._waits_for_itself = before
        return refuted

    def _aggregate(self, aggregate: Aggregate) -> Atom:
        columns: list[Variable] = list(aggregate.group)
        attempts: list[Attempt] = []
        functions: list[GroupFunction] = []
        known: dict[Expression, int] = {}
        for binding in aggregate.bindings:
            column = None
            if not _counts_rows(binding):
                assert binding.argument is not None
                column = known.get(binding.argument)
                if column is None:
                    column = known[binding.argument] = len(columns)
                    argument = binding.argument
                    if not isinstance(argument, Variable):
                        argument = Variable(f"{AUXILIARY}{column}")
                        attempts.append(Attempt(binding.argument, argument))
                    columns.append(argument)
            functions.append(GroupFunction(binding.function, column, binding.distinct))
        rows = Atom(self._fresh("rows"), tuple(columns))
        self._rules.append(self._flat((rows,), aggregate.body, bag=True, attempts=attempts))
        results = tuple(binding.variable for binding in aggregate.bindings)
        head = Atom(self._fresh("group"), (*aggregate.group, *results))
        self._rules.append(GroupRule(self._name, head, rows, len(aggregate.group), tuple(functions)))
        return head


def _counts_rows(binding: AggregateBinding) -> bool:
    """COUNT(*), or COUNT of a variable, which always has a value: the bag need not keep the argument."""
    if binding.argument is None:
        return True
    return binding.function == "COUNT" and not binding.distinct and isinstance(binding.argument, Variable)


def _shown(literal: Literal) -> Iterator[Variable]:
    """Variables that a literal shares with its rule. Another NOT shows its variables too only if they stand elsewhere;
    two NOTs with a local `?y` each are separate, so a NOT shows nothing here."""
    if not isinstance(literal, Negation):
        yield from literal_variables(literal)


def _binds(body: Iterable[Literal], wanted: Iterable[Variable]) -> bool:
    """Can a body by itself bind these variables, and all that its own BINDs need?"""
    bound: set[str] = set()
    binds: list[Bind] = []
    for literal in body:
        match literal:
            case Atom():
                bound.update(variable.name for variable in literal.variables())
            case Bind():
                binds.append(literal)
            case Aggregate():
                bound.update(variable.name for variable in literal_variables(literal))
    waiting = binds
    while ready := [bind for bind in waiting if {v.name for v in expression_variables(bind.expression)} <= bound]:
        bound.update(bind.variable.name for bind in ready)
        waiting = [bind for bind in waiting if bind not in ready]
    return not waiting and all(variable.name in bound for variable in wanted)
