"""A thousand pods with health data, a view of each for those who treat the patient, kept true as news comes in.

See README.md. `python -m examples.pods_fleet.run` takes half a minute, most of it for Spark to start.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from examples.pods_fleet.data import lines
from pyspark.sql import DataFrame, Row, SparkSession
from rich.console import Console
from rich.table import Table

from everlog.engines.spark.session import spark_session
from everlog.pipeline.fleet import fleet

PREFIX = "PREFIX : <http://example.org/> "
VIEWS = {
    "care": PREFIX
    + """SELECT ?patient ?diagnosis ?physician {
           ?patient :hasDiagnosis ?diagnosis
           OPTIONAL { ?patient :treatedBy ?p . ?p :name ?physician } }""",
    "medicines": PREFIX + "SELECT (COUNT(DISTINCT ?m) AS ?n) { ?patient :mayTake ?m }",
}

Shown = dict[str, dict[str, Counter[tuple[str | None, ...]]]]  # what each pod's views show


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--pods", type=int, default=1000)
    arguments.add_argument("--days", type=int, default=4)
    chosen = arguments.parse_args()
    spark = spark_session({"spark.sql.shuffle.partitions": "2"}, master="local[2]", app_name="pods")
    with tempfile.TemporaryDirectory() as folder:
        tell(spark, Console(), Path(folder), chosen.pods, chosen.days)
    spark.stop()


def tell(spark: SparkSession, console: Console, folder: Path, pods: int, days: int) -> Shown:
    """Stream day after day, and tell what changed; returns what the views of each pod show in the end."""
    shown: Shown = {}
    (folder / "news").mkdir()
    updates = 0
    for day, news in enumerate(lines(pods, days)):
        file = folder / "news" / f"{day:03}.json"
        file.write_text("\n".join(map(json.dumps, news)), encoding="utf-8")
        os.utime(file, (day + 1, day + 1))  # Spark takes files in the order of their times
        updates += len(news)

    def on_batch(changes: DataFrame, day: int) -> None:
        rows = changes.collect()
        console.print(f"[bold]Day {day + 1}[/]: {_told(rows)}")
        _follow(shown, rows)

    started = time.perf_counter()
    source = spark.readStream.schema("key string, update string").option("maxFilesPerTrigger", 1)
    stream = fleet(source.json(str(folder / "news")), views=VIEWS, only=VIEWS).writeStream.foreachBatch(on_batch)
    query = stream.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()
    seconds = time.perf_counter() - started
    console.print(f"\n{updates:,} updates of {len(shown):,} pods in {seconds:.1f} s.\n")
    console.print(_table(shown, sorted(shown)[:5]))
    return shown


def _told(rows: list[Row]) -> str:
    gained = sum(row.weight for row in rows if row.kind == "view" and row.weight > 0)
    lost = -sum(row.weight for row in rows if row.kind == "view" and row.weight < 0)
    refused = sum(row.kind == "refused" for row in rows)
    pods = len({row.key for row in rows})
    return f"the views of {pods:,} pods changed: {gained:,} rows came, {lost:,} went, {refused:,} updates refused"


def _follow(shown: Shown, rows: list[Row]) -> None:
    """Add changes up: that is all a reader of the stream has to do."""
    for row in rows:
        if row.kind == "view":
            counts = shown.setdefault(row.key, {name: Counter() for name in VIEWS})[row.name]
            counts[tuple(row.terms)] += row.weight
            if not counts[tuple(row.terms)]:
                del counts[tuple(row.terms)]


def _table(shown: Shown, pods: list[str]) -> Table:
    table = Table("pod", "diagnosis", "physician", "medicines that may be taken")
    for pod in pods:
        [(number,)] = shown[pod]["medicines"]
        for place, (_, diagnosis, physician) in enumerate(sorted(shown[pod]["care"], key=str)):
            table.add_row(pod if not place else "", _short(diagnosis), _short(physician), number if not place else "")
    return table


def _short(term: Any) -> str:
    """A term without what is the same for all."""
    return "unknown" if term is None else str(term).strip('<>"').removeprefix("http://example.org/")


if __name__ == "__main__":
    main()
