"""Does a bar show up only when work takes long and somebody looks, and is what happens logged?"""

from __future__ import annotations

import io
import logging
import sys
import time
import timeit
from pathlib import Path

import pytest

import everlog
from everlog import progress
from everlog.progress import Bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal_for(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Somebody who looks, and has no patience; not a fixture, since pytest sets stderr after those."""
    found = Terminal()
    monkeypatch.setattr(sys, "stderr", found)
    monkeypatch.setattr(progress, "DELAY", 0.05)
    monkeypatch.setattr(progress, "EVERY", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    return found


def wait_for(text: str, terminal: Terminal) -> None:
    until = time.monotonic() + 20
    while text not in terminal.getvalue():
        assert time.monotonic() < until, terminal.getvalue()
        time.sleep(0.01)


def test_a_bar_comes_when_it_takes_long_and_goes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_for(monkeypatch)
    with Bar("reading [a]"):
        pass
    assert terminal.getvalue() == ""
    with Bar("reading [a]") as bar:
        wait_for("reading [a]", terminal)
        with Bar("updating") as inner:
            inner("component 1 of 2", 0.5)
            wait_for("component 1 of 2", terminal)
        bar("nearly there", 0.9)
        wait_for("nearly there", terminal)
    shown = len(terminal.getvalue())
    time.sleep(0.1)
    assert len(terminal.getvalue()) == shown


def test_nobody_looks(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.0)
    with Bar("work") as bar:
        time.sleep(0.05)
        assert not bar.is_shown
    assert capsys.readouterr().err == ""


def test_loading_updating_and_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal_for(monkeypatch)
    said: list[str] = []
    told = Bar.__call__
    monkeypatch.setattr(Bar, "__call__", lambda bar, what, part=None: (said.append(what), told(bar, what, part))[0])
    (tmp_path / "edge.csv").write_text("a,b\nb,c\n")
    with everlog.open(tmp_path / "kb") as kb:
        kb.add_rules("path(?x, ?y) :- edge(?x, ?y).")
        kb.load(tmp_path / "edge.csv")
    assert f"reading {tmp_path / 'edge.csv'}: 2 facts" in said and "component 1 of 1: r1" in said
    said.clear()
    quiet = everlog.open(progress=False)
    quiet.load(tmp_path / "edge.csv")
    everlog.open().load(tmp_path / "edge.csv", progress=False)
    assert not [each for each in said if "component" in each]


def test_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class ZMQInteractiveShell: ...

    class Display:
        @staticmethod
        def HTML(text: str) -> str:
            return text

        @classmethod
        def display(cls, text: str, *, display_id: bool) -> type[Display]:
            shown.append(text)
            return cls

        update = staticmethod(shown.append)

    class IPython:
        get_ipython = staticmethod(ZMQInteractiveShell)

    monkeypatch.setitem(sys.modules, "IPython", IPython)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", Display)  # type: ignore[arg-type]
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.01)
    with Bar("reading <a>") as bar:
        bar("reading <a>", 0.25)
        time.sleep(0.2)
    assert shown[0] == '<progress value="0.250"></progress> 0 s reading &lt;a&gt;' and shown[-1] == ""


def test_logging(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "everlog"), everlog.open(tmp_path / "kb") as kb:
        kb.add_rules("path(?x, ?y) :- edge(?x, ?y).")
        kb.insert("edge", [("a", "b")])
        kb.insert("edge", [("b", "c")])
        with kb.transaction() as transaction:
            transaction.insert("edge", [("c", "d")])
            transaction.insert("edge", [("d", "e")])
        kb.view("v", "ASK { ?x ?y ?z }")
        kb.drop_view("v")
        path = kb.compact()
    told = [(record.levelname, record.getMessage()) for record in caplog.records]
    info = [text for level, text in told if level == "INFO"]
    assert info[0].startswith(f"opened {tmp_path / 'kb'} at version 0")
    assert [text.partition(":")[0] for text in info[1:7]] == [f"<Change to version {n}" for n in range(1, 7)]
    assert info[7].startswith(f"{path}: ") and "bytes in" in info[7]
    assert any(level == "DEBUG" and "counting" in text for level, text in told)


def test_silence_costs_nothing() -> None:
    kb = everlog.open(engine="reference")
    change = kb.insert("p", [(1,)])
    from everlog.store.telling import log_change

    def work() -> None:
        with Bar("updating"):
            pass
        log_change(change)

    assert min(timeit.repeat(work, number=1000, repeat=5)) / 1000 < 50e-6
