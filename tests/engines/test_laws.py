"""Does each engine keep the laws that engines/interface.py states?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog.engines.interface import Engine, Phase, Shape
from everlog.facts.weighted import WeightedFacts
from everlog.limits import Limits
from everlog.maintenance.fixpoint import _run_round_by_round
from everlog.maintenance.materialise import component_phase, evaluation_components, shapes
from everlog.plans.delta_variants import full_variant
from everlog.plans.flat_rules import FlatRule
from everlog.rules.names import name_rules
from everlog.rules.parser import parse_program
from everlog.store.engines import make_dictionary, make_engine

Facts = set[tuple[int, ...]]

CLOSURE = "path(X, Y) :- edge(X, Y).  path(X, Z) :- path(X, Y), path(Y, Z)."
WIDE = "t(X, Y, Z) :- e(X, Y, Z).  t(X, Z, W) :- t(X, Y, W), t(Y, Z, W)."


def facts_of(columns: WeightedFacts) -> Facts:
    if not columns.columns:
        return {()} if columns.rows else set()
    return set(zip(*(column.tolist() for column in columns.columns), strict=True))


def columns_of(facts: Facts | list[tuple[int, ...]], arity: int) -> list[np.ndarray]:
    return [np.array([fact[position] for fact in facts], np.int32) for position in range(arity)]


def prepared(name: str, rules: str, facts: dict[str, list[tuple[int, ...]]]) -> tuple[Engine, Phase]:
    """An engine with facts, and the phase of the only component of some rules."""
    components = evaluation_components(name_rules(parse_program(rules).rules))
    engine = make_engine(name, make_dictionary(name))
    for shape in shapes(components):
        engine.declare(shape)
    for relation, rows in facts.items():
        arity = len(rows[0]) if rows else 2
        engine.declare(Shape(relation, arity))
        engine.load(relation, columns_of(rows, arity), len(rows))
    assert len(components) == 1
    return engine, component_phase(components[0])


def pairs(least: int = 0) -> st.SearchStrategy[list[tuple[int, int]]]:
    return st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=least, max_size=20)


IDS = st.integers(-5, 5).filter(lambda id_: id_ != -1)  # the dictionary never gives out -1


@given(facts=st.lists(st.tuples(IDS, IDS, IDS), max_size=30), arity=st.integers(0, 3))
def test_load_then_collect_gives_back_the_distinct_facts(engine: str, facts: list[tuple[int, ...]], arity: int) -> None:
    cut = [fact[:arity] for fact in facts]
    loaded = make_engine(engine, make_dictionary(engine))
    loaded.declare(Shape("r", arity))
    assert loaded.load("r", columns_of(cut, arity), len(cut)) == len(set(cut))
    assert loaded.load("r", columns_of(cut, arity), len(cut)) == 0
    assert facts_of(loaded.collect("r")) == facts_of(loaded.collect("r", explicit=True)) == set(cut)
    assert loaded.count("r") == len(set(cut))


@given(there=pairs(), asked=pairs())
def test_contains_says_which_facts_are_there(engine: str, there: list, asked: list) -> None:
    loaded = make_engine(engine, make_dictionary(engine))
    loaded.declare(Shape("r", 2))
    loaded.load("r", columns_of(there, 2), len(there))
    found = loaded.contains("r", columns_of(asked, 2), len(asked))
    assert [bool(answer) for answer in found] == [fact in set(there) for fact in asked]
    assert not any(loaded.contains("unknown", columns_of(asked, 2), len(asked)))


@given(edges=pairs(1))
def test_conclusions_wait_until_the_round_is_over(engine: str, edges: list) -> None:
    prepared_engine, phase = prepared(engine, CLOSURE, {"edge": edges})
    prepared_engine.begin(phase.relations)
    prepared_engine.derive(phase.first)
    gained = prepared_engine.advance(phase.relations)
    # The transitive rule found nothing yet: in the first round it read a path relation without facts.
    assert gained == {"path": len(set(edges))}
    assert facts_of(prepared_engine.collect("path")) == set(edges)


@given(edges=pairs(1))
def test_a_phase_run_whole_equals_one_run_round_by_round(engine: str, edges: list) -> None:
    whole, phase = prepared(engine, CLOSURE, {"edge": edges})
    stepwise, _ = prepared(engine, CLOSURE, {"edge": edges})
    report = whole.run(phase, Limits().watch())
    other = _run_round_by_round(stepwise, phase, Limits().watch())
    if report is not None:
        assert facts_of(whole.collect("path")) == facts_of(stepwise.collect("path"))
        assert (report.rounds, report.rule_applications, report.gained) == (
            other.rounds, other.rule_applications, other.gained,
        )  # fmt: skip


@given(edges=pairs(1))
def test_engines_agree_on_counts_no_machine_changes(engine: str, edges: list) -> None:
    one, phase = prepared(engine, CLOSURE, {"edge": edges})
    reference, _ = prepared("reference", CLOSURE, {"edge": edges})
    report = one.run(phase, Limits().watch()) or _run_round_by_round(one, phase, Limits().watch())
    expected = _run_round_by_round(reference, phase, Limits().watch())
    applications = expected.rule_applications if one.capabilities.counts else 0
    assert (report.rounds, report.rule_applications) == (expected.rounds, applications)


@given(rows=st.lists(st.tuples(*[st.integers(1, 5)] * 3), min_size=1, max_size=25))
def test_wide_facts_take_the_same_way(engine: str, rows: list) -> None:
    one, phase = prepared(engine, WIDE, {"e": rows})
    reference, _ = prepared("reference", WIDE, {"e": rows})
    if one.run(phase, Limits().watch()) is None:
        _run_round_by_round(one, phase, Limits().watch())
    _run_round_by_round(reference, phase, Limits().watch())
    assert facts_of(one.collect("t")) == facts_of(reference.collect("t"))


@given(edges=pairs(1))
def test_a_bag_counts_bindings(engine: str, edges: list) -> None:
    prepared_engine, phase = prepared(engine, "out(X) :- edge(X, Y).", {"edge": edges})
    rule = phase.first[0].rule
    bag = FlatRule("bag", (rule.heads[0].__class__("bag", rule.heads[0].args),), rule.atoms, bag=True)
    prepared_engine.declare(Shape("bag", 1, bag=True))
    prepared_engine.begin(["bag"])
    applications = prepared_engine.derive([full_variant(bag)])
    assert applications == (len(set(edges)) if prepared_engine.capabilities.counts else 0)
    prepared_engine.advance(["bag"])
    assert {x: weight for (x,), weight in prepared_engine.collect("bag").facts()} == {
        x: len({e for e in edges if e[0] == x}) for x, _ in edges
    }


@given(before=pairs(1), after=pairs(1))
def test_abort_undoes_deriving_from_scratch(engine: str, before: list, after: list) -> None:
    prepared_engine, phase = prepared(engine, CLOSURE, {"edge": before})
    prepared_engine.commit()
    names = ("edge", "path")
    state = [facts_of(prepared_engine.collect(n, explicit=e)) for n in names for e in (False, True)]
    prepared_engine.begin_from_scratch()
    prepared_engine.declare(Shape("other", 1))
    prepared_engine.load("other", columns_of([(1,)], 1), 1)
    prepared_engine.load("edge", columns_of(after, 2), len(after))
    run(prepared_engine, phase)
    changes = prepared_engine.changes()
    assert facts_of(changes["other"]) == {(1,)}
    assert facts_of(changes["path"]) == facts_of(prepared_engine.collect("path"))
    assert ("edge" in changes) == bool(set(after) - set(before))
    prepared_engine.abort()
    assert [facts_of(prepared_engine.collect(n, explicit=e)) for n in names for e in (False, True)] == state
    assert not any(prepared_engine.contains("other", columns_of([(1,)], 1), 1))
    # What was undone can be derived and loaded again.
    prepared_engine.load("edge", columns_of(after, 2), len(after))
    run(prepared_engine, phase)
    fresh, _ = prepared(engine, CLOSURE, {"edge": [*before, *after]})
    run(fresh, phase)
    assert facts_of(fresh.collect("path")) == facts_of(prepared_engine.collect("path"))


def run(engine: Engine, phase: Phase) -> None:
    if engine.run(phase, Limits().watch()) is None:
        _run_round_by_round(engine, phase, Limits().watch())


@pytest.mark.parametrize("size", [1023, 1024, 1025, 5000])
def test_batches_and_growth_lose_nothing(engine: str, size: int) -> None:
    if engine == "reference" and size > 1025:
        pytest.skip("nested loops over thousands of facts take long and test nothing here")
    number = make_dictionary(engine).encode  # small integers live in their ids
    line = [(number(place), number(place + 1)) for place in range(1, size + 1)]
    prepared_engine, phase = prepared(engine, "out(Y, X) :- edge(X, Y), Y != 2.", {"edge": line})
    if prepared_engine.run(phase, Limits().watch()) is None:
        _run_round_by_round(prepared_engine, phase, Limits().watch())
    assert facts_of(prepared_engine.collect("out")) == {(y, x) for x, y in line if y != number(2)}
