"""Does each benchmark of updates run, check what it derives, and write its page, its picture and its figures?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.experiments.growth import run as growth
from benchmarks.reporting.choices import choice_section, choices
from typer.testing import CliRunner

from everlog.cli.main import app
from everlog.errors import NotFoundError

RULES = pytest.param("rules", marks=pytest.mark.nightly)  # every rule of two sets goes and comes: a minute


@pytest.mark.slow
@pytest.mark.parametrize("name", ["streams", "deletions", "growth", "updates", "store", "fleet", "programs", RULES])
def test_a_quick_run_writes_three_files(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("duckdb")
    monkeypatch.setattr(growth, "STRETCH", 50)
    done = CliRunner().invoke(app, ["bench", name, "--quick", "--json", "--out", str(tmp_path)])
    if done.exit_code == NotFoundError.exit_code:
        pytest.skip(json.loads(done.stdout)["message"])
    assert done.exit_code == 0, done.stdout
    assert json.loads((tmp_path / f"{name}.json").read_text()) == json.loads(done.stdout)
    page = (tmp_path / f"{name}.md").read_text()
    assert f"everlog bench {name} --quick" in page and f"({name}.png)" in page
    assert (tmp_path / f"{name}.png").stat().st_size > 10_000


def test_choose_is_measured_against_the_best_single_strategy() -> None:
    slow, fast, stopped = {"seconds": 0.02}, {"seconds": 0.01}, {"seconds": None}
    lines = [
        ("good", {"bf": slow, "dred": fast, "choose": {"seconds": 0.011}}),
        ("bad", {"bf": fast, "dred": stopped, "choose": {"seconds": 0.03}}),
        ("small", {"bf": {"seconds": 0.0001}, "dred": slow, "choose": {"seconds": 0.0009}}),
    ]
    found = choices(lines)
    assert [(choice.line, choice.strategy, choice.good) for choice in found] == [
        ("good", "dred", True),
        ("bad", "bf", False),
        ("small", "bf", True),  # within a millisecond
    ]
    assert "Over 3 lines" in choice_section(
        found
    ) and "| bad | bf | 10.0 ms | 30.0 ms | 3.00 | **no** |" in choice_section(found)
