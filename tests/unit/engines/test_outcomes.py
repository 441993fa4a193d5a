"""Is what is known of an expression known to all steps that have it, and no longer than there is room?"""

from __future__ import annotations

import pytest

from everlog.engines.columnar import outcomes
from everlog.engines.columnar.outcomes import KnownOutcomes
from everlog.rules.syntax import Call, Constant, Expression, Variable


def plus(name: str, number: int = 1) -> Expression:
    return Call("+", (Variable(name), Constant(number)))


def test_expressions_of_one_form_share_their_outcomes() -> None:
    known = KnownOutcomes()
    known.of(plus("x"), ["x"], condition=False)[1,] = 2
    assert known.of(plus("y"), ["y"], condition=False) == {(1,): 2}
    assert known.of(plus("y"), ["y"], condition=True) == {}
    assert known.of(plus("y", 2), ["y"], condition=False) == {}
    assert known.of(Call("-", (Variable("a"), Variable("b"))), ["b", "a"], condition=False) == {}


def test_what_differs_each_time_is_not_kept() -> None:
    known = KnownOutcomes()
    known.of(Call("rand", (Variable("x"),)), ["x"], condition=False)[1,] = 2
    assert known.of(Call("rand", (Variable("x"),)), ["x"], condition=False) == {}


def test_the_oldest_go_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcomes, "_MOST_OUTCOMES", 3)
    known = KnownOutcomes()
    for number in range(3):
        known.of(plus("x", number), ["x"], condition=False).update({(1,): 1, (2,): 2})
    assert [len(known.of(plus("x", number), ["x"], condition=False)) for number in (2, 1, 0)] == [2, 0, 0]
