"""Do the examples of README and of pages in docs run, and print what is said there?

A ```python or ```sh block is run; where a ```text block follows, that is its output. ```console blocks are for reading.
Links to files of this repository must lead somewhere.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
RUN = [
    *("README.md", "docs/commands.md", "docs/updates.md", "docs/store.md", "docs/rules.md", "docs/sparql.md"),
    *("docs/fleet.md", "docs/spark.md", "docs/tutorial.md", "docs/how-to/streams.md", "docs/how-to/tuning.md"),
    "docs/how-it-works/pivots.md",
]
PAGES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
PAGES += [str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs").rglob("*.md"))]


SPARK = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def examples(language: str) -> list[ParameterSet]:
    """Code and expected output of each block in a language."""
    found: list[ParameterSet] = []
    for page in RUN:
        text = (ROOT / page).read_text(encoding="utf-8")
        blocks = [*re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL), ("", "")]
        for (kind, code), (next_kind, output) in pairwise(blocks):
            if kind == language:
                starts_spark = SPARK if "spark_session" in code else []
                found.append(pytest.param(code, output if next_kind == "text" else None, marks=starts_spark))
    return found


def check(command: list[str], expected: str | None, folder: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    ended = subprocess.run(command, capture_output=True, text=True, cwd=folder, env={**os.environ, "PATH": path})
    assert ended.returncode == 0, ended.stderr
    if expected is not None:
        assert ended.stdout == expected


@pytest.mark.parametrize(("code", "expected"), examples("python"))
def test_python(code: str, expected: str | None, tmp_path: Path) -> None:
    check([sys.executable, "-c", code], expected, tmp_path)


@pytest.mark.parametrize(("code", "expected"), examples("sh"))
def test_shell(code: str, expected: str | None, tmp_path: Path) -> None:
    check(["bash", "-euo", "pipefail", "-c", code], expected, tmp_path)


def test_there_is_something_to_run() -> None:
    assert examples("python") and examples("sh")


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", (ROOT / page).read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not ((ROOT / page).parent / link).exists()]
    assert not missing


def test_the_wind_farm_finds_its_odd_sensors() -> None:
    from examples.wind_farm.data import ODD, turbine

    ended = subprocess.run(
        [sys.executable, str(ROOT / "examples/wind_farm/run.py")], capture_output=True, text=True, cwd=ROOT.parent
    )
    assert ended.returncode == 0, ended.stderr
    table = ended.stdout.split("Odd sensors:")[1].split("is repaired")[0]
    assert {word for word in table.split() if word.startswith("wind")} == {turbine(number) for number in ODD}
    assert ended.stdout.split("No longer odd:")[1].split() == [turbine(23)]


def test_a_turbine_borrows_rules_and_gives_them_back() -> None:
    from examples.wind_turbine_story.run import DIAGNOSIS, SELF, tell
    from rich.console import Console

    console = Console(record=True, width=200, file=io.StringIO())
    before, after = tell(console)
    assert before == after and (SELF, 37) in after["unusualReading"]
    told = console.export_text()
    assert f"the sensor of {SELF} is broken" in told and "it is a hot day" in told
    assert "The state is as before" in told and f"rules concerned: {', '.join(DIAGNOSIS)}" in told
