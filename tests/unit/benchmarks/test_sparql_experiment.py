"""Do the workloads of the SPARQL benchmark run, is its data like BSBM's, and is a wrong answer noticed?"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from benchmarks.datasets.shared_data import shared_data
from benchmarks.experiments.sparql.side_by_side import SYSTEMS, compare
from benchmarks.experiments.sparql.systems.counting_sql import (
    Bgp,
    CountingSql,
    LeftJoin,
    Minus,
    Pattern,
    Project,
    make_graph,
)
from benchmarks.experiments.sparql.triples import ntriples
from benchmarks.experiments.sparql.workload import Workload
from benchmarks.experiments.sparql.workloads.hops import star, three_hops
from benchmarks.experiments.sparql.workloads.shop import BSBM, shop
from benchmarks.experiments.sparql.workloads.shop_views import explore, producers
from benchmarks.experiments.sparql.workloads.sums import sums
from tests.shared_files import skipped_without_data

from everlog.errors import EngineError
from everlog.formats.reading import read_facts

pytestmark = pytest.mark.slow

WORKLOADS = {
    "hops": lambda: three_hops(10, 2, nodes=30),
    "star": lambda: star(10, 2, nodes=20),
    "explore": lambda: explore(100, cycles=1),
    "producers": lambda: producers(20, cycles=1),
    "sums": lambda: sums(12, 8, cycles=2),
}


@pytest.mark.parametrize("name", WORKLOADS)
def test_all_systems_have_the_same_answers(name: str) -> None:
    workload: Workload = WORKLOADS[name]()
    runs = {system: list(run(workload)) for system, run in SYSTEMS.items()}
    for number, task in enumerate(workload.tasks, start=1):  # the first piece is about the data
        own = {system: run[number] for system, run in runs.items()}
        compare(task.name, own)
        assert all(len(run["lines"]) == sum(map(len, task.cycles)) for run in own.values())
        assert any(line["answers"] for line in own["everlog"]["lines"])


def test_other_answers_are_noticed() -> None:
    def run(answers: int) -> dict[str, Any]:
        return {"lines": [{"edit": "25 out, 25 in", "answers": answers, "digest": None}]}

    with pytest.raises(EngineError, match="after update 0, 25 out, 25 in, counting has other answers"):
        compare("three hops", {"everlog": run(3), "counting": run(4)})


def test_each_query_loses_and_regains_answers() -> None:
    _, *tasks = SYSTEMS["everlog"](explore(100, cycles=1))
    for task in tasks:
        answers = {line["edit"]: line["answers"] for line in task["lines"]}
        assert answers["delete relevant"] < answers["insert relevant"], task["task"]
        assert answers["delete irrelevant"] == answers["insert irrelevant"] == answers["insert relevant"]


def test_as_many_triples_of_each_predicate_as_bsbm() -> None:
    with skipped_without_data():
        paths = [shared_data("bsbm", name) for name in ("bsbm100.nt.gz", "bsbm100-inferred-types.nt")]
    original = _predicates([block for path in paths for block in read_facts(path)])
    made = _predicates(shop(100).blocks)
    assert made.keys() == original.keys()
    for predicate, count in original.items():
        # Few producers and optional properties of a hundred products vary; everything frequent does not.
        assert made[predicate] == pytest.approx(count, rel=0.1 if count > 500 else 0.35, abs=3), predicate


def test_the_same_seed_gives_the_same_shop() -> None:
    first, again, other = (b"".join(map(ntriples, shop(20, seed).blocks)) for seed in (1, 1, 2))
    assert first == again != other


def test_products_have_all_types_above_theirs() -> None:
    types = Counter()  # type: Counter[str]
    for block in shop(100).blocks:
        if block.columns[1][0].as_py().endswith("#type"):
            types.update(s for s in block.columns[0].to_pylist() if "/Product" in s and "dataFrom" in s)
    assert len(types) == 100 and set(types.values()) == {4}  # bsbm:Product, and three levels


@pytest.mark.parametrize(
    ("pattern", "before", "after"),
    [
        (Project(Bgp((("?x", "p", "?y"), ("?y", "p", "?z"))), ("x", "z")), [("a", "c")], [("b", "d")]),
        (LeftJoin(Bgp((("?x", "p", "?y"),)), Bgp((("?y", "p", "?z"),))), [("a", "b", "c"), ("b", "c", None)], None),
        (Minus(Bgp((("?x", "p", "?y"),)), Bgp((("?y", "p", "?z"),))), [("b", "c")], [("c", "d")]),
    ],
)
def test_delta_rules_of_the_paper(pattern: Pattern, before: list[Any], after: list[Any] | None) -> None:
    """a → b → c, of which the first edge goes and c → d comes."""
    connection = make_graph(numbers=False)
    connection.execute("INSERT INTO G VALUES ('a', 'p', 'b', 1), ('b', 'p', 'c', 1)")
    sql = CountingSql(connection, pattern)
    sql.fill()
    assert sorted(sql.rows(), key=str) == before
    sql.update([("a", "p", "b", -1), ("c", "p", "d", 1)])
    assert sorted(sql.rows(), key=str) == (after or [("b", "c", "d"), ("c", "d", None)])


def _predicates(blocks: Any) -> Counter[str]:
    found: Counter[str] = Counter()
    for block in blocks:
        found.update(block.columns[1].to_pylist())
    assert f"<{BSBM}productFeature" in found
    return found
