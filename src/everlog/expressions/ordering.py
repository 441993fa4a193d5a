"""How are terms ordered?

MIN, MAX, SAMPLE and the order of whole rows need an answer for any two terms, and the same one every time. The order is

    unbound < blank nodes < IRIs < numbers < NaN < strings < strings with a language < booleans
            < dateTimes < dates < times < other literals

within a kind by value, as `<` has it where `<` is defined (numbers exactly, without promotion; moments without a time
zone as if in UTC), and last by the term's key, so that only the same term is equal to itself. A key of ORDER BY leaves
the last part out: to it 2, 2.0 and 2e0 are ties, which the next key breaks; whole rows do at the very end.

>>> sorted([2.5, "a", 10, IRI("http://ex.org/a"), 1], key=order_key)
[IRI(value='http://ex.org/a'), 1, 2.5, 10, 'a']
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from everlog.expressions.values import (
    BLANK,
    BOOLEAN,
    DATE,
    DATE_TIME,
    IRI_KIND,
    LANGUAGE,
    NUMBER,
    STRING,
    TIME,
    UNKNOWN,
    value_of,
)
from everlog.facts.terms import IRI, Term, key_of  # noqa: F401  (IRI is for the example above)

_RANKS = {
    kind: rank
    for rank, kind in enumerate(
        ["unbound", BLANK, IRI_KIND, NUMBER, "NaN", STRING, LANGUAGE, BOOLEAN, DATE_TIME, DATE, TIME, UNKNOWN]
    )
}


def order_key(term: Term | None) -> tuple[int, Any, str]:
    """A key to sort terms by; None is an unbound variable."""
    if term is None:
        return (0, "", "")
    kind, value = value_of(term)
    if kind == NUMBER:
        if isinstance(value, float):
            if math.isnan(value):
                return (_RANKS["NaN"], "", key_of(term))
            value = Decimal.from_float(value)  # exact, and comparable with integers and decimals
    elif kind in (DATE_TIME, DATE, TIME):
        value = value.instant()
    elif kind == UNKNOWN:
        value = value.datatype
    return (_RANKS[kind], value, key_of(term))


def tied_key(key: tuple[int, Any, str]) -> tuple[Any, ...]:
    """What a key of ORDER BY compares, given `order_key`: terms of equal value are equal.

    >>> tied_key(order_key(2)) == tied_key(order_key(2.0)), order_key(2) == order_key(2.0)
    (True, False)
    """
    return key if key[0] == _RANKS[UNKNOWN] else key[:2]  # of an unknown type only the text can be compared
