"""Does the Spark engine do what the stories say, and count what the columnar engine counts?

A story takes a few jobs an update, so a dozen that between them use everything run always, and all of them at night.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.subjects import EngineSubject
from tests.test_cases import CASES, name_of, play, read

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

ALWAYS = {
    "recursion_nonlinear",
    "recursion_mutual",
    "negation_with_a_local_variable",
    "negation_not_exists_with_a_filter_in_recursion",
    "negation_with_constants",
    "aggregate_several_per_atom",
    "aggregate_over_nothing",
    "comparison_across_types",
    "counting_up_to_a_bound",
    "expression_errors_fail_the_binding",
    "nullary_atoms",
    "triples_with_a_variable_predicate",
}


@pytest.mark.parametrize("path", [path for path in CASES if path.stem in ALWAYS], ids=name_of)
def test_case_on_spark(path: Path, spark: SparkSession) -> None:
    play(read(path), EngineSubject("spark"))


@pytest.mark.nightly
@pytest.mark.parametrize("path", [path for path in CASES if path.stem not in ALWAYS], ids=name_of)
def test_every_case_on_spark(path: Path, spark: SparkSession) -> None:
    play(read(path), EngineSubject("spark"))


def test_the_stories_that_always_run_exist() -> None:
    assert {path.stem for path in CASES} >= ALWAYS
