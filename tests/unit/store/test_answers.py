"""Is a query that was asked before answered as if it were new?"""

from __future__ import annotations

from decimal import Decimal

import pytest

import everlog


def test_values_for_variables_are_told_apart() -> None:
    kb = everlog.open()
    given = [1, True, 1.0, Decimal(1)]
    found = [list(kb.query("SELECT (DATATYPE(?x) AS ?t) {}", bindings={"x": each})) for each in given]
    assert len({str(each) for each in found}) == 4


@pytest.mark.parametrize("function", ["BNODE()", "UUID()", "RAND()", "NOW()"])
def test_what_differs_each_time_is_not_remembered(function: str) -> None:
    kb = everlog.open()
    first, second = (list(kb.query(f"SELECT ({function} AS ?x) {{}}")) for _ in range(2))
    assert first != second
