"""Do Spark's own readers read a pipeline's tables, at any version, and follow their changes?"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from tests import oracle

import everlog
from everlog.facts.terms import key_of
from everlog.pipeline import read_settings, register, run_pipeline
from everlog.rules.parser import parse_program

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

RULES = """
reach(?start, ?end) :- edge(?start, ?end).
reach(?start, ?end) :- reach(?start, ?m), edge(?m, ?end).
fan(?x, ?n) :- AGGREGATE(reach(?x, ?y) ON ?x BIND COUNT(?y) AS ?n).
some() :- edge(_, _).
"""
SETTINGS = """
program = "rules.dl"
[[source]]
path = "edge.csv"
relation = "edge"
columns = ["src", "dst"]
header = true
"""


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three versions: a first load, an update that brings and takes facts, and one that brings terms of other types."""
    folder = tmp_path_factory.mktemp("pipeline")
    (folder / "rules.dl").write_text(RULES)
    (folder / "edge.csv").write_text("src,dst\na,b\nb,c\nc,d\n")
    (folder / "pipeline.toml").write_text(SETTINGS)
    run_pipeline(read_settings(folder / "pipeline.toml"), spark, lambda line: None)
    with everlog.open(folder / "tables") as kb:
        kb.update(insert={"edge": [("d", "a")]}, delete={"edge": [("b", "c")]})
        kb.insert(
            "typed",
            [
                (1, 2.5, Decimal("1.25"), True, dt.date(2024, 2, 29), dt.datetime(2024, 1, 1, 12), 2**70),
                (-5, 1e300, Decimal("-0.5"), False, dt.date(1999, 1, 1), dt.datetime(1999, 1, 1), 3),
            ],
        )
        kb.update(delete={"edge": [("a", "b"), ("c", "d"), ("d", "a")]})
    return folder / "tables"


def reader(spark: SparkSession, relation: str, **options: Any) -> Any:
    found = spark.read.format("everlog").option("relation", relation)
    for name, value in options.items():
        found = found.option(name, value)
    return found


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.collect())


EDGES = {
    1: [("a", "b"), ("b", "c"), ("c", "d")],
    2: [("a", "b"), ("c", "d"), ("d", "a")],
    3: [("a", "b"), ("c", "d"), ("d", "a")],
    4: [],
}


@pytest.mark.parametrize("relation", ["edge", "reach", "fan", "some"])
def test_every_version_has_the_facts_that_it_had(spark: SparkSession, tables: Path, relation: str) -> None:
    changes = [tuple(row) for row in reader(spark, relation, changes=True).load(str(tables)).collect()]
    for version, edges in EDGES.items():
        meant = oracle.materialise(parse_program(RULES), {"edge": edges}).get(relation, ())
        found = rows(reader(spark, relation, version=version).load(str(tables)))
        assert [tuple(map(key_of, row)) for row in found] == sorted(meant or ()) or found == [("()",)] * len(meant)
        summed = Counter[tuple[Any, ...]]()
        for *fact, weight, at in changes:
            summed[tuple(fact)] += weight if at <= version else 0
        assert sorted(summed.elements()) == found


def test_columns_have_names_and_types(spark: SparkSession, tables: Path) -> None:
    assert reader(spark, "reach", version=1).load(str(tables)).dtypes == [("start", "string"), ("end", "string")]
    assert reader(spark, "edge", version=1).load(str(tables)).dtypes == [("src", "string"), ("dst", "string")]
    assert reader(spark, "fan", version=1).load(str(tables)).dtypes == [("x", "string"), ("n", "bigint")]
    typed = reader(spark, "typed").load(str(tables))
    assert [type_ for _, type_ in typed.dtypes] == [
        "bigint", "double", "decimal(3,2)", "boolean", "date", "timestamp_ntz", "string",
    ]  # fmt: skip
    assert rows(typed)[1] == (
        1,
        2.5,
        Decimal("1.25"),
        True,
        dt.date(2024, 2, 29),
        dt.datetime(2024, 1, 1, 12),
        str(2**70),
    )


def test_a_schema_is_taken_by_position(spark: SparkSession, tables: Path) -> None:
    frame = reader(spark, "fan", version=1).schema("who string, many int").load(str(tables))
    assert rows(frame) == [("a", 3), ("b", 2), ("c", 1)] and frame.dtypes[1] == ("many", "int")
    texts = reader(spark, "fan", version=1).schema("who string, many string").load(str(tables))
    assert rows(texts)[0] == ("a", "3")
    with pytest.raises(Exception, match="column 'who' holds a, which is no int64"):
        reader(spark, "fan", version=1).schema("who bigint, many int").load(str(tables)).collect()


def test_a_frame_stays_at_its_version(spark: SparkSession, tmp_path: Path) -> None:
    with everlog.open() as kb:
        kb.insert("edge", [("a", "b")])
        kb.export(tmp_path / "tables", format="tables")
    frame = reader(spark, "edge").load(str(tmp_path / "tables"))
    with everlog.open(tmp_path / "tables") as kb:
        kb.insert("edge", [("b", "c")])
    assert rows(frame) == [("a", "b")]
    assert rows(reader(spark, "edge").load(str(tmp_path / "tables"))) == [("a", "b"), ("b", "c")]


def test_views_are_read_too(spark: SparkSession, tmp_path: Path) -> None:
    with everlog.open() as kb:
        kb.add_rules("[?x, <urn:p>, ?y] :- edge(?x, ?y).")
        kb.insert("edge", [("a", 1), ("b", 1), ("c", 2)])
        kb.view("counted", "SELECT ?n WHERE { ?x <urn:p> ?n }")
        kb.view("first", "SELECT ?n WHERE { ?x <urn:p> ?n } ORDER BY ?n LIMIT 1")
        kb.export(tmp_path / "tables", format="tables")
    found = reader(spark, "counted").load(str(tmp_path / "tables"))
    assert rows(found) == [(1,), (1,), (2,)] and found.dtypes == [("n", "bigint")]
    with pytest.raises(Exception, match="everlog.open"):
        reader(spark, "first").load(str(tmp_path / "tables"))


def test_a_stream_of_changes_goes_on_after_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    with everlog.open() as kb:
        kb.add_rules("reach(?x, ?y) :- edge(?x, ?y). reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z).")
        kb.insert("edge", [("a", "b")])
        kb.export(tmp_path / "tables", format="tables")

    def followed() -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []
        stream = spark.readStream.format("everlog").option("relation", "reach").option("changes", True)
        query = (
            stream.load(str(tmp_path / "tables"))
            .writeStream.foreachBatch(lambda batch, _: found.extend(tuple(row) for row in batch.collect()))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return sorted(found)

    (first,) = followed()
    assert first[:3] == ("a", "b", 1)
    with everlog.open(tmp_path / "tables") as kb:
        kb.insert("edge", [("b", "c")])
        at = kb.update(delete={"edge": [("a", "b")]}).version
    assert followed() == [
        ("a", "b", -1, at), ("a", "c", -1, at), ("a", "c", 1, at - 1), ("b", "c", 1, at - 1),
    ]  # fmt: skip
    assert followed() == []


def test_spark_is_told_of_the_format(spark: SparkSession, tables: Path) -> None:
    register(spark)  # other tests rely on Spark's finding it by itself
    assert rows(reader(spark, "edge", version=1).load(str(tables)))[0] == ("a", "b")


def test_mistakes_are_told(spark: SparkSession, tables: Path, tmp_path: Path) -> None:
    for options, told in (
        ({"relation": "reahc"}, "did you mean reach"),
        ({"relation": "reach", "version": 99}, "no version 99"),
        ({"relation": "reach", "version": "new"}, "no number"),
        ({}, "no relation is named"),
    ):
        reading = spark.read.format("everlog")
        for name, value in options.items():
            reading = reading.option(name, value)
        with pytest.raises(Exception, match=told):
            reading.load(str(tables))
    with pytest.raises(Exception, match="there are no tables"):
        reader(spark, "reach").load(str(tmp_path))
    with pytest.raises(Exception, match="option..changes"):
        stream = spark.readStream.format("everlog").option("relation", "reach").load(str(tables))
        query = stream.writeStream.format("noop").option("checkpointLocation", str(tmp_path)).start()
        query.processAllAvailable()
