"""Do relations come out as the files that `everlog run` would write, whole or not at all?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from everlog.errors import OutputError, UsageError
from everlog.formats.reading import read_facts
from everlog.formats.writing import write_facts
from everlog.pipeline.publish import Output, output_problem, publish

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

ODD_KEYS = [
    ('"plain', "<http://ex.org/a"),
    ('"say "hi", then\nleave\r\ttab \\ backslash', "_b0"),
    ('"', "^integer 42"),
    ('" spaces around ', "@en-gb colour, with comma"),
    ('"ünïcödé 😀', "^http://ex.org/type odd value"),
    ('"()', "^double 1.5E0"),
    ('"\ufeffmark', "_odd label"),
]

TRIPLES = [
    ("<http://ex.org/s", "<http://ex.org/p", '"say "hi"\n\\ \r\t'),
    ("_b0", "<http://ex.org/p", "@en colour"),
    ("_odd label", "<http://ex.org/p", "^integer 042"),
    ("_x_1", "<http://ex.org/p", "^http://ex.org/t two words"),
    ('<http://ex.org/a b<>"{}|^`\\c', "<http://ex.org/p", "<http://ex.org/o"),
]


def frame(spark: SparkSession, rows: list[tuple[str, ...]]) -> Any:
    names = ", ".join(f"c{number} string" for number in range(1, len(rows[0]) + 1))
    return spark.createDataFrame(rows, names).repartition(2)


def expected(folder: Path, name: str, relation: str, rows: list[tuple[str, ...]]) -> list[str]:
    """The lines of what the in-process writer makes of the same facts."""
    path = folder / f"expected-{name}"
    write_facts(path, relation, [list(column) for column in zip(*rows, strict=True)])
    return sorted(path.read_bytes().decode().split("\n"))


def test_csv_is_that_of_the_in_process_writer(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    assert publish(spark, {"odd": frame(spark, ODD_KEYS)}, [Output("odd", path, header=False)]) == [path]
    assert sorted(path.read_bytes().decode().split("\n")) == expected(tmp_path, "odd.csv", "odd", ODD_KEYS)


def test_csv_with_one_column(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(row[0],) for row in ODD_KEYS]
    publish(spark, {"odd": frame(spark, rows)}, [Output("odd", tmp_path / "odd.csv", header=False)])
    lines = sorted((tmp_path / "odd.csv").read_bytes().decode().split("\n"))
    assert lines == expected(tmp_path, "odd.csv", "odd", rows)


def test_ntriples_are_those_of_the_in_process_writer(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "g.nt"
    publish(spark, {"triple": frame(spark, TRIPLES)}, [Output("triple", path)])
    assert sorted(path.read_text(encoding="utf-8").split("\n")) == expected(tmp_path, "g.nt", "triple", TRIPLES)
    plain = tmp_path / "plain.nt"
    publish(spark, {"triple": frame(spark, TRIPLES[:4])}, [Output("triple", plain)])
    assert sum(len(block) for block in read_facts(plain)) == 4


def test_nquads(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(*TRIPLES[0], "<http://ex.org/g")]
    publish(spark, {"quad": frame(spark, rows)}, [Output("quad", tmp_path / "g.nq")])
    assert (tmp_path / "g.nq").read_text(encoding="utf-8").split("\n") == expected(tmp_path, "g.nq", "quad", rows)[::-1]


def test_a_fact_that_is_no_triple_is_named(spark: SparkSession, tmp_path: Path) -> None:
    rows = [*TRIPLES[:1], ('"a text', "<http://ex.org/p", '"x')]
    path = tmp_path / "g.nt"
    path.write_text("as it was", encoding="utf-8")
    with pytest.raises(OutputError, match='"a text" cannot be the subject of a triple'):
        publish(spark, {"triple": frame(spark, rows)}, [Output("triple", path)])
    assert path.read_text(encoding="utf-8") == "as it was"
    assert os.listdir(tmp_path) == ["g.nt"]


def test_parquet_and_delta_hold_texts(spark: SparkSession, tmp_path: Path) -> None:
    from deltalake import DeltaTable

    facts = {"odd": frame(spark, ODD_KEYS)}
    outputs = [
        Output("odd", tmp_path / "odd.parquet"),
        Output("odd", tmp_path / "parts", "parquet"),
        Output("odd", tmp_path / "table", "delta"),
    ]
    publish(spark, facts, outputs)
    one = {tuple(row.values()) for row in pq.read_table(tmp_path / "odd.parquet").to_pylist()}
    assert len(one) == len(ODD_KEYS) and ("plain", "http://ex.org/a") in one and ("", "42") in one
    assert {tuple(row.values()) for row in pq.read_table(tmp_path / "parts").to_pylist()} == one
    table = DeltaTable(str(tmp_path / "table"))
    assert {tuple(row.values()) for row in table.to_pyarrow_table().to_pylist()} == one


def test_outputs_are_replaced(spark: SparkSession, tmp_path: Path) -> None:
    from deltalake import DeltaTable

    outputs = [
        Output("r", tmp_path / "r.csv"),
        Output("r", tmp_path / "parts", "csv", header=False),
        Output("r", tmp_path / "table"),
    ]
    publish(spark, {"r": frame(spark, [('"a', '"b')])}, outputs)
    publish(spark, {"r": frame(spark, [('"c', '"d')])}, outputs)
    assert (tmp_path / "r.csv").read_text(encoding="utf-8") == "c1,c2\nc,d\n"
    parts = "".join(path.read_text(encoding="utf-8") for path in sorted((tmp_path / "parts").glob("part-*")))
    assert parts == "c,d\n"
    table = DeltaTable(str(tmp_path / "table"))
    assert table.version() == 1 and table.to_pyarrow_table().to_pylist() == [{"c1": "c", "c2": "d"}]
    publish(spark, {"r": frame(spark, [('"e',)])}, outputs)  # another number of columns
    assert DeltaTable(str(tmp_path / "table")).to_pyarrow_table().to_pylist() == [{"c1": "e"}]
    assert sorted(os.listdir(tmp_path)) == ["parts", "r.csv", "table"]


def test_facts_without_arguments(spark: SparkSession, tmp_path: Path) -> None:
    publish(spark, {"yes": spark.range(1).select()}, [Output("yes", tmp_path / "yes.csv")])
    assert (tmp_path / "yes.csv").read_text(encoding="utf-8") == "()\n"


def test_no_facts_make_an_empty_file(spark: SparkSession, tmp_path: Path) -> None:
    publish(spark, {"r": spark.createDataFrame([], "c1 string")}, [Output("r", tmp_path / "r.csv")])
    assert (tmp_path / "r.csv").read_bytes() == b"c1\n"


def test_a_folder_with_other_things_is_not_replaced(spark: SparkSession, tmp_path: Path) -> None:
    mine = tmp_path / "docs" / "thesis.tex"
    mine.parent.mkdir()
    mine.write_text("precious", encoding="utf-8")
    for output in (Output("r", mine.parent, "csv"), Output("r", mine.parent, "delta")):
        with pytest.raises(OutputError, match=r"holds other things, such as thesis\.tex"):
            publish(spark, {"r": frame(spark, [('"a',)])}, [output])
    assert mine.read_text(encoding="utf-8") == "precious"


def test_relations_that_are_not_there(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no relation q"):
        publish(spark, {}, [Output("q", tmp_path / "q.csv")])


def test_formats_that_do_not_fit() -> None:
    assert output_problem(Output("path", Path("o"), "csv")) is None
    assert "holds no RDF" in (output_problem(Output("path", Path("o"), "nt")) or "")
    assert "named graphs" in (output_problem(Output("quad", Path("o"), "nt")) or "")
    assert "no output format" in (output_problem(Output("path", Path("o"), "xlsx")) or "")
