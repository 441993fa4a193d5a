"""Are the components that a change of rules concerns the right ones?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.cli.test_plan import RS2

from everlog.rules.components import Component, hyper_nodes
from everlog.rules.dependencies import body_atoms
from everlog.rules.hypergraph import Hypergraph
from everlog.rules.parser import parse_program
from everlog.rules.syntax import Rule

RULES = {rule.name or "": rule for rule in parse_program(RS2).rules}
NUMBERS = {name: number for number, name in enumerate(RULES)}
READERS_OF_P20 = ["r12 r13 r14", "r17"]


def graph_of_rs2(owning: bool) -> Hypergraph[Rule]:
    return Hypergraph(body_atoms, owning=owning).changed((), RULES.values())[0]


def test_hyper_nodes_are_those_of_the_paper() -> None:
    kept = [component.rules for component in graph_of_rs2(owning=False).components]
    assert len(kept) == 14
    assert set(kept) == {component.rules for component in hyper_nodes(list(RULES.values()), body_atoms)}


@pytest.mark.parametrize(
    ("removed", "direct", "indirect"),
    [
        ("r10", [], READERS_OF_P20),
        ("r15", [], ["r18"]),
        ("r18", [], []),
        ("r14", ["r12", "r13"], ["r17"]),
        ("r3", ["r2"], ["r15", "r18", "r9", *READERS_OF_P20]),
    ],
)
def test_removing_and_adding_again(removed: str, direct: list[str], indirect: list[str]) -> None:
    before = graph_of_rs2(owning=False)
    after, impact = before.changed([NUMBERS[removed]], ())
    assert names(impact.direct) == direct and sorted(names(impact.indirect)) == sorted(indirect)
    again, impact = after.changed((), [RULES[removed]])
    assert {frozenset(component.rules) for component in again.components} == {
        frozenset(component.rules) for component in before.components
    }
    assert [removed in name.split() for name in names(impact.direct)] == [True]


def test_readers_of_a_component_that_goes_are_affected() -> None:
    before = graph_of_rs2(owning=True)
    _, impact = before.changed([NUMBERS["r15"]], ())
    assert (names(impact.direct), names(impact.indirect)) == ([], ["r18"])


def names(components: Sequence[Component[Rule]]) -> list[str]:
    """Components by the numbers of their rules."""
    return [" ".join(rule.name or "" for rule in RULES.values() if rule in each.rules) for each in components]
