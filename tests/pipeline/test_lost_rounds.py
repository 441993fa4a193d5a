"""Does recursion in rounds survive the loss of what executors held?

In one process executors are not lost, but their blocks can be: all checkpoints are dropped in the middle of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.pipeline.test_bulk import Facts, derived, listed, meant

from everlog.errors import EngineError
from everlog.pipeline.job import Stages, run_pipeline
from everlog.pipeline.materialise import Materialised, _Bulk, materialise_frames
from everlog.pipeline.rounds_folder import ROUNDS
from everlog.pipeline.settings import read_settings
from everlog.rules.parser import parse_program
from everlog.tables.table_store import TableStore

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

WALKS = """
even(?x, ?z) :- odd(?x, ?y), edge(?y, ?z).
odd(?x, ?y) :- edge(?x, ?y).
odd(?x, ?z) :- even(?x, ?y), edge(?y, ?z).
"""
NEW_TERMS = """
count(?x, 0) :- start(?x).
count(?x, ?m) :- count(?x, ?n), ?n < 20, BIND(?n * 1.5 + 1 AS ?m).
"""
FACTS: Facts = {
    "edge": [(f"n{number}", f"n{number + 1}") for number in range(8)],
    "start": [("a",), ("b",)],
}


def lose_everything(spark: SparkSession) -> None:
    """Drop every block that lost executors would take along."""
    for held in dict(spark.sparkContext._jsc.getPersistentRDDs()).values():  # type: ignore[union-attr]
        held.unpersist(True)


@pytest.fixture
def losses(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """After which rounds everything is lost, and how often."""
    waiting: dict[str, int] = {}
    said = _Bulk._say_round

    def losing(self: _Bulk, relations: Sequence[str], number: int, gained: int, seconds: float) -> None:
        said(self, relations, number, gained, seconds)
        name = f"{relations[0]} {number}"
        if waiting.get(name):
            waiting[name] -= 1
            lose_everything(spark)

    monkeypatch.setattr(_Bulk, "_say_round", losing)
    return waiting


def test_rounds_run_again_from_what_was_written(spark: SparkSession, tmp_path: Path, losses: dict[str, int]) -> None:
    program = parse_program(WALKS)
    losses |= {"even 2": 1, "even 7": 1}
    found = derived(spark, program, FACTS, "rounds", rounds_folder=str(tmp_path / "rounds"))
    assert not any(losses.values()), "all of them have happened"
    lose_everything(spark)  # between the last round and whoever reads
    rows = [row for part in found.parts for row in part.where("NOT explicit").collect()]
    assert {row["rank"] for row in rows} == set(range(1, 9)), "a walk's rank is its length"
    assert listed(found, FACTS) == meant(program, FACTS, found.defined)


@pytest.mark.nightly
def test_terms_that_came_up_are_written_too(spark: SparkSession, tmp_path: Path, losses: dict[str, int]) -> None:
    program = parse_program(NEW_TERMS)
    losses |= {"count 2": 1, "count 6": 1}
    found = derived(spark, program, FACTS, "rounds", rounds_folder=str(tmp_path / "rounds"))
    lose_everything(spark)
    assert not any(losses.values())
    assert listed(found, FACTS) == meant(program, FACTS, found.defined)


def test_the_folder_goes_with_the_run(
    spark: SparkSession, tmp_path: Path, losses: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rules.dl").write_text("p(X, Y) :- e(X, Y).  p(X, Z) :- p(X, Y), e(Y, Z).\n", encoding="utf-8")
    (tmp_path / "e.csv").write_text("".join(f"{n},{n + 1}\n" for n in range(8)), encoding="utf-8")
    text = 'program = "rules.dl"\n[[source]]\npath = "e.csv"\n[maintain]\nrounds_folder = "scratch"\n'
    (tmp_path / "pipeline.toml").write_text(text, encoding="utf-8")
    settings = read_settings(tmp_path / "pipeline.toml")
    seen: list[bool] = []

    def in_rounds(*given: Any, **others: Any) -> Materialised:
        made = materialise_frames(*given[:6], replace(given[6], way="rounds"), *given[7:], **others)
        seen.append(any((tmp_path / "scratch").rglob("*.parquet")))
        return made

    monkeypatch.setattr("everlog.engines.spark.written_rounds._MOST_LOSSES", 1)
    losses |= {"p 7": 2}
    with pytest.raises(EngineError, match=r"deriving p \(round 8\)"):
        run_pipeline(settings, spark, lambda line: None, stages=Stages(materialise=in_rounds))
    assert not seen and not any((tmp_path / "scratch").rglob("*"))
    assert not TableStore(tmp_path / "tables").versions()
    losses.clear()
    run_pipeline(settings, spark, lambda line: None, stages=Stages(materialise=in_rounds))
    assert seen == [True] and not any((tmp_path / "scratch").rglob("*"))
    assert TableStore(tmp_path / "tables").rows("relation p").num_rows == 36
    assert not (tmp_path / "tables" / ROUNDS).exists()
