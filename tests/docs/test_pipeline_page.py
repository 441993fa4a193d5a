"""Does docs/pipeline.md say what happens? Its files are written and its commands run, one after the other.

Spark is started once for all tests, so commands that need it run in this process. A line `…` of the expected output
stands for any lines: seconds, and places on this machine.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest
from tests.spark_session import spark
from typer.testing import CliRunner

from everlog.pipeline import settings

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PAGE = Path(__file__).parents[2] / "docs" / "pipeline.md"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed = ""
    for language, file, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if file:
            (tmp_path / file).parent.mkdir(exist_ok=True)
            (tmp_path / file).write_text(text, encoding="utf-8")
        elif language == "sh":
            printed = "".join(map(run_command, text.splitlines()))
        elif language == "python":
            printed = run_python(text)
        elif language == "text":
            pattern = re.escape(text).replace(re.escape("…\n"), "(?:.*\n)*?")
            assert re.fullmatch(pattern, printed), printed


def run_command(line: str) -> str:
    from everlog.cli.main import app

    if line.startswith("everlog "):
        ended = CliRunner().invoke(app, line.split()[1:])
        assert ended.exit_code == 0, ended.output
        return ended.stdout
    return subprocess.run(line, shell=True, check=True, capture_output=True, text=True, env=dict(os.environ)).stdout


def run_python(code: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, str(PAGE), "exec"), {"__name__": "__main__"})
    return out.getvalue()


def test_every_key_is_there() -> None:
    """The reference at the end is that of the code."""
    said = indent(BLOCK.findall(PAGE.read_text(encoding="utf-8"))[-1][2], "    ")
    assert said.strip() in (settings.__doc__ or "")
    assert dedent(said).startswith("program"), sys.version
