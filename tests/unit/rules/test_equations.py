"""Expressions as arguments, and `=` that binds or compares."""

from __future__ import annotations

import pytest

from everlog.rules.parser import parse_body, parse_program
from everlog.rules.printer import print_rule
from everlog.rules.syntax import Bind, Filter, Rule


def rule(text: str) -> Rule:
    (only,) = parse_program(text).rules
    return only


@pytest.mark.parametrize(
    ("text", "long"),
    [
        ("p(X) :- q(X), r(X + 1).", "p(X) :- q(X), BIND(X + 1 AS ?_v1), r(?_v1)."),
        ("p(X * 2, X) :- q(X).", "p(?_v1, X) :- q(X), BIND(X * 2 AS ?_v1)."),
        ("p(X) :- q(X), NOT r(X - 1, Y).", "p(X) :- q(X), NOT (BIND(X - 1 AS ?_v1), r(?_v1, Y))."),
        ("[X, :p, ucase(Y)] :- [X, :q, Y].", "[X, :p, ?_v1] :- [X, :q, Y], BIND(ucase(Y) AS ?_v1)."),
        ("p(X) :- q(X), Y = X + 1.", "p(X) :- q(X), BIND(X + 1 AS Y)."),
        ("p(X) :- q(X), X + 1 = Y.", "p(X) :- q(X), BIND(X + 1 AS Y)."),
        ("p(X) :- q(X), (Y == X + 1), r(Y).", "p(X) :- q(X), BIND(X + 1 AS Y), r(Y)."),
        ("p(X, Y) :- q(X), X = Y.", "p(X, Y) :- q(X), BIND(X AS Y)."),
        ("p(X, Y) :- q(Z), X = Y, Y = 3.", "p(X, Y) :- q(Z), BIND(Y AS X), BIND(3 AS Y)."),
        ("p(X) :- q(X, Y), X = Y.", "p(X) :- q(X, Y), FILTER(X = Y)."),
        ("p(X) :- q(X), X = 3.", "p(X) :- q(X), FILTER(X = 3)."),
        ("p(X) :- q(X), X = X + 1.", "p(X) :- q(X), FILTER(X = X + 1)."),
        ("p(X) :- q(X), NOT (r(Y), Y = X).", "p(X) :- q(X), NOT (r(Y), FILTER(Y = X))."),
        ("p(X) :- q(X), NOT (r(Y, Z), Z = X + 1).", "p(X) :- q(X), NOT (r(Y, Z), BIND(X + 1 AS Z))."),
        ("p(X) :- q(X), NOT (Z = X, r(Y, Z)).", "p(X) :- q(X), NOT (FILTER(Z = X), r(Y, Z))."),
    ],
)
def test_means_the_same(text: str, long: str) -> None:
    prefix = "PREFIX : <http://ex.org/> "
    assert rule(prefix + text) == rule(prefix + long)


def test_filter_always_compares() -> None:
    assert isinstance(rule("p(X) :- q(X), FILTER(X = X + 1).").body[1], Filter)
    assert isinstance(parse_body("q(?x, ?y), FILTER(?y = ?x + 1)")[1], Filter)
    assert isinstance(parse_body("q(?x, ?y), ?y = ?x + 1")[1], Bind)


@pytest.mark.parametrize(
    "text",
    [
        "fib(?n, ?x + ?y) :- number(?n), fib(?n - 1, ?x), fib(?n - 2, ?y).",
        "p(?x) :- q(?x), NOT r(?x + 1), NOT (r(?x - 1), s(?x)).",
        "p(?n) :- AGGREGATE(q(?x), r(?x + 1, ?y) BIND SUM(?y) AS ?n).",
        "p(?x) :- q(?x, ?y), FILTER(?x = ?y), FILTER(?y = ?x + 1), BIND(?x * 2 AS ?z), r(?z).",
        "p(?_v1) :- q(?x), BIND(?x + 1 AS ?_v1), r(?_v1).",
    ],
)
def test_rules_are_printed_as_they_are_written(text: str) -> None:
    assert print_rule(rule(text)) == text


def test_names_that_are_used_are_not_made_up() -> None:
    (made,) = [literal for literal in rule("p(?_v1) :- q(?_v1), r(?_v1 + 1).").body if isinstance(literal, Bind)]
    assert made.variable.name == "_v2"
