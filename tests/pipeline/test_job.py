"""Does a run bring facts from files to outputs, and a second run add a version?

The stages are small stand-ins where the test is about the job; the last tests run the real ones, through the command.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.cli.conftest import Everlog, everlog  # noqa: F401

from everlog.errors import ProgramError
from everlog.pipeline.bulk import unknown_terms
from everlog.pipeline.job import PipelineReport, run_pipeline
from everlog.pipeline.settings import read_settings
from everlog.pipeline.table_frames import read_table
from everlog.tables.table_store import TableStore

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

RULES = """
path(?x, ?y) :- edge(?x, ?y).
path(?x, ?z) :- edge(?x, ?y), path(?y, ?z).
edge(x, y).
"""

PIPELINE = """
program = "rules.dl"
[[source]]
path = "edge.csv"
[[output]]
relation = "path"
path = "path.csv"
[spark]
master = "local[2]"
"spark.driver.memory" = "2g"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.dl").write_text(RULES, encoding="utf-8")
    (tmp_path / "edge.csv").write_text("a,b\nb,c\na,b\n", encoding="utf-8")
    (tmp_path / "pipeline.toml").write_text(PIPELINE, encoding="utf-8")
    return tmp_path


def run(folder: Path, spark: SparkSession) -> PipelineReport:
    return run_pipeline(read_settings(folder / "pipeline.toml"), spark, lambda line: None)


def published(folder: Path) -> list[str]:
    header, *rows = (folder / "path.csv").read_text(encoding="utf-8").split()
    assert header == "c1,c2"  # the rules for path do not agree on names
    return sorted(rows)


def facts(report: PipelineReport) -> dict[str, tuple[int, int, int]]:
    return {each.name: (each.facts, each.gained, each.lost) for each in report.relations}


def test_a_run_and_a_second_with_more_data(folder: Path, spark: SparkSession) -> None:
    lines: list[str] = []
    first = run_pipeline(read_settings(folder / "pipeline.toml"), spark, lines.append)
    assert (first.version, first.committed) == (1, True)
    assert facts(first) == {"edge": (3, 3, 0), "path": (4, 4, 0)}
    assert published(folder) == ["a,b", "a,c", "b,c", "x,y"]
    assert [stage.name for stage in first.stages] == ["ingest", "maintain", "publish"]
    assert any(line.startswith("ingest") for line in lines)
    assert json.loads(json.dumps(first.as_data()))["version"] == 1

    (folder / "edge.csv").write_text("c,d\n", encoding="utf-8")
    second = run(folder, spark)
    assert second.version == 2
    assert facts(second) == {"edge": (4, 1, 0), "path": (7, 3, 0)}
    assert len(published(folder)) == 7
    store = TableStore(folder / "tables")
    assert first.way.startswith("bulk") and second.way.startswith("resident")
    assert read_table(spark, store, "relation path", 1).count() == 4
    assert read_table(spark, store, "relation path").count() == 7


def test_nothing_new_makes_no_version(folder: Path, spark: SparkSession) -> None:
    run(folder, spark)
    (folder / "path.csv").unlink()
    again = run(folder, spark)
    assert (again.version, again.committed) == (1, False)
    assert len(published(folder)) == 4


def test_other_rules_take_derived_facts_away(folder: Path, spark: SparkSession) -> None:
    run(folder, spark)
    (folder / "rules.dl").write_text("path(?x, ?y) :- edge(?x, ?y). loop(?x) :- path(?x, ?x).\n", encoding="utf-8")
    report = run(folder, spark)
    assert facts(report) == {"edge": (2, 0, 1), "path": (2, 0, 2)}  # edge(x, y) is not in the text any more
    (folder / "rules.dl").write_text("path(?y) :- edge(?x, ?y).\n", encoding="utf-8")  # another arity, and no loop
    report = run(folder, spark)
    assert facts(report)["path"] == (2, 2, 0)
    store = TableStore(folder / "tables")
    assert store.state("relation path", 2).columns == ("c1", "c2")
    assert read_table(spark, store, "relation path", 1).count() == 4


def test_facts_that_are_there_fix_the_arity(folder: Path, spark: SparkSession) -> None:
    run(folder, spark)
    (folder / "rules.dl").write_text("path(?x) :- edge(?x).\n", encoding="utf-8")
    with pytest.raises(ProgramError, match="used with 1 argument"):
        run(folder, spark)


def rows(frame: DataFrame) -> set[Any]:
    return {tuple(row) for row in frame.collect()}


def test_terms_that_the_dictionary_lacks(spark: SparkSession) -> None:
    known = spark.createDataFrame([(1, '"a'), (2, '"b')], "id long, key string")
    terms = spark.createDataFrame([(2, '"b'), (3, '"c'), (3, '"c')], "id long, key string")
    assert rows(unknown_terms(terms, known)) == {(3, '"c')}


def test_the_command(folder: Path, spark: SparkSession, everlog: Everlog) -> None:  # noqa: F811
    shown = everlog("pipeline", "show", folder / "pipeline.toml")
    assert shown.code == 0 and "component" in shown.out
    assert json.loads(everlog("pipeline", "show", "--json", folder / "pipeline.toml").out)["tables"]["version"] == 0
