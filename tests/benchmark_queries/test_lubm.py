"""Do LUBM's 14 queries have the answers that its ontology gives them, asked once and as views?"""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.datasets.shared_data import shared_data
from benchmarks.workload import rules_of
from tests.benchmark_queries.answers import (
    SEEDS,
    Triple,
    asked,
    check_round_trip,
    differing,
    expected_counts,
    kept,
    queries_in,
    triples_in,
    view_of_each,
)
from tests.shared_files import skipped_without_data

import everlog
from everlog import KnowledgeBase

pytestmark = pytest.mark.slow

ONTOLOGY, UNIVERSITY = "univ-bench.ttl", "LUBM1.nt.gz"
# A rule for each axiom; or rules for any ontology, which is data then. The second have members of unnamed classes too.
PROGRAMS = {"lubm": ([UNIVERSITY], 137_961), "lubm_ontology": ([ONTOLOGY, UNIVERSITY], 149_134 + 293)}


@pytest.fixture(scope="module")
def home() -> Path:
    with skipped_without_data():
        return shared_data("lubm")


@pytest.fixture(scope="module")
def queries(home: Path) -> dict[str, str]:
    return queries_in(home / "queries")


@pytest.fixture(scope="module")
def given(home: Path) -> list[Triple]:
    return triples_in(home / UNIVERSITY)


@pytest.fixture(scope="module", params=PROGRAMS)
def kb(request: pytest.FixtureRequest, home: Path, queries: dict[str, str]) -> KnowledgeBase:
    """With a view of each query."""
    files, size = PROGRAMS[request.param]
    kb = everlog.open()
    kb.add_rules(rules_of(request.param))
    for file in files:
        kb.load(home / file)
    assert len(kb.facts("triple")) == size
    assert not view_of_each(kb, queries)
    return kb


def test_without_rules(home: Path, queries: dict[str, str]) -> None:
    kb = everlog.open()
    kb.load(home / UNIVERSITY)
    answers = asked(kb, queries)
    assert {name: len(rows) for name, rows in answers.items()} == expected(home, "LUBM1_no_reasoning")


def test_asked_and_as_views(kb: KnowledgeBase, home: Path, queries: dict[str, str]) -> None:
    answers = asked(kb, queries)
    assert {name: len(rows) for name, rows in answers.items()} == expected(home, "LUBM1")
    assert kept(kb.views()) == answers


@pytest.mark.parametrize("seed", SEEDS)
def test_triples_go_and_come_back(kb: KnowledgeBase, queries: dict[str, str], given: list[Triple], seed: int) -> None:
    check_round_trip(kb, queries, given, seed)


def test_with_triples_missing(kb: KnowledgeBase, queries: dict[str, str], given: list[Triple]) -> None:
    """Views are not all that is to stay true: what follows from the rest is what a run from scratch gives."""
    kb.delete("triple", given[::100])
    assert kb.verify()
    assert not differing(kb, queries)
    kb.insert("triple", given[::100])


def expected(home: Path, column: str) -> dict[str, int]:
    return expected_counts(home / "expected_counts.tsv", column)
