"""Are updates that arrive applied in order, each exactly once, and the bad ones set aside?"""

from __future__ import annotations

import errno
import json
import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import everlog
from everlog.errors import DataError, OutputError
from everlog.pipeline.job import run_pipeline
from everlog.pipeline.settings import Settings, read_settings
from everlog.pipeline.stream import SET_ASIDE, UpdateStream, run_stream
from everlog.pipeline.stream_updates import updates_of_file, updates_of_lines
from everlog.tables.commits import CommitConflictError
from everlog.tables.table_store import TableStore

RULES = "path(?x, ?y) :- edge(?x, ?y).  path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).\n"
PIPELINE = """
program = "rules.dl"
[[source]]
path = "edge.csv"
[stream]
folder = "updates"
trigger = "available-now"
"""


@pytest.fixture(params=["resident", "paged"])
def settings(tmp_path: Path, request: pytest.FixtureRequest) -> Settings:
    (tmp_path / "rules.dl").write_text(RULES, encoding="utf-8")
    (tmp_path / "edge.csv").write_text("a,b\n", encoding="utf-8")
    text = f'{PIPELINE}[maintain]\nway = "{request.param}"\n'
    (tmp_path / "pipeline.toml").write_text(text, encoding="utf-8")
    return read_settings(tmp_path / "pipeline.toml")


@pytest.fixture
def tables(settings: Settings) -> Path:
    kb = everlog.open()
    kb.add_rules(RULES)
    kb.insert("edge", [("a", "b")])
    kb.export(settings.tables, format="tables")
    return Path(settings.tables)


def paths(folder: Path) -> set[tuple[str, ...]]:
    return set(everlog.open(folder, read_only=True).facts("path"))


def lines(*updates: object) -> list[bytes]:
    return [json.dumps(update).encode() for update in updates]


def test_what_batches_did_stays(settings: Settings, tables: Path) -> None:
    stream = UpdateStream(settings, "checkpoint", "set-aside")
    stream.apply(updates_of_lines("test", ['{"insert": [["edge", "b", "c"]]}', "{"]), 0)
    stream.apply(updates_of_lines("test", ['{"delete": [["edge", "a", "b"]]}']), 1)
    stream.close()
    (log,) = (tables / "_batches").iterdir()
    first, second = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    assert (first["batch"], first["updates"], first["set_aside"], first["gained"]) == (0, 1, 1, 3)
    assert (second["batch"], second["lost"], second["stream"]) == (1, 3, "checkpoint") and second["seconds"] > 0


def test_a_batch_that_comes_again_goes_on_where_the_tables_are(settings: Settings, tables: Path) -> None:
    batch = lines({"insert": [["edge", "b", "c"]]}, {"delete": [["edge", "a", "b"]]}, {"insert": [["edge", "c", "d"]]})
    stream = UpdateStream(settings, "s", "set-aside")
    stream.apply(updates_of_lines("u", batch[:2]), 0)  # the process dies here, and Spark does not know how far it was
    stream.close()
    stream = UpdateStream(settings, "s", "set-aside")
    report = stream.apply(updates_of_lines("u", batch), 0)
    assert (report.updates, report.version) == (1, 5)
    assert paths(tables) == {("b", "c"), ("c", "d"), ("b", "d")}
    assert stream.apply(updates_of_lines("u", batch), 0).updates == 0
    other = lines({"insert": [["edge", "a", "b"]]})
    assert stream.apply(updates_of_lines("u", other), 1).updates == 1
    assert stream.apply(updates_of_lines("u", batch), 0).updates == 0  # long done
    stream.close()


def test_a_bad_update_is_set_aside_with_its_reason(settings: Settings, tables: Path) -> None:
    batch = [
        *lines({"insert": [["edge", "b", "c"]]}),
        b'{"insert": [["edge", "half',
        *lines({"insert": [["edge", "only one"]]}, {"add_rules": "odd(?x) :- path(?x, ?_y), NOT odd(?x)."}),
        *lines({"insert": [["edge", "c", "d"]]}),
    ]
    stream = UpdateStream(settings, "s", "set-aside")
    report = stream.apply(updates_of_lines("u.jsonl", batch), 7)
    assert (report.updates, report.set_aside) == (2, 3)
    found = [json.loads(path.read_text()) for path in sorted((tables / SET_ASIDE).iterdir())]
    assert [(each["number"], each["at"]) for each in found] == [(2, "u.jsonl:2"), (3, "u.jsonl:3"), (4, "u.jsonl:4")]
    assert "JSON" in found[0]["reason"] and "edge" in found[1]["reason"] and "odd" in found[2]["reason"]
    assert len(paths(tables)) == 6
    stream.close()
    stopping = UpdateStream(settings, "other", "stop")
    with pytest.raises(DataError):
        stopping.apply(updates_of_lines("u.jsonl", batch), 0)
    assert stopping.apply(updates_of_lines("u.jsonl", batch[:1]), 0).updates == 0  # it has that one
    stopping.close()


def test_updates_of_files() -> None:
    import gzip

    found = list(updates_of_file("file:/tmp/a%20b.jsonl.gz", gzip.compress(b'{"insert": [["p", 1]]}\n\n[]\n')))
    assert [str(each.place) for each in found] == ["/tmp/a b.jsonl.gz:1", "/tmp/a b.jsonl.gz:3"]
    assert found[0].update is not None and found[1].error is not None
    assert next(iter(updates_of_file("file:/tmp/a.gz", b"no gzip"))).error is not None
    patch = b"TX .\nA <http://e/s> <http://e/p> <http://e/o> .\nTC .\n"
    assert [each.update is not None for each in updates_of_file("file:/tmp/a.rdfp", patch)] == [True]
    assert next(iter(updates_of_file("file:/tmp/a.txt", b"x"))).error is not None


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_files_that_land_are_applied_in_order(settings: Settings, tables: Path, spark: SparkSession) -> None:
    folder = settings.path.parent / "updates"
    folder.mkdir()
    for number, update in enumerate(lines({"insert": [["edge", "b", "c"]]}, {"delete": [["edge", "a", "b"]]})):
        (folder / f"{number}.jsonl").write_bytes(update + b"\n")
    said: list[str] = []
    reports = run_stream(settings, spark, said.append)
    assert sum(report.updates for report in reports) == 2 and paths(tables) == {("b", "c")}
    progress = TableStore(tables).commit().info["streams"]
    (settings.path.parent / "edge.csv").write_text("x,y\n", encoding="utf-8")
    in_bulk = replace(settings, maintain=replace(settings.maintain, way="bulk"))
    run_pipeline(in_bulk, spark, said.append)
    assert TableStore(tables).commit().info["streams"] == progress, "a run leaves streams where they were"
    assert paths(tables) == {("b", "c"), ("x", "y")}
    (folder / "2.jsonl").write_bytes(lines({"insert": [["edge", "c", "d"]]})[0] + b"\n")
    reports = run_stream(settings, spark, said.append)
    assert sum(report.updates for report in reports) == 1 and len(paths(tables)) == 4
    assert any("+2 -0 facts" in line or "+3 -0 facts" in line for line in said)


def landed(folder: Path, **files: bytes) -> list[tuple[str, bytes]]:
    """Files in the order given."""
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.jsonl").write_bytes(content)
    return [((folder / f"{name}.jsonl").as_uri(), content) for name, content in files.items()]


def test_a_batch_that_comes_again_is_what_it_was(settings: Settings, tables: Path, tmp_path: Path) -> None:
    """A file has grown, one is gone, and the order is another; what was noted counts."""
    insert, delete, again = (
        line + b"\n" for line in lines(*({k: [["edge", "b", "c"]]} for k in ("insert", "delete", "insert")))
    )
    files = landed(tmp_path / "updates", a=insert + delete, b=again)
    stream = UpdateStream(settings, "s", "set-aside")
    assert stream.apply_files(files, 0).updates == 3
    grown = [(files[1][0], files[1][1]), (files[0][0], files[0][1] + delete)]
    assert stream.apply_files(grown, 0).updates == 0
    assert stream.apply_files(files[1:], 0).updates == 0
    assert paths(tables) == {("a", "b"), ("b", "c"), ("a", "c")}
    stream.id = "another checkpoint, whose batches count from 0 again"
    assert stream.apply_files(grown, 0).updates == 4
    stream.close()


def test_a_file_that_is_mended_after_a_stop(settings: Settings, tables: Path, tmp_path: Path) -> None:
    good, later = (line + b"\n" for line in lines({"insert": [["edge", "b", "c"]]}, {"insert": [["edge", "c", "d"]]}))
    files = landed(tmp_path / "updates", a=good + b'{"insert": [["edge", "x"]]}\n' + later, b=later)
    stream = UpdateStream(settings, "s", "stop")
    with pytest.raises(DataError):
        stream.apply_files(files, 4)
    stream.close()
    mended = landed(tmp_path / "updates", b=later, a=good + b'{"insert": [["edge", "x", "yy"]]}\n' + later)
    stream = UpdateStream(settings, "s", "stop")
    assert stream.apply_files(mended, 4).updates == 3
    assert ("x", "yy") in paths(tables) and len(paths(tables)) == 7
    stream.close()


def test_a_file_that_is_still_being_written(settings: Settings, tables: Path, tmp_path: Path) -> None:
    whole = b"".join(line + b"\n" for line in lines({"insert": [["edge", "b", "c"]]}, {"insert": [["edge", "c", "d"]]}))
    half = landed(tmp_path / "updates", a=whole[:60])
    path = tmp_path / "updates" / "a.jsonl"
    writer = threading.Timer(0.3, lambda: path.write_bytes(whole))
    writer.start()
    stream = UpdateStream(settings, "s", "set-aside")
    report = stream.apply_files(half, 0)
    assert (report.updates, report.set_aside) == (2, 0)
    writer.join()
    abandoned = stream.apply_files(landed(tmp_path / "updates", b=whole[:60]), 1)
    assert (abandoned.updates, abandoned.set_aside) == (1, 1)
    stream.close()
    [aside] = (tables / SET_ASIDE).iterdir()
    assert "b.jsonl:2" in aside.read_text(encoding="utf-8")


def test_what_is_no_updates_fault_stops_the_stream(
    settings: Settings, tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = lines({"insert": [["edge", "b", "c"]]}, {"insert": [["edge", "c", "d"]]})
    stream = UpdateStream(settings, "s", "set-aside")

    def full(*arguments: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch, pytest.raises(OutputError, match="No space left"):
        patch.setattr("everlog.tables.local_place.os.link", full)
        stream.apply(updates_of_lines("u.jsonl", batch), 0)
    assert stream.apply(updates_of_lines("u.jsonl", batch), 0).updates == 2  # there is room again
    other = everlog.open(tables)
    other.insert("edge", [("d", "e")])
    other.close()
    with pytest.raises(CommitConflictError, match="another writer"):
        stream.apply(updates_of_lines("u.jsonl", lines({"insert": [["edge", "e", "f"]]})), 1)
    stream.close()
    assert not (tables / SET_ASIDE).exists()
    reopened = UpdateStream(settings, "s", "set-aside")
    assert reopened.apply(updates_of_lines("u.jsonl", lines({"insert": [["edge", "e", "f"]]})), 1).updates == 1
    reopened.close()
    assert len(paths(tables)) == 15


def test_a_rule_that_cannot_be_read_is_set_aside(settings: Settings, tables: Path) -> None:
    batch = lines({"add_rules": "odd(?x) :- path(?x, ."}, {"add_rules": "back(?y, ?x) :- path(?x, ?y)."})
    stream = UpdateStream(settings, "s", "set-aside")
    report = stream.apply(updates_of_lines("u.jsonl", batch), 0)
    assert (report.updates, report.set_aside) == (1, 1)
    stream.close()
    [aside] = (tables / SET_ASIDE).iterdir()
    assert "error[R" in json.loads(aside.read_text(encoding="utf-8"))["reason"]
    assert set(everlog.open(tables, read_only=True).facts("back")) == {("b", "a")}


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_folder_that_spark_has_no_jars_for(settings: Settings, tables: Path, spark: SparkSession) -> None:
    assert settings.stream is not None
    for remote in ("folder", "checkpoint"):
        away = replace(settings, stream=replace(settings.stream, **{remote: "s3a://bucket/updates"}))
        with pytest.raises(DataError, match="Spark has no file system for this") as caught:
            run_stream(away, spark, lambda line: None)
        assert "spark.jars.packages" in str(caught.value) and "s3a://bucket/updates" in str(caught.value)
    everlog.open(tables).close()  # nobody holds them
