"""When does `=` compare, and when does it say what a variable is?

An `=` that stands by itself in a body, not inside FILTER, between a variable and something else:

    ?m = ?n - 1     always an equation: ?m is the term that the expression gives, as if by BIND. Where something else
                    binds ?m as well, the two must be the same term, so that the value can be looked up.
    ?m = ?n, ?m = 3 an equation where nothing else binds ?m (or ?n), from the other side; else it compares values.

It does not matter on which side the variable stands. `FILTER(?m = …)` always compares values, as SPARQL does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from everlog.rules.syntax import (
    Aggregate,
    Atom,
    Bind,
    Call,
    Expression,
    Filter,
    Literal,
    Negation,
    Variable,
    expression_variables,
    literal_variables,
)


@dataclass(frozen=True)
class Equation(Filter):
    """An `=` by itself, until the whole body is known; only the parser makes these, and leaves none in a rule."""

    def readings(self) -> Iterator[Bind]:
        """The ways to read it as giving a variable its value."""
        assert isinstance(self.expression, Call)
        left, right = self.expression.args
        for variable, other in ((left, right), (right, left)):
            if isinstance(variable, Variable) and variable.name not in _names(other):
                yield Bind(other, variable, span=self.span)


def bare_condition(call: Call) -> Filter:
    """A comparison that stands by itself in a body."""
    return Equation(call, span=call.span) if call.function == "=" else Filter(call, span=call.span)


def resolve_equations(body: Sequence[Literal], outer: Iterable[str] = ()) -> tuple[Literal, ...]:
    """The body with each equation read as a BIND or as a comparison; `outer` has what is bound around it."""
    found = [_computed(literal) if isinstance(literal, Equation) else literal for literal in body]
    bound = {*outer, *(name for literal in found for name in _bound_by(literal))}
    progress = True
    while progress:
        progress = False
        for position, literal in enumerate(found):
            if not isinstance(literal, Equation):
                continue
            for bind in literal.readings():
                if bind.variable.name not in bound and _names(bind.expression) <= bound:
                    found[position], progress = bind, True
                    bound.add(bind.variable.name)
                    break
    return tuple(_settled(literal, bound) for literal in found)


def _computed(equation: Equation) -> Literal:
    """A BIND if the equation is with an expression that has to be computed."""
    return next((bind for bind in equation.readings() if isinstance(bind.expression, Call)), equation)


def _settled(literal: Literal, bound: set[str]) -> Literal:
    match literal:
        case Equation():
            return Filter(literal.expression, span=literal.span)
        case Negation():
            own = {variable.name for variable in literal.exists}
            return replace(literal, body=resolve_equations(literal.body, bound - own))
        case Aggregate():
            return replace(literal, body=resolve_equations(literal.body))
        case _:
            return literal


def _bound_by(literal: Literal) -> Iterator[str]:
    if isinstance(literal, Atom | Aggregate):
        yield from (variable.name for variable in literal_variables(literal))
    elif isinstance(literal, Bind):
        yield literal.variable.name


def _names(expression: Expression) -> set[str]:
    return {variable.name for variable in expression_variables(expression)}
