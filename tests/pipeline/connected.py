"""What the tests of Spark Connect run, in a process of its own: `derive`, a pipeline, reads of its tables.

    python connected.py FOLDER

It starts a Connect server on this machine, and prints a line of JSON: what it found, by name.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from everlog.engines.spark.session import is_connect
from everlog.pipeline import derive, read_settings, register, run_pipeline

RULES = """
path(?start, ?end) :- edge(?start, ?end).
path(?start, ?end) :- path(?start, ?m), edge(?m, ?end).
fan(?x, ?n, ?half) :- AGGREGATE(path(?x, ?y) ON ?x BIND COUNT(?y) AS ?n), BIND(?n / 2 AS ?half).
"""
WAYS = ("pivot", "rounds")  # `lazy` is the one in one task
SETTINGS = 'program = "rules.dl"\n[[source]]\npath = "edge.csv"\n[[output]]\nrelation = "path"\npath = "path.csv"\n'


def rows(frame: DataFrame) -> list[list[Any]]:
    return sorted([str(value) for value in row] for row in frame.collect())


def tell(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """Everything that the test looks at."""
    assert is_connect(spark)
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    found: dict[str, Any] = {}
    edges = spark.createDataFrame([("a", "b"), ("b", "c"), ("c", "d")], "src string, dst string")
    for way in WAYS:
        with derive(spark, RULES, {"edge": edges}, way=way) as made:
            found[way] = {name: rows(frame) for name, frame in made.items()}
            found["types"] = {name: dict(frame.dtypes) for name, frame in made.items()}
    found["lazy"] = {name: rows(frame) for name, frame in derive(spark, RULES, {"edge": edges}, lazy=True).items()}
    (folder / "rules.dl").write_text(RULES)
    (folder / "pipeline.toml").write_text(SETTINGS)
    for text in ("a,b\nb,c\n", "a,b\nb,c\nc,d\n"):
        (folder / "edge.csv").write_text(text)
        report = run_pipeline(read_settings(folder / "pipeline.toml"), spark, lambda line: None)
    found["version"] = report.version
    register(spark)
    found["read"] = rows(spark.read.format("everlog").option("relation", "path").load(str(folder / "tables")))
    return found


if __name__ == "__main__":
    session = SparkSession.builder.remote("local[2]").getOrCreate()
    try:
        print(json.dumps(tell(session, Path(sys.argv[1]))))
    finally:
        session.stop()
