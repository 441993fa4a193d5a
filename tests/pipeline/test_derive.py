"""Does `derive` give, from frames to frames, what the rules mean, with names and types kept?"""

from __future__ import annotations

import datetime as dt
import gc
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from tests import oracle

from everlog.errors import ConstraintError, DataError, NotFoundError, ProgramError, UsageError
from everlog.facts.terms import key_of
from everlog.pipeline import derive, deriving
from everlog.rules.parser import parse_program

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

CLOSURE = "path(?start, ?end) :- edge(?start, ?end). path(?start, ?end) :- path(?start, ?m), edge(?m, ?end)."


@pytest.fixture
def edges(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([("a", "b"), ("b", "c"), ("c", "d")], "src string, dst string")


# --- the law ----------------------------------------------------------------------------------------------------------

VALUES = {
    "string": st.text('ab \n"é', max_size=3),
    "bigint": st.sampled_from([0, 1, -7, 2**31, 2**60, -(2**63), 2**63 - 1]),
    "int": st.integers(-3, 3),
    "double": st.sampled_from([0.0, 1.5, -2.25, 1e300, 0.1, float("inf")]),
    "decimal(12,3)": st.decimals(-99, 99, places=3, allow_nan=False),
    "date": st.dates(dt.date(1990, 1, 1), dt.date(1990, 1, 4)),
    "timestamp_ntz": st.datetimes(dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 0, 0, 1)),
    "boolean": st.booleans(),
}
PROGRAM = f"""
{CLOSURE}
ends(?y) :- edge(_, ?y), not edge(?y, _).
fan(?x, ?n) :- AGGREGATE(path(?x, ?y) ON ?x BIND COUNT(?y) AS ?n).
least(?m) :- AGGREGATE(weighed(?x, ?y) BIND MIN(?y) AS ?m).
weighed(?x, ?w) :- cost(?x, ?w).
weighed(?x, ?w) :- edge(?x, ?y), cost(?y, ?w).
"""


Facts = tuple[str, str, list[tuple[Any, Any]], list[tuple[Any, Any]]]  # types of nodes and costs, edges, costs


@st.composite
def typed_facts(draw: st.DrawFn) -> Facts:
    node, cost = draw(st.sampled_from(sorted(VALUES))), draw(st.sampled_from(sorted(VALUES)))
    nodes = draw(st.lists(VALUES[node], min_size=1, max_size=4))
    some = st.sampled_from(nodes)
    edge = draw(st.lists(st.tuples(some, some), min_size=1, max_size=6))
    return node, cost, edge, draw(st.lists(st.tuples(some, VALUES[cost]), min_size=1, max_size=4))


def check(spark: SparkSession, facts: Facts, how: str) -> None:
    node, cost, edge, costs = facts
    frames = {
        "edge": spark.createDataFrame(edge, f"src {node}, dst {node}"),
        "cost": spark.createDataFrame(costs, f"at {node}, amount {cost}"),
    }
    program = parse_program(PROGRAM)
    meant = oracle.materialise(program, {"edge": list(set(edge)), "cost": list(set(costs))})
    with derive(spark, program, frames, lazy=how == "lazy") as found:
        for name, frame in found.items():
            rows = [tuple(key_of(value) for value in row) for row in frame.collect()]
            assert len(rows) == len(set(rows))
            assert set(rows) == set(meant.get(name, ())), name
        assert found["path"].dtypes == [("start", node), ("end", node)]
        assert found["weighed"].dtypes == [("x", node), ("w", cost)]
        assert found["fan"].dtypes == [("x", node), ("n", "bigint")]


@pytest.mark.parametrize(
    ("facts", "how"),
    [
        (("string", "bigint", [("a", "b"), ("b", "a\n"), ("b", "")], [("a\n", 2**63 - 1), ("b", -7)]), "eager"),
        (("int", "decimal(12,3)", [(1, 2), (2, 1), (1, 2)], [(2, Decimal("-0.125"))]), "lazy"),
    ],
)
def test_frames_hold_what_the_rules_mean(spark: SparkSession, facts: Facts, how: str) -> None:
    check(spark, facts, how)


@pytest.mark.nightly
@settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
@given(typed_facts(), st.sampled_from(["eager", "lazy"]))
def test_frames_hold_what_the_rules_mean_whatever_the_types(spark: SparkSession, facts: Facts, how: str) -> None:
    check(spark, facts, how)


# --- names and types --------------------------------------------------------------------------------------------------


def test_names_are_declared_or_of_heads_or_of_frames(spark: SparkSession, edges: DataFrame) -> None:
    program = "edge(?b, ?a) :- edge(?a, ?b). edge(?x, ?x) :- edge(?x, _). odd(?x, 1) :- edge(?x, ?x)."
    found = derive(spark, program, {"edge": edges})
    assert found["edge"].columns == ["src", "dst"]  # the heads do not agree
    assert found["odd"].columns == ["c1", "c2"]
    found = derive(spark, program, {"edge": edges}, columns={"odd": ["what", "much"], "edge": "p string, q string"})
    assert found["odd"].columns == ["what", "much"] and found["edge"].columns == ["p", "q"]


def test_types_that_rules_do_not_tell_are_those_of_values(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, 2.5), (2, 0.5)], "n int, x double")
    program = """
    sum(?m, ?y) :- r(?n, ?x), BIND(?n + 1 AS ?m), BIND(?x * 2 AS ?y).   half(?d) :- r(?n, _), BIND(?n / 2 AS ?d).
    text(?t) :- r(?n, _), BIND(STR(?n) AS ?t).   either(?n) :- r(?n, _).  either(?x) :- r(_, ?x).
    """
    found = derive(spark, program, {"r": frame})
    types = {name: [type_ for _, type_ in each.dtypes] for name, each in found.items()}
    assert types == {"sum": ["bigint", "double"], "half": ["decimal(2,1)"], "text": ["string"], "either": ["string"]}
    assert sorted(found["sum"].collect()) == [(2, 5.0), (3, 1.0)]
    assert sorted(row[0] for row in found["half"].collect()) == [Decimal("0.5"), Decimal("1.0")]


def test_wider_types_hold_what_comes_from_two_columns(spark: SparkSession) -> None:
    narrow = spark.createDataFrame([(1, Decimal("1.5"))], "a smallint, b decimal(3,1)")
    wide = spark.createDataFrame([(2**40, Decimal("0.125"))], "a bigint, b decimal(6,3)")
    found = derive(spark, "both(?a, ?b) :- n(?a, ?b). both(?a, ?b) :- w(?a, ?b).", {"n": narrow, "w": wide})
    assert found["both"].dtypes == [("a", "bigint"), ("b", "decimal(6,3)")]
    assert sorted(found["both"].collect()) == [(1, Decimal("1.500")), (2**40, Decimal("0.125"))]


def test_a_declared_type_is_taken_without_a_look(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1,)], "n int")
    found = derive(spark, "next(?m) :- r(?n), BIND(?n + 1 AS ?m).", {"r": frame}, columns={"next": "m int"}, lazy=True)
    assert found["next"].dtypes == [("m", "int")] and found["next"].collect() == [(2,)]


def test_timestamps_mean_the_same_moment(spark: SparkSession) -> None:
    frame = spark.range(1).select(f.timestamp_micros(f.lit(1_700_000_000_123_456)).alias("at"))
    found = derive(spark, "seen(?at) :- r(?at).", {"r": frame})
    assert found["seen"].dtypes == [("at", "timestamp")]
    assert found["seen"].select(f.unix_micros("at")).collect() == [(1_700_000_000_123_456,)]


def test_facts_of_the_text_and_relations_without_arguments(spark: SparkSession, edges: DataFrame) -> None:
    found = derive(
        spark, "some() :- edge(_, _). none() :- edge(z, _). start(b). start(?x) :- edge(?x, c).", {"edge": edges}
    )
    assert {name: frame.count() for name, frame in found.items()} == {"some": 1, "none": 0, "start": 1}


def test_a_function_from_a_frame_to_a_frame(edges: DataFrame, tmp_path: Path) -> None:
    (tmp_path / "closure.dl").write_text(CLOSURE)
    paths = edges.transform(deriving(str(tmp_path / "closure.dl"), takes="edge", gives="path"))
    gc.collect()  # what was held for other relations is gone, and the frame is what it was
    assert paths.columns == ["start", "end"] and paths.count() == 6


def test_what_is_held_is_let_go(spark: SparkSession, edges: DataFrame) -> None:
    found = derive(spark, CLOSURE + "back(?y, ?x) :- path(?x, ?y).", {"edge": edges})
    back = found["back"]
    assert found["path"].count() == back.count() == 6
    assert next(report.facts for report in found.report if report.relations == ("path",)) == 6
    found.release()
    assert back.count() == 6


# --- what is refused --------------------------------------------------------------------------------------------------


def test_nulls_are_refused_or_skipped_or_empty(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("a", None), ("b", 2), (None, None)], "name string, size int")
    program = "r(?n, ?s) :- thing(?n, ?s)."
    with pytest.raises(DataError, match="thing: column 'name' has no value in 1 of 3 rows"):
        derive(spark, program, {"thing": frame})
    skipped = derive(spark, program, {"thing": frame}, nulls="skip")
    assert skipped["r"].collect() == [("b", 2)] and skipped.skipped == {"thing": 2}
    empty = derive(spark, program, {"thing": frame}, nulls="empty")
    assert sorted(empty["r"].collect()) == [("", ""), ("a", ""), ("b", "2")]
    with pytest.raises(Exception, match="thing: column '(name|size)' has no value"):
        derive(spark, program, {"thing": frame}, lazy=True)["r"].collect()
    with pytest.raises(UsageError, match="no way to treat nulls"):
        derive(spark, program, {"thing": frame}, nulls="drop")


def test_mistakes_are_told(spark: SparkSession, edges: DataFrame, tmp_path: Path) -> None:
    with pytest.raises(ProgramError):
        derive(spark, "p(?x) :- edge(?x).", {"edge": edges})
    with pytest.raises(NotFoundError, match="did you mean path"):
        derive(spark, CLOSURE, {"edge": edges}, relations=["pth"])
    with pytest.raises(NotFoundError, match="did you mean edge"):
        derive(spark, CLOSURE, {"egde": edges})
    with pytest.raises(UsageError, match="reads no files"):
        derive(spark, '@import edge "edge.csv" . p(?x) :- edge(?x, _).', {})
    with pytest.raises(DataError, match="column 'dst' holds array"):
        derive(spark, CLOSURE, {"edge": edges.withColumn("dst", f.array("dst"))})
    with pytest.raises(UsageError, match="is no schema"):
        derive(spark, CLOSURE, {"edge": edges}, columns={"path": "start strin"})
    with pytest.raises(UsageError, match="1 columns are declared for path"):
        derive(spark, CLOSURE, {"edge": edges}, columns={"path": ["start"]})
    with pytest.raises(UsageError, match="no DataFrame"):
        derive(spark, CLOSURE, {"edge": [("a", "b")]})  # type: ignore[dict-item]
    with pytest.raises(ConstraintError):
        derive(spark, "@constraint none : edge(a, ?x).", {"edge": edges})
    with pytest.raises(NotFoundError):
        derive(spark, tmp_path / "none.dl", {"edge": edges})
