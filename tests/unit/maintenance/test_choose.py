"""Does `choose` begin anew where that is less work, and say why?"""

from __future__ import annotations

import pytest

import everlog
from everlog.maintenance import choose
from everlog.maintenance.reports import ComponentReport

RULES = """
    two(X, Z) :- edge(X, Y), edge(Y, Z).
    path(X, Y) :- edge(X, Y).
    path(X, Z) :- path(X, Y), edge(Y, Z).
"""
SIZE = 12
RING = [(place, (place + 1) % SIZE) for place in range(SIZE)]


def ring(engine: str) -> everlog.KnowledgeBase:
    kb = everlog.open(engine=engine)
    kb.add_rules(RULES)
    kb.insert("edge", RING)
    return kb


def component(change: everlog.Change, relation: str) -> ComponentReport:
    (found,) = (each for each in change.report.phases if isinstance(each, ComponentReport) and relation in each.gained)
    return found


def test_counting_without_recursion_and_ranks_with_it(engine: str) -> None:
    change = ring(engine).delete("edge", RING[:1])
    assert component(change, "two").strategy == "counting"
    assert component(change, "path").strategy == "ranked"


def test_a_deletion_that_suspends_most_facts_is_stopped(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "_FEW", 1)
    monkeypatch.setattr(choose, "_LOOKS_PER_FACT", 0.1)
    monkeypatch.setattr(choose, "_ONE_EACH", 1)
    kb = ring(engine)
    report = component(kb.delete("edge", RING[:1]), "path")
    assert report.strategy == "rematerialise"
    assert "ranked deletion" in report.reason
    assert report.phases["deletion"].facts > 1  # what was done in vain is counted too
    assert len(kb.facts("path")) == SIZE * (SIZE - 1) // 2
    assert kb.verify()
    assert len(kb.insert("edge", RING[:1]).gained("path")) == SIZE * (SIZE + 1) // 2
    assert kb.verify()


def test_dred_where_nearly_every_fact_has_one_derivation(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "_FEW", 1)
    kb = ring(engine)
    report = component(kb.delete("edge", RING[:1]), "path")
    assert (report.strategy, report.reason) == ("dred", "nearly every fact has one derivation")
    assert len(kb.facts("path")) == SIZE * (SIZE - 1) // 2


def test_losing_a_large_share_begins_anew_at_once(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "_FEW", 1)
    kb = ring(engine)
    change = kb.delete("edge", RING[: 3 * SIZE // 4])
    report = component(change, "path")
    assert report.strategy == "rematerialise"
    assert "of edge changed" in report.reason
    assert "deletion" not in report.phases
    assert kb.verify()


def test_a_strategy_that_was_asked_for_is_not_second_guessed(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "_FEW", 1)
    monkeypatch.setattr(choose, "_LOOKS_PER_FACT", 0.1)
    kb = ring(engine)
    assert component(kb.update(delete={"edge": RING[:9]}, strategy="ranked"), "path").strategy == "ranked"
    assert kb.verify()
