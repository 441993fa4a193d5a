"""Does `everlog run` load, count, write and answer as its help says?"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from tests.cli.conftest import PATHS, Everlog


def lines(path: Path) -> list[str]:
    return sorted(path.read_text(encoding="utf-8").splitlines())


def test_count_prints_a_line_per_defined_relation(everlog: Everlog, folder: Path) -> None:
    (folder / "two.dl").write_text(PATHS + "zero(?x) :- path(?x, ?x).\nback(?y, ?x) :- path(?x, ?y).\n")
    ended = everlog("run", "two.dl", "edge.csv", "--count")
    assert (ended.code, ended.out) == (0, "path\t3\nzero\t0\nback\t3\n")


@pytest.mark.parametrize("name", ["reference", "columnar"])
def test_both_engines(everlog: Everlog, folder: Path, name: str) -> None:
    assert everlog("run", "path.dl", "edge.csv", "--count", "--engine", name).out == "path\t3\n"


def test_rewrites_change_no_count(everlog: Everlog, folder: Path) -> None:
    (folder / "near.dl").write_text("edge(X, Y) :- edge(Y, X). edge(X, Z) :- edge(X, Y), edge(Y, Z), X != Z.")
    rewritten, as_written = (
        everlog("run", "near.dl", "edge.csv", "--count", *more) for more in ((), ("--no-rewrites",))
    )
    assert rewritten.out == as_written.out == "edge\t6\n"


def test_output_writes_every_defined_relation(everlog: Everlog, folder: Path) -> None:
    ended = everlog("run", "path.dl", "edge.csv", "-o", "out")
    assert ended.code == 0, ended.err
    assert [path.name for path in (folder / "out").iterdir()] == ["path.csv"]
    assert lines(folder / "out/path.csv") == ["a,b", "a,c", "b,c"]


def test_output_in_other_formats(everlog: Everlog, folder: Path) -> None:
    assert everlog("run", "path.dl", "edge.csv", "-o", "out", "--format", "jsonl").code == 0
    assert lines(folder / "out/path.jsonl") == ['["path", "a", "b"]', '["path", "a", "c"]', '["path", "b", "c"]']


def test_exports_decide_what_is_written(everlog: Everlog, folder: Path) -> None:
    (folder / "two.dl").write_text(PATHS + 'from(?x) :- edge(?x, ?y).\n@export from "starts.tsv" .\n')
    ended = everlog("run", "two.dl", "edge.csv")
    assert (ended.code, ended.out) == (0, "starts.tsv\n")
    assert lines(folder / "starts.tsv") == ["a", "b"]
    assert everlog("run", "two.dl", "edge.csv", "-o", "out").code == 0
    assert [path.name for path in (folder / "out").iterdir()] == ["starts.tsv"]


def test_imports_are_found_beside_the_program(everlog: Everlog, folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data/ages.tsv").write_text("x\t7\ny\t10\n")
    (folder / "data/old.dl").write_text(
        '@import age "ages.tsv" (string, integer) .\nold(?x) :- age(?x, ?n), ?n > 9 .\n'
    )
    assert everlog("run", "data/old.dl", "--query", "old(?x)").out == "y\n"


def test_data_names_the_relation_and_its_types(everlog: Everlog, folder: Path) -> None:
    (folder / "links.csv.gz").write_bytes(gzip.compress(b"from,to\na,b\n"))
    assert everlog("run", "path.dl", "--data", "edge=links.csv.gz", "--header", "--count").out == "path\t1\n"
    assert everlog("run", "path.dl", "edge=links.csv.gz", "--count").out == "path\t2\n"
    (folder / "sizes.csv").write_text("a,7\nb,40\n")
    ended = everlog(
        "run",
        "-",
        "--data",
        "size(string,integer)=sizes.csv",
        "-q",
        "big(?x)",
        stdin="big(?x) :- size(?x, ?n), ?n > 9.",
    )
    assert ended.out == "b\n"


def test_queries(everlog: Everlog, folder: Path) -> None:
    assert everlog("run", "path.dl", "edge.csv", "--query", "path(a, ?y)").out == "b\nc\n"
    ended = everlog("run", "path.dl", "edge.csv", "-q", "path(a, c)", "-q", "path(c, a)")
    assert ended.out == "# path(a, c)\ntrue\n# path(c, a)\nfalse\n"


def test_summary(everlog: Everlog, folder: Path) -> None:
    ended = everlog("run", "path.dl", "edge.csv")
    assert ended.code == 0
    assert "(a, c)" in ended.out and "edge" in ended.out and ended.err == ""


def test_json(everlog: Everlog, folder: Path) -> None:
    data = json.loads(everlog("run", "path.dl", "edge.csv", "--json", "-q", "path(?x, c)").out)
    assert data["relations"][0] == {"name": "path", "arity": 2, "facts": 3, "explicit": 0, "defined": True}
    assert data["queries"] == [{"query": "path(?x, c)", "variables": ["x"], "rows": [["a"], ["b"]]}]


def test_verbose_speaks_on_stderr(everlog: Everlog, folder: Path) -> None:
    ended = everlog("run", "path.dl", "edge.csv", "--count", "-v")
    assert ended.out == "path\t3\n"
    assert "reading edge.csv" in ended.err and "component 1 of 1" in ended.err
