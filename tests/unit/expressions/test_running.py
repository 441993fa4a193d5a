"""Does an aggregate that follows its bag give what it gives for the whole bag?"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog.expressions.aggregates import aggregate
from everlog.expressions.running import running
from everlog.expressions.values import ExpressionError
from everlog.facts.terms import IRI, Term, key_of

TERMS: list[Term | None] = [
    None, 0, 1, 2, 7, -3, 10**12, Decimal("1.5"), Decimal("1"), 1.0, 2.5, float("inf"), "a", "b", IRI("http://e/x"),
]  # fmt: skip
FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX", "MEDIAN", "SAMPLE")


def outcome(give: object) -> str:
    try:
        return key_of(give())  # type: ignore[operator]
    except ExpressionError:
        return "error"


@pytest.mark.parametrize("distinct", [False, True], ids=["all", "distinct"])
@pytest.mark.parametrize("function", FUNCTIONS)
@given(steps=st.lists(st.tuples(st.sampled_from(TERMS), st.integers(-3, 3)), max_size=30))
def test_it_follows_its_bag(function: str, distinct: bool, steps: list[tuple[Term | None, int]]) -> None:
    kept, bag = running(function, distinct), Counter[int]()
    for term, multiplicity in steps:
        place = next(i for i, other in enumerate(TERMS) if other is term)
        multiplicity = max(multiplicity, -bag[place])
        if multiplicity:
            bag[place] += multiplicity
            kept.change(term, multiplicity)
        whole = [(TERMS[i], count) for i, count in bag.items() if count]
        assert outcome(kept.result) == outcome(lambda: aggregate(function, distinct, whole))  # noqa: B023
