"""Which value does a term have when it is compared or tested for truth?

`value_of` tells the kind of a term and its value; `equal`, `compare` and `effective_boolean` are SPARQL 1.1's `=`, `<`
and effective boolean value over them (sections 17.2 and 17.3). What they cannot decide is an `ExpressionError`: it
fails the current binding, never the run.

    same kind           numbers by value after promotion, strings by code point, booleans, moments on the time line
    different kinds     not equal, and `<` is an error
    UNKNOWN             a datatype not known here, or a lexical form that its datatype does not have: equal to itself;
                        not equal to nodes and strings with a language; otherwise undecided, so an error

>>> equal(1, Decimal("1.0")), equal("1", 1), less("a", "b")
(True, False, True)
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from functools import lru_cache
from typing import Any

from everlog.expressions.moments import compare_moments, moment_of, read_moment
from everlog.expressions.numerals import NUMERIC_TYPES, promote, read_number
from everlog.facts.terms import IRI, XSD, BlankNode, Literal, Term, key_of

BLANK, IRI_KIND, NUMBER, STRING, LANGUAGE, BOOLEAN, DATE_TIME, DATE, TIME, UNKNOWN = (
    "blank", "iri", "number", "string", "language", "boolean", "dateTime", "date", "time", "unknown",
)  # fmt: skip
_MOMENTS = frozenset({DATE_TIME, DATE, TIME})
_NEVER_TRUE = NUMERIC_TYPES | {BOOLEAN}  # datatypes whose ill-written literals count as false
_NEVER_UNKNOWN = frozenset({BLANK, IRI_KIND, LANGUAGE})  # kinds whose values no datatype shares

_OF_ONE_VALUE = frozenset({IRI, BlankNode, str, int, bool})  # different terms of these are different values


class ExpressionError(Exception):
    """An expression has no value for these arguments: SPARQL's type error."""


def value_of(term: Term) -> tuple[str, Any]:
    """The kind of a term and its value: an `int`, `Decimal`, `float`, `Single`, `str`, `bool`, `Moment`, text and tag.

    >>> value_of(Literal("01", XSD + "byte")), value_of(Literal("colour", language="EN"))
    (('number', 1), ('language', ('colour', 'en')))
    """
    kind = _PLAIN_KINDS.get(type(term))
    if kind is not None:
        return kind, term
    if isinstance(term, IRI):
        return IRI_KIND, term.value
    if isinstance(term, Literal):
        return _literal_value(term)
    if isinstance(term, BlankNode):
        return BLANK, term.label
    if isinstance(term, (dt.date, dt.time)):
        moment = moment_of(term)
        return moment.kind, moment
    for kind_type, plain_kind in _PLAIN_KINDS.items():  # subclasses: str enumerations, numpy's float64
        if isinstance(term, kind_type):
            return plain_kind, term
    raise TypeError(f"{term!r} is not a term")


_PLAIN_KINDS: dict[type, str] = {bool: BOOLEAN, str: STRING, int: NUMBER, float: NUMBER, Decimal: NUMBER}
_SIMPLE = frozenset({int, str, IRI, bool})  # terms of the same one of these types are compared by Python's ==
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


@lru_cache(maxsize=1 << 14)  # the same few literals are read again in every row
def _literal_value(literal: Literal) -> tuple[str, Any]:
    text = literal.lexical
    if literal.language:
        return LANGUAGE, (text, literal.language.lower())
    local = _xsd_name(literal)
    value: Any = None
    kind = local
    if local == "string":
        value = text
    elif local in NUMERIC_TYPES:
        kind, value = NUMBER, read_number(text, local)
    elif local == "boolean":
        value = _BOOLEANS.get(text)
    elif local in _MOMENTS:
        value = read_moment(text, local)
    return (UNKNOWN, literal) if value is None else (kind, value)


def _xsd_name(literal: Literal) -> str:
    return literal.datatype.removeprefix(XSD) if literal.datatype.startswith(XSD) else ""


def equal(left: Term, right: Term) -> bool:
    """SPARQL's `=`."""
    if type(left) is type(right) and type(left) in _SIMPLE:
        return left == right
    left_kind, a = value_of(left)
    right_kind, b = value_of(right)
    if left_kind != right_kind:
        if UNKNOWN in (left_kind, right_kind) and not {left_kind, right_kind} & _NEVER_UNKNOWN:
            raise ExpressionError("a literal of an unknown type may or may not be equal to another literal")
        return False
    if left_kind == NUMBER:
        a, b = promote(a, b)
        return bool(a == b)
    if left_kind in _MOMENTS:
        order = compare_moments(a, b)
        if order is None:
            raise ExpressionError("only one of the two has a time zone, and they are less than 14 hours apart")
        return order == 0
    if left_kind == UNKNOWN:
        if key_of(left) != key_of(right):
            raise ExpressionError("literals of unknown types are known to be equal only when they are the same")
        return True
    return bool(a == b)


def shares_value(term: Term) -> bool:
    """Could `!=` fail between this and another term, because both have the same value or because that is undecided?

    Not among IRIs, blank nodes, strings, integers and truth values as they are usually written.

    >>> shares_value("a"), shares_value(1), shares_value(1.0), shares_value(Literal("01", XSD + "integer"))
    (False, False, True, True)
    """
    return type(term) not in _OF_ONE_VALUE


def compare(left: Term, right: Term) -> int | None:
    """-1, 0 or 1 as `left` is less than, equal to or greater than `right`; None when one of them is NaN."""
    if type(left) is int and type(right) is int:
        return (left > right) - (left < right)
    kind, a = value_of(left)
    right_kind, b = value_of(right)
    if kind != right_kind:
        raise ExpressionError(f"{kind} and {right_kind} have no order")
    if kind == NUMBER:
        a, b = promote(a, b)
        if a != a or b != b:
            return None
    elif kind in _MOMENTS:
        order = compare_moments(a, b)
        if order is None:
            raise ExpressionError("only one of the two has a time zone, and they are less than 14 hours apart")
        return order
    elif kind not in (STRING, BOOLEAN):
        raise ExpressionError(f"terms of kind {kind} have no order")
    return int(a > b) - int(a < b)


def less(left: Term, right: Term) -> bool:
    """SPARQL's `<`."""
    return compare(left, right) == -1


def effective_boolean(term: Term) -> bool:
    """Whether a term counts as true: no, for false, "", zero, NaN and ill-written numbers and booleans.

    >>> effective_boolean("a"), effective_boolean(0.0), effective_boolean(Literal("abc", XSD + "integer"))
    (True, False, False)
    """
    kind, value = value_of(term)
    if kind in (BOOLEAN, STRING):
        return bool(value)
    if kind == NUMBER:
        return bool(value == value and value != 0)
    if kind == LANGUAGE:
        return bool(value[0])
    if kind == UNKNOWN:
        if _xsd_name(value) in _NEVER_TRUE:
            return False
    raise ExpressionError(f"a term of kind {kind} is neither true nor false")
