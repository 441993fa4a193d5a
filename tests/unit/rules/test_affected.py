"""Are the components that reports name those of the rules as written?"""

from __future__ import annotations

import pytest
from tests.cli.test_plan import RS2

import everlog
from everlog.rules.affected import affected_names
from everlog.rules.parser import parse_program

RULES = parse_program(RS2).rules


@pytest.mark.parametrize(
    ("names", "direct", "indirect"),
    [
        ("r15", [], ["r18"]),
        ("r18", [], []),
        ("r3", ["r2"], ["r9", "r15", "r12, r13, r14", "r17", "r18"]),
        ("r14", ["r12", "r13"], ["r17"]),
        ("r16 r10", [], ["r12, r13, r14", "r17", "r18"]),
    ],
)
def test_rules_that_go(names: str, direct: list[str], indirect: list[str]) -> None:
    after = [rule for rule in RULES if rule.name not in names.split()]
    found = affected_names(RULES, after)
    assert (found[0], sorted(found[1])) == (direct, sorted(indirect))


def test_reports_speak_of_rules_as_written() -> None:
    kb = everlog.open(engine="reference")  # which evaluates r3 in two components of its own making
    kb.add_rules(RS2)
    kb.insert("p1", [("a", "b"), ("b", "c")])
    report = kb.remove_rules("r1").report
    assert report.directly_affected == []
    assert report.indirectly_affected[0] == "r2, r3" and "r12, r13, r14" in report.indirectly_affected
    assert report.as_data()["indirectly_affected"] == report.indirectly_affected
    assert kb.insert("p1", [("c", "d")]).report.directly_affected == []
