"""Are conditions taken apart where that lets the kernel do more, and only there?"""

from __future__ import annotations

import pytest

import everlog
from everlog.engines.columnar.smaller_steps import smaller_steps
from everlog.plans.operators import Compute, Select
from everlog.rules.syntax import Call, Constant, Variable

X, Y, ONE = Variable("x"), Variable("y"), Constant(1)
STR_X, STR_Y = Call("str", (X,)), Call("str", (Y,))


def test_a_conjunction_is_one_condition_after_another() -> None:
    a, b, c = Call("<", (X, ONE)), Call("=", (X, Y)), Call("isiri", (X,))
    assert smaller_steps([Select(Call("&&", (Call("&&", (a, b)), c)))]) == [Select(a), Select(b), Select(c)]


def test_sides_with_a_variable_each_are_computed_apart() -> None:
    left, right = Variable("~side0"), Variable("~side1")
    both = [Select(Call("=", (STR_X, STR_Y))), Select(Call("<", (STR_X, Y)))]
    assert smaller_steps(both) == [
        Compute(STR_X, "~side0", attempt=True),
        Compute(STR_Y, "~side1", attempt=True),
        Select(Call("=", (left, right))),
        Compute(STR_X, "~side2", attempt=True),
        Select(Call("<", (Variable("~side2"), Y))),
    ]


@pytest.mark.parametrize(
    "condition",
    [Call("<", (STR_X, ONE)), Call("=", (STR_X, X)), Call("||", (Call("=", (STR_X, STR_Y)), ONE)), Call("<", (X, Y))],
)
def test_the_rest_stays(condition: Call) -> None:
    assert smaller_steps([Select(condition)]) == [Select(condition)]


QUERY = "SELECT ?x ?y {{ VALUES ?x {{ 1 2 'a' <urn:b> }} VALUES ?y {{ 1 3 'a' }} FILTER({}) }}"


@pytest.mark.parametrize(
    "condition",
    ["?x * 2 != ?y + 1", "?x + 1 < ?y && ?y < 9", "(STR(?x) = STR(?y) && BOUND(?x)) && !(?x = 2)", "?x + 1 >= ABS(?y)"],
)
def test_answers_are_the_same(condition: str) -> None:
    found = [
        everlog.open(engine=engine).query(QUERY.format(condition)).sorted() for engine in ("columnar", "reference")
    ]
    assert found[0] == found[1]
