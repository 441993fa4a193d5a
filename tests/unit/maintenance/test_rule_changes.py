"""Does what components know beside their facts follow rules that come and go?"""

from __future__ import annotations

import pytest

import everlog

PATHS = "base: path(X, Y) :- edge(X, Y).  step: path(X, Z) :- edge(X, Y), path(Y, Z)."


def test_counts_are_not_those_of_a_component_that_was_split(engine: str) -> None:
    """While `right` was there, `base` and `path` were one component, in which another rule did not recurse."""
    kb = everlog.open(engine=engine, strategy="bf-counting")
    kb.update(
        add_rules="base: path(X, Y) :- edge(X, Y).  twice: path(X, Z) :- path(X, Y), path(Y, Z).",
        insert={"path": [("a", "a")]},
    )
    kb.add_rules("right: path(X, Z) :- edge(X, Y), path(Y, Z).")
    kb.update(remove_rules=["right"], add_rules="itself: path(X, X) :- reached(X).")
    kb.update(insert={"edge": [("a", "a"), ("c", "a")]}, delete={"path": [("a", "a")]})
    assert kb.facts("path").sorted() == [("a", "a"), ("c", "a")]
    assert not kb.verify().differences


@pytest.mark.parametrize("said", ["while rules derive it", "when none does"])
def test_ranks_are_not_those_of_rules_that_went(engine: str, said: str) -> None:
    """A fact that was derived once and is explicit now, when the rules come back, begins like any other."""
    kb = everlog.open(engine=engine, rewrites=False)
    kb.update(add_rules=PATHS, insert={"edge": [(2, 1)]})
    if said == "while rules derive it":
        kb.insert("path", [(2, 1)])
    kb.remove_rules(["base", "step"])
    kb.update(insert={"edge": [(3, 2)], "path": [(2, 1)]})
    kb.add_rules(PATHS)
    assert kb.facts("path").sorted() == [(2, 1), (3, 1), (3, 2)]
    kb.remove_rules("step")
    assert kb.facts("path").sorted() == [(2, 1), (3, 2)]
    assert not kb.verify().differences
