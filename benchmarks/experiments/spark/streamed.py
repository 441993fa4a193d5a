"""How long does it take until an update file that lands in a folder is in the tables?

Tables of a class hierarchy, with one and with ten million facts. A hundred explicit triples go and come back, a file
each; the clock runs from the moment the file has its name to the end of the batch. Once more after a thousand versions.
"""

from __future__ import annotations

import dataclasses
import json
import queue
import random
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import everlog
from benchmarks.experiments.spark.derivations import prepared
from benchmarks.reporting.results import Record
from benchmarks.workload import rules_of
from benchmarks.workloads import hierarchy
from everlog.facts.terms import IRI
from everlog.pipeline.settings import Settings, read_settings
from everlog.pipeline.settings_parts import MaintainSettings, StreamSettings
from everlog.pipeline.stream import BatchReport, start_stream
from everlog.tables.table_store import TableStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCALES = {"1 M": 0.44, "10 M": 4.4}  # of the hierarchy
CHANGED, TIMES, VERSIONS = 100, 5, 1_000
WAYS = ("resident", "paged")
_PATIENCE = 600.0

Triples = list[list[Any]]


def streamed(spark: SparkSession, folder: Path, *, quick: bool) -> Iterator[Record]:
    """Measure each size by each way."""
    for size, scale in SCALES.items():
        toml, given = _tables(folder / f"stream {size}", scale / 50 if quick else scale)
        facts = sum(state.facts for state in TableStore(toml.parent / "tables").commit().tables.values())
        for way in WAYS:
            settings = dataclasses.replace(read_settings(toml), maintain=MaintainSettings(way))
            found = _measured(spark, settings, folder / f"updates {size} {way}", given)
            yield {"size": size, "facts": facts, "way": way, "after": None, **found}
        if size == "1 M":
            _make_versions(toml.parent / "tables", 20 if quick else VERSIONS)
            for way in WAYS:
                settings = dataclasses.replace(read_settings(toml), maintain=MaintainSettings(way))
                found = _measured(spark, settings, folder / f"updates {size} {way} later", given)
                yield {"size": size, "facts": facts, "way": way, "after": 20 if quick else VERSIONS, **found}


def _tables(place: Path, scale: float) -> tuple[Path, Triples]:
    """Tables made in process, and explicit triples to choose from."""
    table, rules = hierarchy.WORKLOAD.data(scale)["triple"], rules_of("hierarchy")
    toml = prepared(place, {"triple": table}, rules)
    kb = everlog.open()
    kb.load(place / "triple.nt")
    kb.add_rules(rules)
    kb.export(place / "tables", format="tables")
    kb.close()
    typed = [row for row in table.slice(0, 200_000).to_pylist() if row["p"] == hierarchy.TYPE]
    return toml, [["triple", *({"@id": row[column][1:-1]} for column in "spo")] for row in typed]


def _measured(spark: SparkSession, settings: Settings, place: Path, given: Triples) -> Record:
    place.mkdir(parents=True)
    streaming = StreamSettings(str(place / "updates"), str(place / "checkpoint"), on_error="stop", trigger=0.05)
    reports: queue.Queue[BatchReport] = queue.Queue()
    started = time.perf_counter()
    query, updates = start_stream(dataclasses.replace(settings, stream=streaming), spark, says=reports.put)
    opened = time.perf_counter() - started
    latencies: dict[str, list[float]] = {"out": [], "in": []}
    applied: list[float] = []
    chance = random.Random(1)
    try:
        for number in range(TIMES + 1):
            chosen = chance.sample(given, min(CHANGED, len(given)))
            for kind, update in (("out", {"delete": chosen}), ("in", {"insert": chosen})):
                seconds, report = _landed(place, f"{number}{kind}", update, reports)
                if number:  # the first makes plans and fills caches
                    latencies[kind].append(seconds)
                    applied.append(report.seconds)
    finally:
        query.stop()
        updates.close()
    return {
        "opened": opened,
        "out": statistics.median(latencies["out"]),
        "in": statistics.median(latencies["in"]),
        "applied": statistics.median(applied),
    }


def _landed(place: Path, name: str, update: Record, reports: queue.Queue[BatchReport]) -> tuple[float, BatchReport]:
    written = place / f"{name}.jsonl"
    written.write_text(json.dumps(update) + "\n", encoding="utf-8")
    started = time.perf_counter()
    written.rename(place / "updates" / written.name)
    report = reports.get(timeout=_PATIENCE)
    return time.perf_counter() - started, report


def _make_versions(tables: Path, versions: int) -> None:
    new = [IRI(f"http://example.org/new{number}") for number in range(versions)]
    type_, class_ = IRI(hierarchy.TYPE[1:-1]), IRI("http://example.org/C1")
    with everlog.open(tables) as kb:
        for term in new:
            kb.insert("triple", [(term, type_, class_)])
