"""Does the shell read statements as people type them, and answer each?"""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import PATHS, Everlog

import everlog as api
from everlog.cli.shell_editing import editing, history_file
from everlog.cli.shell_input import Kind, is_complete, kind_of
from everlog.cli.shell_session import Session


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("edge(a, b).", Kind.RULES),
        ("path(?x, ?z) :- edge(?x, ?y),\n  path(?y, ?z).", Kind.RULES),
        ('said("no. {", "#").', Kind.RULES),
        ("@constraint c : path(?x, ?x).", Kind.RULES),
        ("[?x, :p, ?y] :- [?y, :q, ?x] . # a comment (", Kind.RULES),
        ("path(a, ?y)", Kind.DATALOG),
        ("path(a, ?y), ?y != b", Kind.DATALOG),
        ("?- path(?x,\n c).", Kind.DATALOG),
        ("add(?x, 1)", Kind.DATALOG),
        ("load: p(?x) :- q(?x).", Kind.RULES),
        ("SELECT ?x {\n ?x a <http://e/#p>\n} LIMIT 5", Kind.SPARQL),
        ("PREFIX : <http://e/>\nASK { :a :b :c }", Kind.SPARQL),
        ("describe <http://e/a>;", Kind.SPARQL),
        ("INSERT DATA {\n <http://e/a> a <http://e/b> }", Kind.UPDATE),
        ("PREFIX : <http://e/> DELETE WHERE { ?x a :b }", Kind.UPDATE),
        (".help", Kind.COMMAND),
        ("# nothing", Kind.NOTHING),
    ],
)
def test_statements(text: str, kind: Kind) -> None:
    lines = text.split("\n")
    assert [is_complete("\n".join(lines[:n])) for n in range(1, len(lines) + 1)] == [False] * (len(lines) - 1) + [True]
    assert kind_of(text) is kind


def test_a_session_from_a_pipe(everlog: Everlog, folder: Path) -> None:
    typed = """\
# a graph
PREFIX : <http://e/>

edge(a, b). edge(b, c).
path(?x, ?y) :- edge(?x, ?y).
more: path(?x, ?z) :- edge(?x, ?y),
    path(?y, ?z).
path(a, ?y)
INSERT DATA { :x a :Part . :y a :Part }
SELECT ?x {
  ?x a :Part
} ORDER BY DESC(?x)
ASK { :x a :Thing }
.view parts SELECT ?x { ?x a :Part }
.delete edge(a, b)
.relations
.drop parts
.remove more
.rules
.quit
this is not read
"""
    ended = everlog("shell", "kb", stdin=typed)
    assert ended.code == 0, ended
    assert ended.out.splitlines() == [
        "version 1: nothing has changed",
        *("edge\t+2", "version 2", "path\t+2", "version 3", "path\t+1", "version 4"),
        *("b", "c"),
        *("triple\t+2", "version 5"),
        *("<http://e/y>", "<http://e/x>", "false", "<http://e/x>", "<http://e/y>"),
        *("edge\t-1", "path\t-2", "version 7"),
        *("edge/2\t1 facts", "path/2\t1 facts, 1 derived", "triple/3\t2 facts"),
        "version 9: nothing has changed",
        "r1: path(?x, ?y) :- edge(?x, ?y).",
    ]
    assert everlog("query", "kb", "path(?x, ?y)").out == "b\tc\n"


def test_the_first_mistake_ends_a_script(everlog: Everlog, folder: Path) -> None:
    ended = everlog("shell", "kb", stdin="p(a).\np(a, b).\np(c).\n")
    assert ended.code == 4 and "p has 1 argument" in ended.err + ended.out
    assert everlog("facts", "kb", "p").out == "a\n"
    assert everlog("shell", stdin=".hlep\n").code == 5
    assert everlog("shell", stdin=".facts\n").code == 2
    assert everlog("shell", "other", stdin="").code == 0 and not (folder / "other").exists()
    assert everlog("shell", "kb", "--read-only", stdin="p(b).\n").code == 2
    assert everlog("shell", stdin="p(a).\np(?x)").out.splitlines()[-1] == "a"  # the last line needs no end


def test_help_names_every_command(everlog: Everlog, folder: Path) -> None:
    from everlog.cli.shell_commands import COMMANDS

    told = everlog("shell", stdin=".help\n").out
    assert all(f"{name} " in told and says for name, (_, says, _function) in COMMANDS.items())


def test_completion() -> None:
    kb = api.open(engine="reference")
    kb.add_rules("PREFIX ex: <http://e/>\n" + PATHS.replace("\npath(?x, ?z)", "\nmore: path(?x, ?z)"))
    complete = Session(kb).completions
    assert complete("pa", "pa") == ["path"]
    assert complete("e", "path(?x, ?y), e") == ["edge", "ex:"]
    assert complete("sel", "sel") == ["SELECT"]
    assert complete(".re", ".re") == [".relations", ".remove"]
    assert complete("m", ".remove m") == ["more"]
    assert complete("", ".facts ") == ["path", "edge"] or complete("", ".facts ") == ["edge", "path"]


def test_history_is_kept_where_it_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with editing(lambda word, line: []):
        pass
    assert history_file() == tmp_path / "state/everlog/history" and history_file().exists()
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/no/such")
    with editing(lambda word, line: []):
        pass


@pytest.mark.slow
def test_on_a_terminal_a_mistake_is_told_and_forgotten(folder: Path) -> None:
    """A real terminal: prompts, the tabulator, a mistake, a statement of two lines."""
    master, slave = pty.openpty()
    environment = {**os.environ, "XDG_STATE_HOME": str(folder), "TERM": "xterm"}
    command = [sys.executable, "-m", "everlog", "shell"]
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment, cwd=folder) as process:
        os.close(slave)
        shown = _read_until(master, b"everlog> ")
        for typed in (b"edge(a, b).\n", b"edge(a.\n", b"\n", b"path(?x, ?y) :-\n", b"  ed\t(?x, ?y).\n", b".quit\n"):
            os.write(master, typed)
            shown += _read_until(master, b"> " if typed != b".quit\n" else None)
        assert process.wait(30) == 0
    text = shown.decode()
    assert "everlog> " in text and "...> " in text and "error[R103]" in text and "path\t+1" in text.replace("\r", "")
    assert "edge(a, b)." in (folder / "everlog/history").read_text()


def _read_until(terminal: int, end: bytes | None) -> bytes:
    """What a terminal shows until it waits for input; or until it is closed."""
    shown = b""
    while end is None or not shown.endswith(end):
        assert select.select([terminal], [], [], 30)[0], shown
        try:
            shown += os.read(terminal, 4096)
        except OSError:  # how a terminal says that it is closed
            break
    return shown
