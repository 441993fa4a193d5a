"""Do LUBM's queries have their answers over a university that went through the pipeline?"""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.datasets.shared_data import shared_data
from examples.lubm.run import ask, run, update
from pyspark.sql import SparkSession
from rich.console import Console
from tests.benchmark_queries.answers import expected_counts
from tests.shared_files import skipped_without_data

import everlog

pytestmark = [pytest.mark.spark, pytest.mark.nightly, pytest.mark.xdist_group("spark")]


@pytest.mark.parametrize("universities", [1, 10])
def test_answers(universities: int, tmp_path: Path, spark: SparkSession) -> None:
    with skipped_without_data():
        data = shared_data("lubm")
    run(data, universities, tmp_path, Console(quiet=True), spark)
    expected = expected_counts(data / "expected_counts.tsv", f"LUBM{universities}")
    with everlog.open(tmp_path / "tables") as kb:
        assert {name: count for name, (count, _) in ask(kb, data / "queries").items()} == expected
        (_, _, _, lost), (_, _, gained, _) = update(kb)
        assert lost == gained >= 100
        assert {name: count for name, (count, _) in ask(kb, data / "queries").items()} == expected
