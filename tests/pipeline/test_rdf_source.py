"""Does `spark.read.format("rdf")` read what the formats' readers read?"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from everlog.pipeline import rdf_source
from everlog.pipeline.rdf_source import RdfReader, register_rdf_source

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"


@pytest.fixture
def folder(tmp_path: Path, spark: SparkSession) -> Path:
    register_rdf_source(spark)
    (tmp_path / "a.nt").write_text('<x:a> <x:p> "é\\n" .\n<x:a> <x:p> "7"^^' + INTEGER + " .\n", encoding="utf-8")
    (tmp_path / "b.trig").write_text("<x:g> { <x:a> <x:p> 8 }", encoding="utf-8")
    return tmp_path


def test_terms_as_n_triples_and_as_keys(spark: SparkSession, folder: Path) -> None:
    read = spark.read.format("rdf")
    frame = read.load(str(folder))
    assert frame.columns == ["subject", "predicate", "object", "graph"]
    assert sorted(map(tuple, frame.collect()), key=str) == [
        ("<x:a>", "<x:p>", '"7"^^' + INTEGER, None),
        ("<x:a>", "<x:p>", '"8"^^' + INTEGER, "<x:g>"),
        ("<x:a>", "<x:p>", '"é\\n"', None),
    ]
    keys = spark.read.format("rdf").option("terms", "keys").option("graph", "x:h").load(str(folder / "*.nt"))
    assert sorted(map(tuple, keys.collect())) == [
        ("<x:a", "<x:p", '"é\n', "<x:h"),
        ("<x:a", "<x:p", "^integer 7", "<x:h"),
    ]


def test_a_split_file_gives_each_line_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"_:b{number % 7} <x:p> <x:{'y' * (number % 50)}{number}> .\n" for number in range(200)]
    (tmp_path / "a.nt").write_text("".join(lines), encoding="utf-8")
    read = [row for piece in pieces(tmp_path, monkeypatch, 1 << 20) for row in piece]
    for size in (1, 17, 100, 1000):
        assert [row for piece in pieces(tmp_path, monkeypatch, size) for row in piece] == read
    assert len(read) == 200


def pieces(folder: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> list[list[tuple[str, ...]]]:
    monkeypatch.setattr(rdf_source, "SPLIT_BYTES", size)
    reader = RdfReader({"path": str(folder / "a.nt")})
    return [
        [tuple(row.values()) for batch in reader.read(piece) for row in batch.to_pylist()]
        for piece in reader.partitions()
    ]


def test_mistakes(spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (folder / "a.nt").open("a", encoding="utf-8") as file:
        file.write("nonsense\n")
    with pytest.raises(PySparkException, match=r"a\.nt:3: "):
        spark.read.format("rdf").load(str(folder / "a.nt")).collect()
    with pytest.raises(PySparkException, match="no such file"):
        spark.read.format("rdf").load(str(folder / "c.nt")).collect()
    with pytest.raises(PySparkException, match="terms are"):
        spark.read.format("rdf").option("terms", "tokens").load(str(folder / "a.nt")).collect()
