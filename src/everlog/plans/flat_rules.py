"""How does a rule look once everything nested in it is a relation of its own?

Engines evaluate *flat* rules: positive atoms, atoms that must be absent with every variable bound elsewhere, and
computations. What is nested becomes an auxiliary relation, named after its rule with a `~` that no user's name has:

    a :- b(X), NOT c(X, Y).                     r~not1(X) :- c(X, Y).         a :- b(X), absent r~not1(X).
    a :- AGGREGATE(b(X, Y) ON X BIND MAX(Y) AS M).
                                                r~rows1(X, Y) :- b(X, Y).     a bag: its weights count bindings
                                                r~group1(X, M) = groups of r~rows1
                                                a :- r~group1(X, M).

So negation is a look-up of one fact (its presence changes when the first derivation of an `~not` fact comes or the last
goes), and an aggregate is a function of a bag that keeps counts of what it needs, not the join below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

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
    """Is this a relation that only flattening knows of?"""
    return AUXILIARY in relation


@dataclass(frozen=True)
class Attempt:
    """Like BIND, but where the expression fails the variable is UNBOUND and the binding goes on: it counts as a row."""

    expression: Expression
    variable: Variable


Computation = Filter | Bind | Attempt


@dataclass(frozen=True)
class FlatRule:
    """A rule without nesting. `bag`: the head's weight counts the bindings of the body."""

    name: str
    heads: tuple[Atom, ...]
    atoms: tuple[Atom, ...]
    absent: tuple[Atom, ...] = ()
    computations: tuple[Computation, ...] = ()
    bag: bool = False


@dataclass(frozen=True)
class GroupFunction:
    """One aggregate of a group rule; `column` of the bag holds its argument, None for COUNT(*)."""

    function: str
    column: int | None
    distinct: bool


@dataclass(frozen=True)
class GroupRule:
    """`head(group…, results…)`: one fact per distinct first `group` columns of the bag `source`.

    With no group columns there is one group even when the bag is empty. A group whose functions do not all succeed
    gives no fact.
    """

    name: str
    head: Atom
    source: Atom
    group: int
    functions: tuple[GroupFunction, ...]

    @property
    def heads(self) -> tuple[Atom, ...]:
        return (self.head,)


EvaluatedRule = FlatRule | GroupRule


def rule_reads(rule: EvaluatedRule) -> Iterator[tuple[Atom, bool]]:
    """Every atom that a flat rule reads, and whether it must be complete before."""
    if isinstance(rule, GroupRule):
        yield rule.source, True
    else:
        yield from ((atom, False) for atom in rule.atoms)
        yield from ((atom, True) for atom in rule.absent)


def flatten_rules(rules: Iterable[Rule]) -> list[EvaluatedRule]:
    """Flat rules for named rules, each followed by the auxiliary ones it needs."""
    flat: list[EvaluatedRule] = []
    for rule in rules:
        assert rule.name is not None, "rules are named before they are flattened"
        flat.extend(_Flattening(rule.name).flatten(rule))
    return flat


class _Flattening:
    """The auxiliary relations of one rule, numbered as they come."""

    def __init__(self, name: str) -> None:
        self._name = name
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
    ) -> FlatRule:
        atoms: list[Atom] = []
        absent: list[Atom] = []
        computations: list[Computation] = []
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
                    absent.append(self._negation(literal, heads, others, attempts))
        return FlatRule(self._name, heads, tuple(atoms), tuple(absent), (*computations, *attempts), bag)

    def _negation(
        self, negation: Negation, heads: Sequence[Atom], others: Sequence[Literal], attempts: Sequence[Attempt]
    ) -> Atom:
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
        bound = _bindable(negation.body)
        body = list(negation.body)
        if any(variable.name not in bound for variable in shared):
            # A condition on an outer variable, such as FILTER(?y > ?outer): seed it with the outer bindings.
            body = [literal for literal in others if isinstance(literal, Atom | Bind | Aggregate)] + body
        auxiliary = Atom(self._fresh("not"), shared)
        self._rules.append(self._flat((auxiliary,), body, bag=False))
        return auxiliary

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


def _bindable(body: Iterable[Literal]) -> set[str]:
    """Names that a body can bind by itself."""
    bound: set[str] = set()
    for literal in body:
        match literal:
            case Atom():
                bound.update(variable.name for variable in literal.variables())
            case Bind():
                bound.add(literal.variable.name)
            case Aggregate():
                bound.update(variable.name for variable in literal_variables(literal))
    return bound
