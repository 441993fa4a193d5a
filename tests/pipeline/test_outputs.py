"""Are outputs typed and named so that others read them, and written only where something has changed?"""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from tests.pipeline.test_publish import frame

from everlog.errors import OutputError
from everlog.pipeline.job import run_pipeline
from everlog.pipeline.output_names import column_names
from everlog.pipeline.output_record import due_outputs, remember_outputs
from everlog.pipeline.publish import Output, publish
from everlog.pipeline.settings import read_settings
from everlog.pipeline.sources import InputSource
from everlog.rules.parser import parse_program

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

NAMES = ("i", "dec", "dbl", "b", "d", "z", "ntz", "s", "iri", "mixed", "odd", "zones")
TYPED = [
    (
        "^integer 1",
        "^decimal 1.5",
        "^double 1.5E0",
        "^boolean true",
        "^date 2024-05-31",
        "^dateTime 2024-05-31T12:00:00.5Z",
        "^dateTime 2024-05-31T12:00:00",
        '"a',
        "<http://ex.org/a",
        "^integer 1",
        "^integer 007",
        "^dateTime 2024-05-31T12:00:00Z",
    ),
    (
        "^integer -20",
        "^decimal -1234.25",
        "^double -INF",
        "^boolean false",
        "^date 2024-01-01",
        "^dateTime 2024-01-01T00:00:00Z",
        "^dateTime 2024-01-01T00:00:00.25",
        '"b',
        "<http://ex.org/b",
        '"x',
        "^integer 8",
        "^dateTime 2024-05-31T12:00:00+02:00",
    ),
]
ROW = {
    "i": 1,
    "dec": Decimal("1.50"),
    "dbl": 1.5,
    "b": True,
    "d": dt.date(2024, 5, 31),
    "z": dt.datetime(2024, 5, 31, 12, 0, 0, 500000, dt.UTC),
    "ntz": dt.datetime(2024, 5, 31, 12),
    "s": "a",
    "iri": "http://ex.org/a",
    "mixed": "1",
    "odd": "007",
    "zones": "2024-05-31T12:00:00Z",
}


def test_columns_have_native_types(spark: SparkSession, tmp_path: Path) -> None:
    outputs = [
        Output("r", tmp_path / "r.parquet", columns=NAMES),
        Output("r", tmp_path / "table", columns=NAMES),
        Output("r", tmp_path / "parts", "parquet", columns=NAMES),
    ]
    said: list[str] = []
    before = spark.conf.get("spark.sql.parquet.outputTimestampType")
    publish(spark, {"r": frame(spark, TYPED)}, outputs, said.append)
    assert spark.conf.get("spark.sql.parquet.outputTimestampType") == before
    assert len(said) == 3 and "columns mixed, odd, zones hold texts" in said[0]
    one = pq.read_table(tmp_path / "r.parquet").sort_by([("i", "descending")])
    assert one.to_pylist()[0] == ROW and one.num_rows == 2
    assert str(one.schema.field("dec").type) == "decimal128(6, 2)"
    table = DeltaTable(str(tmp_path / "table")).to_pyarrow_table().sort_by([("i", "descending")])
    assert table.to_pylist()[0] == ROW
    query = f"select i, dec, d, s from '{tmp_path}/parts/*.parquet' where b order by i"
    assert duckdb.sql(query).fetchall() == [(1, Decimal("1.50"), dt.date(2024, 5, 31), "a")]
    assert pl.read_parquet(tmp_path / "r.parquet").schema["ntz"] == pl.Datetime("us")
    assert pd.read_parquet(tmp_path / "r.parquet").dtypes["dbl"].kind == "f"


def test_types_may_change_from_run_to_run(spark: SparkSession, tmp_path: Path) -> None:
    output = Output("r", tmp_path / "table")
    for key, value in (('"a', "a"), ("^dateTime 2024-05-31T12:00:00", dt.datetime(2024, 5, 31, 12)), ("^integer 1", 1)):
        publish(spark, {"r": frame(spark, [(key,)])}, [output])
        assert DeltaTable(str(tmp_path / "table")).to_pyarrow_table().to_pylist() == [{"c1": value}]


def test_csv_parts_have_their_name_and_header(spark: SparkSession, tmp_path: Path) -> None:
    output = Output("r", tmp_path / "parts", "csv", columns=("x", 'odd "name"'))
    publish(spark, {"r": frame(spark, [('"a', '"b'), ('"c', '"d')])}, [output])
    parts = sorted((tmp_path / "parts").glob("part-*"))
    assert parts and all(part.suffix == ".csv" for part in parts)
    assert all(part.read_text(encoding="utf-8").startswith('x,"odd ""name"""\n') for part in parts)
    read = spark.read.option("header", "true").option("escape", '"').csv(f"file://{tmp_path}/parts")
    assert read.columns == ["x", 'odd "name"'] and read.count() == 2


def test_names_that_do_not_fit(spark: SparkSession, tmp_path: Path) -> None:
    facts = {"r": frame(spark, [('"a', '"b')])}
    for columns, says in ((("a",), "1 column named, but r has 2 columns"), (("a", "A"), "two columns have one name")):
        with pytest.raises(OutputError, match=says):
            publish(spark, facts, [Output("r", tmp_path / "r.csv", columns=columns)])
    with pytest.raises(OutputError, match="only local folders can be written"):
        publish(spark, facts, [Output("r", Path("s3://bucket/r.csv"))])
    assert not Path("s3:").exists()


def test_names_come_from_rules_or_sources() -> None:
    program = parse_program(
        "p(?x, ?y) :- e(?x, ?y). q(?x) :- e(?x, ?y). q(?y) :- e(?x, ?y). t(?x, ?x) :- e(?x, ?x). u(?x, 1) :- e(?x, ?x)."
    )
    source = InputSource("e.csv", relation="e", header=True, columns=("temp as value", "at"))
    names = {relation: column_names(program, [source], relation) for relation in "pqtue"}
    assert names == {"p": ("x", "y"), "q": None, "t": None, "u": None, "e": ("value", "at")}


# When


def test_only_what_changed_is_due(tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    a, b = Output("a", tmp_path / "a.csv"), Output("b", tmp_path / "b.csv")
    assert due_outputs(tables, [a, b], {"a": "1", "b": "1"}) == [a, b]
    for output in (a, b):
        output.path.write_text("x\n", encoding="utf-8")
    remember_outputs(tables, [a, b], {"a": "1", "b": "1"})
    assert due_outputs(tables, [a, b], {"a": "1", "b": "2"}) == [b]
    assert due_outputs(tables, [Output("a", a.path, header=False)], {"a": "1"})
    a.path.write_text("touched\n", encoding="utf-8")
    assert due_outputs(tables, [a], {"a": "1"}) == [a]
    (tables / "_outputs.json").write_text("{", encoding="utf-8")
    assert due_outputs(tables, [b], {"b": "1"}) == [b]


def test_a_run_writes_again_what_has_changed(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "rules.dl").write_text("p(?x) :- e(?x). q(?x) :- f(?x).\n", encoding="utf-8")
    (tmp_path / "pipeline.toml").write_text(
        'program = "rules.dl"\n[[source]]\npath = "e.csv"\n[[source]]\npath = "f.csv"\n'
        '[[output]]\nrelation = "p"\npath = "p.csv"\n[[output]]\nrelation = "q"\npath = "q.csv"\n',
        encoding="utf-8",
    )
    (tmp_path / "e.csv").write_text("a\n", encoding="utf-8")
    (tmp_path / "f.csv").write_text("b\n", encoding="utf-8")

    def run() -> list[str]:
        settings = read_settings(tmp_path / "pipeline.toml")
        return [path.name for path in run_pipeline(settings, spark, lambda line: None).written]

    assert run() == ["p.csv", "q.csv"]
    assert (tmp_path / "p.csv").read_text(encoding="utf-8") == "x\na\n"
    (tmp_path / "f.csv").write_text("b\nc\n", encoding="utf-8")
    assert run() == ["q.csv"]


def test_what_a_killed_run_left_is_tidied(spark: SparkSession, tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    process = int(ended.stdout)
    left = tmp_path / f".r.csv.{process}-0123456789ab.tmp"
    living = tmp_path / f".r.csv.{os.getppid()}-0123456789ab.tmp"
    aside = tmp_path / f".parts.{process}-0123456789ab.old"
    for folder in (left, living, aside):
        folder.mkdir()
    (aside / "part-0.csv").write_text("old\n", encoding="utf-8")
    failing = Output("triple", tmp_path / "t.nt")
    facts = {"r": frame(spark, [('"a',)]), "triple": frame(spark, [('"a', '"b', '"c')])}
    outputs = [Output("r", tmp_path / "r.csv"), Output("r", tmp_path / "parts", "csv"), failing]
    with pytest.raises(OutputError, match="cannot be the subject"):
        publish(spark, facts, outputs)
    # No output is replaced unless all can be, and the one that was put aside is back.
    assert sorted(os.listdir(tmp_path)) == sorted([living.name, "parts"])
    assert (tmp_path / "parts" / "part-0.csv").read_text(encoding="utf-8") == "old\n"
    publish(spark, facts, outputs[:2])
    assert sorted(os.listdir(tmp_path)) == sorted([living.name, "parts", "r.csv"])
