"""Are rules told apart by what they say, and not by the names of their variables?"""

from __future__ import annotations

import pytest

from everlog.errors import NotFoundError, ProgramError
from everlog.rules.finding import find_rules, without_rules
from everlog.rules.parser import parse_program
from everlog.rules.printer import print_rule
from everlog.rules.renaming import renamed
from everlog.rules.syntax import Rule


def rule(text: str) -> Rule:
    (read,) = parse_program(text).rules
    return read


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("p(?x, ?y) :- e(?x, ?y).", "named: p(A, B) :- e(A, B)."),
        ("p(?x) :- e(?x, _), e(_, ?x).", "p(?a) :- e(?a, ?b), e(?c, ?a)."),
        ("p(?y) :- NOT r(?y, ?z), q(?y, ?z).", "p(?a) :- NOT r(?a, ?b), q(?a, ?b)."),
        ("p(?x) :- q(?x), NOT r(?x, ?l), NOT s(?x, ?l).", "p(?x) :- q(?x), NOT r(?x, ?l), NOT s(?x, ?m)."),
        (
            "p(?x) :- q(?x), NOT EXISTS ?y IN (r(?x, ?y), s(?y)).",
            "p(?a) :- q(?a), NOT EXISTS ?b IN (r(?a, ?b), s(?b)).",
        ),
        (
            "p(?x, ?d) :- q(?x, ?n), BIND(abs(?n) + 1 AS ?d), ?d > 3.",
            "p(A, B) :- q(A, C), BIND(abs(C) + 1 AS B), B > 3.",
        ),
        (
            "p(?x, ?n) :- AGGREGATE(e(?x, ?y) ON ?x BIND COUNT(?y) AS ?n).",
            "p(?a, ?b) :- AGGREGATE(e(?a, ?c) ON ?a BIND COUNT(?c) AS ?b).",
        ),
        (
            "p(?n, ?m) :- AGGREGATE(e(?y) BIND COUNT(?y) AS ?n), AGGREGATE(f(?y) BIND MAX(?y) AS ?m).",
            "p(?n, ?m) :- AGGREGATE(e(?y) BIND COUNT(?y) AS ?n), AGGREGATE(f(?z) BIND MAX(?z) AS ?m).",
        ),
    ],
)
def test_the_same_under_other_names(one: str, other: str) -> None:
    assert renamed(rule(one)) == renamed(rule(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("p(?x, ?y) :- e(?x, ?y).", "p(?x, ?y) :- e(?y, ?x)."),
        ("p(?x) :- e(?x, ?x).", "p(?x) :- e(?x, ?y)."),
        ("p(?x) :- e(?x, 1).", "p(?x) :- e(?x, 1.0)."),
        ("p(?x) :- q(?x), NOT r(?x, ?y).", "p(?x) :- q(?x), NOT r(?y, ?x)."),
        ("p(?x) :- q(?x, ?y), NOT r(?x, ?y).", "p(?x) :- q(?x, ?y), NOT r(?x, ?z)."),
        ("p(?x) :- q(?x), NOT (r(?x, ?y), s(?y)).", "p(?x) :- q(?x), NOT (r(?x, ?y), s(?z))."),
        (
            "p(?x, ?n) :- AGGREGATE(e(?x, ?y) ON ?x BIND COUNT(?y) AS ?n).",
            "p(?x, ?n) :- AGGREGATE(e(?x, ?y) ON ?x BIND COUNT(DISTINCT ?y) AS ?n).",
        ),
        (
            "p(?x, ?n) :- AGGREGATE(e(?x, ?y) ON ?x BIND MAX(?y) AS ?n).",
            "p(?y, ?n) :- AGGREGATE(e(?x, ?y) ON ?y BIND MAX(?x) AS ?n).",
        ),
    ],
)
def test_not_the_same(one: str, other: str) -> None:
    assert renamed(rule(one)) != renamed(rule(other))


def test_numbers_follow_first_mention() -> None:
    assert (
        print_rule(renamed(rule("r: p(?z, ?x) :- q(?x, ?z), NOT r(?z, ?w).")))
        == "p(?1, ?2) :- q(?2, ?1), NOT r(?1, ?3)."
    )


RULES = parse_program(
    """
    one: path(?x, ?y) :- edge(?x, ?y).
    more: path(?x, ?z) :- edge(?x, ?y), path(?y, ?z).
    again: path(?x, ?y) :- edge(?x, ?y).
    """
).rules


def test_rules_are_found_by_name_and_by_text() -> None:
    assert find_rules(RULES, "more", {}) == [RULES[1]]
    assert find_rules(RULES, "path(A, C) :- edge(A, B), path(B, C).", {}) == [RULES[1]]
    both = "path(A, B) :- edge(A, B).  path(A, B) :- edge(A, B)."
    assert find_rules(RULES, both, {}) == [RULES[0], RULES[2]]
    assert find_rules(RULES, "again: path(A, B) :- edge(A, B).", {}) == [RULES[2]]
    assert without_rules(RULES, ["path(A, B) :- edge(A, B).", "more"], {}) == (RULES[2],)


@pytest.mark.parametrize(
    ("wanted", "says", "hint"),
    [
        ("mor", "there is no rule 'mor'", "did you mean more?"),
        ("x", "there is no rule 'x'", "known: one, more, again"),
        (
            "path(?x, ?y) :- edge(?y, ?x).",
            "that says path(?x, ?y) :- edge(?y, ?x).",
            "did you mean again: path(?x, ?y)",
        ),
    ],
)
def test_the_nearest_rule_is_named(wanted: str, says: str, hint: str) -> None:
    with pytest.raises(NotFoundError) as raised:
        find_rules(RULES, wanted, {})
    assert says in raised.value.message and raised.value.hint and raised.value.hint.startswith(hint)


def test_a_text_that_is_no_rule() -> None:
    with pytest.raises(ProgramError):
        find_rules(RULES, "path(?x :- edge(?x)", {})
