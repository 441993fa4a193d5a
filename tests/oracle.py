"""What does a program mean? Naive evaluation straight from rule syntax, for tests to compare with.

Nothing here is shared with plans, deltas, dependencies or engines: rules are walked as the tree the parser built, and
a stratum is evaluated again and again, whole, until nothing new comes. Only the functions on values (of
`everlog.expressions`, which has its own tests) are the product's. Slow, and meant to be read beside docs/language.md:

- A fact is a tuple of term keys (`key_of`), so that 1, 1.0 and true stay three terms. Joins compare keys.
- Rule B depends on rule A when a head of A unifies with an atom in B's body; through NOT and AGGREGATE strictly.
- An expression error fails the binding, in BIND and in FILTER.
- BIND is an equation of terms: where something else binds its variable, both must be the same.
- NOT fails a binding when its body has a solution; a variable that nothing outside binds means "no such".
- AGGREGATE takes each distinct binding of all its body's variables once. With ON there is a group for each group
  binding that has rows; without ON there is exactly one group, also over nothing. An aggregate that fails, fails its
  group: COUNT never, SUM and SAMPLE as below, the others over nothing and over a row whose expression fails.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from everlog.expressions.functions import FUNCTIONS
from everlog.expressions.ordering import order_key
from everlog.expressions.values import ExpressionError, effective_boolean
from everlog.facts.terms import Term, key_of, term_of
from everlog.rules.syntax import (
    Aggregate,
    AggregateBinding,
    Atom,
    Bind,
    Call,
    Constant,
    Expression,
    Filter,
    Literal,
    Negation,
    Program,
    Rule,
    Variable,
    expression_variables,
)

Fact = tuple[str, ...]
State = dict[str, set[Fact]]
Binding = dict[str, str]
MADE_UP = re.compile(r"_\d+")  # what the parser makes of `_`


class NotStratified(Exception):
    """A cycle of rules goes through NOT or AGGREGATE."""


class Failed(Exception):
    """An expression or an aggregate has no value."""


def materialise(program: Program, facts: Mapping[str, Iterable[Sequence[Term]]]) -> State:
    """Every fact, explicit and derived, by relation; relations without facts are left out."""
    state: State = {}
    for relation, rows in facts.items():
        state.setdefault(relation, set()).update(tuple(key_of(term) for term in row) for row in rows)
    for atom in program.facts:
        state.setdefault(atom.relation, set()).add(instance(atom, {}))
    for stratum in strata(program.rules):
        while any([_apply(rule, state) for rule in stratum]):
            pass
    return {relation: rows for relation, rows in state.items() if rows}


def difference(before: State, after: State) -> tuple[State, State]:
    """The facts gained and the facts lost between two states, by relation, without empty relations."""
    gained = {relation: rows - before.get(relation, set()) for relation, rows in after.items()}
    lost = {relation: rows - after.get(relation, set()) for relation, rows in before.items()}
    return {r: rows for r, rows in gained.items() if rows}, {r: rows for r, rows in lost.items() if rows}


# Rules and strata


def strata(rules: Sequence[Rule]) -> list[list[Rule]]:
    """The rules in layers: each reads its own layer and those before, under NOT and AGGREGATE only those before."""
    level = [0] * len(rules)
    edges = [
        (above, below, strict)
        for above, rule in enumerate(rules)
        for atom, strict in _body_atoms(rule.body, False)
        for below, other in enumerate(rules)
        if any(unify(head, atom) for head in other.heads)
    ]
    for _ in range(len(rules) + 1):
        changed = False
        for above, below, strict in edges:
            if level[above] < level[below] + strict:
                level[above], changed = level[below] + strict, True
        if not changed:
            break
    else:
        raise NotStratified
    return [[rule for rule, at in zip(rules, level, strict=True) if at == n] for n in range(max(level, default=-1) + 1)]


def _body_atoms(body: Iterable[Literal], strict: bool) -> Iterator[tuple[Atom, bool]]:
    for literal in body:
        if isinstance(literal, Atom):
            yield literal, strict
        elif isinstance(literal, Negation | Aggregate):
            yield from _body_atoms(literal.body, True)


def unify(left: Atom, right: Atom) -> bool:
    """Whether two atoms of two rules (so that equal names are different variables) have a fact in common."""
    if left.relation != right.relation or len(left.args) != len(right.args):
        return False
    leader: dict[object, object] = {}

    def find(node: object) -> object:
        while node in leader:
            node = leader[node]
        return node

    for a, b in zip(left.args, right.args, strict=True):
        one = find(("left", a.name) if isinstance(a, Variable) else key_of(a.term))
        two = find(("right", b.name) if isinstance(b, Variable) else key_of(b.term))
        if one == two:
            continue
        if isinstance(one, str) and isinstance(two, str):
            return False
        if isinstance(one, str):
            one, two = two, one
        leader[one] = two
    return True


def _apply(rule: Rule, state: State) -> bool:
    """Add what the rule derives; whether that was anything new."""
    new = [(head.relation, instance(head, binding)) for binding in solve(rule.body, {}, state) for head in rule.heads]
    fresh = [(relation, fact) for relation, fact in new if fact not in state.get(relation, ())]
    for relation, fact in fresh:
        state.setdefault(relation, set()).add(fact)
    return bool(fresh)


def instance(atom: Atom, binding: Binding) -> Fact:
    return tuple(binding[arg.name] if isinstance(arg, Variable) else key_of(arg.term) for arg in atom.args)


# Bodies


def solve(body: Iterable[Literal], start: Binding, state: State, *, keep_all: bool = False) -> list[Binding]:
    """Every binding of the body's variables that extends `start`: atoms and aggregates, then BIND, then FILTER and NOT.

    Variables made from `_` are left out unless asked for: only aggregates, which count bindings, can tell.
    """
    literals = list(body)
    bindings = [start]
    for literal in literals:
        if isinstance(literal, Atom):
            bindings = _distinct(new for old in bindings for new in _matches(literal, old, state, keep_all))
        elif isinstance(literal, Aggregate):
            rows = list(_groups(literal, state))
            bindings = [{**old, **row} for old in bindings for row in rows if _agree(old, row)]
    given = {*start, *(name for literal in literals for name in _given(literal))}
    for bind in _in_order([literal for literal in literals if isinstance(literal, Bind)], given):
        bindings = [new for old in bindings for new in _extended(bind, old)]
    for literal in literals:
        if isinstance(literal, Filter):
            bindings = [binding for binding in bindings if _holds(literal.expression, binding)]
        elif isinstance(literal, Negation):
            local = {variable.name for variable in literal.exists}
            bindings = [
                binding
                for binding in bindings
                if not solve(literal.body, {name: key for name, key in binding.items() if name not in local}, state)
            ]
    return bindings


def _matches(atom: Atom, binding: Binding, state: State, keep_all: bool) -> Iterator[Binding]:
    wild = [not keep_all and isinstance(arg, Variable) and MADE_UP.fullmatch(arg.name) for arg in atom.args]
    for fact in state.get(atom.relation, ()):
        new = dict(binding)
        for arg, key, skip in zip(atom.args, fact, wild, strict=True):
            if skip:
                continue
            if (new.setdefault(arg.name, key) if isinstance(arg, Variable) else key_of(arg.term)) != key:
                break
        else:
            yield new


def _distinct(bindings: Iterable[Binding]) -> list[Binding]:
    return list({tuple(sorted(binding.items())): binding for binding in bindings}.values())


def _agree(one: Binding, two: Binding) -> bool:
    return all(one.get(name, key) == key for name, key in two.items())


def _given(literal: Literal) -> Iterator[str]:
    """The variables that an atom or an aggregate binds."""
    if isinstance(literal, Atom):
        yield from (variable.name for variable in literal.variables())
    elif isinstance(literal, Aggregate):
        yield from (variable.name for variable in (*literal.group, *(b.variable for b in literal.bindings)))


def _in_order(binds: list[Bind], given: set[str]) -> Iterator[Bind]:
    """BINDs with those that bind a variable before those that use it."""
    waiting, known = list(binds), set(given)
    while waiting:
        ready = [bind for bind in waiting if {v.name for v in expression_variables(bind.expression)} <= known]
        if not ready:
            raise ValueError("BINDs wait for one another")
        yield from ready
        known.update(bind.variable.name for bind in ready)
        waiting = [bind for bind in waiting if bind not in ready]


def _extended(bind: Bind, binding: Binding) -> Iterator[Binding]:
    try:
        row = {bind.variable.name: key_of(evaluate(bind.expression, binding))}
    except Failed:
        return
    if _agree(binding, row):
        yield {**binding, **row}


def _holds(expression: Expression, binding: Binding) -> bool:
    try:
        return truth(evaluate(expression, binding))
    except Failed:
        return False


# Expressions


def evaluate(expression: Expression, binding: Binding) -> Term:
    """The value of an expression; raises Failed where SPARQL has an error."""
    match expression:
        case Constant():
            return expression.term
        case Variable():
            if expression.name not in binding:
                raise Failed(f"?{expression.name} is unbound")
            return term_of(binding[expression.name])
    special = SPECIAL.get(expression.function.lower())
    if special is not None:
        return special(expression.args, binding)
    return call(expression.function, *(evaluate(arg, binding) for arg in expression.args))


def call(function: str, *args: Term) -> Term:
    """A function on values, by the name rules use."""
    try:
        return FUNCTIONS[function].implementation(*args)
    except ExpressionError as error:
        raise Failed(str(error)) from error


def truth(term: Term) -> bool:
    """The effective boolean value."""
    try:
        return effective_boolean(term)
    except ExpressionError as error:
        raise Failed(str(error)) from error


def _outcome(expression: Expression, binding: Binding) -> bool | None:
    """The effective boolean value of an expression, None for an error."""
    try:
        return truth(evaluate(expression, binding))
    except Failed:
        return None


def _three_valued(decisive: bool) -> Callable[[Sequence[Expression], Binding], Term]:
    """AND (false decides) and OR (true decides): an error matters only when nothing decides."""

    def combine(args: Sequence[Expression], binding: Binding) -> Term:
        outcomes = [_outcome(arg, binding) for arg in args]
        if decisive in outcomes:
            return decisive
        if None in outcomes:
            raise Failed("an operand has no truth value")
        return not decisive

    return combine


def _in(args: Sequence[Expression], binding: Binding) -> Term:
    first, *rest = args
    return _three_valued(True)([Call("=", (first, other)) for other in rest], binding)


def _if(args: Sequence[Expression], binding: Binding) -> Term:
    condition, then, otherwise = args
    return evaluate(then if truth(evaluate(condition, binding)) else otherwise, binding)


def _coalesce(args: Sequence[Expression], binding: Binding) -> Term:
    for arg in args:
        try:
            return evaluate(arg, binding)
        except Failed:
            continue
    raise Failed("nothing has a value")


SPECIAL: dict[str, Callable[[Sequence[Expression], Binding], Term]] = {
    "&&": _three_valued(False),
    "||": _three_valued(True),
    "!": lambda args, binding: not truth(evaluate(args[0], binding)),
    "in": _in,
    "not in": lambda args, binding: not _in(args, binding),
    "if": _if,
    "coalesce": _coalesce,
    "bound": lambda args, binding: isinstance(args[0], Variable) and args[0].name in binding,
}


# Aggregates


def _groups(atom: Aggregate, state: State) -> Iterator[Binding]:
    names = [variable.name for variable in atom.group]
    groups: dict[Fact, list[Binding]] = {} if names else {(): []}
    distinct = {tuple(sorted(binding.items())) for binding in solve(atom.body, {}, state, keep_all=True)}
    for items in sorted(distinct):
        binding = dict(items)
        groups.setdefault(tuple(binding[name] for name in names), []).append(binding)
    for group, rows in groups.items():
        row = dict(zip(names, group, strict=True))
        try:
            results = [(binding.variable.name, key_of(_aggregate(binding, rows))) for binding in atom.bindings]
        except Failed:
            continue
        if all(row.setdefault(name, key) == key for name, key in results):
            yield row


def _aggregate(binding: AggregateBinding, rows: list[Binding]) -> Term:
    if binding.argument is None:
        return len(rows)
    terms = []
    for row in rows:
        try:
            terms.append(evaluate(binding.argument, row))
        except Failed:
            if binding.function not in ("COUNT", "SAMPLE"):
                raise
    if binding.distinct:
        terms = list({key_of(term): term for term in terms}.values())
    return AGGREGATORS[binding.function](terms)


def _sum(terms: list[Term]) -> Term:
    """The exact sum, rounded once, in the widest numeric type among the terms."""
    plain = [call("+", term, 0) for term in terms]  # fails what is no number; 042 becomes 42
    if not any(isinstance(term, float) for term in plain):
        total: Term = 0
        for term in plain:
            total = call("+", total, term)
        return total
    odd = [term for term in plain if isinstance(term, float) and not math.isfinite(term)]
    if odd:
        return float(sum(odd))
    exact = sum((Fraction(term) for term in plain if isinstance(term, int | float | Decimal)), Fraction(0))
    return float(exact)


def _ordered(terms: list[Term]) -> list[Term]:
    if not terms:
        raise Failed("nothing to choose from")
    return sorted(terms, key=order_key)


def _median(terms: list[Term]) -> Term:
    """The middle value; of two, their mean. Of terms with one value (1 and 1.0) the first stands for all."""
    for term in terms:
        call("+", term, 0)  # fails what is no number
    ordered = _ordered(terms)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    if len(ordered) % 2 == 0:
        return call("/", call("+", low, high), 2)
    return next(term for term in ordered if order_key(term)[:2] == order_key(low)[:2])


AGGREGATORS: dict[str, Callable[[list[Term]], Term]] = {
    "COUNT": len,
    "SUM": _sum,
    "AVG": lambda terms: call("/", _sum(_ordered(terms)), len(terms)),
    "MIN": lambda terms: _ordered(terms)[0],
    "MAX": lambda terms: _ordered(terms)[-1],
    "MEDIAN": _median,
    "SAMPLE": lambda terms: _ordered(terms)[0],
}
