"""Does `everlog bench` say what is wrong before it measures anything?"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Everlog


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


@pytest.mark.spark
def test_a_small_run(everlog: Everlog, tmp_path: Path) -> None:
    small = ("--sizes", "0.01", "--data", "graph", "--master", "local[2]", "--memory", "1g")
    done = everlog("bench", "pipeline", *small, "--out", tmp_path)
    assert done.code == 0 and "| graph | 10,000 |" in done.out
    assert {path.name for path in tmp_path.iterdir()} == {"pipeline.json", "pipeline.md", "pipeline.png"}
