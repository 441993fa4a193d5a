"""Does a snapshot keep a fact that goes and comes back, whatever the strategies that did it?"""

from __future__ import annotations

from itertools import product

import pytest

import everlog
from everlog.maintenance.strategies import NAMES


@pytest.mark.parametrize(("losing", "gaining"), list(product(NAMES, NAMES)))
@pytest.mark.parametrize("recursive", [False, True])
def test_a_fact_that_goes_and_comes_back(losing: str, gaining: str, recursive: bool) -> None:
    """Strategies that do not count leave weights behind, and those that count clear them: the row is touched then."""
    kb = everlog.open()
    kb.add_rules("path(?x, ?y) :- edge(?x, ?y).")
    if recursive:
        kb.add_rules("path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).")
    kb.insert("edge", [("a", "b"), ("b", "c")])
    before = kb.snapshot()  # not read yet
    kb.update(delete={"edge": [("a", "b")]}, strategy=losing)
    between = kb.snapshot()
    kb.update(insert={"edge": [("a", "b")]}, strategy=gaining)
    paths = [("a", "b"), ("b", "c")] if not recursive else [("a", "b"), ("a", "c"), ("b", "c")]
    assert before.facts("path").sorted() == paths
    assert between.facts("path").sorted() == [("b", "c")]
    assert kb.facts("path").sorted() == paths
