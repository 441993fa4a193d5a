"""What do aggregates give, and does the order of their input matter?"""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.expressions.terms import numbers

from everlog.expressions.aggregates import Total, aggregate
from everlog.expressions.numbers import number_of
from everlog.expressions.values import ExpressionError
from everlog.facts.terms import IRI, XSD, BlankNode, Literal, Term, key_of
from everlog.rules.syntax import AGGREGATES

A = IRI("http://ex.org/a")
ERROR = None
D = Decimal
Bag = list[tuple[Term | None, int]]


def single(text: str) -> Literal:
    return Literal(text, XSD + "float")


@pytest.mark.parametrize(
    ("function", "distinct", "bag", "expected"),
    [
        ("COUNT", False, [], 0),
        ("COUNT", False, [("a", 2), (A, 1), (None, 4)], 3),
        ("COUNT", True, [("a", 2), ("a", 1), (1, 1), (1.0, 1), (None, 1)], 3),
        ("SUM", False, [], 0),
        ("SUM", False, [(1, 2), (2, 3)], 8),
        ("SUM", True, [(1, 2), (2, 3), (2, 1)], 3),
        ("SUM", False, [(D("1.0"), 1), (D("2.2"), 1), (D("3.5"), 1)], D("6.7")),
        ("SUM", False, [(1, 1), (D("2.2"), 1)], D("3.2")),
        ("SUM", False, [(1e2, 1), (2e3, 1), (3e4, 1)], 3.21e4),
        ("SUM", False, [(0.1, 10)], 1.0),
        ("SUM", False, [(1e100, 1), (1, 1), (-1e100, 1)], 1.0),
        ("SUM", False, [(1e308, 10**9)], math.inf),
        ("SUM", False, [(math.inf, 1), (-math.inf, 1)], math.nan),
        ("SUM", False, [(math.inf, 3), (1, 1)], math.inf),
        ("SUM", False, [(single("0.5"), 3), (1, 1)], single("2.5E0")),
        ("SUM", False, [(single("0.5"), 1), (1.0, 1)], 1.5),
        ("SUM", False, [(1, 1), (None, 1)], ERROR),
        ("SUM", False, [(1, 1), ("2", 1)], ERROR),
        ("SUM", False, [(10**3999, 10**10)], ERROR),
        ("SUM", False, [(D("0.1"), 10**30)], D(10**29)),
        ("AVG", False, [(1, 1), (2, 1), (3, 1), (4, 1)], D("2.5")),
        ("AVG", False, [(2, 5)], D("2")),
        ("AVG", True, [(1, 5), (2, 1)], D("1.5")),
        ("AVG", False, [(1.0, 1), (2, 1)], 1.5),
        ("AVG", False, [], ERROR),
        ("AVG", False, [(1, 1), (BlankNode("b"), 1)], ERROR),
        ("MIN", False, [(3, 1), (D("1.5"), 1), (2.0, 1)], D("1.5")),
        ("MAX", False, [(3, 1), ("a", 1), (A, 1)], "a"),
        ("MIN", False, [(3, 1), ("a", 1), (A, 1)], A),
        ("MIN", False, [(3, 1), (None, 1)], ERROR),
        ("MAX", False, [], ERROR),
        ("MEDIAN", False, [(5, 1), (1, 1), (9, 1)], 5),
        ("MEDIAN", False, [(1, 1), (2, 1)], D("1.5")),
        ("MEDIAN", False, [(1, 10), (100, 3)], 1),
        ("MEDIAN", False, [(1, 2), (100, 2)], D("50.5")),
        ("MEDIAN", True, [(1, 10), (100, 3), (7, 1)], 7),
        ("MEDIAN", False, [(1.0, 1), (1, 2)], 1.0),  # of terms of equal value the least
        ("MEDIAN", False, [("a", 1)], ERROR),
        ("MEDIAN", False, [], ERROR),
        ("SAMPLE", False, [(None, 2), ("b", 1), ("a", 1)], "a"),
        ("SAMPLE", False, [(None, 2)], ERROR),
    ],
)
def test_aggregate(function: str, distinct: bool, bag: Bag, expected: Term | None) -> None:
    if expected is ERROR:
        with pytest.raises(ExpressionError):
            aggregate(function, distinct, bag)
    else:
        assert key_of(aggregate(function, distinct, bag)) == key_of(expected)


bags = st.lists(st.tuples(numbers, st.integers(1, 3)), max_size=8)


def outcome(function: str, distinct: bool, bag: Bag) -> str | None:
    try:
        return key_of(aggregate(function, distinct, bag))
    except ExpressionError:
        return None


@given(st.sampled_from(AGGREGATES), st.booleans(), bags, st.randoms())
def test_the_order_of_the_input_does_not_matter(function: str, distinct: bool, bag: Bag, chance: random.Random) -> None:
    shuffled = list(bag)
    chance.shuffle(shuffled)
    assert outcome(function, distinct, shuffled) == outcome(function, distinct, bag)


@given(st.sampled_from(AGGREGATES), bags)
def test_a_multiplicity_is_so_many_rows(function: str, bag: Bag) -> None:
    rows: Bag = [(term, 1) for term, multiplicity in bag for _ in range(multiplicity)]
    assert outcome(function, False, rows) == outcome(function, False, bag)


@given(bags, bags)
def test_what_is_taken_out_of_a_total_leaves_no_trace(kept: Bag, removed: Bag) -> None:
    total, expected = Total(), Total()
    for term, multiplicity in kept:
        assert term is not None
        total.add(number_of(term), multiplicity)
        expected.add(number_of(term), multiplicity)
    for sign in (1, -1):
        for term, multiplicity in removed:
            assert term is not None
            total.add(number_of(term), sign * multiplicity)
    assert key_of(total.result()) == key_of(expected.result())


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_doubles_are_summed_exactly(values: list[float]) -> None:
    exact = sum(map(Fraction, values))
    try:
        expected = float(exact)
    except OverflowError:
        expected = math.inf if exact > 0 else -math.inf
    assert aggregate("SUM", False, [(value, 1) for value in values]) == expected
