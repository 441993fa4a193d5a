"""Is arithmetic on integers Python's, and is there nothing but terms and `ExpressionError` on the way?"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.expressions.terms import numbers, terms

from everlog.expressions.functions import FUNCTIONS, SPECIAL_FORMS
from everlog.expressions.numerals import read_number, single_text, to_single
from everlog.expressions.values import ExpressionError
from everlog.facts.terms import Term, key_of, term_of

DETERMINISTIC = sorted(
    name for name, f in FUNCTIONS.items() if f.deterministic and f.most_args is not None and name not in SPECIAL_FORMS
)


@given(st.integers(), st.integers())
def test_integers_are_pythons(a: int, b: int) -> None:
    assert FUNCTIONS["+"].implementation(a, b) == a + b
    assert FUNCTIONS["-"].implementation(a, b) == a - b
    assert FUNCTIONS["*"].implementation(a, b) == a * b
    if b:
        quotient = math.trunc(Fraction(a, b))
        assert FUNCTIONS["idiv"].implementation(a, b) == quotient
        assert FUNCTIONS["mod"].implementation(a, b) == a - b * quotient


@given(st.integers(-50, 50), st.integers(0, 50))
def test_powers_of_integers_are_pythons(a: int, b: int) -> None:
    assert FUNCTIONS["pow"].implementation(a, b) == a**b


@given(st.sampled_from("+ - * / idiv mod pow".split()), numbers, numbers)
def test_arithmetic_gives_terms_that_can_be_stored(name: str, left: Term, right: Term) -> None:
    try:
        result = FUNCTIONS[name].implementation(left, right)
    except ExpressionError:
        return
    assert key_of(term_of(key_of(result))) == key_of(result)


@given(st.sampled_from(DETERMINISTIC), st.lists(terms, min_size=4, max_size=4))
def test_functions_give_terms_or_expression_errors(name: str, args: list[Term]) -> None:
    function = FUNCTIONS[name]
    given_args = args[: function.most_args]
    try:
        result = function.implementation(*given_args)
    except ExpressionError:
        return
    assert key_of(term_of(key_of(result))) == key_of(result)
    # the same term held in another way gives the same result
    again = function.implementation(*[term_of(key_of(arg)) for arg in given_args])
    assert key_of(again) == key_of(result)


@given(st.floats(width=32, allow_nan=False))
def test_floats_are_written_so_that_they_are_read_back(value: float) -> None:
    read = read_number(single_text(to_single(value)), "float")
    assert read == value and math.copysign(1, read) == math.copysign(1, value)


@pytest.mark.parametrize(("value", "text"), [(0.1, "1.0E-1"), (16777216.0, "1.6777216E7"), (-0.0, "-0.0E0")])
def test_floats_are_written_with_few_digits(value: float, text: str) -> None:
    assert single_text(to_single(value)) == text
