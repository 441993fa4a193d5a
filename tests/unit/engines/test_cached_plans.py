"""Are plans cached while they fit, and made anew when they do not?"""

from __future__ import annotations

import everlog
from everlog.engines.columnar.cached_plans import still_fits
from everlog.engines.columnar.engine import ColumnarEngine
from everlog.facts.terms import IRI
from everlog.plans.operators import Read
from everlog.rules.syntax import Atom, Variable


def test_sizes_may_change_a_little() -> None:
    p, q = Atom("p", ()), Atom("q", ())
    before = {p: 1000.0, q: 0.5}
    assert still_fits(before, {p: 1900, q: 50})
    assert still_fits(before, {p: 600, q: 0.5})
    assert not still_fits(before, {p: 3000, q: 0.5})
    assert not still_fits(before, {p: 1000, q: 500})
    assert not still_fits(before, {p: 100, q: 0.5})


def test_a_plan_is_made_anew_when_what_was_rare_is_common() -> None:
    """Not the size of the relation counts, but how many of its facts an atom matches."""
    kb = everlog.open()
    kb.insert("triple", [(IRI(f"urn:{n}"), IRI("urn:q"), IRI(f"urn:{n + 1}")) for n in range(3000)])
    query = "SELECT * { ?x <urn:p> ?y . ?a <urn:q> ?b . ?b <urn:q> ?c . ?y <urn:q> ?a }"
    assert len(kb.query(query)) == 0
    kb.insert("triple", [(IRI(f"urn:{n}"), IRI("urn:p"), IRI(f"urn:{n + 1}")) for n in range(2500)])
    engine = kb.state().facts.engine
    assert isinstance(engine, ColumnarEngine)
    assert len(kb.query(query)) == 2500
    [cached] = [cached for cached in engine.plans_by_phase.known() if len(cached.plans[0].variant.rule.atoms) == 4]
    read = [step for step in cached.plans[0].steps if isinstance(step, Read)]
    assert all(any(isinstance(arg, Variable) for _, arg in step.key) for step in read[1:])  # no product


def test_a_query_asked_again_is_planned_once_while_the_data_is_much_the_same() -> None:
    kb = everlog.open()
    kb.sparql_update("INSERT DATA { " + " ".join(f"<urn:{n}> <urn:p> {n} ." for n in range(200)) + " }")
    engine = kb.state().facts.engine
    assert isinstance(engine, ColumnarEngine)
    query = "SELECT ?x { ?x <urn:p> ?n FILTER(?n > 197) }"
    assert len(kb.query(query)) == 2
    planned = [id(cached) for cached in engine.plans_by_phase.known()]
    kb.sparql_update("INSERT DATA { <urn:200> <urn:p> 200 }")
    assert len(kb.query(query)) == 3
    assert [id(cached) for cached in engine.plans_by_phase.known()] == planned
    kb.sparql_update("INSERT DATA { " + " ".join(f"<urn:{n}> <urn:p> -{n} ." for n in range(1, 2000)) + " }")
    assert len(kb.query(query)) == 3
    assert [id(cached) for cached in engine.plans_by_phase.known()] != planned
