"""Do updates of the W3C suite leave the graphs behind that it says?"""

from __future__ import annotations

import pytest
from tests.w3c.comparison import same
from tests.w3c.expected import Table
from tests.w3c.suite import W3CTest, suite_tests
from tests.w3c.ways import load

import everlog
from everlog.facts.terms import key_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("test", suite_tests("UpdateEvaluationTest"))
def test_update(test: W3CTest) -> None:
    kb, expected = everlog.open(), everlog.open()
    load(kb, test.before)
    load(expected, test.after)
    kb.sparql_update(test.text, base=test.base)
    assert same(_quads(kb), _quads(expected)), f"{test.text}\n{_quads(kb)}\n{_quads(expected)}"


def _quads(kb: everlog.KnowledgeBase) -> Table:
    """All triples with their graphs, as rows, since blank nodes may be in two graphs."""
    known = {relation.name for relation in kb.relations()}
    facts = [fact for name in ("triple", "quad") if name in known for fact in kb.facts(name)]
    rows = [dict(zip("spog", map(key_of, fact), strict=False)) for fact in facts]
    return Table(frozenset("spog"), tuple(rows))
