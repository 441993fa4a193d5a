"""Which components can be divided, by which argument, and what does a part need?"""

from __future__ import annotations

from pathlib import Path

import benchmarks.programs
import pytest

from everlog.maintenance.materialise import evaluation_components
from everlog.plans.flat_rules import EvaluatedRule
from everlog.plans.partitioned import Role, partition_rules
from everlog.plans.pivots import NoPivot, Pivot, component_pivot
from everlog.plans.rewrites import rewrite_rules
from everlog.plans.stages import overlapping, plan_stages
from everlog.rules.components import Component
from everlog.rules.names import name_rules
from everlog.rules.parser import parse_program

PROGRAMS = Path(benchmarks.programs.__file__).parent


def components(text: str, *, rewrites: bool = True) -> list[Component[EvaluatedRule]]:
    rules = name_rules(parse_program(text).rules)
    return evaluation_components(rewrite_rules(rules, enabled=rewrites).rules)


def pivots(text: str, *, rewrites: bool = True) -> list[Pivot | NoPivot]:
    """The pivots of recursive components."""
    return [component_pivot(each) for each in components(text, rewrites=rewrites) if each.recursive]


CLOSURES = {
    "p(X, Y) :- e(X, Y).  p(X, Z) :- p(X, Y), e(Y, Z).": "c1",
    "p(X, Y) :- e(X, Y).  p(X, Z) :- e(X, Y), p(Y, Z).": "c2",
    "p(X, Y) :- e(X, Y).  p(X, Z) :- p(X, Y), p(Y, Z).": "c1",
    "p(X, Y) :- e(X, Y).  p(X, Z) :- p(X, Y), e(Y, Z), not q(X).": "c1",
    "p(G, X, Y) :- e(G, X, Y).  p(G, X, Z) :- p(G, X, Y), p(G, Y, Z).": "c1",
    "a(X, Y) :- e(X, Y).  a(X, Z) :- b(Y, X), e(Y, Z).  b(Y, X) :- a(X, Y).": "a c1, b c2",
}


@pytest.mark.parametrize("text", CLOSURES)
def test_what_stays_in_place(text: str) -> None:
    (pivot,) = pivots(text)
    assert str(pivot) == CLOSURES[text]


REASONS = {
    "s(X, Y) :- e(P, X), e(P, Y).  s(X, Y) :- e(A, X), s(A, B), e(B, Y).": "r2 keeps no argument in place from "
    "s(?A, ?B) to s(?X, ?Y)",
    "r(X) :- start(X).  r(Y) :- r(X), e(X, Y).": "r2 keeps no argument in place from r(?X) to r(?Y)",
    "p(X, Y) :- e(X, Y).  p(X, Z) :- p(X, Y), e(Y, Z).  p(Z, Y) :- p(X, Y), e(X, Z).": "r3 keeps another argument in "
    "place than the rules before it, from p(?X, ?Y) to p(?Z, ?Y)",
    "c(M) :- c(N), N < 5, BIND(N + 1 AS M).": "r1 keeps no argument in place from c(?N) to c(?M)",
    "a() :- b(X).  b(X) :- a(), c(X).": "r1 concludes a fact without arguments: there is nothing to divide it by",
}


@pytest.mark.parametrize("text", REASONS)
def test_why_not(text: str) -> None:
    (pivot,) = pivots(text, rewrites=False)
    assert str(pivot) == REASONS[text]


@pytest.mark.parametrize(
    ("program", "recursive", "divided"),
    [
        ("closure", 1, 1),
        ("wordnet", 1, 1),
        ("wordnet_triples", 1, 1),
        ("debian", 1, 1),
        ("lubm", 4, 4),
        ("rs2", 5, 3),
        ("rs3", 5, 3),
        ("galen", 1, 0),
        ("hierarchy", 1, 0),
    ],
)
def test_programs_of_the_benchmarks(program: str, recursive: int, divided: int) -> None:
    found = pivots((PROGRAMS / f"{program}.dl").read_text(encoding="utf-8"))
    assert (len(found), sum(isinstance(each, Pivot) for each in found)) == (recursive, divided)


def test_an_exit_rule_that_cannot_be_divided_is_evaluated_before() -> None:
    (pivot,) = pivots("r(a, Y) :- e(Y).  r(X, Y) :- s(X, Y).  r(X, Z) :- r(X, Y), f(Y, Z).")
    assert isinstance(pivot, Pivot) and [rule.name for rule in pivot.outside] == ["r1"]


def test_a_closure_that_waits_for_shared_values_is_divided_while_there_are_none() -> None:
    (pivot,) = pivots("p(X, Z) :- p(X, Y), p(Y, Z), X != Z.")
    assert isinstance(pivot, Pivot) and pivot.unless == ("r1~shared",)


def test_roles_of_a_relation() -> None:
    text = """
        [?x, a, <urn:T>] :- [?y, <urn:p>, ?x].
        [?x, a, ?d] :- [?x, a, ?c], [?c, <urn:s>, ?d].
    """
    (component,) = components(text)
    pivot = component_pivot(component)
    assert isinstance(pivot, Pivot)
    divided = partition_rules([component], pivot)
    assert set(divided.needs) == {Role("triple", 0), Role("triple", 2), Role("triple", None)}
    assert set(divided.gives) == {Role("triple", 0)}
    names = [[atom.relation for atom in rule.atoms] for rule in divided.components[0].rules]  # type: ignore[union-attr]
    assert names == [["triple@3"], ["triple@1", "triple@all"]]


def test_components_with_a_common_pivot_share_a_stage() -> None:
    text = """
        p(X, Y) :- e(X, Y).  p(X, Z) :- p(X, Y), e(Y, Z).
        fan(X, N) :- AGGREGATE(p(X, Y) ON X BIND COUNT(Y) AS N).
        wide(X) :- fan(X, N), N > 2, not odd(X).
        back(Y, X) :- p(X, Y), wide(Y).
    """
    stages = plan_stages(components(text))
    assert [len(stage.components) for stage in stages] == [5, 1]  # p; rows, groups and heads of fan; wide; then back
    assert [str(stage.pivot) for stage in stages] == ["c1", "c1"]


def test_facts_of_two_components_are_noticed() -> None:
    assert not overlapping(components("p(X) :- q(X).  r(X) :- p(X)."))
