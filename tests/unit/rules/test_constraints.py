"""Is a constraint read as the rule it is, and printed, found and listed again?"""

from __future__ import annotations

import pytest

from everlog.plans.explain import explain_program
from everlog.plans.rewrites import rewrite_rules
from everlog.rules.constraints import constraint_name, constraint_relation, is_constraint
from everlog.rules.finding import without_rules
from everlog.rules.names import name_rules
from everlog.rules.parser import parse_program
from everlog.rules.picture.graph import rule_graph
from everlog.rules.picture.listing import to_text
from everlog.rules.planned import PlannedChange
from everlog.rules.printer import print_program, print_rule
from everlog.rules.standing import standing

BODIES = [
    ("p(?x, ?y), p(?x, ?z), ?y != ?z", "xyz"),
    ("p(?x, _), NOT q(?x, ?y)", "x"),
    ("NOT q(?y, ?x), p(?x, ?y), NOT r(?z)", "yx"),
    ("NOT EXISTS ?y IN (q(?x, ?y)), p(?x)", "x"),
    ("?x > 3, p(?x), BIND(?x + ?w AS ?z), q(?w)", "xwz"),
    ("AGGREGATE(p(?x, ?y) ON ?x BIND COUNT(?y) AS ?n), ?n > 2", "xn"),
    ("ready()", ""),
    ("[?x, <http://ex.org/p>, ?y], <http://ex.org/q>(?x)", "xy"),
]


@pytest.mark.parametrize(("body", "variables"), BODIES)
def test_the_head_has_what_the_body_binds(body: str, variables: str) -> None:
    (rule,) = parse_program(f"@constraint c : {body}.").rules
    assert rule.name == "c" and is_constraint(rule)
    assert "".join(variable.name for variable in rule.heads[0].variables()) == variables
    assert parse_program(print_rule(rule)).rules == (rule,)


@pytest.mark.parametrize("name", ["c", "no-two", "Capital", "r1", "constraint", "_x", "été", "not"])
@pytest.mark.parametrize("colon", [": ", " : ", "\n:\n"])
def test_names(name: str, colon: str) -> None:
    (rule,) = parse_program(f"@constraint {name}{colon}p(?x).").rules
    assert rule.name == name == constraint_name(constraint_relation(name))
    assert print_rule(rule) == f"@constraint {name} : p(?x)."
    assert parse_program(print_rule(rule)).rules == (rule,)


def test_a_program_with_constraints() -> None:
    program = parse_program("a: q(?x) :- p(?x).  @CONSTRAINT c: q(?x), ?x > 3.  p(1).")
    assert [is_constraint(rule) for rule in program.rules] == [False, True]
    assert parse_program(print_program(program)) == program


def test_they_are_found_by_name_and_by_text() -> None:
    rules = parse_program("a: q(?x) :- p(?x).  @constraint c : q(?x), ?x > 3.").rules
    assert without_rules(rules, ["c"], {}) == rules[:1]
    assert without_rules(rules, ["@constraint c : q(Y), Y > 3."], {}) == rules[:1]


def test_rewrites_leave_them_alone() -> None:
    text = "t: p(?x, ?z) :- p(?x, ?y), p(?y, ?z).  @constraint c : p(?x, ?y), p(?y, ?z)."
    rules = parse_program(text).rules
    assert rewrite_rules(rules).rules[-1] == rules[-1]


def test_plans_and_pictures_speak_of_constraints() -> None:
    program = parse_program("a: q(?x) :- p(?x).  @constraint c : q(?x), ?x > 3.")
    plan = explain_program(program)
    assert "component 2 (stratum 0): constraint c\n  @constraint c : q(?x), ?x > 3.\n" in plan
    assert "broken for (?x)" in plan and "~" not in plan
    text = to_text(rule_graph(PlannedChange(name_rules(program.rules)), {}))
    assert text.startswith("2 components, 1 rule, 1 constraint\n")
    assert "  @constraint c : q(?x), ?x > 3.\n" in text and "~" not in text
    assert standing(program.rules[1], program.rules).concludes == ()
