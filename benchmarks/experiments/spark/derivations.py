"""How long does Spark take from sources to tables, by which way, and in how many jobs?

Each program runs through the pipeline twice in one session, into new tables each time: the first time Java and the
workers are cold for it.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.datasets.shared_data import shared_data
from benchmarks.measuring.process_tree import is_told, tree_seconds
from benchmarks.reporting.results import Record
from benchmarks.workload import rules_of
from benchmarks.workloads import closure, galen, hierarchy
from benchmarks.write_data import write_triples
from everlog.errors import NotFoundError
from everlog.pipeline.job import run_pipeline
from everlog.pipeline.settings import read_settings
from everlog.rules.syntax import TRIPLE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Tables = Mapping[str, pa.Table | Path]  # facts, or a file that holds them

_HIERARCHY_SCALE = 6  # 1.5 M triples become 13.6 M


@dataclass(frozen=True)
class Derivation:
    """Facts and rules, and how many seconds keeping the tables may take in a warm session on a quiet machine."""

    title: str
    data: Callable[[bool], tuple[Tables, str]]
    asked: float
    whole: bool = False  # is it about the whole run, sources included?


def _of(module: object, name: str, scale: float = 1.0) -> Callable[[bool], tuple[Tables, str]]:
    def made(quick: bool) -> tuple[Tables, str]:
        return module.WORKLOAD.data(scale / 50 if quick else scale), _rules(name)  # type: ignore[attr-defined]

    return made


def _rules(name: str) -> str:
    return "".join(line for line in rules_of(name).splitlines(keepends=True) if not line.startswith("@import"))


def _universities(quick: bool) -> tuple[Tables, str]:
    return {TRIPLE: shared_data("lubm") / f"LUBM{1 if quick else 10}.nt.gz"}, _rules("lubm")


def sixty_rules(_quick: bool = False) -> tuple[Tables, str]:
    """Sixty small rules without recursion over six small relations."""
    chance = random.Random(1)
    rules = []
    for number in range(60):
        first, second = f"e{number % 6}", f"e{(number + 1) % 6}"
        rules.append(
            f"r{number}(?x, ?z) :- {first}(?x, ?y), {second}(?y, ?z).\n"
            if number % 2
            else f"r{number}(?x) :- {first}(?x, ?y), ?y > {number}.\n"
        )
    tables = {
        f"e{number}": pa.table([[chance.randrange(300) for _ in range(500)] for _ in range(2)], ["x", "y"])
        for number in range(6)
    }
    return tables, "".join(rules)


DERIVATIONS = {
    "closure": Derivation("closure of a random graph", _of(closure, "closure"), 2.5),
    "galen": Derivation("GALEN, which has no pivot", _of(galen, "galen"), 6.0),
    "hierarchy": Derivation("class and property hierarchy", _of(hierarchy, "hierarchy", _HIERARCHY_SCALE), 10.0),
    "sixty": Derivation("sixty small rules", sixty_rules, 5.0),
    "lubm": Derivation("LUBM, ten universities, 98 rules", _universities, 25.0, whole=True),
}


def derivations(spark: SparkSession, folder: Path, *, quick: bool) -> Iterator[Record]:
    """Measure one after the other; those whose data is not there are left out."""
    for name, each in DERIVATIONS.items():
        try:
            tables, rules = each.data(quick)
        except NotFoundError:
            continue
        toml = prepared(folder / name, tables, rules)
        cold, warm = _measured(spark, toml, f"{name} cold"), _measured(spark, toml, f"{name} warm")
        yield {"name": name, "title": each.title, "asked": each.asked, "whole": each.whole, "cold": cold, "warm": warm}
        shutil.rmtree(folder / name)


def prepared(place: Path, tables: Tables, rules: str, more: str = "") -> Path:
    """Write facts, rules and a pipeline.toml into a new folder."""
    place.mkdir(parents=True)
    (place / "rules.dl").write_text(rules, encoding="utf-8")
    sources = []
    for relation, table in tables.items():
        if isinstance(table, Path):
            sources.append(f"[[source]]\npath = {json.dumps(str(table))}\n")
        elif relation == TRIPLE:
            write_triples(place / "triple.nt", table)
            sources.append('[[source]]\npath = "triple.nt"\n')
        else:
            pq.write_table(table, place / f"{relation}.parquet")
            sources.append(f'[[source]]\npath = "{relation}.parquet"\n')
    text = 'program = "rules.dl"\n' + "".join(sources) + more
    (place / "pipeline.toml").write_text(text, encoding="utf-8")
    return place / "pipeline.toml"


def _measured(spark: SparkSession, toml: Path, group: str) -> Record:
    settings = read_settings(toml)
    shutil.rmtree(settings.tables, ignore_errors=True)
    spark.sparkContext.setJobGroup(group, group)
    started, processor = time.perf_counter(), _processor()
    report = run_pipeline(settings, spark, lambda line: None)
    return {
        "seconds": time.perf_counter() - started,
        "processor": None if processor is None else (_processor() or 0.0) - processor,
        "maintain": sum(stage.seconds for stage in report.stages if stage.name == "maintain"),
        "jobs": len(spark.sparkContext.statusTracker().getJobIdsForGroup(group)),
        "facts": sum(relation.facts for relation in report.relations),
        "way": report.way,
    }


def _processor() -> float | None:
    return tree_seconds(os.getpid()) if is_told() else None
