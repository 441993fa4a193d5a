"""Are updates that arrive applied in order, each exactly once, and the bad ones set aside?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import everlog
from everlog.errors import DataError
from everlog.pipeline.settings import Settings, read_settings
from everlog.pipeline.stream import SET_ASIDE, UpdateStream, run_stream
from everlog.pipeline.stream_updates import updates_of_file, updates_of_lines

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
    (folder / "2.jsonl").write_bytes(lines({"insert": [["edge", "c", "d"]]})[0] + b"\n")
    reports = run_stream(settings, spark, said.append)
    assert sum(report.updates for report in reports) == 1 and len(paths(tables)) == 3
    assert any("+2 -0 facts" in line or "+3 -0 facts" in line for line in said)
