"""Does a pipeline keep its tables in an object store: runs, streams, Spark's readers, and two runs at once?"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.object_store import ObjectStore

import everlog
from everlog.errors import StorageError
from everlog.pipeline import read_settings, register, run_pipeline
from everlog.pipeline.settings import Settings
from everlog.pipeline.settings_parts import MaintainSettings
from everlog.pipeline.show import show_pipeline
from everlog.pipeline.stream import run_stream
from everlog.tables.commits import CommitConflictError
from everlog.tables.table_store import TableStore

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

RULES = """
contains(?whole, ?part) :- parts(?whole, ?part).
contains(?whole, ?part) :- parts(?whole, ?some), contains(?some, ?part).
size(?whole, ?count) :- AGGREGATE(contains(?whole, ?part) ON ?whole BIND COUNT(?part) AS ?count).
"""
SETTINGS = """
program = "rules.dl"
tables = "{place}"
[[source]]
path = "parts.csv"
kind = "snapshot"
[[output]]
relation = "size"
path = "size.csv"
[stream]
folder = "updates"
trigger = "available-now"
[storage]
"""


@pytest.fixture
def settings(tmp_path: Path, object_store: ObjectStore, address: str) -> Settings:
    storage = "".join(f'{key} = "{value}"\n' for key, value in object_store.storage.items())
    (tmp_path / "rules.dl").write_text(RULES)
    (tmp_path / "pipeline.toml").write_text(SETTINGS.replace("{place}", address) + storage)
    bring(tmp_path, "bike,wheel", "bike,frame", "wheel,spoke", "wheel,rim")
    return read_settings(tmp_path / "pipeline.toml")


def bring(folder: Path, *lines: str) -> None:
    (folder / "parts.csv").write_text("\n".join(lines) + "\n")


def quietly(line: object) -> None:
    """Nobody listens."""


def by(settings: Settings, way: str) -> Settings:
    return dataclasses.replace(settings, maintain=MaintainSettings(way))


def sizes(settings: Settings) -> list[tuple[object, ...]]:
    """As a knowledge base sees them, which also finds everything else as it should be."""
    with everlog.open(settings.tables, read_only=True) as kb:  # type: ignore[arg-type]
        assert kb.verify()
        return kb.facts("size").sorted()


@pytest.mark.parametrize("way", ["resident", pytest.param("bulk", marks=pytest.mark.nightly)])
def test_runs_a_stream_and_a_reader(spark: SparkSession, settings: Settings, tmp_path: Path, way: str) -> None:
    run_pipeline(settings, spark, quietly)
    assert sizes(settings) == [("bike", 4), ("wheel", 2)] and "size(c1, c2): 2 rows" in show_pipeline(settings)

    (tmp_path / "updates").mkdir()
    (tmp_path / "updates" / "1.jsonl").write_text('{"insert": [["parts", "rim", "nut"]]}\n{"insert": [["parts"]]}\n')
    run_stream(by(settings, "paged"), spark, quietly)
    assert sizes(settings) == [("bike", 5), ("rim", 1), ("wheel", 3)]
    beside = tmp_path / "beside_tables"
    assert settings.tables.beside == beside and (beside / "_runs").is_dir() and (beside / "_outputs.json").exists()
    assert list((beside / "_set_aside").iterdir()) and (tmp_path / "beside_tables_stream").is_dir()

    bring(tmp_path, "bike,wheel", "wheel,rim", "rim,nut")
    assert way in run_pipeline(by(settings, way), spark, quietly).way
    assert sizes(settings) == [("bike", 3), ("rim", 1), ("wheel", 2)]
    assert sorted((tmp_path / "size.csv").read_text().split()) == ["bike,3", "rim,1", "wheel,2", "whole,count"]
    assert TableStore(settings.tables).versions() == [1, 2, 3]

    register(spark)
    reader = spark.read.format("everlog").option("relation", "size")
    for key, value in (settings.tables.storage or {}).items():
        reader = reader.option(f"storage.{key}", value)
    assert {tuple(row) for row in reader.load(str(settings.tables)).collect()} == set(sizes(settings))


def test_of_two_runs_at_once_one_commits(
    spark: SparkSession, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second run begins and ends while the first is about to commit."""
    from everlog.tables import writing

    first: Callable[..., object] = writing.commits.write_commit
    reports: list[object] = []

    def overtaken(*arguments: object, **options: object) -> object:
        monkeypatch.setattr(writing.commits, "write_commit", first)
        reports.append(run_pipeline(dataclasses.replace(settings, outputs=()), spark, quietly))
        return first(*arguments, **options)

    monkeypatch.setattr(writing.commits, "write_commit", overtaken)
    with pytest.raises(CommitConflictError, match="another writer"):
        run_pipeline(settings, spark, quietly)
    assert len(reports) == 1 and TableStore(settings.tables).versions() == [1]
    assert sizes(settings) == [("bike", 4), ("wheel", 2)]
    assert not run_pipeline(settings, spark, quietly).committed


def test_a_store_that_cannot_be_reached(spark: SparkSession, settings: Settings, tmp_path: Path) -> None:
    toml = tmp_path / "pipeline.toml"
    toml.write_text(toml.read_text().replace("http://127.0.0.1:", "http://127.0.0.1:1/"))
    with pytest.raises(StorageError, match="cannot be reached"):
        run_pipeline(read_settings(toml), spark, quietly)
