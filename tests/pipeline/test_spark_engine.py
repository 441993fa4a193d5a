"""Does the Spark engine do what the stories say, and what the columnar engine does, by whichever way it takes?

A story takes a few jobs an update, so a dozen that between them use everything run always, and all of them at night.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.subjects import EngineSubject, Update, listing
from tests.test_cases import CASES, name_of, play, read

import everlog
from everlog.engines.spark.ids import id_of_key
from everlog.engines.spark.placement import Placement
from everlog.errors import ConstraintError
from everlog.facts.terms import IRI, Term
from everlog.pipeline.materialise import materialise_frames
from everlog.rules.parser import parse_program

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

ALWAYS = {
    "recursion_nonlinear",
    "recursion_mutual",
    "negation_with_a_local_variable",
    "negation_not_exists_with_a_filter_in_recursion",
    "negation_with_constants",
    "aggregate_several_per_atom",
    "aggregate_over_nothing",
    "comparison_across_types",
    "counting_up_to_a_bound",
    "expression_errors_fail_the_binding",
    "nullary_atoms",
    "triples_with_a_variable_predicate",
}


@pytest.mark.parametrize("path", [path for path in CASES if path.stem in ALWAYS], ids=name_of)
def test_case_on_spark(path: Path, spark: SparkSession) -> None:
    play(read(path), EngineSubject("spark"))


@pytest.mark.nightly
@pytest.mark.parametrize("path", [path for path in CASES if path.stem not in ALWAYS], ids=name_of)
def test_every_case_on_spark(path: Path, spark: SparkSession) -> None:
    play(read(path), EngineSubject("spark"))


def test_the_stories_that_always_run_exist() -> None:
    assert {path.stem for path in CASES} >= ALWAYS


def test_what_is_there_does_not_move(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    """Only conclusions are spread in a round, also where a rule that copies its body made the first facts."""
    placement = Placement(spark)
    facts = spark.createDataFrame([(1, 2), (2, 3)], "c1 long, c2 long")
    copied = placement.checkpoint(facts.selectExpr("c1 AS x", "c2 AS y").selectExpr("x AS c1", "y AS c2").distinct())
    placed = placement.place(spark.createDataFrame([(3, 4)], "c1 long, c2 long"), ["c1", "c2"])
    fresh = placement.not_there(facts.union(placed), copied.union(placed), ["c1", "c2"], 3)
    with placement.planned_fixed():
        fresh.explain()
    assert capsys.readouterr().out.count("Exchange hashpartitioning") == 1
    assert fresh.count() == 0


def test_rules_may_come_after_the_facts_that_they_add_to(spark: SparkSession) -> None:
    subject = EngineSubject("spark")
    subject.update(Update(insert={"near": [("a", "b")]}))
    subject.update(Update(add_rules="near(X, Y) :- near(Y, X)."))
    assert listing(subject.state()) == ['near("a, "b)', 'near("b, "a)']


@pytest.mark.nightly
def test_rounds_do_not_get_slower(spark: SparkSession) -> None:
    """A recursion that reads itself twice, for thirty rounds: estimates of sizes must not multiply."""
    subject = EngineSubject("spark")
    rules = "far(X, Y) :- next(X, Y).  far(X, Z) :- far(X, Y), far(Y, Z), near(X, Y)."
    pairs = [(number, number + 1) for number in range(30)]
    subject.update(Update(insert={"next": pairs, "near": pairs}, add_rules=rules))
    assert len(subject.state()["far"]) == 30 * 31 // 2


COMPARED = """
    less(X, Y) :- v(_, X), v(_, Y), X < Y.
    same(X, Y) :- v(_, X), v(_, Y), X = Y.
    next(Y) :- v(_, X), BIND(X + 1 AS Y).
    odd(X, Y) :- next(X), v(_, Y), X != Y.
"""


def test_terms_that_ids_cannot_compare_come_later(spark: SparkSession) -> None:
    on_spark, in_process = EngineSubject("spark"), EngineSubject("columnar")
    updates = [
        Update(insert={"v": [("a", 1), ("a", 2)]}, add_rules=COMPARED),
        Update(insert={"v": [("b", Decimal("2.0")), ("b", "x"), ("b", 2.5), ("b", IRI("urn:x")), ("b", "y")]}),
    ]
    for update in updates:
        assert on_spark.update(update) == in_process.update(update)
    assert listing(on_spark.state()) == listing(in_process.state())


AGGREGATED = """
    counts(G, N, D) :- AGGREGATE(v(G, K, X) ON G BIND COUNT(X) AS N BIND COUNT(DISTINCT X) AS D).
    sums(G, S) :- AGGREGATE(v(G, K, X) ON G BIND SUM(X) AS S).
    distinct(G, S) :- AGGREGATE(v(G, K, X) ON G BIND SUM(DISTINCT X) AS S).
    means(G, A) :- AGGREGATE(v(G, K, X) ON G BIND AVG(X) AS A).
    medians(G, M) :- AGGREGATE(v(G, K, X) ON G BIND MEDIAN(X) AS M).
    ends(G, L, H, S) :- AGGREGATE(v(G, K, X) ON G BIND MIN(X) AS L BIND MAX(X) AS H BIND SAMPLE(X) AS S).
    all(S, M) :- AGGREGATE(v(G, K, X) BIND SUM(X) AS S BIND MEDIAN(X) AS M).
    tenths(G, S, N) :- AGGREGATE(v(G, K, X) ON G BIND SUM(10 / X) AS S BIND COUNT(10 / X) AS N).
"""
BIG = 2**60 - 1  # the largest integer that lives in its id
GROUPS: dict[str, list[Term]] = {
    "odd": [3, -1, 3],
    "even": [3, -4],
    "thirds": [1, 1, 2],
    "zero": [0, 0],
    "sum beyond an id": [BIG, BIG],
    "sum beyond 64 bits": [BIG] * 9,
    "median beyond a double": [2**53 + 1, 2**53 + 3],
    "beyond an id": [2**64, 1],
    "mixed": [1, Decimal("1.5"), 2.5],
    "equal": [1, Decimal("1.0")],
    "no numbers": ["a", IRI("urn:x")],
    "some numbers": [1, "a"],
}


def test_groups_are_as_in_process(spark: SparkSession) -> None:
    rows = [(group, number, value) for group, values in GROUPS.items() for number, value in enumerate(values)]
    on_spark, in_process = EngineSubject("spark"), EngineSubject("columnar")
    update = Update(insert={"v": rows}, add_rules=AGGREGATED)
    on_spark.update(update), in_process.update(update)
    assert listing(on_spark.state()) == listing(in_process.state())


def test_progress_speaks_of_the_users_relations(spark: SparkSession) -> None:
    program = parse_program("most(M) :- AGGREGATE(n(X) BIND MAX(X) AS M), not none(M).  none(X) :- n(X), X < 0.")
    facts = spark.createDataFrame([(id_of_key(f"^integer {value}"),) for value in (1, 2)], "c1 long")
    lines: list[str] = []
    no_terms = spark.createDataFrame([], "id long, key string")
    found = materialise_frames(spark, program, {"n": facts}, no_terms, lines.append)
    assert {name: found.frame(name).count() for name in found.names()} == {"n": 2, "none": 0, "most": 1}
    assert {name for line in lines for name in line.partition(":")[0].split(", ")} == {"most", "none"}


def test_a_broken_constraint_ends_a_pipeline(spark: SparkSession) -> None:
    text = "twice(?x, ?y) :- n(?x), BIND(?x * 2 AS ?y).  @constraint small : twice(?x, ?y), ?y > {}."
    facts = spark.createDataFrame([(id_of_key(f"^integer {value}"),) for value in range(20)], "c1 long")
    no_terms = spark.createDataFrame([], "id long, key string")
    found = materialise_frames(spark, parse_program(text.format(99)), {"n": facts}, no_terms)
    assert set(found.names()) == {"n", "twice"}
    with pytest.raises(ConstraintError, match="the constraint small would be broken by") as refused:
        materialise_frames(spark, parse_program(text.format(9)), {"n": facts}, no_terms)
    assert refused.value.violations["small"] == [(number, 2 * number) for number in range(5, 15)]


def test_constraints_on_spark(spark: SparkSession) -> None:
    kb = everlog.open(engine="spark")
    kb.update(insert={"p": [("a",)]}, add_rules="@constraint known : p(?x), NOT q(?x), ?x != a.")
    with pytest.raises(ConstraintError) as refused:
        kb.insert("p", [("b",)])
    assert refused.value.violations == {"known": [("b",)]}
    assert kb.facts("p").sorted() == [("a",)] and kb.version == 1
    assert kb.update(insert={"p": [("b",)], "q": [("b",)]}).version == 2


def test_rows_without_a_value(spark: SparkSession) -> None:
    kb = everlog.open(engine="spark")
    kb.insert("triple", [(IRI("urn:a"), IRI("urn:p"), 1), (IRI("urn:b"), IRI("urn:p"), "x")])
    answer = kb.query("SELECT ?s (?n + 1 AS ?m) { ?s <urn:p> ?n } ORDER BY ?m")
    assert list(answer) == [(IRI("urn:b"), None), (IRI("urn:a"), 2)]
    assert answer.arrow().column("m").to_pylist() == [None, 2]
