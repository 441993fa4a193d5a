"""Do boxes and arrows show the program, and what a planned change does to it?"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from tests.cli.test_plan import RS2, SVG

from everlog.errors import NotFoundError, ProgramError
from everlog.rules.parser import parse_program
from everlog.rules.picture.dot import to_dot
from everlog.rules.picture.graph import MANY, Affected, Fate, RuleGraph, rule_graph, simplified
from everlog.rules.picture.lines import MOST_RULES, WIDTH, Kind, box_lines
from everlog.rules.picture.listing import to_text
from everlog.rules.picture.page import to_html
from everlog.rules.picture.svg import to_svg
from everlog.rules.planned import planned_change
from everlog.rules.syntax import Program


def graph(text: str, adding: str = "", removing: tuple[str, ...] = ()) -> RuleGraph:
    program = parse_program(text)
    return rule_graph(planned_change(program, parse_program(adding), removing, {}), program.prefixes)


def boxes(drawn: RuleGraph) -> dict[str, tuple[bool, Affected]]:
    """Each box by its rules, those that come with a plus, those that go with a minus."""
    signs = {Fate.STAYS: "", Fate.ADDED: "+", Fate.REMOVED: "-"}
    return {
        " ".join(f"{signs[each.fate]}{each.rule.name}" for each in box.rules): (box.recursive, box.affected)
        for box in drawn.boxes
    }


def test_the_paper_s_rule_set() -> None:
    drawn = graph(RS2)
    assert len(drawn.boxes) == 14 and not drawn.planned
    assert [name for name, (recursive, _) in boxes(drawn).items() if recursive] == [
        "r2 r3", "r5", "r7 r8", "r12 r13 r14",
    ]  # fmt: skip
    assert all(arrow.source < arrow.target and not arrow.gone for arrow in drawn.arrows)


def test_a_rule_that_goes_stays_where_the_rest_of_its_component_is() -> None:
    assert boxes(graph(RS2, removing=("r3",)))["r2 -r3"] == (True, Affected.DIRECTLY)


def test_a_component_that_falls_apart() -> None:
    drawn = graph(RS2, removing=("r14",))
    found = boxes(drawn)
    assert found["r12"] == found["r13"] == (False, Affected.DIRECTLY) and found["r17"] == (False, Affected.INDIRECTLY)
    assert found["-r14"] == (False, Affected.DIRECTLY)
    assert sum(arrow.gone for arrow in drawn.arrows) == 2  # r13 to r14 to r12
    assert ElementTree.fromstring(to_svg(drawn)) is not None  # for all that they go round


def test_components_that_merge() -> None:
    found = boxes(graph(RS2, adding="loop: p1(X, Y) :- p31(X, Y)."))
    assert found["r1 r2 r3 r15 r18 +loop"] == (True, Affected.DIRECTLY)
    assert found["r9"] == (False, Affected.INDIRECTLY) and found["r16"] == (False, Affected.NOT)


def test_a_rule_in_place_of_another() -> None:
    drawn = graph("a: p(X) :- q(X).   b: r(X) :- p(X).", adding="a: p(X) :- q(X), s(X).", removing=("a",))
    assert boxes(drawn) == {
        "-a": (False, Affected.DIRECTLY),
        "+a": (False, Affected.DIRECTLY),
        "b": (False, Affected.INDIRECTLY),
    }
    # Either concludes what the other could read, but they are never there together.
    turned = graph("a: p(X) :- q(X).", adding="b: q(X) :- p(X).", removing=("a",))
    assert turned.arrows == ()


def test_plans_that_would_be_refused() -> None:
    with pytest.raises(ProgramError):
        graph("a: p(X) :- q(X).", adding="b: q(X) :- r(X), NOT p(X).")
    with pytest.raises(NotFoundError):
        graph("a: p(X) :- q(X).", removing=("b",))
    with pytest.raises(ProgramError):
        planned_change(Program(), parse_program("p(X) :- q(X)."), (), {"q": 2})


def test_boxes_that_stand_alike_are_joined_in_large_graphs() -> None:
    text = (
        "".join(f"a{number}: p(X) :- q{number}(X).\n" for number in range(MANY)) + "b: r(X) :- p(X). c: r(X) :- s(X)."
    )
    drawn = graph(text)
    assert len(drawn.boxes) == MANY + 2
    joined = simplified(drawn)
    assert [(box.components, len(box.rules)) for box in joined.boxes] == [(MANY, MANY), (1, 1), (1, 1)]
    assert [(arrow.source, arrow.target) for arrow in joined.arrows] == [(0, 1)]
    lines = [line.text for line in box_lines(joined.boxes[0], joined)]
    assert lines[MOST_RULES:] == [f"… and {MANY - MOST_RULES} more rules", f"{MANY} components that stand alike"]
    assert simplified(graph(RS2)) == graph(RS2)


def test_long_rules_are_broken_between_atoms() -> None:
    body = ", ".join(f"relation_number_{number}(?x, ?y)" for number in range(5))
    drawn = graph(f"r: p(?x, ?y) :- {body}.")
    lines = box_lines(drawn.boxes[0], drawn)
    assert [line.kind for line in lines] == [Kind.RULE, Kind.REST, Kind.REST]
    assert all(len(line.text) <= WIDTH and line.text.endswith((",", ".", ":-")) for line in lines)


def test_what_is_odd_is_escaped() -> None:
    drawn = graph('a: p(?x) :- q(?x, "<&>\\"\\\\"), ?x < 3.')
    drawing = ElementTree.fromstring(to_svg(drawn))
    assert any("<&>" in "".join(text.itertext()) for text in drawing.iter(f"{SVG}text"))
    assert '\\"<&>' in to_dot(drawn)
    assert "<title>a &lt;b&gt;</title>" in to_html(drawn, title="a <b>")


def test_no_rules() -> None:
    drawn = graph("p(a).")
    assert "no rules" in to_svg(drawn) and to_text(drawn) == "0 components, 0 rules\n"
