"""Are views written like relations, and does a change feed tell each change once?"""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

import everlog
from everlog.errors import OutputError
from everlog.pipeline.job import PipelineReport, run_pipeline
from everlog.pipeline.settings import read_settings
from everlog.tables.table_store import TableStore

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

RULES = """
PREFIX : <http://ex.org/>
path(?from, ?to) :- edge(?from, ?to).
path(?from, ?to) :- path(?from, ?y), edge(?y, ?to).
[?s, :size, ?n] :- size(?x, ?n), BIND(IRI(CONCAT("http://ex.org/", ?x)) AS ?s).
[?s, :to, ?o] :- edge(?x, ?y), BIND(IRI(CONCAT("http://ex.org/", ?x)) AS ?s),
    BIND(IRI(CONCAT("http://ex.org/", ?y)) AS ?o).
"""
PIPELINE = """
program = "rules.dl"
results = "out"
[[source]]
path = "edge.csv"
kind = "snapshot"
[[source]]
path = "size.csv"
kind = "snapshot"
types = ["string", "SIZE"]
[[view]]
name = "sizes"
query = "SELECT ?x ?n WHERE { ?x :to ?y OPTIONAL { ?x :size ?n } }"
[[view]]
name = "largest"
query = "SELECT ?x ?n WHERE { ?x :size ?n } ORDER BY DESC(?n) LIMIT 1"
[[view]]
name = "back"
query = "CONSTRUCT { ?y :from ?x } WHERE { ?x :to ?y }"
[[view]]
name = "big"
query = "ASK { ?x :size 9 }"
[[output]]
view = "sizes"
path = "sizes.csv"
[[output]]
view = "sizes"
path = "sizes.parquet"
[[output]]
view = "largest"
path = "largest"
[[output]]
view = "back"
path = "back.nt"
[[output]]
view = "big"
path = "big.csv"
[[output]]
relation = "path"
kind = "changes"
path = "path_changes"
[[output]]
relation = "size"
kind = "changes"
path = "size_changes"
format = "parquet"
columns = ["name", "n"]
[[output]]
view = "sizes"
kind = "changes"
path = "sizes_changes"
format = "csv"
[[output]]
view = "largest"
kind = "changes"
path = "largest_changes"
[[output]]
view = "back"
kind = "changes"
path = "back_changes"
[maintain]
way = "WAY"
"""


class Pipeline:
    """A pipeline in a folder, and its outputs."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.folder, self.spark, self.out = folder, spark, folder / "out"
        (folder / "rules.dl").write_text(RULES, encoding="utf-8")

    def run(self, edges: str, sizes: str, way: str = "auto", type_: str = "integer") -> PipelineReport:
        (self.folder / "edge.csv").write_text("".join(f"{e[0]},{e[1]}\n" for e in edges.split()), encoding="utf-8")
        (self.folder / "size.csv").write_text("".join(f"{s[0]},{s[1:]}\n" for s in sizes.split()), encoding="utf-8")
        text = PIPELINE.replace("WAY", way).replace("SIZE", type_)
        (self.folder / "pipeline.toml").write_text(text, encoding="utf-8")
        return run_pipeline(read_settings(self.folder / "pipeline.toml"), self.spark, lambda line: None)

    def delta(self, name: str) -> Any:
        return DeltaTable(str(self.out / name)).to_pyarrow_table()

    def csv(self, name: str) -> list[dict[str, str]]:
        with open(self.out / name, encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def kb(self) -> everlog.KnowledgeBase:
        return everlog.open(self.folder / "tables", read_only=True)


def total(rows: Any, *names: str) -> Counter[tuple[Any, ...]]:
    """What changes come to."""
    found: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        found[tuple(row[name] for name in names)] += int(row["weight"])
    return Counter({key: count for key, count in found.items() if count})


def check(pipeline: Pipeline) -> None:
    """Outputs hold what views show, and what feeds tell comes to what is there."""
    kb, out = pipeline.kb(), pipeline.out
    sizes = Counter((str(x), n) for x, n in kb.view("sizes").rows())
    written = pq.read_table(out / "sizes.parquet").to_pylist()
    assert Counter((row["x"], row["n"]) for row in written) == sizes
    as_text = Counter((x, "" if n is None else str(n)) for x, n in sizes.elements())
    assert Counter((row["x"], row["n"]) for row in pipeline.csv("sizes.csv")) == as_text
    largest = [(str(x), n) for x, n in kb.view("largest").rows()]
    assert [(row["x"], row["n"]) for row in pipeline.delta("largest").to_pylist()] == largest
    graph = everlog.open(engine="reference")
    graph.load(out / "back.nt")
    assert sorted(map(str, graph.facts("triple"))) == sorted(map(str, kb.view("back").rows()))
    assert pipeline.csv("big.csv") == [{"answer": str(bool(kb.view("big").rows())).lower()}]
    assert total(pipeline.delta("path_changes").to_pylist(), "from", "to") == Counter(kb.facts("path"))
    files = sorted((out / "sizes_changes").iterdir())
    rows = [row for file in files for row in pipeline.csv(f"sizes_changes/{file.name}")]
    assert total(rows, "x", "n") == as_text
    assert total(pipeline.delta("largest_changes").to_pylist(), "x", "n") == Counter(largest)
    back = Counter(tuple(map(str, row)) for row in kb.view("back").rows())
    assert total(pipeline.delta("back_changes").to_pylist(), "subject", "predicate", "object") == back


def test_outputs_of_views_and_changes_follow_runs(tmp_path: Path, spark: SparkSession) -> None:
    pipeline = Pipeline(tmp_path, spark)
    pipeline.run("ab bc", "a1 b2")
    check(pipeline)
    first = pipeline.delta("path_changes")
    assert first.schema.names == ["from", "to", "weight", "version"]
    assert set(first["version"].to_pylist()) == {1}
    report = pipeline.run("ab cd", "a1 b9", "paged")
    assert {view.name for view in report.views} == {"sizes", "largest", "back", "big"}
    check(pipeline)
    told = [row for row in pipeline.delta("path_changes").to_pylist() if row["version"] == 2]
    assert total(told, "from", "to") == {("a", "c"): -1, ("b", "c"): -1, ("c", "d"): 1}
    (tmp_path / "tables" / "_outputs.json").unlink()  # as if the run had ended before it could say what it wrote
    again = pipeline.run("ab cd", "a1 b9")
    assert not again.committed and not [path for path in again.written if path.name.endswith("_changes")]
    check(pipeline)
    types = pq.read_table(tmp_path / "out" / "size_changes").schema
    assert [str(types.field(name).type) for name in ("name", "n", "weight", "version")] == [
        "string", "int64", "int64", "int64",
    ]  # fmt: skip
    pipeline.run("ab cd da", "alarge b9", "bulk", "string")  # sizes are texts from now on
    sizes = pq.read_table(tmp_path / "out" / "size_changes")
    assert str(sizes.schema.field("n").type) == "string"
    assert total(sizes.to_pylist(), "name", "n") == {("a", "large"): 1, ("b", "9"): 1}


def test_a_feed_begins_with_what_is_there_and_does_not_skip_versions(tmp_path: Path, spark: SparkSession) -> None:
    pipeline = Pipeline(tmp_path, spark)
    for edges in ("ab", "ab bc", "ab bc cd"):
        pipeline.run(edges, "a1")
    kept = tmp_path / "out" / "path_changes"
    before = pipeline.delta("path_changes").num_rows
    TableStore(tmp_path / "tables").vacuum(1)
    shutil.rmtree(kept)
    pipeline.run("ab bc cd", "a1")
    rows = pipeline.delta("path_changes").to_pylist()
    assert len(rows) == before == 6 and {row["version"] for row in rows} == {3}
    for edge in (("x", "y"), ("y", "z")):
        with everlog.open(tmp_path / "tables") as kb:
            kb.insert("edge", [edge])
    TableStore(tmp_path / "tables").vacuum(1)
    with pytest.raises(OutputError, match="end at version 3, and the tables know those after 5"):
        pipeline.run("ab bc cd", "a1")
