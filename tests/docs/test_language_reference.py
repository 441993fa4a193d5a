"""Does every example of docs/language.md derive what the page says?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import everlog
from everlog.facts.terms import key_of
from everlog.rules.constraints import is_constraint
from everlog.rules.parser import parse_program
from everlog.rules.syntax import Atom, Constant

PAGE = Path(__file__).parents[2] / "docs" / "language.md"
EXAMPLE = re.compile(r"^```everlog\n(.*?)^```\n\s*^```facts\n(.*?)^```$", re.MULTILINE | re.DOTALL)

Fact = tuple[str, ...]  # the relation and the keys of its terms


def examples() -> list[tuple[str, str]]:
    return EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))


def keys(fact: Atom) -> Fact:
    return (fact.relation, *(key_of(arg.term) for arg in fact.args if isinstance(arg, Constant)))


def test_every_program_has_its_facts() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(examples()) == page.count("```everlog") == page.count("```facts") > 5


@pytest.mark.parametrize(("text", "expected"), examples(), ids=lambda text: text.split("(")[0].split()[-1][:20])
def test_example(text: str, expected: str) -> None:
    program = parse_program(text)
    kb = everlog.open()
    kb.add_rules(text)
    stated = {keys(fact) for fact in program.facts}
    derived = {
        (relation, *map(key_of, row))
        for relation in {head.relation for rule in program.rules if not is_constraint(rule) for head in rule.heads}
        for row in kb.facts(relation)
    }
    assert derived - stated == {keys(fact) for fact in parse_program(expected).facts}
