"""Is a Python worker that dies in the middle of a derivation an error in our words, with nothing half done?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from everlog.errors import EngineError
from everlog.pipeline.job import run_pipeline
from everlog.pipeline.settings import read_settings
from everlog.tables.table_store import TableStore

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def dying(*arguments: object) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def worker(batches: Iterator[Any]) -> Iterator[Any]:
        os._exit(1)
        yield from batches

    return worker


def test_a_killed_worker_leaves_the_version_before(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rules.dl").write_text("long(?x, ?n) :- word(?x), BIND(strlen(?x) AS ?n).\n", encoding="utf-8")
    (tmp_path / "word.csv").write_text("a\nbb\n", encoding="utf-8")
    text = 'program = "rules.dl"\ntables = "tables"\n[[source]]\npath = "word.csv"\n[maintain]\nway = "bulk"\n'
    (tmp_path / "pipeline.toml").write_text(text, encoding="utf-8")
    settings = read_settings(tmp_path / "pipeline.toml")
    run_pipeline(settings, spark, progress=lambda line: None)
    before = TableStore(tmp_path / "tables").versions()
    (tmp_path / "word.csv").write_text("a\nbb\nccc\n", encoding="utf-8")
    with monkeypatch.context() as patched:
        patched.setattr("everlog.pipeline.bulk_tasks._task", dying)
        with pytest.raises(EngineError, match="Spark failed while deriving long"):
            run_pipeline(settings, spark, progress=lambda line: None)
    assert TableStore(tmp_path / "tables").versions() == before
    run_pipeline(settings, spark, progress=lambda line: None)
    assert TableStore(tmp_path / "tables").rows("relation long").num_rows == 3
