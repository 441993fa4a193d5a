"""Do the pipeline's figures come out as a page and a picture, and is memory seen?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.experiments.pipeline.report import STAGES, page, write_report
from benchmarks.measuring.machine import machine
from benchmarks.measuring.process_tree import is_told, machine_seconds, tree_memory, tree_seconds


def run(data: str, triples: int, seconds: float) -> dict[str, Any]:
    return {
        "data": data,
        "triples": triples,
        "stages": {stage: {"rows": 2 * triples, "seconds": seconds, "processor": 2 * seconds} for stage in STAGES},
        "facts": {"triple": 3 * triples},
        "first": {"triples": 10, "seconds": 9.0},
        "others": 0.25,
        "peak": 3 << 30,
    }


@pytest.fixture
def results() -> dict[str, Any]:
    return {
        "machine": machine(),
        "versions": {"everlog": "0"},
        "conditions": {"seed": 1, "master": "local[2]", "memory": "4g"},
        "runs": [run("graph", 1_000_000, 2.0), run("graph", 10_000_000, 30.0), run("lubm", 1_000_000, 4.0)],
    }


def test_the_page(results: dict[str, Any]) -> None:
    text = page(results)
    assert "| graph | 1,000,000 | 1,000,000 | 1,000,000 | 1,000,000 |" in text
    assert "| lubm | 1,000,000 | 3,000,000 | 4.0 (33%) |" in text and "| 12.0 | 3.0 | 25% |" in text
    assert "| graph | 1,000,000 | 10,000,000 | 4.00 to 6.00: 1.50 |" in text
    assert "| lubm | 1,000,000 | 8.0 s: 250,000 |" in text
    results["runs"] = results["runs"][:1]
    assert "What more data costs" not in page(results)


def test_the_files(results: dict[str, Any], tmp_path: Path) -> None:
    write_report(results, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pipeline.json", "pipeline.md", "pipeline.png"]
    assert (tmp_path / "pipeline.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.skipif(not is_told(), reason="only Linux tells")
def test_memory_of_a_process_and_its_children() -> None:
    before = tree_memory(os.getpid())
    program = "data = bytearray(b'x') * 50_000_000; print(); input()"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None and child.stdout is not None
        child.stdout.readline()
        during = tree_memory(os.getpid())
        child.stdin.close()
    assert during - before > 40_000_000


@pytest.mark.skipif(not is_told(), reason="only Linux tells")
def test_processor_time_of_a_process_and_its_children() -> None:
    ours, everyones = tree_seconds(os.getpid()), machine_seconds()
    subprocess.run([sys.executable, "-c", "sum(range(20_000_000))"], check=True)
    assert 0.1 < tree_seconds(os.getpid()) - ours <= machine_seconds() - everyones + 0.1
