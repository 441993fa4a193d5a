"""How does a term compare with others, so that kernels can tell without looking at the term?

    IRI, BLANK, STRING, LANGUAGE    equal only when they are the same term
    EXACT                           an integer or decimal that a double says exactly
    ROUNDED                         one whose nearest double is known: that tells it from numbers with another double,
                                    but not from those with the same
    DOUBLE, FLOAT                   an xsd:double or xsd:float; other numbers are rounded to them when compared
    DATE, ZONED_DATE, DATE_TIME, ZONED_DATE_TIME    a point in time, in seconds; comparable within a kind
    OTHER                           everything else is left to everlog.expressions

Kernels ask for ranges: numbers begin at EXACT, points in time at DATE, and OTHER is last.
"""

from __future__ import annotations

import math

from everlog.expressions.moments import Moment
from everlog.expressions.numerals import Single
from everlog.expressions.values import NUMBER, value_of
from everlog.facts.terms import term_of

KIND_IRI, KIND_BLANK, KIND_STRING, KIND_LANGUAGE = 0, 1, 2, 3
KIND_EXACT, KIND_ROUNDED, KIND_DOUBLE, KIND_FLOAT = 4, 5, 6, 7
KIND_DATE, KIND_ZONED_DATE, KIND_DATE_TIME, KIND_ZONED_DATE_TIME = 8, 9, 10, 11
KIND_OTHER = 12

_BY_FIRST_CHARACTER = {'"': KIND_STRING, "<": KIND_IRI, "_": KIND_BLANK, "@": KIND_LANGUAGE}
_MOMENTS = {
    ("date", False): KIND_DATE,
    ("date", True): KIND_ZONED_DATE,
    ("dateTime", False): KIND_DATE_TIME,
    ("dateTime", True): KIND_ZONED_DATE_TIME,
}
_EXACT_LIMIT = 2.0**53  # beyond it doubles skip integers
_MOST_SECONDS = 2.0**40  # up to here doubles tell milliseconds apart
_MOST_DIGITS = 3


def described(key: str) -> tuple[int, float]:
    """The kind of the term with a key, and its value as a double: NaN for what is no number and no point in time."""
    kind = _BY_FIRST_CHARACTER.get(key[0])
    if kind is not None:
        return kind, math.nan
    kind_of_value, value = value_of(term_of(key))
    if kind_of_value == NUMBER:
        return _number(value)
    if isinstance(value, Moment):
        return _moment(value)
    return KIND_OTHER, math.nan


def _number(value: float) -> tuple[int, float]:
    try:
        number = float(value)
    except OverflowError:
        return KIND_OTHER, math.nan
    if not math.isfinite(number):
        return KIND_OTHER, math.nan
    if isinstance(value, Single):
        return KIND_FLOAT, number
    if isinstance(value, float):
        return KIND_DOUBLE, number
    return (KIND_EXACT if abs(number) <= _EXACT_LIMIT and number == value else KIND_ROUNDED), number


def _moment(value: Moment) -> tuple[int, float]:
    kind = _MOMENTS.get((value.kind, value.zone is not None))
    seconds, rest = value.instant()
    if kind is None or abs(seconds) >= _MOST_SECONDS or len(value.fraction) > _MOST_DIGITS:
        return KIND_OTHER, math.nan
    return kind, float(seconds + rest)
