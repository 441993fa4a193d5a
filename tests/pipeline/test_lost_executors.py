"""Does a run on a cluster end right, though an executor is killed in the middle?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.pipeline.clusters import Cluster, run_driver, standalone_cluster

import everlog
from everlog.pipeline.rounds_folder import ROUNDS

pytestmark = [pytest.mark.spark, pytest.mark.nightly, pytest.mark.xdist_group("spark")]

# Runs the pipeline of a folder on a cluster, in rounds or divided by pivots; tells each line, and how long it took.
DRIVER = """
import sys, time
from dataclasses import replace
from everlog.engines.spark.session import spark_session
from everlog.pipeline.job import Stages, run_pipeline
from everlog.pipeline.materialise import materialise_frames
from everlog.pipeline.settings import read_settings

toml, master, way = sys.argv[1:]

def materialise(spark, program, facts, terms, says, limits, wanted, *others, **more):
    made = materialise_frames(spark, program, facts, terms, says, limits, replace(wanted, way=way), *others, **more)
    print("described", flush=True)
    return made

settings = read_settings(toml)
spark = spark_session(settings.spark, master)
started = time.perf_counter()
run_pipeline(settings, spark, lambda line: print(line, flush=True), stages=Stages(materialise=materialise))
print(f"took {time.perf_counter() - started:.1f}", flush=True)
"""
PIPELINE = """
program = "rules.dl"
[[source]]
path = "edge.csv"
types = ["integer", "integer"]
[spark]
"spark.executor.memory" = "1g"
"spark.driver.host" = "127.0.0.1"
"spark.driver.bindAddress" = "127.0.0.1"
"spark.ui.enabled" = false
"""
RULES = """
path(?x, ?y) :- edge(?x, ?y).
path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).
ends(?x) :- path(?x, ?y), NOT edge(?y, ?_z).
"""
CHAINS, LONG = 2500, 12  # so that there are more facts than one task takes, and a dozen rounds


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with standalone_cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


def pipeline(folder: Path) -> Path:
    (folder / "rules.dl").write_text(RULES, encoding="utf-8")
    edges = ((chain * 100 + place, chain * 100 + place + 1) for chain in range(CHAINS) for place in range(LONG))
    (folder / "edge.csv").write_text("".join(f"{a},{b}\n" for a, b in edges), encoding="utf-8")
    (folder / "pipeline.toml").write_text(PIPELINE, encoding="utf-8")
    return folder / "pipeline.toml"


def check(folder: Path) -> None:
    kb = everlog.open(folder / "tables", read_only=True)
    assert len(kb.facts("path")) == CHAINS * LONG * (LONG + 1) // 2
    assert len(kb.facts("ends")) == CHAINS * LONG
    assert not (folder / "tables" / ROUNDS).exists()


def test_killed_in_rounds(tmp_path: Path, cluster: Cluster) -> None:
    killed: list[int] = []

    def on_line(line: str) -> None:
        if f"round {4 * len(killed) + 4}," in line and len(killed) < 2:
            killed.append(cluster.kill_an_executor())

    lines = run_driver(DRIVER, str(pipeline(tmp_path)), cluster.master, "rounds", on_line=on_line)
    assert len(killed) == 2 and any("an executor was lost" in line for line in lines), "\n".join(lines)
    check(tmp_path)


def test_killed_in_a_job_by_pivots(tmp_path: Path, cluster: Cluster) -> None:
    killed: list[int] = []

    def on_line(line: str) -> None:
        if line == "described":  # from here to the commit all is one job, which takes longer than this
            time.sleep(1)
            killed.append(cluster.kill_an_executor())

    run_driver(DRIVER, str(pipeline(tmp_path)), cluster.master, "pivot", on_line=on_line)
    assert len(killed) == 1
    check(tmp_path)
