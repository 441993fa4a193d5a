"""How is an expression evaluated for a row?

`compile_expression` turns the tree of an expression into a tree of closures once, so that a row costs no look-ups of
names. A closure takes the row's values, in the order of `variables`, and gives a term or raises `ExpressionError`.

Functions are strict: an error in an argument is an error. The special forms are not (SPARQL 1.1, 17.2 to 17.4.1):
`true || error` is true, `false && error` is false, COALESCE skips errors, IF evaluates one branch, `x IN (…)` is true
if any member is equal, whatever the others are, and BOUND accepts an unbound variable.

>>> from everlog.rules.syntax import Call, Constant, Variable
>>> double = compile_expression(Call("*", (Variable("x"), Constant(2))), ["x"])
>>> double([21])
42
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from everlog.expressions.functions import FUNCTIONS
from everlog.expressions.values import ExpressionError, effective_boolean, equal, shares_value
from everlog.facts.terms import Term
from everlog.rules.syntax import Call, Constant, Expression, Variable, called_functions

SHARES_VALUE = "~shares_value"  # a condition that rewrites put into rules; no user's function has such a name

Row: TypeAlias = Sequence[Term | None]
Compiled: TypeAlias = Callable[[Row], Term]


def compile_expression(expression: Expression, variables: Sequence[str]) -> Compiled:
    """A function from rows to the expression's value; variables that are not among `variables` are unbound."""
    if isinstance(expression, Constant):
        return _constant(expression.term)
    if isinstance(expression, Variable):
        return _variable(expression.name, variables)
    if expression.function == "bound":
        return _bound(expression, variables)
    args = [compile_expression(arg, variables) for arg in expression.args]
    form = _FORMS.get(expression.function)
    if form is not None:
        return form(args)
    assert expression.function in FUNCTIONS, f"checks let the unknown function {expression.function!r} pass"
    return _call(FUNCTIONS[expression.function].implementation, args)


def is_deterministic(expression: Expression) -> bool:
    """Does the expression always have the same value for the same row?"""
    return all(name not in FUNCTIONS or FUNCTIONS[name].deterministic for name in called_functions(expression))


def holds(compiled: Compiled, values: Row) -> bool:
    """Whether a filter lets a row pass; an error does not.

    >>> from everlog.rules.syntax import Call, Constant, Variable
    >>> positive = compile_expression(Call(">", (Variable("x"), Constant(0))), ["x"])
    >>> holds(positive, [1]), holds(positive, ["one"]), holds(positive, [None])
    (True, False, False)
    """
    try:
        return effective_boolean(compiled(values))
    except ExpressionError:
        return False


def _constant(term: Term) -> Compiled:
    return lambda values: term


def _variable(name: str, variables: Sequence[str]) -> Compiled:
    if name not in variables:

        def never(values: Row) -> Term:
            raise ExpressionError(f"?{name} is unbound")

        return never
    at = list(variables).index(name)

    def look_up(values: Row) -> Term:
        value = values[at]
        if value is None:
            raise ExpressionError(f"?{name} is unbound")
        return value

    return look_up


def _bound(call: Call, variables: Sequence[str]) -> Compiled:
    (argument,) = call.args
    assert isinstance(argument, Variable), "BOUND takes a variable"
    if argument.name not in variables:
        return _constant(False)
    at = list(variables).index(argument.name)
    return lambda values: values[at] is not None


def _call(function: Callable[..., Term], args: list[Compiled]) -> Compiled:
    """A strict function; one and two arguments are by far the most common."""
    if len(args) == 1:
        (only,) = args
        return lambda values: function(only(values))
    if len(args) == 2:
        left, right = args
        return lambda values: function(left(values), right(values))
    return lambda values: function(*[arg(values) for arg in args])


def _deciding(decides: bool) -> Callable[[list[Compiled]], Compiled]:
    """`||` for True, `&&` for False: an argument of that value decides, even beside errors."""

    def form(args: list[Compiled]) -> Compiled:
        def evaluate(values: Row) -> Term:
            failure: ExpressionError | None = None
            for arg in args:
                try:
                    if effective_boolean(arg(values)) is decides:
                        return decides
                except ExpressionError as error:
                    failure = error
            if failure is not None:
                raise failure
            return not decides

        return evaluate

    return form


def _not(args: list[Compiled]) -> Compiled:
    (only,) = args
    return lambda values: not effective_boolean(only(values))


def _membership(found: bool) -> Callable[[list[Compiled]], Compiled]:
    """`in` (True) or `not in` (False): `found` is the result when a member is equal."""

    def form(args: list[Compiled]) -> Compiled:
        needle, *members = args

        def evaluate(values: Row) -> Term:
            wanted = needle(values)
            failure: ExpressionError | None = None
            for member in members:
                try:
                    if equal(wanted, member(values)):
                        return found
                except ExpressionError as error:
                    failure = error
            if failure is not None:
                raise failure
            return not found

        return evaluate

    return form


def _if(args: list[Compiled]) -> Compiled:
    condition, then, otherwise = args
    return lambda values: then(values) if effective_boolean(condition(values)) else otherwise(values)


def _coalesce(args: list[Compiled]) -> Compiled:
    def evaluate(values: Row) -> Term:
        for arg in args:
            try:
                return arg(values)
            except ExpressionError:
                continue
        raise ExpressionError("no argument of COALESCE has a value")

    return evaluate


def _shares_value(args: list[Compiled]) -> Compiled:
    (only,) = args
    return lambda values: shares_value(only(values))


_FORMS: dict[str, Callable[[list[Compiled]], Compiled]] = {
    "||": _deciding(True),
    "&&": _deciding(False),
    "!": _not,
    "in": _membership(True),
    "not in": _membership(False),
    "if": _if,
    "coalesce": _coalesce,
    SHARES_VALUE: _shares_value,
}
