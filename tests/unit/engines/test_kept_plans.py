"""Are plans kept while they fit, and made anew when they do not?"""

from __future__ import annotations

from decimal import Decimal

import everlog
from everlog.engines.columnar.engine import ColumnarEngine
from everlog.engines.columnar.kept_plans import still_fits


def test_sizes_may_change_a_little() -> None:
    before = {"p": 1000, "q": 0}
    assert still_fits(before, {"p": 1900, "q": 50})
    assert still_fits(before, {"p": 600, "q": 0})
    assert not still_fits(before, {"p": 3000, "q": 0})
    assert not still_fits(before, {"p": 1000, "q": 500})
    assert not still_fits(before, {"p": 100, "q": 0})


def test_a_query_asked_again_is_planned_once_while_the_data_is_much_the_same() -> None:
    kb = everlog.open()
    kb.sparql_update("INSERT DATA { " + " ".join(f"<urn:{n}> <urn:p> {n} ." for n in range(200)) + " }")
    engine = kb._engine
    assert isinstance(engine, ColumnarEngine)
    query = "SELECT ?x { ?x <urn:p> ?n FILTER(?n > 197) }"
    assert len(kb.query(query)) == 2
    planned = [id(kept) for kept in engine._plans.values()]
    kb.sparql_update("INSERT DATA { <urn:200> <urn:p> 200 }")
    assert len(kb.query(query)) == 3
    assert [id(kept) for kept in engine._plans.values()] == planned
    kb.sparql_update("INSERT DATA { " + " ".join(f"<urn:{n}> <urn:q> {n} ." for n in range(2000)) + " }")
    assert len(kb.query(query)) == 3
    assert [id(kept) for kept in engine._plans.values()] != planned


def test_values_for_variables_are_told_apart() -> None:
    kb = everlog.open()
    given = [1, True, 1.0, Decimal(1)]
    found = [list(kb.query("SELECT (DATATYPE(?x) AS ?t) {}", bindings={"x": each})) for each in given]
    assert len({str(each) for each in found}) == 4


def test_time_is_what_it_is_when_asked() -> None:
    kb = everlog.open()
    first, second = (list(kb.query("SELECT (BNODE() AS ?b) {}")) for _ in range(2))
    assert first != second
