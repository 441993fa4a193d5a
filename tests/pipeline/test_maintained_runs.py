"""Do later runs change what their sources changed: by snapshots, by changes, and with nothing to read?"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import everlog
from everlog.errors import DataError
from everlog.pipeline.job import PipelineReport, run_pipeline
from everlog.pipeline.settings import read_settings
from everlog.tables.table_store import TableStore

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

PIPELINE = """
program = "rules.dl"
max_rejects = 0.5
[[source]]
path = "edge.csv"
kind = "snapshot"
[[source]]
path = "mark.csv"
kind = "changes"
header = true
change_column = "op"
[[source]]
path = "size.csv"
types = ["string", "integer"]
"""
RULES = "path(?x, ?y) :- edge(?x, ?y).  path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).  some() :- mark(?_x).\n"


def test_a_snapshot_with_lines_that_cannot_be_read(tmp_path: Path, spark: SparkSession) -> None:
    """A line that cannot be read is no deletion: while there are some, a snapshot adds and takes nothing away."""
    text = 'program = "rules.dl"\nmax_rejects = 0.5\n[[source]]\npath = "edge.csv"\nkind = "snapshot"\n'
    (tmp_path / "pipeline.toml").write_text(f'{text}types = ["string", "integer"]\n', encoding="utf-8")
    (tmp_path / "rules.dl").write_text("node(?x) :- edge(?x, ?_y).\n", encoding="utf-8")

    def run(edges: str) -> PipelineReport:
        (tmp_path / "edge.csv").write_text(edges, encoding="utf-8")
        return run_pipeline(read_settings(tmp_path / "pipeline.toml"), spark, lambda line: None)

    def nodes() -> list[tuple[object, ...]]:
        return everlog.open(tmp_path / "tables", read_only=True).facts("node").sorted()

    assert run("a,1\nb,2\nc,x\n").rejects == 1  # there is nothing yet that could go
    run("a,1\nb,2\nc,x\nd,4\n")
    assert nodes() == [("a",), ("b",), ("d",)]
    with pytest.raises(DataError, match=r"edge\.csv:2.*b,two") as caught:
        run("a,1\nb,two\nd,4\ne,5\n")
    assert "1 facts of edge are not in it any more" in str(caught.value)
    assert nodes() == [("a",), ("b",), ("d",)] and TableStore(tmp_path / "tables").versions() == [1, 2]
    run("a,1\nd,4\ne,5\n")
    assert nodes() == [("a",), ("d",), ("e",)]


def test_facts_come_and_go_with_their_sources(tmp_path: Path, spark: SparkSession) -> None:
    def run(way: str, **files: str) -> PipelineReport:
        for name, text in files.items():
            (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
        text = f'{PIPELINE}[maintain]\nway = "{way}"\n'
        (tmp_path / "pipeline.toml").write_text(text, encoding="utf-8")
        return run_pipeline(read_settings(tmp_path / "pipeline.toml"), spark, lambda line: None)

    def facts(relation: str) -> list[tuple[object, ...]]:
        return everlog.open(tmp_path / "tables", read_only=True).facts(relation).sorted()

    (tmp_path / "rules.dl").write_text(RULES, encoding="utf-8")
    run("auto", edge="a,b\nb,c\n", mark="op,x\ninsert,m\n", size="a,1\n")
    assert facts("path") == [("a", "b"), ("a", "c"), ("b", "c")] and facts("some") == [()]
    for way, edge, mark, size in (
        ("resident", "a,b\n", "op,x\ndelete,m\n", "b,two\nc,3\n"),
        ("bulk", "b,c\nc,d\n", "op,x\n+,m\n+,n\n-,n\n", ""),
    ):
        report = run(way, edge=edge, mark=mark, size=size)
        assert report.way.startswith(way) and report.committed
        fresh = everlog.open()
        fresh.add_rules(RULES)
        fresh.insert("edge", [tuple(line.split(",")) for line in edge.split()])
        assert facts("path") == fresh.facts("path").sorted()
        assert facts("some") == ([] if way == "resident" else [()])
        assert facts("size") == [("a", 1), ("c", 3)]  # what appends hold stays, and a source may be empty
        rejects = TableStore(tmp_path / "tables").rows("rejects")
        assert rejects.num_rows == 1 and "two" in rejects["text"].to_pylist()[0]
    assert everlog.open(tmp_path / "tables", read_only=True).verify()
