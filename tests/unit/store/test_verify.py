"""Does `verify` find what is not as derived from scratch, and only that?"""

from __future__ import annotations

import numpy as np
import pytest

import everlog

PROGRAM = """
    path(?x, ?y) :- edge(?x, ?y).
    path(?x, ?z) :- edge(?x, ?y), path(?y, ?z).
    fan(?x, ?n) :- AGGREGATE(path(?x, ?y) ON ?x BIND COUNT(?y) AS ?n).
"""


@pytest.fixture
def kb(engine: str) -> everlog.KnowledgeBase:
    kb = everlog.open(engine=engine)
    kb.add_rules(PROGRAM)
    kb.insert("edge", [("a", "b"), ("b", "c")])
    kb.insert("path", [("c", "c")])
    return kb


def test_what_is_right(kb: everlog.KnowledgeBase) -> None:
    found = kb.verify()
    assert found and not found.differences
    assert (found.relations, found.facts) == (3, 2 + 4 + 3)
    assert str(found).startswith("as derived from scratch: 9 facts of 3 relations, version 3")
    assert found.as_data()["equal"] is True


@pytest.mark.parametrize("other", ["reference", "columnar"])
def test_in_another_engine(kb: everlog.KnowledgeBase, other: str) -> None:
    assert kb.verify(engine=other)


def test_what_is_missing_and_what_is_extra(kb: everlog.KnowledgeBase, engine: str) -> None:
    # Facts slipped in behind the knowledge base's back: explicit ones, of which nothing was derived.
    engine = kb.state().facts.engine
    ids = [np.array([engine.dictionary.encode(term)], engine.dictionary.dtype) for term in ("c", "New York")]
    engine.begin_from_scratch()
    engine.load("edge", ids, 1)
    engine.commit()
    kb.insert("other", [("x",)])  # a new version, whose facts are not read yet
    found = kb.verify()
    assert not found
    missing = {each.relation: each.missing.sorted() for each in found.differences}
    assert missing["path"] == [("a", "New York"), ("b", "New York"), ("c", "New York")]
    assert 'path(c, "New York")' in str(found) and "path: 3 missing" in str(found)
    fan = next(each for each in found.differences if each.relation == "fan")
    assert fan.extra.sorted() == [("a", 2), ("b", 1), ("c", 1)]
    assert fan.as_data()["extra"] == 3
    assert kb.version == 4 and len(kb.facts("edge")) == 3  # only looked at
