"""What does a compiled expression give, above all beside errors?"""

from __future__ import annotations

import pytest

from everlog.expressions.values import ExpressionError
from everlog.facts.terms import Term
from everlog.plans.expressions import compile_expression, holds
from everlog.rules.syntax import Call, Constant, Expression, Variable

X, Y, MISSING = Variable("x"), Variable("y"), Variable("missing")
TRUE, FALSE = Constant(True), Constant(False)
FAILS = Call("/", (Constant(1), Constant(0)))
ERROR = None


def call(function: str, *args: Expression | Term) -> Call:
    return Call(function, tuple(arg if isinstance(arg, (Variable, Constant, Call)) else Constant(arg) for arg in args))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (X, 7),
        (Y, ERROR),  # unbound in this row
        (MISSING, ERROR),
        (Constant("a"), "a"),
        (call("+", X, 1), 8),
        (call("abs", call("-", 1, X)), 6),
        (call("concat", "a", "b", "c"), "abc"),
        (call("||", TRUE, FAILS), True),
        (call("||", FAILS, TRUE), True),
        (call("||", FALSE, FAILS), ERROR),
        (call("||", FAILS, FALSE), ERROR),
        (call("||", FAILS, FAILS), ERROR),
        (call("||", FALSE, FALSE, TRUE), True),
        (call("&&", FALSE, FAILS), False),
        (call("&&", FAILS, FALSE), False),
        (call("&&", TRUE, FAILS), ERROR),
        (call("&&", FAILS, TRUE), ERROR),
        (call("&&", TRUE, "a", 1), True),
        (call("!", TRUE), False),
        (call("!", ""), True),
        (call("!", FAILS), ERROR),
        (call("in", 2, 1, 2, 3), True),
        (call("in", 2), False),
        (call("in", 2, 1, 3), False),
        (call("in", 2, FAILS, 2), True),
        (call("in", 2, 2.0, FAILS), True),
        (call("in", 2, 3, FAILS), ERROR),
        (call("in", FAILS, 1), ERROR),
        (call("not in", 2, 1, 3), True),
        (call("not in", 2), True),
        (call("not in", 2, FAILS, 2), False),
        (call("not in", 2, 3, FAILS), ERROR),
        (call("if", TRUE, 1, FAILS), 1),
        (call("if", FALSE, FAILS, 2), 2),
        (call("if", FAILS, 1, 2), ERROR),
        (call("coalesce", MISSING, FAILS, X), 7),
        (call("coalesce", FAILS), ERROR),
        (call("coalesce"), ERROR),
        (call("bound", X), True),
        (call("bound", Y), False),
        (call("bound", MISSING), False),
    ],
)
def test_compiled(expression: Expression, expected: Term | None) -> None:
    compiled = compile_expression(expression, ["x", "y"])
    if expected is ERROR:
        with pytest.raises(ExpressionError):
            compiled([7, None])
        assert not holds(compiled, [7, None])
    else:
        result = compiled([7, None])
        assert result == expected and type(result) is type(expected)


def test_the_branch_that_is_not_taken_is_not_evaluated() -> None:
    compiled = compile_expression(call("if", call("=", X, 0), 0, call("/", 1, X)), ["x"])
    assert compiled([0]) == 0


def test_holds_takes_the_effective_boolean_value() -> None:
    assert holds(compile_expression(X, ["x"]), ["text"])
    assert not holds(compile_expression(X, ["x"]), [""])


def test_as_deep_as_the_parser_allows() -> None:
    expression: Expression = X
    for _ in range(200):
        expression = call("+", expression, 1)
    assert compile_expression(expression, ["x"])([0]) == 200
