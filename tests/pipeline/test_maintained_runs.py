"""Do later runs change what their sources changed: by snapshots, by changes, and with nothing to read?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import everlog
from everlog.engines.paged import sizes as paged_sizes
from everlog.engines.paged.sizes import Sizes
from everlog.errors import DataError
from everlog.pipeline.job import PipelineReport, run_pipeline
from everlog.pipeline.settings import read_settings
from everlog.pipeline.stream import UpdateStream
from everlog.pipeline.stream_updates import updates_of_lines
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
VIEWS = """
[[view]]
name = "ends"
query = "SELECT ?y (COUNT(?x) AS ?n) WHERE { ?x <http://ex.org/to> ?y } GROUP BY ?y"
[[view]]
name = "steps"
query = "SELECT ?y WHERE { ?x <http://ex.org/to> ?y OPTIONAL { ?y <http://ex.org/to> ?z } }"
[[view]]
name = "first"
query = "SELECT ?x WHERE { { SELECT ?x WHERE { ?x <http://ex.org/to> ?y } ORDER BY ?x LIMIT 1 } }"
"""
RULES = "path(?x, ?y) :- edge(?x, ?y).  path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).  some() :- mark(?_x).\n"
MORE = """
degree(?x, ?n) :- AGGREGATE(edge(?x, ?y) ON ?x BIND COUNT(?y) AS ?n).
[?s, <http://ex.org/to>, ?o] :- edge(?x, ?y), BIND(IRI(CONCAT("http://ex.org/", ?x)) AS ?s),
    BIND(IRI(CONCAT("http://ex.org/", ?y)) AS ?o).
"""


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


def test_every_way_goes_on_where_another_has_left_the_tables(tmp_path: Path, spark: SparkSession) -> None:
    """The law for runs: aggregates, negation, views; each way after each other."""
    rules = RULES + MORE
    extra = "lone(?x) :- edge(?x, ?_y), NOT path(?_z, ?x).\n"

    def run(way: str, edges: list[tuple[str, str]], text: str) -> PipelineReport:
        (tmp_path / "rules.dl").write_text(text, encoding="utf-8")
        (tmp_path / "edge.csv").write_text("".join(f"{x},{y}\n" for x, y in edges), encoding="utf-8")
        (tmp_path / "mark.csv").write_text("op,x\n", encoding="utf-8")
        (tmp_path / "size.csv").write_text("", encoding="utf-8")
        (tmp_path / "pipeline.toml").write_text(f'{PIPELINE}{VIEWS}[maintain]\nway = "{way}"\n', encoding="utf-8")
        return run_pipeline(read_settings(tmp_path / "pipeline.toml"), spark, lambda line: None)

    stories = [
        ("bulk", "ab bc cd", rules),
        ("paged", "ab bc cd ce", rules),
        ("resident", "ab bc", rules + extra),
        ("bulk", "ab bc bd da", rules + extra),
        ("paged", "ab bd", rules),
        ("paged", "ab bd xy yx", rules + extra),
        ("bulk", "xy yx", rules),
        ("resident", "xy yx ab", rules),
    ]
    for way, said, text in stories:
        edges = [(word[0], word[1]) for word in said.split()]
        report = run(way, edges, text)
        assert report.way.startswith(way), report.way
        fresh = everlog.open()
        fresh.add_rules(text)
        for view in read_settings(tmp_path / "pipeline.toml").views:
            fresh.view(view.name, view.query)
        fresh.insert("edge", edges)
        kept = everlog.open(tmp_path / "tables", read_only=True)
        for relation in ("path", "degree", "triple", *(["lone"] if "lone" in text else [])):
            assert kept.facts(relation).sorted() == fresh.facts(relation).sorted(), (way, said, relation)
        for view in ("ends", "steps", "first"):
            assert sorted(map(str, kept.view(view).rows())) == sorted(map(str, fresh.view(view).rows())), (said, view)
        assert kept.verify()


def test_what_reads_too_much_for_pages_is_derived_in_bulk(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paged_sizes, "DEFAULT", Sizes(fetched=5))
    (tmp_path / "rules.dl").write_text(RULES, encoding="utf-8")
    (tmp_path / "edge.csv").write_text("".join(f"n{n},n{n + 1}\n" for n in range(0, 40, 2)), encoding="utf-8")
    text = 'program = "rules.dl"\n[[source]]\npath = "edge.csv"\n[stream]\n[maintain]\nway = "paged"\n'
    (tmp_path / "pipeline.toml").write_text(text, encoding="utf-8")
    settings = read_settings(tmp_path / "pipeline.toml")
    run_pipeline(settings, spark, lambda line: None)
    (tmp_path / "rules.dl").write_text(RULES + "back(?y, ?x) :- edge(?x, ?y).\n", encoding="utf-8")
    report = run_pipeline(read_settings(tmp_path / "pipeline.toml"), spark, lambda line: None)
    assert report.way.startswith("bulk: not paged, since all 20 facts of edge would be read"), report.way
    stream = UpdateStream(settings, "s", "stop", spark=spark)
    updates = [
        {"insert": [["edge", "n1", "n2"]]},
        {"add_rules": "same(?x, ?x) :- edge(?x, ?_y).  edge(x, y).", "insert": [["edge", "y", "z"]]},
        {"delete": [["edge", "y", "z"], ["other", 1]], "remove_rules": []},
    ]
    lines = [json.dumps(update).encode() for update in updates]
    done = stream.apply(updates_of_lines("u", lines), 0)
    assert done.updates == 3 and "bulk" in done.strategies, done
    assert stream.apply(updates_of_lines("u", lines), 0).updates == 0
    stream.close()
    kept = everlog.open(tmp_path / "tables", read_only=True)
    assert kept.version == 5 and len(list(kept.facts("same"))) == 22
    assert kept.verify()
