"""Does every way of deriving on Spark give what the rules mean?

The law, against the naive oracle, by each way: the whole program in one task, divided by pivots, as frames, and round
by round. Programs are small; what is at stake are the ways, not sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StructField, StructType
from tests import oracle
from tests.strategies import Story, program_stories

from everlog.engines.spark.ids import id_of_key
from everlog.engines.spark.task_errors import task_errors
from everlog.errors import ConstraintError, RoundLimitError
from everlog.facts.terms import IRI, RDF_TYPE, Term, key_of
from everlog.limits import Limits
from everlog.pipeline.bulk_settings import BulkSettings
from everlog.pipeline.materialise import Materialised, materialise_frames
from everlog.rules.parser import parse_program
from everlog.rules.syntax import Program

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

WAYS = ("one task", "pivot", "frames", "rounds")
Facts = Mapping[str, Sequence[tuple[Term, ...]]]


def derived(
    spark: SparkSession, program: Program, facts: Facts, way: str, limits: Limits | None = None, **others: object
) -> Materialised:
    """What a program derives by a way."""
    frames, terms = {}, {}
    for relation, rows in facts.items():
        keys = list(dict.fromkeys(tuple(map(key_of, row)) for row in rows))
        terms |= {id_of_key(key): key for row in keys for key in row}
        if not keys:
            continue
        if not keys[0]:
            frames[relation] = spark.range(1).select()
            continue
        schema = ", ".join(f"c{number} long" for number in range(1, len(keys[0]) + 1))
        frames[relation] = spark.createDataFrame([tuple(map(id_of_key, row)) for row in keys], schema)
    dictionary = spark.createDataFrame(list(terms.items()), "id long, key string")
    return materialise_frames(
        spark, program, frames, dictionary, limits=limits, settings=BulkSettings(way=way, partitions=2, **others)
    )


def listed(found: Materialised, facts: Facts) -> dict[str, set[tuple[str, ...]]]:
    """The facts of relations that rules define, as keys of terms."""
    keys = {id_of_key(key_of(term)): key_of(term) for rows in facts.values() for row in rows for term in row}
    keys |= found.constants
    if found.new_terms is not None:
        keys |= {row["id"]: row["key"] for row in found.new_terms.collect()}

    def key(id_: int) -> str:
        return f"^integer {id_ >> 3}" if id_ & 7 == 4 else keys[id_]

    result: dict[str, set[tuple[str, ...]]] = {name: set() for name in found.defined}
    for part in found.parts:
        for row in part.collect():
            name, arity = found.relations[row["relation"]]
            fact = tuple(key(row[f"c{number}"]) for number in range(1, arity + 1))
            assert fact not in result[name], f"{name}{fact} is there twice"
            result[name].add(fact)
            given = fact in {tuple(map(key_of, each)) for each in facts.get(name, ())}
            assert row["explicit"] == given, f"{name}{fact} was{'' if given else ' not'} given"
            assert row["weight"] == 1
    found.release()
    return result


def meant(program: Program, facts: Facts, names: Sequence[str]) -> dict[str, set[tuple[str, ...]]]:
    state = oracle.materialise(program, facts)
    return {name: set(state.get(name, ())) for name in names}


CASES = {
    "left-linear closure": ("p(X, Y) :- e(X, Y).  p(X, Z) :- p(X, Y), e(Y, Z).", {}),
    "right-linear closure": ("p(X, Y) :- e(X, Y).  p(X, Z) :- e(X, Y), p(Y, Z).", {}),
    "transitive, given facts too": (
        "p(X, Y) :- e(X, Y).  p(X, Z) :- p(X, Y), p(Y, Z).",
        {"p": [("d", "a"), ("a", "b")]},
    ),
    "guarded and symmetric": ("e(X, Y) :- e(Y, X).  e(X, Z) :- e(X, Y), e(Y, Z), X != Z.", {}),
    "same generation": ("s(X, Y) :- e(P, X), e(P, Y).  s(X, Y) :- e(A, X), s(A, B), e(B, Y).", {}),
    "negation over recursion": (
        "p(X, Y) :- e(X, Y).  p(X, Z) :- p(X, Y), e(Y, Z).  n(X) :- e(X, _).  n(Y) :- e(_, Y).  "
        "apart(X, Y) :- n(X), n(Y), not p(X, Y).",
        {},
    ),
    "aggregates": (
        "p(X, Y) :- e(X, Y).  p(X, Z) :- p(X, Y), e(Y, Z).  "
        "fan(X, N) :- AGGREGATE(p(X, Y) ON X BIND COUNT(Y) AS N).  most(M) :- AGGREGATE(fan(X, N) BIND MAX(N) AS M).  "
        "best(X) :- fan(X, N), most(N).",
        {},
    ),
    "new terms": (
        't(X, T) :- e(X, Y), BIND(CONCAT(X, "-", Y) AS T).  u(T) :- t(_, T), not known(T).',
        {"known": [("a-b",)]},
    ),
    "counting up": ("c(0).  c(M) :- c(N), N < 5, BIND(N + 1 AS M).", {"c": [(0,)]}),
    "nullary": (
        "some() :- e(X, Y).  lonely(X) :- n(X), not some().  all(X) :- some(), n(X), given().",
        {"n": [("a",)], "given": [()]},
    ),
    "constants": ("r(a, Y) :- e(X, Y).  r(X, Z) :- r(X, Y), e(Y, Z).  k(X) :- r(a, X), e(X, c).", {}),
    "several heads": ("f(X), g(Y, X) :- e(X, Y).  g(X, Z) :- g(X, Y), f(Z), e(Y, Z).", {}),
    "triples": (
        "[?x, a, ?d] :- [?x, a, ?c], [?c, <urn:sub>, ?d].  "
        "[?c, <urn:sub>, ?e] :- [?c, <urn:sub>, ?d], [?d, <urn:sub>, ?e].  "
        "[?y, a, <urn:T>] :- [?x, <urn:p>, ?y].  [?y, <urn:q>, ?x] :- [?x, <urn:p>, ?y].",
        {"triple": "triples"},
    ),
}
IN_ROUNDS = ("same generation", "constants", "triples")
EDGES: list[tuple[Term, ...]] = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "b"), ("e", "a"), ("c", "c")]


def case_facts(given: Mapping[str, object]) -> dict[str, list[tuple[Term, ...]]]:
    if "triple" in given:
        words = [
            ("x", RDF_TYPE, "urn:A"),
            ("y", RDF_TYPE, "urn:B"),
            ("urn:A", "urn:sub", "urn:B"),
            ("urn:B", "urn:sub", "urn:C"),
            ("x", "urn:p", "y"),
            ("y", "urn:p", "z"),
            ("x", "urn:other", "z"),
        ]
        return {"triple": [tuple(IRI(word) for word in row) for row in words]}
    return {"e": EDGES, **given}  # type: ignore[dict-item]


def ways_of_cases() -> list[object]:
    """Rounds are slow: a few cases always, the others at night."""
    return [
        pytest.param(name, way, marks=pytest.mark.nightly if way == "rounds" and name not in IN_ROUNDS else ())
        for name in CASES
        for way in WAYS
    ]


@pytest.mark.parametrize(("name", "way"), ways_of_cases())
def test_cases(name: str, way: str, spark: SparkSession) -> None:
    text, given_facts = CASES[name]
    program, facts = parse_program(text), case_facts(given_facts)
    found = derived(spark, program, facts, way)
    assert listed(found, facts) == meant(program, facts, found.defined)


def test_every_way_is_said(spark: SparkSession) -> None:
    text = "p(X, Y) :- e(X, Y).  p(X, Z) :- p(X, Y), e(Y, Z).  back(Y, X) :- p(X, Y), q(Y)."
    facts: Facts = {"e": EDGES, "q": [("b",)]}
    ways = {way: [report.way for report in derived(spark, parse_program(text), facts, way).report] for way in WAYS}
    assert ways == {
        "one task": ["one task", "one task"],
        "pivot": ["pivot c1", "pivot c1"],
        "frames": ["pivot c1", "frames"],
        "rounds": ["rounds", "frames"],
    }
    found = derived(spark, parse_program(text), facts, "pivot")
    assert found.report[0].facts is None  # nobody has read it yet
    assert len(found.parts[0].collect()) == found.report[0].facts


@pytest.mark.parametrize("way", ["one task", "frames"])
def test_a_bag_says_how_often_its_facts_are_there(way: str, spark: SparkSession) -> None:
    """In the column from which maintenance goes on, too."""
    program = parse_program("fan(X, N) :- AGGREGATE(e(X, Y) ON X BIND COUNT(Y) AS N).")
    found = derived(spark, program, {"e": EDGES}, way, auxiliaries=True)
    rows = [row for part in found.parts for row in part.collect() if "~rows" in found.relations[row["relation"]][0]]
    assert sorted(row["weight"] for row in rows) == [1, 1, 1, 1, 2]
    assert all(row["derivations"] == row["weight"] for row in rows)
    found.release()


@pytest.mark.parametrize("way", ["one task", "pivot", "rounds"])
def test_ranks_and_derivations(way: str, spark: SparkSession) -> None:
    """A derived fact of a recursive component has an instance of smaller ranks; elsewhere derivations are counted."""
    program = parse_program("p(X, Y) :- e(X, Y).  p(X, Z) :- p(X, Y), e(Y, Z).  two(X) :- p(X, Y).")
    facts: Facts = {"e": EDGES, "p": [("x", "a")], "two": [("x",), ("y",)]}
    found = derived(spark, program, facts, way)
    ids = {term: id_of_key(key_of(term)) for row in [*EDGES, ("x", "y")] for term in row}
    edges = {(ids[a], ids[b]) for a, b in EDGES}
    rows = [row for part in found.parts for row in part.collect()]
    names = [name for name, _ in found.relations]
    rank = {(row["c1"], row["c2"]): row["rank"] for row in rows if names[row["relation"]] == "p"}
    for (x, z), own in rank.items():
        before = [rank[x, y] for y in ids.values() if (x, y) in rank and (y, z) in edges]
        assert (x, z) == (ids["x"], ids["a"]) or (x, z) in edges or min(before) < own
    two = {row["c1"]: (row["derivations"], row["explicit"]) for row in rows if names[row["relation"]] == "two"}
    reached = {term: sum(x == ids[term] for x, _ in rank) for term in ids}
    assert two[ids["x"]] == (reached["x"], True) and two[ids["y"]] == (0, True)
    assert two[ids["a"]] == (reached["a"], False)


@pytest.mark.parametrize("way", WAYS)
def test_constraints(way: str, spark: SparkSession) -> None:
    text = "p(X, Y) :- e(X, Y).  p(X, Z) :- p(X, Y), e(Y, Z).  @constraint acyclic : p(?x, ?x), ?x != {}."
    with pytest.raises(ConstraintError) as refused:
        derived(spark, parse_program(text.format("b")), {"e": EDGES}, way)
    assert set(refused.value.violations["acyclic"]) == {("c",), ("d",)}
    assert derived(spark, parse_program(text.format("b")), {"e": EDGES[:1]}, way).defined == ("p",)


@pytest.mark.parametrize("way", ["one task", "pivot"])
def test_a_function_gets_every_fact_inside_of_the_tasks(way: str, spark: SparkSession) -> None:
    program = parse_program("p(X, Y) :- e(X, Y).  p(X, Z) :- p(X, Y), e(Y, Z).  back(Y, X) :- p(X, Y), q(Y).")
    found = derived(spark, program, {"e": EDGES, "q": [("b",)]}, way)
    facts = {name: found.frame(name).count() for name in found.defined}

    def count_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            counts = pa.Table.from_batches([batch]).group_by("relation").aggregate([([], "count_all")])
            for each in counts.to_batches():
                relations = each.column("relation").cast(pa.int64())
                yield pa.RecordBatch.from_arrays([relations, each.column("count_all")], ["relation", "rows"])

    schema = StructType([StructField("relation", LongType()), StructField("rows", LongType())])
    counted = found.mapped(count_rows, schema)
    rows: dict[str, int] = {}
    for relation, count in counted.collect():
        name = found.relations[relation][0]
        rows[name] = rows.get(name, 0) + count
    assert rows == facts and rows["p"] > 10


@pytest.mark.parametrize("way", ["one task", "pivot", "rounds"])
def test_limits_hold_in_tasks(way: str, spark: SparkSession) -> None:
    program = parse_program("n(X, M) :- n(X, N), BIND(N + 1 AS M).")
    with pytest.raises(RoundLimitError, match="stopped after 5 rounds"), task_errors():
        found = derived(spark, program, {"n": [("a", 0)]}, way, Limits(rounds=5))
        for part in found.parts:
            part.collect()


def test_what_is_too_large_to_be_everywhere_goes_another_way(spark: SparkSession) -> None:
    program = parse_program("p(X, Y) :- e(X, Y).  p(X, Z) :- p(X, Y), e(Y, Z).")
    for task_facts, way in ((100, "one task"), (1, "rounds")):
        found = derived(spark, program, {"e": EDGES}, "pivot", whole_facts=2, task_facts=task_facts, repeated_rows=0)
        assert (found.report[0].way, "more than 2 facts" in found.report[0].why) == (way, True)
        assert listed(found, {"e": EDGES}) == meant(program, {"e": EDGES}, ["p"])


@pytest.mark.nightly
@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_random_programs(way: str, spark: SparkSession, data: st.DataObject) -> None:
    story: Story = data.draw(program_stories())
    facts = story.facts
    found = derived(spark, story.program, facts, way)
    assert listed(found, facts) == meant(story.program, facts, found.defined)
