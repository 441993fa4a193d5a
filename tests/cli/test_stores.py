"""Do the commands on a knowledge base in a folder load, apply, show, ask and verify as their help says?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Ended, Everlog

pytestmark = pytest.mark.slow

UPDATES = """\
{"insert": [["edge", "c", "d"]]}
{"delete": [["edge", "a", "b"], ["edge", "no", "where"]], "insert": [["edge", "b", "c"]]}
{"add_rules": "back: back(?y, ?x) :- path(?x, ?y)."}
"""


@pytest.fixture
def kb(everlog: Everlog, folder: Path) -> str:
    ended = everlog("load", "kb", "path.dl", "edge.csv")
    assert ended.code == 0, ended.err
    (folder / "updates.jsonl").write_text(UPDATES)
    return "kb"


def shows(ended: Ended, code: int, *texts: str) -> None:
    assert ended.code == code, ended
    for text in texts:
        assert text in ended.out + ended.err, ended


# --- load, facts, query, rules ----------------------------------------------------------------------------------------


def test_load_says_what_came(everlog: Everlog, folder: Path) -> None:
    ended = everlog("load", "kb", "path.dl", "edge.csv")
    assert ended.out == "edge\t+2\npath\t+3\nversion 1: 2 facts new, 0 were there already\n"
    (folder / "more.csv").write_text("x,y\n")
    data = json.loads(everlog("load", "kb", "edge=more.csv", "edge.csv", "--json").out)
    assert (data["version"], data["inserted"], data["already_there"]) == (2, 1, 2)
    assert data["relations"] == {"edge": {"gained": 1, "lost": 0}, "path": {"gained": 1, "lost": 0}}


def test_load_follows_the_imports_of_programs(everlog: Everlog, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub/age.tsv").write_text("x\t7\ny\t10\n")
    (folder / "sub/old.dl").write_text('@import age "age.tsv" (string, integer) .\nold(?x) :- age(?x, ?n), ?n > 9 .\n')
    assert everlog("load", "kb", "sub/old.dl").code == 0
    assert everlog("query", "kb", "old(?x)").out == "y\n"


def test_facts_in_every_form(everlog: Everlog, kb: str, folder: Path) -> None:
    assert everlog("facts", kb, "path").out == "a\tb\na\tc\nb\tc\n"
    assert sorted(everlog("facts", kb, "edge", "--format", "csv").out.splitlines()) == ["a,b", "b,c"]
    assert json.loads(everlog("facts", kb, "edge", "--json").out)["facts"] == [["a", "b"], ["b", "c"]]
    assert everlog("facts", kb, "edge", "-o", "out.jsonl").out == "out.jsonl\n"
    assert '["edge", "a", "b"]' in (folder / "out.jsonl").read_text()
    shows(everlog("facts", kb, "pth"), 5, "did you mean path?")
    shows(everlog("facts", kb, "path", "--format", "parquet"), 2, "-o FILE")


def test_query(everlog: Everlog, kb: str) -> None:
    assert everlog("query", kb, "path(a, ?y), ?y != b").out == "c\n"
    assert everlog("query", kb, "path(a, c)", "path(c, a)").out == "# path(a, c)\ntrue\n# path(c, a)\nfalse\n"
    data = json.loads(everlog("query", kb, "path(?x, c)", "--json").out)
    assert data["queries"][0]["rows"] == [["a"], ["b"]]
    shows(everlog("query", kb, "path(a"), 3, "error[R1")


def test_rules_list(everlog: Everlog, kb: str) -> None:
    ended = everlog("rules", "list", kb)
    assert ended.out.splitlines()[0] == "r1: path(?x, ?y) :- edge(?x, ?y)."
    assert [rule["name"] for rule in json.loads(everlog("rules", "list", kb, "--json").out)["rules"]] == ["r1", "r2"]


def test_a_folder_that_is_no_knowledge_base(everlog: Everlog, folder: Path) -> None:
    for command in (["facts", "no", "p"], ["query", "no", "p(?x)"], ["verify", "no"], ["rules", "list", "no"]):
        shows(everlog(*command), 5, "there is no such knowledge base", "everlog load no")
    shows(everlog("verify", "."), 5, "no knowledge base in this folder")
    shows(everlog("load", ".", "edge.csv"), 2, "holds other files")
    shows(everlog("apply", "no", "updates.jsonl"), 5, "there is no such knowledge base")


# --- verify -----------------------------------------------------------------------------------------------------------


def test_verify(everlog: Everlog, kb: str) -> None:
    shows(everlog("verify", kb), 0, "as derived from scratch: 5 facts of 2 relations")
    assert json.loads(everlog("verify", kb, "--json").out)["equal"] is True
    shows(everlog("verify", "path.dl", "edge.csv", "--engine", "reference"), 0, "as derived from scratch")
    shows(everlog("verify", kb, "edge.csv"), 2, "has its data already")


def test_verify_that_finds_something(everlog: Everlog, kb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from everlog.store.store import KnowledgeBase
    from everlog.store.verify import Difference, Verification

    def differs(kb: KnowledgeBase, *, engine: str | None = None) -> Verification:
        return Verification(kb.version, 2, 5, (Difference("path", kb.facts("edge"), kb.facts("path")),), 0.1)

    monkeypatch.setattr(KnowledgeBase, "verify", differs)
    shows(everlog("verify", kb), 1, "NOT as derived from scratch", "path: 2 missing", "    path(a, b)", "path: 3 extra")


# --- apply ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--strategy", "rematerialise"]])
def test_apply(everlog: Everlog, kb: str, folder: Path, options: list[str]) -> None:
    ended = everlog("apply", kb, "updates.jsonl", "--changes", "changes.jsonl", *options)
    shows(ended, 0, "3 updates in", "to version 4: +7 -4 facts", "latency: p50", "strategies: ")
    shows(ended, 0, "without effect: 1 inserts already there, 1 deletes not there")
    changes = [json.loads(line) for line in (folder / "changes.jsonl").read_text().splitlines()]
    assert [change["version"] for change in changes] == [2, 3, 4]
    assert changes[0]["gained"] == [["edge", "c", "d"], ["path", "a", "d"], ["path", "b", "d"], ["path", "c", "d"]]
    assert ["path", "a", "d"] in changes[1]["lost"] and changes[1]["gained"] == []
    assert everlog("query", kb, "back(?x, c)").out == "d\n"
    assert everlog("verify", kb).code == 0


def test_apply_to_a_program(everlog: Everlog, kb: str, folder: Path) -> None:
    data = json.loads(everlog("apply", "--program", "path.dl", "edge.csv", "updates.jsonl", "--json").out)
    assert (data["updates"], data["changes"], data["version"]) == (3, 3, 4)
    assert data["gained"] == {"path": 3, "edge": 1, "back": 3} and data["lost"] == {"path": 3, "edge": 1, "back": 0}
    assert set(data["latency_ms"]) == {"p50", "p95"} and data["strategies"]
    assert everlog("facts", kb, "path").out == "a\tb\na\tc\nb\tc\n"  # left alone


def test_apply_at_once(everlog: Everlog, kb: str, folder: Path) -> None:
    (folder / "many.jsonl").write_text("".join(f'{{"insert": [["n", {number}]]}}\n' for number in range(50)))
    ended = everlog("apply", kb, "many.jsonl", "--coalesce", "--marking")
    shows(ended, 0, "50 updates", "to version 51")


def test_apply_reads_rdf_patch_and_stdin(everlog: Everlog, kb: str, folder: Path) -> None:
    (folder / "u.rdfp").write_text("TX .\nA <x:a> <x:p> <x:b> .\nTC .\nTX .\nD <x:a> <x:p> <x:b> .\nTC .\n")
    shows(everlog("apply", kb, "u.rdfp", "updates.jsonl"), 0, "5 updates")
    command = [sys.executable, "-m", "everlog.cli.main", "apply", kb, "-"]
    line = '{"insert": [["edge", "x", "y"]]}\n'
    ended = subprocess.run(command, input=line, capture_output=True, text=True, cwd=folder)
    assert "1 updates" in ended.stdout and "version 7" in ended.stdout, ended
    assert everlog("query", kb, "path(x, ?y)").out == "y\n"


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("{", 4, "bad.jsonl:2: this is not JSON"),
        ('{"insert": [["edge", "x"]]}', 4, "bad.jsonl:2: row 1: ('x',): edge has 2 arguments"),
        ('{"add_rules": "p(?x) :- q(?y)."}', 3, "bad.jsonl:2:1:"),
        ('{"remove_rules": ["r9"]}', 5, "bad.jsonl:2: there is no rule 'r9'"),
    ],
)
def test_a_bad_line_leaves_the_last_good_version(
    everlog: Everlog, kb: str, folder: Path, line: str, code: int, says: str
) -> None:
    (folder / "bad.jsonl").write_text(
        f'{{"insert": [["edge", "c", "d"]]}}\n{line}\n{{"insert": [["edge", "d", "e"]]}}\n'
    )
    shows(everlog("apply", kb, "bad.jsonl"), code, says, "1 updates", "to version 2")
    assert everlog("query", kb, "edge(c, ?y)", "edge(d, ?y)").out == "# edge(c, ?y)\nd\n# edge(d, ?y)\n"
    assert json.loads(everlog("apply", kb, "bad.jsonl", "--json").out)["code"]


def test_mistakes_in_the_call(everlog: Everlog, kb: str, folder: Path) -> None:
    shows(everlog("apply", kb), 2, "which updates?")
    shows(everlog("apply", kb, "none.jsonl"), 5, "none.jsonl", "no such file")
    shows(everlog("apply", kb, "edge.csv"), 2, ".csv is not one of updates")
    assert everlog("apply", kb, "updates.jsonl", "--strategy", "best").code == 2
    shows(everlog("apply", kb, "updates.jsonl", "--changes", "no/where.jsonl"), 6, "no/where.jsonl")


def test_two_writers(everlog: Everlog, kb: str, folder: Path) -> None:
    import everlog as package

    with package.open(folder / kb, engine="reference"):
        shows(everlog("load", kb, "edge.csv"), 10, "kb is open in this process")
        shows(everlog("facts", kb, "path"), 0)  # reading is no writing


def test_a_damaged_log(everlog: Everlog, kb: str, folder: Path) -> None:
    log = folder / kb / "updates-000000000000.log"
    data = bytearray(log.read_bytes())
    data[60] ^= 4
    log.write_bytes(data)
    shows(everlog("verify", kb), 4, "kb/updates-000000000000.log", "byte 24")
    assert json.loads(everlog("verify", kb, "--json").out)["offset"] == 24


def test_ctrl_c_while_it_waits_keeps_what_was_applied(everlog: Everlog, kb: str, folder: Path) -> None:
    command = [sys.executable, "-m", "everlog.cli.main", "apply", kb, "-", "--changes", "changes.jsonl"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, text=True
    ) as process:
        assert process.stdin is not None and process.stderr is not None
        process.stdin.write('{"insert": [["edge", "c", "d"]]}\n')
        process.stdin.flush()
        while not (folder / "changes.jsonl").exists() or not (folder / "changes.jsonl").read_text():
            assert process.poll() is None
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(20) == 130
        assert process.stderr.read().endswith("interrupted\n")
    assert everlog("query", kb, "path(a, d)").out == "true\n"


# --- constraints ------------------------------------------------------------------------------------------------------


def test_constraints_refuse_what_breaks_them(everlog: Everlog, kb: str, folder: Path) -> None:
    assert everlog("rules", "add", kb, "--text", "@constraint acyclic : path(?x, ?x).").code == 0
    (folder / "loop.jsonl").write_text('{"insert": [["edge", "c", "a"]]}\n')
    (folder / "loop.csv").write_text("c,a\n")
    (folder / "loop.dl").write_text("path(z, z).\n")
    for arguments in (("apply", kb, "loop.jsonl"), ("load", kb, "edge=loop.csv"), ("load", kb, "loop.dl")):
        ended = everlog(*arguments)
        shows(
            ended, 8, "error[C100]: ", "the constraint acyclic would be broken by:", "    ?x = ", "nothing was changed"
        )
    assert json.loads(everlog("apply", kb, "loop.jsonl", "--json").out)["code"] == "C100"
    shows(everlog("rules", "add", kb, "--text", "@constraint none : edge(?x, _)."), 8, "the constraint none")
    assert everlog("rules", "list", kb).out.splitlines()[2:] == ["@constraint acyclic : path(?x, ?x)."]
    shows(everlog("rules", "show", kb, "acyclic"), 0, "reads path (3 facts) from r1, r2", "a constraint: an update")
    assert "~" not in everlog("rules", "graph", kb).out + everlog("rules", "show", kb, "acyclic").out
    assert everlog("rules", "remove", kb, "acyclic").code == 0
    assert everlog("apply", kb, "loop.jsonl").code == 0


def test_runs_with_constraints(everlog: Everlog, folder: Path) -> None:
    with (folder / "path.dl").open("a") as program:
        program.write("@constraint acyclic : path(?x, ?x).\n")
    assert everlog("run", "path.dl", "edge.csv", "--count").out == "path\t3\n"
    assert everlog("run", "path.dl", "edge.csv", "-o", "out").out == "out/path.csv\n"
    assert "~" not in everlog("run", "path.dl", "edge.csv", "--json").out
    (folder / "edge.csv").write_text("a,a\n")
    shows(everlog("run", "path.dl", "edge.csv"), 8, "    ?x = a\n")
