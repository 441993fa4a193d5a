"""Which terms are equal, less or true?"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import pytest
from hypothesis import given
from tests.unit.expressions.terms import numbers, terms

from everlog.expressions.values import ExpressionError, compare, effective_boolean, equal, less
from everlog.facts.terms import IRI, LANG_STRING, XSD, BlankNode, Literal, Term, term_of

A, B = IRI("http://ex.org/a"), IRI("http://ex.org/b")
ERROR = None


def xsd(text: str, local: str) -> Term:
    return term_of(f"^{local} {text}")


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (1, 1, True),
        (1, Decimal("1.0"), True),
        (1, 1.0, True),
        (Decimal("0.1"), 0.1, True),  # the decimal is promoted
        (xsd("0.1", "float"), 0.1, False),  # a 32-bit 0.1 is not a 64-bit one
        (xsd("0.1", "float"), Decimal("0.1"), True),
        (xsd("01", "integer"), 1, True),
        (xsd("1", "int"), xsd("1", "long"), True),
        (10**400, math.inf, True),  # as doubles
        (math.nan, math.nan, False),
        (0.0, -0.0, True),
        ("a", "a", True),
        ("a", "b", False),
        ("1", 1, False),
        (True, 1, False),
        (True, xsd("1", "boolean"), True),
        (dt.date(2020, 1, 1), True, False),
        (Literal("a", LANG_STRING, "en"), Literal("a", LANG_STRING, "EN"), True),
        (Literal("a", LANG_STRING, "en"), Literal("a", LANG_STRING, "fr"), False),
        (Literal("a", LANG_STRING, "en"), "a", False),
        (Literal("a", LANG_STRING, "en"), xsd("x", "http://ex.org/t"), False),
        (xsd("x", "http://ex.org/t"), xsd("x", "http://ex.org/t"), True),
        (xsd("x", "http://ex.org/t"), xsd("y", "http://ex.org/t"), ERROR),
        (xsd("x", "http://ex.org/t"), "x", ERROR),
        (xsd("x", "http://ex.org/t"), 1, ERROR),
        (xsd("x", "http://ex.org/t"), A, False),
        (xsd("abc", "integer"), xsd("abc", "integer"), True),
        (xsd("abc", "integer"), 1, ERROR),
        (xsd("1_0", "integer"), 10, ERROR),
        (A, A, True),
        (A, B, False),
        (A, "http://ex.org/a", False),
        (BlankNode("a"), BlankNode("a"), True),
        (BlankNode("a"), BlankNode("b"), False),
        (xsd("2006-08-23", "date"), xsd("2006-08-23Z", "date"), ERROR),
        (xsd("2006-08-23Z", "date"), xsd("2006-08-23+00:00", "date"), True),
        (xsd("2006-08-23", "date"), xsd("2001-01-01Z", "date"), False),
        (xsd("2006-08-23T09:00:00", "dateTime"), xsd("2006-08-23", "date"), False),
        (xsd("2002-04-02T23:00:00-04:00", "dateTime"), xsd("2002-04-03T02:00:00-01:00", "dateTime"), True),
        (xsd("1999-12-31T24:00:00", "dateTime"), xsd("2000-01-01T00:00:00", "dateTime"), True),
        (xsd("2005-04-04T24:00:00", "dateTime"), xsd("2005-04-04T00:00:00", "dateTime"), False),
        (xsd("2008-04-01T00:00:00.00Z", "dateTime"), xsd("2008-04-01T00:00:00Z", "dateTime"), True),
        (xsd("24:00:00", "time"), dt.time(0), True),
        (xsd("2001-02-29", "date"), xsd("2001-03-01", "date"), ERROR),  # there is no such day
    ],
)
def test_equal(left: Term, right: Term, expected: bool | None) -> None:
    for a, b in [(left, right), (right, left)]:
        if expected is ERROR:
            with pytest.raises(ExpressionError):
                equal(a, b)
        else:
            assert equal(a, b) is expected


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (1, 2, -1),
        (Decimal("1.5"), 1, 1),
        (1, 1.0, 0),
        (1, math.nan, None),
        ("a", "b", -1),
        ("Z", "a", -1),
        (False, True, -1),
        (dt.date(2020, 1, 1), dt.date(2020, 1, 2), -1),
        (dt.time(12), dt.time(11), 1),
        (xsd("12:00:00+01:00", "time"), xsd("12:00:00Z", "time"), -1),
        (xsd("12006-08-23", "date"), dt.date(2006, 8, 23), 1),
        (xsd("-0001-01-01T00:00:00", "dateTime"), dt.datetime(1, 1, 1), -1),
        (xsd("2006-08-23Z", "date"), xsd("2006-08-22", "date"), 1),  # more than 14 hours later in any time zone
        (xsd("2020-01-01T00:00:00.0000001Z", "dateTime"), xsd("2020-01-01T00:00:00Z", "dateTime"), 1),
    ],
)
def test_compare(left: Term, right: Term, expected: int | None) -> None:
    assert compare(left, right) == expected
    assert compare(right, left) == (None if expected is None else -expected)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (A, B),
        (BlankNode("a"), BlankNode("b")),
        ("a", 1),
        (True, 1),
        (Literal("a", LANG_STRING, "en"), Literal("b", LANG_STRING, "en")),
        (xsd("x", "http://ex.org/t"), xsd("x", "http://ex.org/t")),
        (xsd("2006-08-23T12:00:00", "dateTime"), xsd("2006-08-23T13:00:00Z", "dateTime")),
    ],
)
def test_what_has_no_order_is_an_error(left: Term, right: Term) -> None:
    with pytest.raises(ExpressionError):
        less(left, right)


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (True, True),
        (xsd("0", "boolean"), False),
        (xsd("yes", "boolean"), False),
        ("", False),
        ("false", True),
        (Literal("", LANG_STRING, "en"), False),
        (0, False),
        (Decimal("0.0"), False),
        (math.nan, False),
        (-1, True),
        (xsd("0", "float"), False),
        (xsd("abc", "integer"), False),
        (A, ERROR),
        (BlankNode("a"), ERROR),
        (dt.date(2020, 1, 1), ERROR),
        (xsd("x", "http://ex.org/t"), ERROR),
        (Literal("abc", "http://ex.org/integer"), ERROR),
    ],
)
def test_effective_boolean(term: Term, expected: bool | None) -> None:
    if expected is ERROR:
        with pytest.raises(ExpressionError):
            effective_boolean(term)
    else:
        assert effective_boolean(term) is expected


def outcome(left: Term, right: Term) -> bool | None:
    try:
        return equal(left, right)
    except ExpressionError:
        return None


@given(terms, terms)
def test_equal_is_symmetric(left: Term, right: Term) -> None:
    assert outcome(left, right) == outcome(right, left)


@given(terms)
def test_a_term_is_equal_to_itself_unless_it_is_nan(term: Term) -> None:
    nan = (isinstance(term, float) and math.isnan(term)) or term == Literal("NaN", XSD + "float")
    assert equal(term, term) is not nan


@given(numbers, numbers)
def test_numbers_are_less_equal_or_greater(left: Term, right: Term) -> None:
    order = compare(left, right)
    assert equal(left, right) == (order == 0)
    assert less(left, right) == (order == -1)
