"""Do sources of changes say what is inserted and what is deleted, and are kinds kept apart?"""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from tests.pipeline.test_ingest import rejected, write

from everlog.errors import DataError, UsageError
from everlog.pipeline.ingest import Ingested, ingest
from everlog.pipeline.sources import InputSource

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def keys(frames: dict[str, DataFrame], relation: str) -> list[tuple[str, ...]]:
    return sorted(map(tuple, frames[relation].collect())) if relation in frames else []


def changes(read: Ingested, relation: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    return keys(read.facts, relation), keys(read.deleted, relation)


OPS = "op,x\ninsert,a\nDELETE,b\n+,c\n-,d\n1,e\n-1,f\nI,g\nd,h\ndelete,a\nupsert,z\n"


@pytest.mark.parametrize("quoted", [False, True])
def test_a_table_with_a_change_column(spark: SparkSession, tmp_path: Path, quoted: bool) -> None:
    path = write(tmp_path / "r.csv", OPS.replace("upsert", '"upsert"') if quoted else OPS)
    source = InputSource(path, header=True, kind="changes", change_column="op")
    read = ingest(spark, [source], max_rejects=0.5)
    wanted = ([('"' + x,) for x in "aceg"], [('"' + x,) for x in "bdfh"])  # insertion wins for a
    assert changes(read, "r") == wanted and read.kinds == {"r": "changes"}
    assert [line for _, line, _ in rejected(read)] == [11]
    lines = [line.split(",") for line in OPS.split()[1:]]
    pq.write_table(pa.table({"op": [op for op, _ in lines], "x": [x for _, x in lines]}), tmp_path / "p.parquet")
    table = InputSource(tmp_path / "p.parquet", relation="r", kind="changes", change_column="op")
    read = ingest(spark, [table], max_rejects=0.5)
    assert changes(read, "r") == wanted and read.rejected == 1
    objects = write(tmp_path / "o.jsonl", "".join(json.dumps({"op": op, "x": x}) + "\n" for op, x in lines))
    named = InputSource(objects, relation="r", columns=["x"], kind="changes", change_column="op")
    assert changes(ingest(spark, [named], max_rejects=0.5), "r") == wanted


def test_update_files_count_by_name_and_line(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "u" / "2.jsonl", '{"delete": [["e", "a", 1]], "insert": [["e", "b", 2], ["yes"]]}\n')
    write(
        tmp_path / "u" / "1.jsonl",
        '{"insert": [["e", "a", 1], ["e", "c", 3]], "delete": [["e", "c", 3]]}\n{"delete": [["e", "b", 2]]}\n',
    )
    read = ingest(spark, [InputSource(tmp_path / "u", kind="changes")])
    assert changes(read, "e") == ([('"b', "^integer 2"), ('"c', "^integer 3")], [('"a', "^integer 1")])
    assert changes(read, "yes") == ([()], [])
    write(tmp_path / "p.rdfp", "TX .\nA <x:a> <x:p> <x:b> .\nD <x:a> <x:p> <x:c> <x:g> .\nTC .\n")
    read = ingest(spark, [InputSource(tmp_path / "p.rdfp", kind="changes")])
    assert changes(read, "triple") == ([("<x:a", "<x:p", "<x:b")], [])
    assert changes(read, "quad") == ([], [("<x:a", "<x:p", "<x:c", "<x:g")])


@settings(max_examples=8)
@given(st.lists(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), max_size=4), min_size=1, max_size=3))
def test_the_last_change_wins(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, files: list[list[tuple[bool, int]]]
) -> None:
    folder = tmp_path_factory.mktemp("updates")
    last: dict[int, bool] = {}
    for number, lines in enumerate(files):
        parts = ("delete", "insert")
        text = "".join(json.dumps({parts[inserts]: [["e", x]]}) + "\n" for inserts, x in lines)
        write(folder / f"{number}.jsonl", text)
        last |= {x: inserts for inserts, x in lines}
    read = ingest(spark, [InputSource(folder, kind="changes")])
    for frames, which in ((read.facts, True), (read.deleted, False)):
        assert keys(frames, "e") == [(f"^integer {x}",) for x in sorted(last) if last[x] is which]
    read.release()


def test_update_files_that_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    rules = write(tmp_path / "r.jsonl", '{"insert": [["e", 1]]}\n{"add_rules": "p(?x) :- e(?x)."}\n')
    with pytest.raises(DataError, match="this update changes rules") as raised:
        ingest(spark, [InputSource(rules, kind="changes")], max_rejects=1.0)
    assert raised.value.line == 2 and "everlog pipeline stream" in (raised.value.hint or "")
    half = write(tmp_path / "h.jsonl", '{"insert": [["e", 1]]}\n{"insert": [["e", 2\n')
    with pytest.raises(DataError, match="this is not JSON") as raised:
        ingest(spark, [InputSource(half, kind="changes")], max_rejects=1.0)
    assert raised.value.line == 2
    with pytest.raises(UsageError, match="no column says what is inserted"):
        ingest(spark, [InputSource(write(tmp_path / "t.csv", "a\n"), kind="changes")])
    with pytest.raises(UsageError, match="a nt file says no changes"):
        ingest(spark, [InputSource(write(tmp_path / "t.nt", ""), kind="changes")])


def test_a_relation_has_one_kind(spark: SparkSession, tmp_path: Path) -> None:
    a, b = write(tmp_path / "a.csv", "x\n"), write(tmp_path / "b.jsonl", '["r", "y"]\n')
    snapshot = InputSource(a, relation="r", kind="snapshot")
    with pytest.raises(DataError, match="this source of r is of the kind appends, but .* of the kind snapshot"):
        ingest(spark, [snapshot, InputSource(b)])
    with pytest.raises(UsageError, match="does not say which relations"):
        ingest(spark, [InputSource(b, kind="snapshot")])
    write(a, "")
    read = ingest(spark, [snapshot])
    assert read.kinds == {"r": "snapshot"} and not read.facts  # all its facts are gone
