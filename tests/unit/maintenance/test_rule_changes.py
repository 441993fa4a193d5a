"""Does what components know beside their facts follow rules that come and go?"""

from __future__ import annotations

import everlog


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
