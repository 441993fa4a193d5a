"""What does a term become as another XSD type?

The casts of SPARQL 1.1 (17.5), and from XPath those to the derived integer types and between dateTime, date and time.
A string is cast by its text, white space around it does not count. Numbers become strings as XPath writes them: 1.0E0
is "1", not its lexical form (that is what `str` gives).

>>> CASTS[XSD + "integer"]("42"), CASTS[XSD + "string"](1.0), CASTS[XSD + "integer"](-7.875)
(42, '1', -7)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal

from everlog.expressions.moments import Moment, read_moment
from everlog.expressions.numbers import DECIMALS, EXACT, bounded
from everlog.expressions.numerals import (
    INTEGER_TYPES,
    Number,
    Single,
    in_range,
    number_term,
    read_number,
    single_text,
    to_double,
    to_single,
)
from everlog.expressions.values import (
    BLANK,
    BOOLEAN,
    DATE,
    DATE_TIME,
    IRI_KIND,
    NUMBER,
    STRING,
    TIME,
    ExpressionError,
    value_of,
)
from everlog.facts.terms import XSD, Literal, Term, decimal_text, double_text, lexical_and_datatype, term_of, typed_key

_WHITE = " \t\n\r"
_BOOLEAN_TEXTS = {"true": True, "1": True, "false": False, "0": False}


def to_string(term: Term) -> Term:
    kind, value = value_of(term)
    if kind == BLANK:
        raise ExpressionError("a blank node has no text")
    if kind == IRI_KIND:
        text: str = value
        return text
    if kind == NUMBER:
        return _number_text(value)
    if kind == BOOLEAN:
        return "true" if value else "false"
    if isinstance(value, Moment):
        return value.text()
    return lexical_and_datatype(term)[0]


def _number_text(value: Number) -> str:
    """XPath's way to write a number: no `.0`, and an exponent only far from 1."""
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return decimal_text(value).removesuffix(".0")
    text = single_text(value) if isinstance(value, Single) else double_text(value)
    if value == 0 or 1e-6 <= abs(value) < 1e6:
        return ("-" if text.startswith("-0.0E") else "") + decimal_text(Decimal(text)).removesuffix(".0")
    return text


def to_boolean(term: Term) -> Term:
    kind, value = value_of(term)
    if kind == BOOLEAN:
        return bool(value)
    if kind == NUMBER:
        return bool(value == value and value != 0)
    if kind == STRING and value.strip(_WHITE) in _BOOLEAN_TEXTS:
        return _BOOLEAN_TEXTS[value.strip(_WHITE)]
    raise _not_castable(kind, "boolean")


def _number(term: Term, local: str) -> Number:
    """The number behind a term that is to be cast to a numeric type."""
    kind, value = value_of(term)
    number: Number | None = None
    if kind == NUMBER:
        number = value
    elif kind == BOOLEAN:
        number = int(value)
    elif kind == STRING:
        number = read_number(value.strip(_WHITE), local)
    if number is None:
        raise _not_castable(kind, local)
    return number


def to_double_term(term: Term) -> Term:
    return to_double(_number(term, "double"))


def to_float_term(term: Term) -> Term:
    return number_term(to_single(_number(term, "float")))


def to_decimal(term: Term) -> Term:
    """A double becomes the closest decimal of 38 digits."""
    number = _number(term, "decimal")
    if isinstance(number, float) and not math.isfinite(number):
        raise ExpressionError("NaN and infinities are not decimals")
    return DECIMALS.plus(Decimal(number)) if isinstance(number, float) else Decimal(number)


def to_integer(local: str) -> Callable[[Term], Term]:
    """The cast to an integer type; fractions are cut off, values outside the type are errors."""

    def apply(term: Term) -> Term:
        number = _number(term, local)
        if isinstance(number, float) and not math.isfinite(number):
            raise ExpressionError("NaN and infinities are not integers")
        if isinstance(number, Decimal) and number.adjusted() > EXACT.prec:
            raise ExpressionError("the decimal is too large")
        value = bounded(math.trunc(number))
        if not in_range(value, local):
            raise ExpressionError(f"{value} is not an xsd:{local}")
        return value if local == "integer" else Literal(str(value), XSD + local)

    return apply


def to_moment(target: str) -> Callable[[Term], Term]:
    """The cast to dateTime, date or time; a date becomes its midnight, a dateTime loses what the target lacks."""

    def apply(term: Term) -> Term:
        kind, value = value_of(term)
        moment: Moment | None = None
        if kind == STRING:
            moment = read_moment(value.strip(_WHITE), target)
        elif kind == target or kind == DATE_TIME or (kind, target) == (DATE, DATE_TIME):
            moment = value
        if moment is None:
            raise _not_castable(kind, target)
        return term_of(typed_key(moment.text(target), XSD + target))

    return apply


def _not_castable(kind: str, local: str) -> ExpressionError:
    return ExpressionError(f"this {kind} is not an xsd:{local}")


CASTS: Mapping[str, Callable[[Term], Term]] = {
    XSD + "string": to_string,
    XSD + "boolean": to_boolean,
    XSD + "double": to_double_term,
    XSD + "float": to_float_term,
    XSD + "decimal": to_decimal,
    **{XSD + local: to_integer(local) for local in INTEGER_TYPES},
    **{XSD + kind: to_moment(kind) for kind in (DATE_TIME, DATE, TIME)},
}
