"""Do rule changes run on the paper's data, and is a wrong state noticed?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from benchmarks.datasets.shared_data import shared_data
from benchmarks.experiments.rules.chain_changes import chain_lines, extra_lines
from benchmarks.experiments.rules.data import RS1, RS2, RS3, Facts, four_chains, rs1, rs2, rs3, turbines
from benchmarks.experiments.rules.report import growth, singles, times_faster
from benchmarks.experiments.rules.run import rule_lines
from benchmarks.experiments.rules.there_and_back import Trip, derived_facts, from_scratch, measure
from tests.shared_files import skipped_without_data

from everlog.errors import EngineError
from everlog.formats.reading import read_facts
from everlog.rules.parser import parse_program
from everlog.store.changes import Change
from everlog.store.opening import open as open_kb
from everlog.store.store import KnowledgeBase

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parents[3] / "benchmarks" / "programs"


@pytest.mark.parametrize(("file", "facts"), [("ds1_n50", turbines(1, 50)), ("ds2_w50", four_chains(50))])
def test_data_is_that_of_the_paper(file: str, facts: Facts) -> None:
    with skipped_without_data():
        path = shared_data("zodiac", f"{file}.jsonl.gz")
    published, made = open_kb(), open_kb()
    published.update(insert=read_facts(path))
    made.update(insert=facts)
    assert {relation.name for relation in made.relations()} == set(facts)
    assert all(list(published.facts(name).sorted()) == list(made.facts(name).sorted()) for name in facts)


@pytest.mark.parametrize(("file", "rules"), [("rs1", RS1), ("rs2", RS2), ("rs3", RS3)])
def test_rules_are_those_of_the_other_benchmarks(file: str, rules: dict[str, str]) -> None:
    there = parse_program((PROGRAMS / f"{file}.dl").read_text(encoding="utf-8"), file).rules
    here = parse_program("\n".join(f"{name}: {rule}" for name, rule in rules.items()), file).rules
    assert [(r.name, r.heads, r.body) for r in here] == [(r.name, r.heads, r.body) for r in there]


def test_as_many_facts_as_in_table_1() -> None:
    assert from_scratch(rs2(50), 1).derived == 27_325
    assert from_scratch(rs3(50), 1).derived == 27_026
    assert derived_facts(rs1(50).open()) == 2_600


def test_every_rule_goes_and_comes() -> None:
    home, lines = rule_lines(rs3(4), 1)
    assert len(lines) == 2 * (18 + 2)
    assert all(line["scratch"] == home.taken.as_data() for line in lines if line["step"] == "add")
    assert [(line["step"], line["what"]) for line in lines[-2:]] == [
        ("remove", "r10, r15, r18"),
        ("add", "r10, r15, r18"),
    ]
    assert not any(line["rebuilt"] for line in lines)
    assert all(line["gained"] == 0 for line in lines if line["what"] == "r17" and line["step"] == "remove")


@pytest.mark.parametrize("rewrites", [True, False])
def test_chains_of_two_lengths(rewrites: bool) -> None:
    lines = list(chain_lines([4, 8], rewrites, 1))
    assert len(lines) == 2 * 9  # from scratch, and four times out and in
    assert set(growth(lines, rewrites=rewrites)) == {(line["what"], line["step"]) for line in lines}
    more = list(extra_lines(10, [10, 50], rewrites, 1))
    assert [line["gained"] + line["lost"] > 0 for line in more] == [True] * 4


def test_a_wrong_state_is_noticed() -> None:
    home = rs2(4)

    def too_much(kb: KnowledgeBase) -> Change:
        return kb.remove_rules(["r17", "r18"])

    back = partial(KnowledgeBase.add_rules, rules=home.text(["r17", "r18"]))
    trip = Trip("r18", home.without(["r18"]), (("remove", too_much), ("add", back)))
    with pytest.raises(EngineError, match="r18, remove: not the facts of a run from scratch"):
        measure(home.open(), from_scratch(home, 1), trip, 1)


def test_growth_is_the_exponent_of_the_last_step() -> None:
    def line(turbines: int, seconds: float) -> dict[str, Any]:
        return {"rewrites": True, "turbines": turbines, "what": "edge", "step": "add", "seconds": seconds}

    found = growth([line(50, 1.0), line(100, 1.0), line(200, 4.0)], rewrites=True)
    assert found == {("edge", "add"): pytest.approx(2.0)}


def test_single_rules_are_told_from_combinations() -> None:
    lines = [
        {"rule set": "RS2", "what": "r3", "seconds": 0.5, "scratch": {"seconds": 2.0}},
        {"rule set": "RS2", "what": "r10, r15, r17", "seconds": 1.0, "scratch": {"seconds": 1.0}},
        {"rule set": "RS3", "what": "r3", "seconds": 1.0, "scratch": {"seconds": 1.0}},
    ]
    assert [times_faster(each) for each in singles(lines, "RS2")] == [4.0]
