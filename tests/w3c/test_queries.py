"""Do queries of the W3C suite have the solutions that it says?"""

from __future__ import annotations

import re

import pytest
from tests.w3c.comparison import same
from tests.w3c.expected import Table, expected_result, found_result
from tests.w3c.suite import W3CTest, suite_tests
from tests.w3c.ways import WAYS, possible

pytestmark = pytest.mark.slow

# The outermost query's ORDER BY, after its last closing brace.
_ORDERED = re.compile(r"\bORDER\s+BY\b[^{}]*$", re.IGNORECASE)


@pytest.mark.parametrize("way", [pytest.param(way, marks=[] if way == "once" else pytest.mark.slow) for way in WAYS])
@pytest.mark.parametrize("test", suite_tests("QueryEvaluationTest"))
def test_query(test: W3CTest, way: str) -> None:
    if not possible(test, way):
        pytest.skip("no view can be kept of this query")
    assert test.result is not None
    found, expected = found_result(WAYS[way](test)), expected_result(test.result)
    ordered = isinstance(expected, Table) and (expected.indexed or bool(_ORDERED.search(test.text)))
    assert same(found, expected, ordered=ordered, lax=test.lax), f"{test.text}\n{found}\n{expected}"
