"""How long do pipelines take that run one after the other in one Spark session?

    python -m benchmarks.experiments.pipeline.session first.toml second.toml

prints, for each, its report as JSON with the processor time of each stage, and which share of the machine's processors
other processes took meanwhile. A process of its own, so that the memory of one measurement is not that of the one
before it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from benchmarks.experiments.pipeline.report import STAGES
from benchmarks.measuring.process_tree import is_told, machine_seconds, tree_seconds
from everlog.engines.spark.session import spark_session
from everlog.pipeline.job import run_pipeline
from everlog.pipeline.settings import Settings, read_settings


class StageClock:
    """Hears a pipeline's lines of progress, and notes the processor time at the end of each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = tree_seconds(os.getpid())

    def __call__(self, line: str) -> None:
        now = tree_seconds(os.getpid())
        stage = line.partition(" ")[0]
        if stage in STAGES:  # others are about its rounds
            self.seconds[stage] = now - self._last
            self._last = now


def measured(settings: Settings, spark: Any) -> dict[str, Any]:
    if not is_told():
        return {"report": run_pipeline(settings, spark, lambda line: None).as_data(), "processor": {}, "others": None}
    clock, began, all_before, ours_before = (
        StageClock(),
        time.perf_counter(),
        machine_seconds(),
        tree_seconds(os.getpid()),
    )
    report = run_pipeline(settings, spark, clock).as_data()
    others = machine_seconds() - all_before - (tree_seconds(os.getpid()) - ours_before)
    share = max(0.0, others / (time.perf_counter() - began) / (os.cpu_count() or 1))
    return {"report": report, "processor": clock.seconds, "others": share}


def main(files: list[str]) -> None:
    pipelines = [read_settings(file) for file in files]
    spark = spark_session(pipelines[0].spark, pipelines[0].master)
    try:
        found = [measured(each, spark) for each in pipelines]
    finally:
        spark.stop()
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
