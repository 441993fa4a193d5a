"""Are queries and updates of the W3C suite read, or refused, as it says?"""

from __future__ import annotations

import pytest
from tests.w3c.suite import W3CTest, suite_tests

from everlog.errors import SparqlError
from everlog.sparql.parsing import parse_query, parse_update

pytestmark = pytest.mark.slow

KINDS = ("SyntaxTest", "SyntaxTest11", "UpdateSyntaxTest11")


def read(test: W3CTest) -> None:
    parse = parse_update if test.query.suffix == ".ru" else parse_query
    parse(test.text, test.base)


@pytest.mark.parametrize(
    "test", suite_tests("PositiveSyntaxTest", "PositiveSyntaxTest11", "PositiveUpdateSyntaxTest11")
)
def test_is_read(test: W3CTest) -> None:
    read(test)


@pytest.mark.parametrize(
    "test", suite_tests("NegativeSyntaxTest", "NegativeSyntaxTest11", "NegativeUpdateSyntaxTest11")
)
def test_is_refused(test: W3CTest) -> None:
    with pytest.raises(SparqlError):
        read(test)
