"""Is the order of terms total, and does it agree with `<`?"""

from __future__ import annotations

import math
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.expressions.terms import moments, numbers, terms

from everlog.expressions.ordering import order_key
from everlog.expressions.values import ExpressionError, less
from everlog.facts.terms import IRI, LANG_STRING, XSD, BlankNode, Literal, Term, key_of


def test_kinds_stand_in_a_fixed_order() -> None:
    ordered = [
        None,
        BlankNode("z"),
        IRI("http://ex.org/a"),
        -math.inf,
        -1,
        Decimal("0.5"),
        1.0,
        2,
        math.inf,
        math.nan,
        "a",
        Literal("a", LANG_STRING, "en"),
        False,
        True,
        Literal("2000-01-01T00:00:00Z", XSD + "dateTime"),
        Literal("2000-01-01Z", XSD + "date"),
        Literal("00:00:00Z", XSD + "time"),
        Literal("x", "http://ex.org/t"),
    ]
    assert sorted(reversed(ordered), key=order_key) == ordered


@given(terms, terms)
def test_only_the_same_term_has_the_same_place(left: Term, right: Term) -> None:
    a, b = order_key(left), order_key(right)
    assert (a < b) + (a > b) + (a == b) == 1
    assert (a == b) == (key_of(left) == key_of(right))


@given(st.one_of(st.tuples(numbers, numbers), st.tuples(moments, moments), st.tuples(terms, terms)))
def test_what_is_less_stands_before(pair: tuple[Term, Term]) -> None:
    left, right = pair
    try:
        is_less = less(left, right)
    except ExpressionError:
        return
    if is_less:
        assert order_key(left) < order_key(right)


@given(st.lists(terms))
def test_sorting_does_not_depend_on_the_order_of_the_input(items: list[Term]) -> None:
    once = [key_of(term) for term in sorted(items, key=order_key)]
    assert [key_of(term) for term in sorted(reversed(items), key=order_key)] == once
