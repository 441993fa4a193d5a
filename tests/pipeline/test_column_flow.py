"""Do types flow through rules as values do?"""

from __future__ import annotations

import pytest

from everlog.pipeline.column_flow import Types, flowing_types
from everlog.rules.parser import parse_program

GIVEN: dict[str, Types] = {
    "e": ("string", "string"),
    "n": ("string", "int"),
    "w": ("string", "bigint"),
    "d": ("string", "decimal(5,2)"),
    "x": ("string", "float"),
    "y": ("string", "double"),
}


@pytest.mark.parametrize(
    ("rules", "types"),
    [
        ("r(X, Y) :- e(X, Y).  r(X, Z) :- r(X, Y), e(Y, Z).", ("string", "string")),
        ("r(N) :- n(_, N).", ("int",)),
        ("r(N) :- n(_, N).  r(N) :- w(_, N).", ("bigint",)),
        ("r(N) :- n(_, N), w(_, N).", ("int",)),  # values of both are values of the first
        ("r(N) :- d(_, N).  r(N) :- n(_, N).", (None,)),
        ("r(N) :- d(_, N).  r(1.5).", (None,)),
        ("r(N) :- x(_, N).  r(N) :- y(_, N).", ("double",)),
        ("r(N) :- n(_, N).  r(7).", ("bigint",)),
        ("r(true).  r(false).", ("boolean",)),
        ("r(a).  r(<urn:b>).  r(X) :- e(X, _).", ("string",)),
        ("r(X, M) :- n(X, N), BIND(N + 1 AS M).", ("string", None)),
        ("r(M) :- n(_, N), BIND(N AS M).", ("int",)),
        ("r(X, C) :- AGGREGATE(e(X, Y) ON X BIND COUNT(Y) AS C).", ("string", "bigint")),
        ("r(X, M) :- AGGREGATE(n(X, N) ON X BIND MAX(N) AS M).", ("string", "int")),
        ("r(X, M) :- AGGREGATE(n(X, N) ON X BIND SUM(N) AS M).", ("string", None)),
        ("r(X) :- e(X, _), not n(X, 1).", ("string",)),
        ("r(X, Y) :- r(Y, X).", ("string", "string")),  # nothing is ever in it
        ("r(N) :- s(N).  s(N) :- n(_, N).  s(N) :- r(M), BIND(M * 2 AS N).", (None,)),
    ],
)
def test_flow(rules: str, types: Types) -> None:
    assert flowing_types(parse_program(rules), GIVEN)["r"] == types


def test_decimals_take_as_many_digits_as_both_need() -> None:
    given: dict[str, Types] = {"a": ("decimal(5,2)",), "b": ("decimal(10,8)",), "c": ("decimal(38,0)",)}
    found = flowing_types(parse_program("r(X) :- a(X).  r(X) :- b(X).  s(X) :- r(X).  s(X) :- c(X)."), given)
    assert found["r"] == ("decimal(11,8)",) and found["s"] == (None,)
