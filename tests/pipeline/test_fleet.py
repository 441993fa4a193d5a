"""Does a fleet on Spark have, for each key, what a knowledge base that was alone would have?

A stream is stopped and goes on from its checkpoint, and the sum of all changes is what is there in the end. When a
checkpoint is read is tested without Spark, in tests/unit/fleet/test_journal.py.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import everlog
from everlog.errors import ProgramError, UsageError
from everlog.pipeline.fleet import FleetProcessor, fleet
from everlog.pipeline.shards import shard_numbers
from everlog.rules.printer import print_term

pytest.importorskip("google.protobuf")
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

EX = "http://ex.org/"
PREFIX = f"PREFIX : <{EX}> "
RULES = PREFIX + "[?p, :inCareOf, ?d] :- [?p, :treatedBy, ?d], [?p, :hasDiagnosis, ?x]."
LATER = PREFIX + "later: [?p, :inCareOf, ?e] :- [?p, :treatedBy, ?d], [?d, :standsInFor, ?e]."
VIEWS = {
    "care": PREFIX + "SELECT ?p ?x ?n { ?p :hasDiagnosis ?x OPTIONAL { ?p :inCareOf/:name ?n } }",
    "many": PREFIX + "SELECT (COUNT(*) AS ?n) { ?p :inCareOf ?d }",
}
Said = tuple[str | None, Mapping[str, Any]]


def triple(s: str, p: str, o: str | int) -> list[Any]:
    there = o if isinstance(o, int) or p == "name" else {"@id": EX + o}
    return ["triple", {"@id": EX + s}, {"@id": EX + p}, there]


def pod(number: int) -> list[list[Any]]:
    """A patient, and often a physician."""
    facts = [triple("p", "hasDiagnosis", f"x{number % 3}"), triple("p", "hasDiagnosis", "x9")]
    if number % 4:
        facts += [triple("p", "treatedBy", f"d{number % 5}"), triple(f"d{number % 5}", "name", f"Dr. {number % 5}")]
    return facts


def batches(pods: int) -> list[list[Said]]:
    """Pods come, some of them change, and a rule comes to all of them and goes again from one."""
    first: list[Said] = [(f"pod{n}", {"insert": pod(n)}) for n in range(pods)]
    stands_in = [triple("d1", "standsInFor", "d7"), triple("d7", "name", "Dr. 7")]
    second: list[Said] = [(f"pod{n}", {"insert": stands_in, "delete": pod(n)[:1]}) for n in range(0, pods, 3)]
    second.append((None, {"add_rules": LATER}))
    third: list[Said] = [(f"pod{n}", {"delete": pod(n)[2:]}) for n in range(0, pods, 7)]
    third += [("pod1", {"remove_rules": ["later"]}), (f"pod{pods}", {"insert": pod(pods)})]
    third += [("pod2", {"insert": [["triple", "too", "few"]]})]
    return [first, second, third]


def alone(
    told: Iterable[Sequence[Said]], program: str = RULES, views: Mapping[str, str] = VIEWS
) -> dict[str, everlog.KnowledgeBase]:
    """A knowledge base for each key, with the same updates."""
    kbs: dict[str, everlog.KnowledgeBase] = {}
    rules = [program]

    def begin(key: str) -> everlog.KnowledgeBase:
        kb = kbs[key] = everlog.open(engine="reference")
        for text in rules:
            kb.add_rules(text)
        for name, text in views.items():
            kb.view(name, text)
        return kb

    for batch in told:
        for key, said in batch:
            update = terms(said)
            if key is None:
                rules.append(update["add_rules"])
                for kb in kbs.values():
                    kb.update(**update)
                continue
            kb = kbs.get(key) or begin(key)
            try:
                kb.update(**update)
            except everlog.DataError:
                assert key == "pod2"
    return kbs


def terms(said: Mapping[str, Any]) -> dict[str, Any]:
    """An update from JSON as Python says it."""

    def term(value: Any) -> Any:
        return everlog.IRI(value["@id"]) if isinstance(value, dict) else value

    def rows(facts: Iterable[list[Any]]) -> dict[str, list[tuple[Any, ...]]]:
        return {"triple": [tuple(map(term, fact[1:])) for fact in facts]}

    return {part: rows(value) if part in ("insert", "delete") else value for part, value in said.items()}


def expected(kbs: Mapping[str, everlog.KnowledgeBase]) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for key, kb in kbs.items():
        found.update((key, "relation", "triple", texts(row)) for row in kb.facts("triple"))
        for view in kb.views():
            found.update((key, "view", view.name, texts(row)) for row in view.rows())
    return found


def texts(row: Iterable[Any]) -> tuple[str | None, ...]:
    return tuple(None if term is None else print_term(term) for term in row)


def summed(changes: DataFrame) -> Counter[tuple[Any, ...]]:
    """What is there after all changes."""
    found: Counter[tuple[Any, ...]] = Counter()
    for row in changes.where("kind != 'refused'").collect():
        found[row.key, row.kind, row.name, tuple(row.terms)] += row.weight
    return Counter({place: weight for place, weight in found.items() if weight})


def write(folder: Path, number: int, batch: Sequence[Said]) -> None:
    folder.mkdir(exist_ok=True)
    lines = [json.dumps({"key": key, "sequence": n, "update": json.dumps(said)}) for n, (key, said) in enumerate(batch)]
    path = folder / f"{number:03}.json"
    path.write_text("\n".join(lines))
    os.utime(path, (number + 1, number + 1))  # Spark takes files in the order of their times


def run_stream(spark: SparkSession, folder: Path, **options: Any) -> DataFrame:
    """Make what has come since the last time; all the changes so far."""
    source = spark.readStream.schema("key string, sequence bigint, update string").option("maxFilesPerTrigger", 1)
    updates = source.json(str(folder / "in"))
    query = (
        fleet(updates, RULES, VIEWS, **options)
        .writeStream.format("parquet")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .option("path", str(folder / "out"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert query.exception() is None
    return spark.read.parquet(str(folder / "out"))


def test_a_stream_that_is_stopped_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    check_pods(spark, tmp_path, 12)


def test_a_worker_that_is_killed_in_a_batch(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has made all updates of a shard, and dies before anybody knows; the stream goes on from its checkpoint."""
    killed = tmp_path / "killed"

    class Dying(FleetProcessor):
        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Any]:
            yield from FleetProcessor.handleInputRows(self, key, rows, timerValues)
            if not killed.exists():
                killed.touch()
                os._exit(9)

    told = batches(12)
    for number, batch in enumerate(told):
        write(tmp_path / "in", number, batch)
    with monkeypatch.context() as patched, pytest.raises(StreamingQueryException):
        patched.setattr("everlog.pipeline.fleet.FleetProcessor", Dying)
        run_stream(spark, tmp_path, shards=2)
    assert killed.exists()
    assert summed(run_stream(spark, tmp_path, shards=2)) == expected(alone(told))


@pytest.mark.nightly
def test_a_thousand_pods(spark: SparkSession, tmp_path: Path) -> None:
    check_pods(spark, tmp_path, 1000)


def check_pods(spark: SparkSession, folder: Path, pods: int) -> None:
    *told, last = batches(pods)
    for number, batch in enumerate(told):
        write(folder / "in", number, batch)
    run_stream(spark, folder, shards=2)
    write(folder / "in", len(told), last)
    changes = run_stream(spark, folder, shards=2)
    assert summed(changes) == expected(alone([*told, last]))
    [refused] = changes.where("kind = 'refused'").collect()
    assert refused.key == "pod2" and "triple has 3 arguments, but here are 2" in refused.reason
    newest = {row.key: row[1] for row in changes.groupBy("key").agg({"version": "max"}).collect()}
    assert newest["pod3"] == 2 and newest[f"pod{pods}"] == 1


def test_rows_with_op_relation_and_terms(spark: SparkSession) -> None:
    rows = [
        ("a", 1, "insert", "edge", ["x", "y"]),
        ("a", 1, "insert", "edge", ["y", '"New York"']),
        ("b", 1, "insert", "edge", ["x", "y"]),
        (None, 2, "add_rules", None, ["back: back(?y, ?x) :- edge(?x, ?y)."]),
        ("a", 3, "delete", "edge", ["x", "y"]),
        ("b", 4, "remove_rules", None, ["back"]),
        ("b", 5, "incert", "edge", ["x", "y"]),
        ("a", 6, "insert", "edge", ["x", "(y"]),
        ("c", 7, "insert", "edge", ["1", "2.5"]),
        ("c", 8, "drop", None, None),
    ]
    frame = spark.createDataFrame(rows, "key string, sequence int, op string, relation string, terms array<string>")
    changes = fleet(frame, "", shards=2).cache()
    assert summed(changes) == {
        ("a", "relation", "edge", ("y", '"New York"')): 1,
        ("a", "relation", "back", ('"New York"', "y")): 1,
        ("b", "relation", "edge", ("x", "y")): 1,
    }
    refused = {row.key: row.reason for row in changes.where("kind = 'refused'").collect()}
    assert "no op 'incert'" in refused["b"] and "no term" in refused["a"]
    only = fleet(frame, "", shards=2, only=["back"]).where("kind = 'relation'")
    assert {row.name for row in only.collect()} == {"back"}


def test_the_example_ends_with_what_each_pod_shows(spark: SparkSession, tmp_path: Path) -> None:
    from examples.pods_fleet.data import lines
    from examples.pods_fleet.run import VIEWS as POD_VIEWS
    from examples.pods_fleet.run import tell
    from rich.console import Console

    shown = tell(spark, Console(quiet=True), tmp_path, pods=20, days=3)
    told = [[(each["key"], json.loads(each["update"])) for each in day] for day in lines(20, 3)]
    kbs = alone(told, "", POD_VIEWS)
    assert shown.keys() == kbs.keys()
    for key, kb in kbs.items():
        for view in kb.views():
            assert shown[key][view.name] == Counter(map(texts, view.rows()))


def test_shards_are_spread_evenly(spark: SparkSession) -> None:
    for shards, partitions in ((4, 2), (16, 8)):
        frame = spark.createDataFrame([(number,) for number in shard_numbers(shards)], "shard int")
        places = [row[0] for row in frame.selectExpr(f"pmod(hash(shard), {partitions})").collect()]
        assert sorted(places) == sorted(list(range(partitions)) * (shards // partitions))


def test_what_is_wrong_is_said_before_anything_runs(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("a", "{}")], "key string, update string")
    with pytest.raises(ProgramError):
        fleet(frame, "p(?x) :- q(?y).")
    with pytest.raises(UsageError, match="no updates with keys"):
        fleet(frame.withColumnRenamed("key", "pod"))
