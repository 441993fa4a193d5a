"""Do `everlog update`, `everlog view` and the streams of `everlog apply` do what their help says?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Everlog

PREFIX = "PREFIX : <http://e/> "


@pytest.fixture
def kb(everlog: Everlog, folder: Path) -> str:
    (folder / "parts.dl").write_text(f"{PREFIX}\n[?x, a, :Thing] :- [?x, a, :Part] .\n")
    assert everlog("load", "kb", "parts.dl").code == 0
    return "kb"


def test_update(everlog: Everlog, kb: str, folder: Path) -> None:
    ended = everlog("update", kb, PREFIX + "INSERT DATA { :x a :Part }", PREFIX + "INSERT DATA { :y a :Part }")
    assert (ended.code, ended.out) == (0, "triple\t+2\nversion 2\ntriple\t+2\nversion 3\n")
    (folder / "request.ru").write_text(PREFIX + "DELETE WHERE { :x ?p ?o }")
    data = json.loads(everlog("update", kb, "-f", "request.ru", "--json").out)
    assert data["version"] == 4 and data["changes"][0]["relations"] == {"triple": {"gained": 0, "lost": 2}}
    assert everlog("update", kb, "-f", "-", stdin=PREFIX + "INSERT DATA { :z a :Part }").code == 0
    (folder / "more.ttl").write_text("<http://e/m> a <http://e/Part> .")
    assert everlog("update", kb, "LOAD <more.ttl>").code == 3
    assert everlog("update", kb, "LOAD <more.ttl>", "--load-from", ".").code == 0
    assert everlog("query", kb, PREFIX + "SELECT ?x { ?x a :Thing }").out.count("\n") == 3


def test_an_update_that_fails_changes_nothing(everlog: Everlog, kb: str, folder: Path) -> None:
    ended = everlog("update", kb, "INSERT DATA { <http://e/a> }")
    assert ended.code == 3 and "error[S000]" in ended.err
    assert everlog("update", kb).code == 2
    (folder / "latin.ru").write_bytes(b'INSERT DATA { <http://e/a> <http://e/b> "\xe9" }')
    ended = everlog("update", kb, "-f", "latin.ru")
    assert ended.code == 4 and "latin.ru:1: this is not UTF-8 text" in ended.err
    assert everlog("update", "nowhere", "CLEAR ALL").code == 5
    assert json.loads(everlog("query", kb, "triple(?x, ?y, ?z)", "--json").out)["version"] == 1


def test_views(everlog: Everlog, kb: str, folder: Path) -> None:
    ended = everlog("view", "add", kb, "things", PREFIX + "SELECT ?x { ?x a :Thing }")
    assert (ended.code, ended.out) == (0, "version 2: view things, 0 rows\n")
    (folder / "ask.rq").write_text("ASK { ?x ?p ?o }")
    assert everlog("view", "add", kb, "any", "-f", "ask.rq").out == "version 3: view any\n"
    everlog("update", kb, PREFIX + "INSERT DATA { :x a :Part }")
    everlog("update", kb, PREFIX + "DELETE DATA { :x a :Part } ; INSERT DATA { :y a :Part }")
    assert everlog("view", "show", kb, "things").out == "<http://e/y>\n"
    assert everlog("view", "show", kb, "things", "--format", "csv").out.split() == ["x", "http://e/y"]
    assert json.loads(everlog("view", "show", kb, "any", "--json").out)["boolean"] is True
    assert [each["view"] for each in json.loads(everlog("view", "list", kb, "--json").out)] == ["things", "any"]
    watched = everlog("view", "watch", kb, "things", "--since", "3", "-n", "2")
    assert watched.out == "# version 4\n+\t<http://e/x>\n# version 5\n-\t<http://e/x>\n+\t<http://e/y>\n"
    assert everlog("view", "drop", kb, "any").out == "version 6: no view any any more\n"
    assert everlog("view", "list", kb).out.split("\t")[0] == "things"
    for call, code in (
        (("add", kb, "things", "ASK {}"), 2),
        (("add", kb, "new"), 2),
        (("drop", kb, "nothing"), 5),
        (("show", kb, "thigns"), 5),
        (("watch", kb, "things", "--since", "99"), 5),
    ):
        assert everlog("view", *call).code == code, call


@pytest.mark.slow
def test_watching_while_another_process_writes(everlog: Everlog, kb: str, folder: Path) -> None:
    everlog("view", "add", kb, "things", PREFIX + "SELECT ?x { ?x a :Thing }")
    command = [sys.executable, "-m", "everlog", "view", "watch", kb, "things", "--json", "--since", "2", "-n", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder, text=True) as process:
        assert process.stdout is not None
        for name in ("x", "y"):
            everlog("update", kb, f"{PREFIX} INSERT DATA {{ :{name} a :Part }}")
            said = json.loads(process.stdout.readline())
            assert said["gained"] == [[{"@id": f"http://e/{name}"}]] and said["lost"] == []
        assert process.wait(30) == 0


def test_changes_to_stdout(everlog: Everlog, folder: Path) -> None:
    everlog("load", "kb", "path.dl", "edge.csv")
    (folder / "updates.jsonl").write_text('{"insert": [["edge", "c", "d"]]}\n{"delete": [["edge", "a", "b"]]}\n')
    ended = everlog("apply", "kb", "updates.jsonl", "--changes", "-")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert [each["version"] for each in lines] == [2, 3] and lines[1]["lost"][0] == ["edge", "a", "b"]
    assert "2 updates in" in ended.err
    assert everlog("apply", "kb", "updates.jsonl", "--changes", "-", "--json").code == 2


def test_marking_without_effect_is_told(everlog: Everlog, folder: Path) -> None:
    everlog("load", "kb", "path.dl", "edge.csv")
    (folder / "updates.jsonl").write_text('{"insert": [["edge", "c", "d"]]}\n')
    ended = everlog("apply", "kb", "updates.jsonl", "--marking", "-q")
    assert ended.code == 0 and "warning: marking has no effect with the strategy 'choose'" in ended.err
    assert "warning" not in everlog("apply", "kb", "updates.jsonl", "--marking", "--strategy", "bf", "-q").err


def test_several_programs(everlog: Everlog, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub/more.dl").write_text('@import edge "extra.csv" .\n@export back .\nback(?y, ?x) :- path(?x, ?y).\n')
    (folder / "sub/extra.csv").write_text("c,d\n")
    assert everlog("run", "path.dl", "sub/more.dl", "edge.csv", "--count").out == "path\t6\nback\t6\n"
    assert everlog("run", "path.dl", "sub/more.dl", "edge.csv", "-o", "out").out == "out/back.csv\n"
    assert everlog("verify", "path.dl", "sub/more.dl", "edge.csv").code == 0
    (folder / "bad.dl").write_text("path(?x) :- edge(?x, ?y).\n")
    ended = everlog("run", "path.dl", "bad.dl")
    assert ended.code == 3 and "bad.dl:1" in ended.err


@pytest.mark.slow
def test_python_m_everlog(folder: Path) -> None:
    command = [sys.executable, "-m", "everlog", "run", "path.dl", "edge.csv", "--count"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "path\t3\n"
