"""How much more does a plan look at than the best order of the same rule would?

Counted in bindings made and rows passed over, which no machine changes. What is stated here holds for small rules over
small relations, whose statistics are exact up to the dependence between columns, which nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from itertools import permutations
from typing import TypeVar
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everlog
from everlog.dictionary.dictionary import Dictionary
from everlog.engines.columnar import runs
from everlog.engines.columnar.engine import ColumnarEngine
from everlog.engines.interface import Phase, Shape
from everlog.facts.terms import IRI, RDF_TYPE
from everlog.limits import Limits
from everlog.plans import join_order
from everlog.plans.delta_variants import full_variant
from everlog.plans.flat_rules import FlatRule
from everlog.rules.syntax import Atom, Variable

T = TypeVar("T")

MULTIPLE, PASSES = 8, 2  # at most so many times what the best order looks at, and passes over what the rule reads

sizes = st.sampled_from([0, 3, 30, 300, 2000])
relations = st.tuples(sizes, st.sampled_from([3, 40, 1000]), st.sampled_from([3, 40, 1000]), st.integers(0, 9))
bodies = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("xyz"), st.sampled_from("xyzw")), min_size=2, max_size=3)


@settings(max_examples=max(40, settings().max_examples), deadline=None)
@given(st.lists(relations, min_size=3, max_size=3), bodies)
def test_a_plan_is_near_the_best_order(
    given_: list[tuple[int, int, int, int]], body: list[tuple[int, str, str]]
) -> None:
    engine = ColumnarEngine(Dictionary())
    engine.declare(Shape("out", 1))
    for number, (size, left, right, seed) in enumerate(given_):
        engine.declare(Shape(f"r{number}", 2))
        chance = np.random.default_rng(seed)
        columns = [(1 + chance.integers(0, values, size)).astype(np.int32) for values in (left, right)]
        engine.load(f"r{number}", columns, size)
    atoms = tuple(Atom(f"r{number}", (Variable(one), Variable(other))) for number, one, other in body)
    rule = FlatRule("rule", (Atom("out", (Variable(body[0][1]),)),), atoms)
    chosen = _looked_at(engine, rule)
    best = chosen
    for order in permutations(range(len(atoms))):
        with patch.object(join_order, "atom_order", lambda *_, order=order: order):
            best = min(best, _looked_at(engine, rule))
    assert chosen <= MULTIPLE * best + PASSES * sum(given_[number][0] for number, _, _ in body)


def _looked_at(engine: ColumnarEngine, rule: FlatRule) -> int:
    run = runs.PhaseRun(engine, Phase("rule", (full_variant(rule),), (), ("out",)))
    run.go(Limits().watch())
    return run.looked_at


RULES = """
    PREFIX : <urn:>
    [?x, a, :Person] :- [?x, a, :Student].
    [?x, a, :Person] :- [?x, a, :Professor].
    [?x, a, :Organization] :- [?x, a, :Department].
    [?x, a, :Organization] :- [?x, a, :Employer].
    [?x, a, :Employee] :- [?x, a, :Person], [?x, :worksFor, ?y], [?y, a, :Organization].
    [?x, a, :Person] :- [?x, a, :Employee].
    [?y, a, :Employer] :- [?x, a, :Employee], [?x, :worksFor, ?y].
"""


def _noting(go: Callable[..., T], looked_at: list[int]) -> Callable[..., T]:
    def noting(run: runs.Driver, *args: object) -> T:
        done = go(run, *args)
        looked_at.append(run.looked_at)
        return done

    return noting


@pytest.mark.parametrize("strategy", ["choose", "ranked", "dred", "bf", "bf-counting", "rematerialise"])
@pytest.mark.parametrize("rules_first", [True, False])
def test_what_is_empty_at_first_is_not_paired_with_everything(strategy: str, rules_first: bool) -> None:
    """Persons and organizations come while the component runs; each pair of them would be 12 million."""
    a, person = IRI(RDF_TYPE), [IRI(f"urn:p{n}") for n in range(6_000)]
    triples = [(one, a, IRI("urn:Student" if n % 3 else "urn:Professor")) for n, one in enumerate(person)]
    triples += [(IRI(f"urn:d{n}"), a, IRI("urn:Department")) for n in range(2_000)]
    triples += [(one, IRI("urn:worksFor"), IRI(f"urn:d{n // 3}")) for n, one in enumerate(person)]
    kb = everlog.open(engine="columnar", strategy=strategy)
    kb.insert("triple", [(IRI("urn:q"), IRI("urn:r"), IRI("urn:s"))])
    if rules_first:
        kb.add_rules(RULES)
    looked_at = []
    runs_ = (runs.PhaseRun, runs.SweepRun)
    with ExitStack() as stack:
        for kind in runs_:
            stack.enter_context(patch.object(kind, "go", _noting(kind.go, looked_at)))
        kb.insert("triple", triples)
        if not rules_first:
            kb.add_rules(RULES)
        kb.delete("triple", triples[:50])
    assert 0 < sum(looked_at) < 40 * len(triples)
    assert sum(row[2] == IRI("urn:Employee") for row in kb.facts("triple")) == 6_000 - 50
