"""A computed value is a key: it is looked up, and never compared with everything there is."""

from __future__ import annotations

import time

import pytest

import everlog
from everlog.plans.explain import explain_as_data
from everlog.plans.flat_rules import FlatRule, flatten_rules
from everlog.rules.names import name_rules
from everlog.rules.parser import parse_program

WAYS = [
    "next(?n, ?n + 1) :- number(?n), number(?n + 1).",
    "next(?n, ?m) :- number(?n), number(?m), ?m = ?n + 1.",
    "next(?n, ?m) :- number(?n), number(?m), ?n + 1 = ?m.",
    "next(?n, ?m) :- number(?m), number(?n), BIND(?n + 1 AS ?m).",
]


def steps(text: str) -> list[str]:
    return [
        step for component in explain_as_data(parse_program(text)) for v in component["variants"] for step in v["steps"]
    ]


@pytest.mark.parametrize("way", WAYS)
def test_the_value_is_kept_and_looked_up(way: str) -> None:
    found = steps(way)
    assert found[0] == "scan number(?n)"
    assert not any(step.startswith("keep if") for step in found)
    assert len([step for step in found if step.startswith("look up") or step.startswith("probe")]) == 1


def test_what_needs_two_atoms_is_looked_up_without_being_kept() -> None:
    rules = name_rules(parse_program("p(?z) :- a(?x), b(?y), c(?x + ?y, ?z).").rules)
    (flat,) = flatten_rules(rules)
    assert isinstance(flat, FlatRule)
    assert steps("p(?z) :- a(?x), b(?y), c(?x + ?y, ?z).")[-2].startswith("probe c(?_v1, ?z) on column 1")


def test_a_condition_on_one_atom_is_no_key() -> None:
    rules = name_rules(parse_program("p(?x) :- a(?x, ?y), ?y = ?x + 1, b(?y).").rules)
    assert len(flatten_rules(rules)) == 1


def test_chained_values_are_kept_together() -> None:
    text = "p(?x) :- a(?x), ?y = ?x + 1, ?z = ?y * 2, b(?z)."
    kept = flatten_rules(name_rules(parse_program(text).rules))[1]
    assert isinstance(kept, FlatRule)
    assert [variable.name for variable in kept.heads[0].variables()] == ["x", "y", "z"]


@pytest.mark.parametrize("way", WAYS)
def test_many_numbers_find_their_successors(way: str) -> None:
    """100,000 of them, in far less time than a product of two thousand would take; then changes on either side."""
    kb = everlog.open()
    kb.insert("number", [(n,) for n in range(100_000)])
    started = time.process_time()
    kb.add_rules(way)
    assert time.process_time() - started < 1.5  # 0.03 s by itself; kernels may have to be loaded
    assert len(kb.facts("next")) == 99_999
    started = time.process_time()
    assert kb.insert("number", [(n,) for n in range(100_000, 101_000)]).counts()["next"] == (1000, 0)
    assert kb.delete("number", [(n,) for n in range(5, 2000, 2)]).counts()["next"] == (0, 1996)
    assert time.process_time() - started < 5


def test_a_recursion_takes_a_step_per_fact() -> None:
    kb = everlog.open()
    kb.insert("number", [(n,) for n in range(4000)])
    started = time.process_time()
    kb.add_rules("fib(0, 0).  fib(1, 1).  fib(?n, mod(?x + ?y, 1000)) :- number(?n), fib(?n - 1, ?x), fib(?n - 2, ?y).")
    assert len(kb.facts("fib")) == 4000
    assert time.process_time() - started < 6  # 0.2 s; a product of what has been found takes 40 s
