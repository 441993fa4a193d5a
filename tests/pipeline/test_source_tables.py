"""Are tables read as they mean: the current rows of Delta, partitions, chosen columns, nulls, dates, JSON objects?"""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from pyspark.sql import SparkSession
from tests.pipeline.test_ingest import facts, in_process, rejected, write

from everlog.errors import DataError, NotFoundError, UsageError
from everlog.pipeline.ingest import ingest
from everlog.pipeline.sources import InputSource

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def rows(spark: SparkSession, source: InputSource, relation: str = "r") -> set[tuple[str, ...]]:
    return set(facts(ingest(spark, [source])).get(relation, Counter()))


# Folders


def test_a_delta_table_is_what_its_log_says(spark: SparkSession, tmp_path: Path) -> None:
    table = tmp_path / "a table" / "r"
    table.parent.mkdir()
    write_deltalake(table, pa.table({"x": ["old"], "n": [1]}))
    write_deltalake(table, pa.table({"x": ["new"], "n": [2]}), mode="overwrite")
    write_deltalake(table, pa.table({"x": ["more"], "n": [3]}), mode="append")
    assert rows(spark, InputSource(table)) == {('"new', "^integer 2"), ('"more', "^integer 3")}
    assert rows(spark, InputSource(f"file://{table}", columns=["n"])) == {("^integer 2",), ("^integer 3",)}
    with pytest.raises(UsageError, match="a Delta table inside a folder"):
        ingest(spark, [InputSource(table.parent, relation="r")])


def test_partition_columns_of_a_delta_table_have_its_types(spark: SparkSession, tmp_path: Path) -> None:
    table = tmp_path / "r"
    data = pa.table({"at": ["a b", "ü=1", "01"], "year": [2024, 2025, 2025], "v": [1, 2, 3]})
    write_deltalake(table, data, partition_by=["at", "year"])
    write_deltalake(table, data.slice(0, 1), mode="append", partition_by=["at", "year"])
    found = rows(spark, InputSource(table, columns=["v", "at", "year"]))
    assert found == {
        ("^integer 1", '"a b', "^integer 2024"),
        ("^integer 2", '"ü=1', "^integer 2025"),
        ("^integer 3", '"01', "^integer 2025"),
    }


def test_a_table_that_got_a_column_later_has_nulls(spark: SparkSession, tmp_path: Path) -> None:
    write_deltalake(tmp_path / "r", pa.table({"x": ["a"]}))
    write_deltalake(tmp_path / "r", pa.table({"x": ["b"], "y": [1]}), mode="append", schema_mode="merge")
    with pytest.raises(DataError, match="column 'y' has no value"):
        ingest(spark, [InputSource(tmp_path / "r")])
    assert rows(spark, InputSource(tmp_path / "r", nulls="empty")) == {('"a', '"'), ('"b', "^integer 1")}


@pytest.mark.parametrize("format", ["parquet", "csv", "jsonl"])
def test_a_hive_partitioned_folder_keeps_its_columns(spark: SparkSession, tmp_path: Path, format: str) -> None:
    for year, place, value in ((2024, "north", "a"), (2025, "s%C3%BCd", "b")):
        path = tmp_path / "r" / f"year={year}" / f"place={place}" / f"part-0.{format}"
        path.parent.mkdir(parents=True)
        if format == "parquet":
            pq.write_table(pa.table({"v": [value]}), path)
        else:
            path.write_text(f"{value}\n" if format == "csv" else json.dumps({"v": value}) + "\n", encoding="utf-8")
    wanted = {('"a', "^integer 2024", '"north'), ('"b', "^integer 2025", '"süd')}
    options: dict[str, Any] = {"relation": "r", "columns": ["v", "year", "place"]} if format == "jsonl" else {}
    assert rows(spark, InputSource(tmp_path / "r", **options)) == wanted
    if format == "parquet":
        pattern = InputSource(tmp_path / "r" / "year=*" / "*", relation="r", columns=["place", "v as value"])
        assert rows(spark, pattern) == {('"north', '"a'), ('"süd', '"b')}


def test_partitions_that_do_not_agree(spark: SparkSession, tmp_path: Path) -> None:
    for folder in ("a=1", "b=2"):
        write(tmp_path / "r" / folder / "x.csv", "v\n")
    with pytest.raises(DataError, match="its folders are named after b, those of other files after a"):
        ingest(spark, [InputSource(tmp_path / "r")])


# Columns


@pytest.mark.parametrize("quoted", [False, True])
def test_columns_of_csv_are_chosen_and_named(spark: SparkSession, tmp_path: Path, quoted: bool) -> None:
    text = "id;temp;note\na;1;x\nb;2;y\n"
    path = write(tmp_path / "r.csv", text.replace("x", '"x; ""y"""') if quoted else text)
    source = InputSource(path, header=True, delimiter=";", columns=["temp as value", "id"], types=["integer", "string"])
    assert rows(spark, source) == {("^integer 1", '"a'), ("^integer 2", '"b')}
    note = InputSource(path, header=True, delimiter=";", columns=["note"])
    assert rows(spark, note) == {('"x; "y"' if quoted else '"x',), ('"y',)}
    with pytest.raises(DataError, match="there is no column 'tmp'; there are id, temp, note") as raised:
        ingest(spark, [InputSource(path, header=True, delimiter=";", columns=["tmp"])])
    assert raised.value.hint == "did you mean 'temp'?"
    with pytest.raises(DataError, match="2 types are given, but there are 1 column"):
        ingest(spark, [InputSource(path, header=True, delimiter=";", columns=["id"], types=["string", "string"])])


def test_a_csv_file_without_a_header_gets_names(spark: SparkSession, tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "a|1\nb|2\n")
    assert rows(spark, InputSource(path, delimiter="|", columns=["x", "n"])) == {
        ('"a', "^integer 1"),
        ('"b', "^integer 2"),
    }
    with pytest.raises(DataError, match="1 columns are named, but the file has 2 columns"):
        ingest(spark, [InputSource(path, delimiter="|", columns=["x"])])


def test_columns_of_arrow_files(spark: SparkSession, tmp_path: Path) -> None:
    table = pa.table({"x": ["a", None], "y": [1, 2], "z": [[1], [2]]})
    pyarrow.feather.write_feather(table, tmp_path / "r.arrow", compression="uncompressed")
    assert rows(spark, InputSource(tmp_path / "r.arrow", columns=["y"])) == {("^integer 1",), ("^integer 2",)}
    with pytest.raises(DataError, match="column 'x' has no value in row 2"):
        ingest(spark, [InputSource(tmp_path / "r.arrow", columns=["x"])])
    some = ingest(spark, [InputSource(tmp_path / "r.arrow", columns=["x"], nulls="skip")])
    assert some.skipped == {str(tmp_path / "r.arrow"): 1} and some.counts == {"r": 1}


def test_json_objects(spark: SparkSession, tmp_path: Path) -> None:
    text = (
        '{"id": "a", "n": 3, "on": "31.05.2024"}\n\n{"n": 2.5, "id": {"@id": "x:b"}, "on": "01.01.2024", "more": []}\n'
        '["no", "object"]\n{"id": "c", "n": [1], "on": "01.01.2024"}\n{"id": "d", "n": 4, "on": "today"}\n'
    )
    path = write(tmp_path / "r.jsonl", text)
    source = InputSource(
        path,
        relation="seen",
        columns=["id", "n as number", "on"],
        types=["string", "any", "date"],
        date_format="%d.%m.%Y",
    )
    read = ingest(spark, [source], max_rejects=0.9)
    assert set(facts(read)["seen"]) == {
        ('"a', "^integer 3", "^date 2024-05-31"),
        ("<x:b", "^double 2.5E0", "^date 2024-01-01"),
    }
    assert [line for _, line, _ in rejected(read)] == [4, 5, 6]
    with pytest.raises(UsageError, match="the columns of JSON objects are not named"):
        ingest(spark, [InputSource(path, relation="seen")])


def test_dates_in_another_way_of_writing(spark: SparkSession, tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "31.05.2024\n01.02.2024\n31.02.2024\n")
    read = ingest(spark, [InputSource(path, types=["date"], date_format="%d.%m.%Y")], max_rejects=0.5)
    assert set(facts(read)["r"]) == {("^date 2024-05-31",), ("^date 2024-02-01",)}
    assert rejected(read) == [("r.csv", 3, "31.02.2024")]


# Nulls


def test_a_null_is_refused_skipped_or_empty(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table({"a": ["x", None], "b": [1, 2]}), path)
    with pytest.raises(DataError, match="column 'a' has no value in row 2") as raised:
        ingest(spark, [InputSource(path)], max_rejects=0.9)
    assert raised.value.path == str(path) and 'nulls = "skip"' in (raised.value.hint or "")
    skipped = ingest(spark, [InputSource(path, nulls="skip")])
    assert skipped.skipped == {str(path): 1} and skipped.rejected == 0 and skipped.counts == {"r": 1}
    assert rows(spark, InputSource(path, nulls="empty")) == {('"x', "^integer 1"), ('"', "^integer 2")}


@pytest.mark.parametrize("quoted", [False, True])
def test_a_text_that_stands_for_no_value_like_an_empty_cell(spark: SparkSession, tmp_path: Path, quoted: bool) -> None:
    path = write(tmp_path / "r.csv", 'a,1\n,2\nNA,3\n"q",4\n' if quoted else "a,1\n,2\nNA,3\n")
    assert ('"', "^integer 2") in rows(spark, InputSource(path, nulls="empty"))
    with pytest.raises(DataError, match=r"r\.csv:2: column 'c1' has no value: ,2"):
        ingest(spark, [InputSource(path)])
    types = ["string", "integer"]
    read = ingest(spark, [InputSource(path, null="NA", nulls="skip", types=types)])
    assert read.skipped == {str(path): 2} and not read.rejected
    assert ('"', "^integer 2") not in facts(read)["r"] and ('"NA', "^integer 3") not in facts(read)["r"]
    numbers = write(tmp_path / "n.csv", "1\nNA\n3\n")
    assert rows(spark, InputSource(numbers, null="NA", nulls="empty", types=["integer"]), "n") == {
        ("^integer 1",),
        ('"',),
        ("^integer 3",),
    }


def test_the_limit_of_rejects_is_each_sources_own(spark: SparkSession, tmp_path: Path) -> None:
    big = write(tmp_path / "big.csv", "a,b\n" * 1000)
    small = write(tmp_path / "small.csv", "a,b\nc\nd\n")
    with pytest.raises(DataError, match=r"small\.csv:2: ") as raised:
        ingest(spark, [InputSource(big), InputSource(small)], max_rejects=0.1)
    assert "2 of 3 lines" in (raised.value.hint or "")


# Times


def test_times_are_those_of_the_in_process_reader(spark: SparkSession, tmp_path: Path) -> None:
    at = dt.datetime(2024, 10, 27, 0, 30, 0, 500000)
    for name, array in {
        "berlin": pa.array([at, dt.datetime(2024, 1, 1)], pa.timestamp("us", "Europe/Berlin")),
        "offset": pa.array([at], pa.timestamp("ms", "-05:30")),
        "utc": pa.array([at], pa.timestamp("us", "UTC")),
        "nanos": pa.array([at], pa.timestamp("ns")),
        "clock": pa.array([dt.time(12, 30), dt.time(0, 0, 0, 1500)], pa.time64("us")),
        "millis": pa.array([dt.time(12, 30, 1)], pa.time32("ms")),
        "seconds": pa.array([at.replace(microsecond=0)], pa.timestamp("s")),
        "half": pa.array([1.5], pa.float16()),
    }.items():
        path = tmp_path / f"{name}.parquet"
        pq.write_table(pa.table({"at": array}), path)
        assert facts(ingest(spark, [InputSource(path)])) == in_process(path), name


def test_durations_are_refused_as_in_process(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table({"x": ["a"], "d": pa.array([dt.timedelta(seconds=1)], pa.duration("us"))}), path)
    with pytest.raises(DataError, match=r"column 'd' holds duration\[us\], which is no type of term"):
        ingest(spark, [InputSource(path)])
    assert rows(spark, InputSource(path, columns=["x"])) == {('"a',)}


# Other file systems


def test_another_file_system_is_sparks_business(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no file system for this") as raised:
        ingest(spark, [InputSource("nosuch://bucket/a.csv")])
    assert "spark.jars.packages" in (raised.value.hint or "")
    write(tmp_path / "r.csv", "a,b\n")
    address = f"file:{tmp_path}/r.csv"
    assert rows(spark, InputSource(address)) == {('"a', '"b')}
    with pytest.raises(NotFoundError, match="there is no such file"):
        ingest(spark, [InputSource(f"file://{tmp_path}/s.csv")])
