"""What do ten thousand small knowledge bases cost?

Each has a chain of four edges and their closure; an update adds an edge to it, or takes it away. *In process*: updates
a second by how many keys have one at a time, and the memory, beside one knowledge base for each key. *On Spark*:
updates a second through Structured Streaming on two cores, from files to changes, session start aside.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import everlog
from benchmarks.measuring.memory import held
from benchmarks.reporting.results import Record, Says, new_results, write_results
from everlog.fleet.fleet import Fleet

KEYS = 10_000
AT_ONCE = (10_000, 1_000, 100, 1)
BATCHES = 6
RULES = "path(?x, ?y) :- edge(?x, ?y).   path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)."
CHAIN = [["edge", number, number + 1] for number in range(4)]
ONE_MORE = [["edge", 4, 5]]


def bench_fleet(folder: Path, says: Says, *, quick: bool) -> Record:
    """Measure and write the results; returns what fleet.json then holds."""
    from benchmarks.experiments.fleet.report import draw, page

    keys, seconds = (200, 0.2) if quick else (KEYS, 3.0)
    results = new_results(quick=quick, keys=keys)
    results["process"] = in_process(keys, seconds, says)
    results["alone"] = alone(min(keys, 300), says)
    results["spark"] = None if quick else on_spark(keys, says)
    write_results(folder, "fleet", results, page, draw)
    return results


def in_process(keys: int, seconds: float, says: Says) -> Record:
    """A fleet that is filled at once; then updates of some of its keys at a time."""
    fleet = Fleet(RULES)
    fleet.update({"first": {"insert": CHAIN}})
    before, started = held(), time.perf_counter()
    fleet.update({f"k{number}": {"insert": CHAIN} for number in range(keys)})
    filled = time.perf_counter() - started
    found: Record = {"fill": filled, "bytes": held() - before, "rates": []}
    rng = random.Random(1)
    for at_once in (size for size in AT_ONCE if size <= keys):
        rate = _rate(fleet, [f"k{number}" for number in rng.sample(range(keys), at_once)], seconds)
        found["rates"].append({"keys": at_once, "rate": rate})
        says(f"{at_once:,} keys at a time: {rate:,.0f} updates a second")
    return found


def _rate(fleet: Fleet, keys: list[str], seconds: float) -> float:
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        for part in ("insert", "delete"):
            change = fleet.update({key: {part: ONE_MORE} for key in keys})
            assert sum(1 for _ in change.rows()) == 6 * len(keys)
            done += len(keys)
    return done / (time.perf_counter() - started)


def alone(keys: int, says: Says) -> Record:
    """A knowledge base for each key."""
    before, started = held(), time.perf_counter()
    kbs = []
    for _ in range(keys):
        kb = everlog.open()
        kb.add_rules(RULES)
        kb.update(insert={"edge": [tuple(fact[1:]) for fact in CHAIN]})
        kbs.append(kb)
    filled, size = time.perf_counter() - started, held() - before
    started = time.perf_counter()
    for kb in kbs:
        kb.insert("edge", [(4, 5)])
    says(f"alone: {size / keys / 1e6:.2f} MB each")
    return {"keys": keys, "fill": filled, "bytes": size, "rate": keys / (time.perf_counter() - started)}


def on_spark(keys: int, says: Says) -> Record:
    """A stream with an update of every key in each batch."""
    from everlog.engines.spark.session import spark_session
    from everlog.pipeline.fleet import fleet

    spark = spark_session({"spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "2"}, master="local[2]")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "in").mkdir()
        for batch in range(BATCHES + 1):
            said = {"insert": CHAIN} if batch == 0 else {("delete", "insert")[batch % 2]: ONE_MORE}
            file = folder / "in" / f"{batch:03}.json"
            _write(file, [(f"k{number}", said) for number in range(keys)])
            os.utime(file, (batch + 1, batch + 1))  # Spark takes files in the order of their times
        source = spark.readStream.schema("key string, update string").option("maxFilesPerTrigger", 1)
        changes = fleet(source.json(str(folder / "in")), RULES)
        started = time.perf_counter()
        stream = changes.writeStream.format("noop").option("checkpointLocation", str(folder / "checkpoint"))
        query = stream.trigger(availableNow=True).start()
        query.awaitTermination()
        total = time.perf_counter() - started
        batches = [
            {"updates": each["numInputRows"], "seconds": each["durationMs"]["triggerExecution"] / 1e3}
            for each in query.recentProgress
            if each["numInputRows"]
        ]
    spark.stop()
    later = batches[1:]
    rate = sum(each["updates"] for each in later) / sum(each["seconds"] for each in later)
    whole = len(batches) * keys / total
    says(f"on Spark: {rate:,.0f} updates a second after the first batch, {whole:,.0f} from start to end")
    return {"batches": batches, "seconds": total, "rate": rate, "whole": whole}


def _write(path: Path, updates: list[tuple[str, Any]]) -> None:
    lines = (json.dumps({"key": key, "update": json.dumps(said)}) for key, said in updates)
    path.write_text("\n".join(lines), encoding="utf-8")
