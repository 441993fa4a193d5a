"""Does every mistake on the command line end in a message, the right exit code and no traceback?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Ended, Everlog

ENDLESS = "n(0).\nn(?y) :- n(?x), BIND(?x + 1 AS ?y).\n"


def shows(ended: Ended, code: int, *texts: str) -> None:
    assert ended.code == code, ended
    assert "Traceback" not in ended.err + ended.out
    for text in texts:
        assert text in ended.err, ended.err


def test_usage(everlog: Everlog, folder: Path) -> None:
    assert everlog("run").code == 2
    assert everlog("run", "path.dl", "--engine", "steam").code == 2
    assert everlog("run", "path.dl", "--format", "docx").code == 2
    shows(everlog("run", "path.dl", "--data", "edge.csv"), 2, "which relation?")
    shows(everlog("run", "path.dl", "--limit-memory", "lots"), 2, "'lots' is not a size")


def test_missing_files(everlog: Everlog, folder: Path) -> None:
    shows(everlog("run", "pathh.dl"), 5, "pathh.dl", "no such file")
    shows(everlog("run", "path.dl", "edges.csv"), 5, "edges.csv", "no such file")
    shows(everlog("plan", "pathh.dl"), 5, "pathh.dl", "no such file")


def test_bad_program_shows_its_diagnostics(everlog: Everlog, folder: Path) -> None:
    (folder / "bad.dl").write_text("p(?x, ?z) :- q(?x).\nr(?y) :- q(?x).\n")
    ended = everlog("run", "bad.dl")
    shows(ended, 3, "bad.dl:1:", "bad.dl:2:", "^")
    shows(everlog("plan", "bad.dl"), 3, "bad.dl:1:")
    data = json.loads(everlog("run", "bad.dl", "--json").out)
    assert data["error"] == "ProgramError" and len(data["diagnostics"]) == 2


def test_program_that_is_not_text(everlog: Everlog, folder: Path) -> None:
    (folder / "bytes.dl").write_bytes(b"p(a).\nq(\xff\xfe).\n")
    shows(everlog("run", "bytes.dl"), 3, "bytes.dl:2", "UTF-8")


def test_data_that_does_not_fit(everlog: Everlog, folder: Path) -> None:
    (folder / "edge.csv").write_text("a,b,c\n")
    shows(everlog("run", "path.dl", "edge.csv"), 4, "edge")


def test_output_that_cannot_be_written(everlog: Everlog, folder: Path) -> None:
    shows(everlog("run", "path.dl", "edge.csv", "-o", "path.dl/out"), 6, "path.dl")
    shows(everlog("plan", "path.dl", "--svg", "nowhere/graph.svg"), 6, "nowhere/graph.svg")


@pytest.mark.parametrize("limit", [("--limit-rounds", "50"), ("--limit-facts", "50"), ("--limit-seconds", "0.2")])
def test_limits(everlog: Everlog, folder: Path, limit: tuple[str, str]) -> None:
    (folder / "endless.dl").write_text(ENDLESS)
    shows(everlog("run", "endless.dl", "--count", *limit), 7, "stopped")
    assert json.loads(everlog("run", "endless.dl", "--json", *limit).out)["code"].startswith("L1")


@pytest.mark.slow
def test_a_reader_that_closes_the_pipe(folder: Path) -> None:
    (folder / "many.csv").write_text("".join(f"{number}\n" for number in range(50_000)))
    (folder / "many.dl").write_text("all(?x) :- many(?x).\n")
    command = [sys.executable, "-m", "everlog.cli.main", "run", "many.dl", "many.csv", "-q", "all(?x)"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_interruption(everlog: Everlog, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import everlog.store.program_files as program_files

    def interrupted(path: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(program_files, "read_program", interrupted)
    shows(everlog("run", "path.dl"), 130, "interrupted")
