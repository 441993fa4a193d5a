"""What do terms become as other XSD types?"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import pytest

from everlog.expressions.functions import FUNCTIONS
from everlog.expressions.values import ExpressionError
from everlog.facts.terms import IRI, LANG_STRING, XSD, BlankNode, Literal, Term, key_of, term_of

ERROR = None


def xsd(text: str, local: str) -> Term:
    return term_of(f"^{local} {text}")


@pytest.mark.parametrize(
    ("target", "term", "expected"),
    [
        ("boolean", "true", True),
        ("boolean", " 1 ", True),
        ("boolean", "0.0", ERROR),
        ("boolean", xsd("0", "boolean"), False),
        ("boolean", Decimal("-2.5"), True),
        ("boolean", math.nan, False),
        ("boolean", IRI("http://ex.org/a"), ERROR),
        ("string", IRI("http://ex.org/z"), "http://ex.org/z"),
        ("string", BlankNode("a"), ERROR),
        ("string", Literal("x", LANG_STRING, "en"), "x"),
        ("string", "0E1", "0E1"),
        ("string", xsd("0", "boolean"), "false"),
        ("string", Decimal("1.0"), "1"),
        ("string", Decimal("-2.5"), "-2.5"),
        ("string", 1.0, "1"),
        ("string", 0.0, "0"),
        ("string", -0.0, "-0"),
        ("string", 1.5e6, "1.5E6"),
        ("string", 1e-7, "1.0E-7"),
        ("string", math.inf, "INF"),
        ("string", xsd("-7.875", "float"), "-7.875"),
        ("string", xsd("0.1", "float"), "0.1"),
        ("string", xsd("042", "integer"), "42"),
        ("string", dt.datetime(2002, 10, 10, 17, tzinfo=dt.UTC), "2002-10-10T17:00:00Z"),
        ("string", xsd("x", "http://ex.org/t"), "x"),
        ("double", "-10.2E3", -10200.0),
        ("double", "INF", math.inf),
        ("double", "inf", ERROR),
        ("double", "1_0", ERROR),
        ("double", True, 1.0),
        ("double", 10**400, math.inf),
        ("float", "1.25", xsd("1.25E0", "float")),
        ("float", 1e300, xsd("INF", "float")),
        ("decimal", "+33.3300", Decimal("33.33")),
        ("decimal", "1E0", ERROR),
        ("decimal", 1.25, Decimal("1.25")),
        ("decimal", math.nan, ERROR),
        ("decimal", xsd("-7.875", "float"), Decimal("-7.875")),
        ("integer", "13", 13),
        ("integer", "1.5", ERROR),
        ("integer", Decimal("-2.5"), -2),
        ("integer", -7.875, -7),
        ("integer", math.inf, ERROR),
        ("integer", "9" * 10_000, ERROR),
        ("integer", False, 0),
        ("byte", 100, xsd("100", "byte")),
        ("byte", 300, ERROR),
        ("unsignedInt", -1, ERROR),
        ("dateTime", "2002-10-10T17:00:00Z", dt.datetime(2002, 10, 10, 17, tzinfo=dt.UTC)),
        ("dateTime", "2002-10-10", ERROR),
        ("dateTime", dt.date(2002, 10, 10), dt.datetime(2002, 10, 10)),
        ("dateTime", 1, ERROR),
        ("date", dt.datetime(2002, 10, 10, 17), dt.date(2002, 10, 10)),
        ("date", xsd("2002-10-10T17:00:00Z", "dateTime"), xsd("2002-10-10Z", "date")),
        ("date", "12002-10-10", xsd("12002-10-10", "date")),
        ("time", dt.datetime(2002, 10, 10, 17), dt.time(17)),
        ("time", dt.date(2002, 10, 10), ERROR),
    ],
)
def test_cast(target: str, term: Term, expected: Term | None) -> None:
    cast = FUNCTIONS[XSD + target].implementation
    if expected is ERROR:
        with pytest.raises(ExpressionError):
            cast(term)
    else:
        assert key_of(cast(term)) == key_of(expected)
