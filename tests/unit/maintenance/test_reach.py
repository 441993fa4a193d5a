"""Does an update look at the components that it reaches, and at no others, however many there are?"""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

import pytest

import everlog
from everlog.facts.terms import IRI, RDF_TYPE
from everlog.maintenance.update import Maintenance

Fact = Callable[[str], tuple[str, tuple[object, ...]]]
CLASSES = "PREFIX : <urn:>\n" + "\n".join(f":C{n}_{m + 1}[?x] :- :C{n}_{m}[?x]." for n in range(60) for m in range(3))
RELATIONS = "\n".join(f"c{n}_{m + 1}(X) :- c{n}_{m}(X)." for n in range(60) for m in range(3))


def _type(name: str) -> tuple[str, tuple[object, ...]]:
    return "triple", (IRI("urn:x"), IRI(RDF_TYPE), IRI(f"urn:C{name}"))


def _relation(name: str) -> tuple[str, tuple[object, ...]]:
    return f"c{name}", ("x",)


@pytest.mark.parametrize(("rules", "fact"), [(CLASSES, _type), (RELATIONS, _relation)])
def test_an_update_visits_what_it_reaches(engine: str, rules: str, fact: Fact) -> None:
    kb = everlog.open(engine=engine)
    kb.add_rules(rules)
    kb.insert("other", [("y",)])
    with patch.object(Maintenance, "_is_reached", side_effect=Maintenance._is_reached) as visits:
        for name, chain in (("7_0", 3), ("7_2", 1), ("8_1", 2), ("9_3", 1)):
            relation, row = fact(name)
            most = chain + (name[-1] != "0")  # that of the fact itself too, where a rule may conclude it
            visits.reset_mock()
            inserted = kb.insert(relation, [row])
            assert len(inserted.report.phases) == visits.call_count <= most
            visits.reset_mock()
            kb.delete(relation, [row])
            assert visits.call_count <= most
        visits.reset_mock()
        kb.insert("other", [("z",)])
        assert not visits.called


def test_a_changed_rule_reaches_what_it_feeds() -> None:
    kb = everlog.open()
    kb.add_rules(RELATIONS)
    kb.insert("c7_0", [("x",)])
    kb.insert("given", [("z",)])
    change = kb.add_rules("new: c7_1(X) :- given(X).")
    assert [phase.name for phase in change.report.phases][-1].startswith("r")
    assert len(change.report.phases) == 3
    assert sorted(kb.facts("c7_3")) == [("x",), ("z",)]
    kb.remove_rules("new")
    assert sorted(kb.facts("c7_3")) == [("x",)]
