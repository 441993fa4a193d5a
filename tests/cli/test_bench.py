"""Does `everlog bench` say what is wrong before it measures anything?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Everlog

from everlog.cli import bench_programs


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sizes", "0"], "'0' is not a number of millions"),
        (["--sizes", "1,many"], "'many' is not a number of millions"),
        (["--data", "wikidata"], "there is no data 'wikidata'; there are graph, lubm"),
    ],
)
def test_mistakes(everlog: Everlog, tmp_path: Path, options: list[str], message: str) -> None:
    done = everlog("bench", "pipeline", "--out", tmp_path, *options)
    assert done.code == 2 and message in done.err
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["pipeline", "updates", "sparql"])
def test_a_package_without_its_repository_says_so(
    everlog: Everlog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(bench_programs, "CHECKOUT", tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if not (Path(path) / "benchmarks").is_dir()])
    for module in [each for each in sys.modules if each.partition(".")[0] == "benchmarks"]:
        monkeypatch.delitem(sys.modules, module)
    done = everlog("bench", name, "--out", tmp_path)
    assert done.code == 2 and "they come with the repository, not with the package" in done.err
    assert not any(tmp_path.iterdir())


def test_benchmarks_of_a_checkout_are_found_from_anywhere(tmp_path: Path) -> None:
    program = "from everlog.cli.bench_programs import experiment; print(experiment('growth').__name__)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(bench_programs.CHECKOUT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "benchmarks.experiments.growth.run"


@pytest.mark.spark
def test_a_small_run(everlog: Everlog, tmp_path: Path) -> None:
    small = ("--sizes", "0.01", "--data", "graph", "--master", "local[2]", "--memory", "1g")
    done = everlog("bench", "pipeline", *small, "--out", tmp_path)
    assert done.code == 0 and "| graph | 10,000 |" in done.out
    assert {path.name for path in tmp_path.iterdir()} == {"pipeline.json", "pipeline.md", "pipeline.png"}
