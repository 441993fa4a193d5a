"""Programs that are loaded again, and knowledge bases that follow a file of rules."""

from __future__ import annotations

import everlog
from everlog.rules.printer import print_rule

PROGRAM = "path(?x, ?y) :- edge(?x, ?y).  path(?x, ?z) :- edge(?x, ?y), path(?y, ?z).  edge(a, b).  edge(b, c)."


def texts(kb: everlog.KnowledgeBase) -> list[str]:
    return [print_rule(rule) for rule in kb.program.rules]


def test_a_program_loaded_twice_has_its_rules_once() -> None:
    kb = everlog.open()
    kb.add_rules(PROGRAM)
    once = texts(kb)
    change = kb.add_rules(PROGRAM.replace("?x", "?from"))
    assert texts(kb) == once and len(once) == 2
    assert not change.counts()


def test_named_rules_may_be_loaded_again() -> None:
    kb = everlog.open()
    for _ in range(2):
        kb.add_rules("r: p(X) :- q(X).  @constraint few : q(X), X > 9.")
    assert [rule.name for rule in kb.program.rules] == ["r", "few"]


def test_sync_makes_the_rules_those_of_a_text() -> None:
    kb = everlog.open()
    kb.add_rules(PROGRAM)
    kb.add_rules("odd: odd(X) :- edge(X, X).")
    wanted = "path(A, B) :- edge(A, B).   back(Y, X) :- path(X, Y).   edge(c, d)."
    planned = kb.sync_rules(wanted, dry_run=True)
    assert planned.lost("path") == [("a", "c")] and len(kb.program.rules) == 3
    before = kb.version
    change = kb.sync_rules(wanted)
    assert change.counts() == planned.counts()
    assert kb.version == before + 1
    assert texts(kb) == ["r1: path(?x, ?y) :- edge(?x, ?y).", "r2: back(?Y, ?X) :- path(?X, ?Y)."]
    assert sorted(kb.facts("back")) == [("b", "a"), ("c", "b"), ("d", "c")]
    assert not kb.sync_rules(wanted).counts()
    assert kb.verify()


def test_sync_to_nothing_removes_all_rules() -> None:
    kb = everlog.open()
    kb.add_rules(PROGRAM)
    kb.sync_rules("")
    assert not kb.program.rules
    assert sorted(kb.facts("edge")) == [("a", "b"), ("b", "c")]
