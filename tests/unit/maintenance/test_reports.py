"""Does a report say what an update took, to people and to programs?"""

from __future__ import annotations

import json

import everlog

RULES = "one: path(X, Y) :- edge(X, Y).   more: path(X, Z) :- path(X, Y), edge(Y, Z)."


def test_a_line_for_the_update_and_one_for_each_component(engine: str) -> None:
    kb = everlog.open(engine=engine)
    kb.add_rules(RULES)
    first, component = str(kb.insert("edge", [(1, 2), (2, 3)]).report).splitlines()  # derived from scratch
    assert "2 facts inserted, 0 deleted" in first
    assert component.strip().startswith("one, more: 3 rule applications in ")
    first, component = str(kb.delete("edge", [(1, 2)]).report).splitlines()
    assert first.startswith("choose: 0 facts inserted, 1 deleted; ")
    assert component.strip().startswith("one, more: ranked; deletion 2, ")


def test_the_same_as_json(engine: str) -> None:
    kb = everlog.open(engine=engine)
    kb.add_rules(RULES)
    kb.insert("edge", [(1, 2), (2, 3)])
    told = json.loads(json.dumps(kb.update(delete={"edge": [(1, 2), (8, 9)]}, strategy="dred").report.as_data()))
    assert (told["strategy"], told["deleted"], told["not_there"]) == ("dred", 1, 1)
    (component,) = told["components"]
    assert (component["component"], component["strategy"]) == ("one, more", "dred")
    assert component["lost"] == {"path": 2}
    assert set(component["rule_applications"]) == {"deletion", "backward", "insertion"}
