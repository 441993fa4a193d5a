"""Do updates that are maintained and those that load and derive anew go together?

A store without rules, or without facts, loads; others are maintained. What one leaves behind the other must respect.
"""

from __future__ import annotations

import time

import pytest

import everlog
from everlog.errors import RoundLimitError, TimeLimitError
from everlog.limits import Limits


def test_what_was_deleted_comes_back_into_an_emptied_store(engine: str) -> None:
    kb = everlog.open(engine=engine)
    kb.insert("edge", [("a", "b"), ("b", "c")])
    kb.delete("edge", [("a", "b"), ("b", "c")])
    assert kb.insert("edge", [("a", "b")]).gained("edge") == [("a", "b")]
    assert kb.facts("edge").sorted() == [("a", "b")]


def test_rules_conclude_what_was_deleted_before_they_came(engine: str) -> None:
    kb = everlog.open(engine=engine)
    kb.insert("edge", [("a", "b")])
    kb.insert("path", [("a", "b"), ("x", "y")])
    kb.delete("path", [("a", "b")])
    change = kb.add_rules("path(X, Y) :- edge(X, Y).  path(X, Z) :- path(X, Y), edge(Y, Z).")
    assert change.gained("path") == [("a", "b")]
    assert kb.verify()
    assert kb.delete("edge", [("a", "b")]).lost("path") == [("a", "b")]


def test_rules_that_fail_leave_a_store_with_deleted_facts_as_it_was(engine: str) -> None:
    kb = everlog.open(engine=engine, limits=Limits(rounds=20))
    kb.insert("n", [(0,), (7,)])
    kb.delete("n", [(7,)])
    with pytest.raises(RoundLimitError):
        kb.update(add_rules="n(?y) :- n(?x), BIND(?x + 1 AS ?y).", insert={"n": [(7,), (9,)]})
    assert kb.facts("n").sorted() == [(0,)]
    kb.insert("n", [(7,)])
    assert kb.facts("n").sorted() == [(0,), (7,)]


@pytest.mark.parametrize(
    ("limits", "error"), [(Limits(rounds=100), RoundLimitError), (Limits(seconds=0.2), TimeLimitError)]
)
def test_an_update_without_end_is_stopped(engine: str, limits: Limits, error: type[Exception]) -> None:
    kb = everlog.open(engine=engine, limits=limits)
    kb.add_rules("n(?y) :- n(?x), BIND(?x + 1 AS ?y).   copy(X) :- m(X).")
    kb.insert("m", [(1,)])  # from here on updates are maintained
    started = time.monotonic()
    with pytest.raises(error):
        kb.insert("n", [(0,)])
    assert time.monotonic() - started < 30
    assert kb.facts("n").sorted() == []
    assert kb.insert("m", [(2,)]).gained("copy") == [(2,)]
