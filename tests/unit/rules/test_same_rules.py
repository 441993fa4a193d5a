"""A rule that is there in the same words is the same rule."""

from __future__ import annotations

import pytest

from everlog.rules.parser import parse_program
from everlog.rules.same_rules import new_rules, rule_difference

THERE = parse_program("r1: p(X) :- q(X).  r2: p(X) :- q(X), X > 3.  rare: s(X) :- q(X), NOT p(X).").rules


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("p(?x) :- q(?x).", 0),
        ("p(?x)   :-q(?x) .  p(Y) :- q(Y).", 0),
        ("r1: p(?x) :- q(?x).", 0),
        ("other: p(?x) :- q(?x).", 1),
        ("r1: p(?x) :- q(?x), ?x > 4.", 1),
        ("p(?x) :- q(?x), ?x > 4.  p(Z) :- q(Z), Z > 4.", 1),
        ("s(?x) :- q(?x), NOT p(?x).", 0),
    ],
)
def test_new_rules(text: str, new: int) -> None:
    assert len(new_rules(parse_program(text).rules, THERE)) == new


def test_the_difference_keeps_what_is_the_same() -> None:
    wanted = parse_program("s(A) :- q(A), NOT p(A).  r2: p(X) :- q(X), X > 4.  t(X) :- p(X).  t(Y) :- p(Y).").rules
    difference = rule_difference(wanted, THERE)
    assert [rule.name for rule in difference.added] == ["r2", None]
    assert difference.removed == ("r1", "r2")


def test_of_two_in_the_same_words_one_stays() -> None:
    twice = parse_program("a: p(X) :- q(X).  b: p(X) :- q(X).").rules
    assert rule_difference(parse_program("p(X) :- q(X).").rules, twice).removed == ("b",)
