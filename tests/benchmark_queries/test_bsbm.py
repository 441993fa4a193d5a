"""Do BSBM's 20 queries have the answers that they should have, asked once and as views, while products come?

Types of products are derived by a rule: what BSBM's generator adds with forward chaining on.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from benchmarks.datasets.shared_data import shared_data
from tests.benchmark_queries.answers import (
    SEEDS,
    asked,
    check_round_trip,
    differing,
    expected_counts,
    kept,
    queries_in,
    triples_in,
    view_of_each,
    without_limits,
)
from tests.shared_files import skipped_without_data

import everlog
from everlog import KnowledgeBase

pytestmark = pytest.mark.slow

RULE = """
    PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
    [?x, a, ?d] :- [?x, a, ?c], [?c, rdfs:subClassOf, ?d].
"""
SHOP = "bsbm100.nt.gz"


@pytest.fixture(scope="module")
def home() -> Path:
    with skipped_without_data():
        return shared_data("bsbm")


@pytest.fixture(scope="module")
def queries(home: Path) -> dict[str, str]:
    return queries_in(home / "queries" / "instances")


@pytest.fixture
def kb() -> KnowledgeBase:
    kb = everlog.open()
    kb.add_rules(RULE)
    return kb


def test_the_rule_derives_what_the_generator_adds(kb: KnowledgeBase, home: Path) -> None:
    given, added = triples_in(home / SHOP), triples_in(home / "bsbm100-inferred-types.nt")
    change = kb.insert("triple", given)
    assert set(change.gained("triple")) - set(given) == set(added)


def test_asked(kb: KnowledgeBase, home: Path, queries: dict[str, str]) -> None:
    kb.load(home / SHOP)
    for wanted, column in ((queries, "solutions"), (without_limits(queries), "solutions_without_limit_offset")):
        counts = {name: len(rows) for name, rows in asked(kb, wanted).items()}
        assert counts == expected_counts(home / "expected_counts.tsv", column)
    assert not differing(kb, queries)


@pytest.mark.parametrize("seed", SEEDS)
def test_as_views(kb: KnowledgeBase, home: Path, queries: dict[str, str], seed: int) -> None:
    kb.load(home / SHOP)
    refused = view_of_each(kb, queries)
    assert refused.keys() == {"explore-q09"} and "DESCRIBE" in refused["explore-q09"]
    counts = expected_counts(home / "expected_counts.tsv", "solutions")
    assert {name: len(rows) for name, rows in kept(kb.views()).items()} == {
        name: count for name, count in counts.items() if name not in refused
    }
    check_round_trip(kb, queries, triples_in(home / SHOP), seed)


def test_with_triples_missing(kb: KnowledgeBase, home: Path, queries: dict[str, str]) -> None:
    given = triples_in(home / SHOP)
    kb.insert("triple", given)
    kb.delete("triple", given[::40])
    assert kb.verify()
    assert not differing(kb, queries)


@pytest.mark.parametrize("products", [10, pytest.param(50, marks=pytest.mark.nightly)])
def test_products_come_one_by_one(
    kb: KnowledgeBase, home: Path, queries: dict[str, str], tmp_path: Path, products: int
) -> None:
    """Each with its offers and reviews, into a shop that has fifty."""
    kb.load(home / "bsbm100-base.nt.gz")
    view_of_each(kb, queries)
    own = {view.name: queries[view.name] for view in kb.views()}
    with gzip.open(home / "bsbm100-updates.nt.gz", "rt", encoding="utf-8") as file:
        transactions = [text for text in file.read().split("#__SEP__") if text.strip()]
    assert len(transactions) == 50
    path = tmp_path / "transaction.nt"
    for number, transaction in enumerate(transactions[:products], start=1):
        path.write_text(transaction, encoding="utf-8")
        kb.load(path)
        if number % 5 == 0:
            assert kept(kb.views()) == asked(kb, own), f"after {number} products"
    if products == 50:
        whole = everlog.open()
        whole.add_rules(RULE)
        whole.load(home / SHOP)
        assert kept(kb.views()) == asked(whole, own)
