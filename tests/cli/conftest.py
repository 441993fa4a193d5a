"""How are commands run in tests? In this process: fast, and as a user would see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from everlog.cli.main import app

PATHS = """
path(?x, ?y) :- edge(?x, ?y).
path(?x, ?z) :- edge(?x, ?y), path(?y, ?z).
"""


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str


Everlog = Callable[..., Ended]


@pytest.fixture
def everlog() -> Everlog:
    def run(*arguments: str | Path, stdin: str | None = None) -> Ended:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ended(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with a program and two edges."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "path.dl").write_text(PATHS, encoding="utf-8")
    (tmp_path / "edge.csv").write_text("a,b\nb,c\n", encoding="utf-8")
    return tmp_path
