"""Does the wind-farm pipeline find the odd sensors, and no others?"""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path

import pytest
from examples.wind_farm import pipeline
from examples.wind_farm.farms import NEIGHBOURS, READINGS, Farms, make_farms
from examples.wind_farm.pipeline import FOLDER, results_of, run
from examples.wind_farm.plot import plot_farms
from examples.wind_farm.report import read_odd, read_temperatures, show, show_happened
from examples.wind_farm.stream import BROKEN_BY, tell
from pyspark.sql import SparkSession
from rich.console import Console

import everlog
from everlog.pipeline.job import PipelineReport
from everlog.pipeline.settings import read_settings

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

DEFINED = ("oddSensor", "hasAirTemperatureMesurement")


def tiny(seed: int = 7) -> Farms:
    return make_farms(farms=3, sizes=(4, 5), hours=6, odd=2, close=1, seed=seed)


def copied(scratch: Path) -> Path:
    """A copy of the example, which leaves its results in the scratch folder too."""
    copy = scratch / "examples" / "wind_farm"
    copy.mkdir(parents=True)
    for name in ("pipeline.toml", "pipeline.dl"):
        shutil.copy(FOLDER / name, copy)
    return copy


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(tmp_path_factory.mktemp("wind"))


@pytest.fixture(scope="module")
def report(folder: Path, spark: SparkSession) -> PipelineReport:
    return run(tiny(), folder, spark, lambda line: None)


def rows(path: Path) -> set[tuple[str, ...]]:
    with open(path, encoding="utf-8", newline="") as lines:
        _, *found = csv.reader(lines)
        return set(map(tuple, found))


def in_process(folder: Path) -> dict[str, set[tuple[str, ...]]]:
    kb = everlog.open()
    kb.load(results_of(folder) / NEIGHBOURS, relation="hasNeighbour", types=["string", "string"])
    kb.load(results_of(folder) / READINGS, relation="reading", types=["string", "integer", "decimal"])
    kb.add_rules((folder / "pipeline.dl").read_text(encoding="utf-8"))
    return {name: {tuple(map(str, fact)) for fact in kb.facts(name)} for name in DEFINED}


def test_the_odd_sensors_are_those_made_odd(folder: Path, report: PipelineReport) -> None:
    made = tiny()
    found = read_odd(results_of(folder) / "odd_sensors.csv")
    assert (report.version, report.committed) == (1, True)
    assert {name for name, *_ in found} == made.odd.keys() and len(found) == 2
    for name, reads, median, off in found:
        assert reads - median == pytest.approx(made.odd[name], abs=1)
        assert off == pytest.approx(abs(reads - median))


def test_the_columnar_engine_finds_the_same(folder: Path, report: PipelineReport) -> None:
    expected = in_process(folder)
    assert rows(results_of(folder) / "odd_sensors.csv") == expected["oddSensor"]
    assert rows(results_of(folder) / "temperatures.csv") == expected["hasAirTemperatureMesurement"]


def test_updates_arrive_and_the_odd_sensors_follow(folder: Path, report: PipelineReport, spark: SparkSession) -> None:
    farms, settings = tiny(), read_settings(folder / "pipeline.toml")
    broken, gone, again, repaired = tell(settings, spark, farms, results_of(folder) / "stream")
    ((name, off),) = broken.came.items()
    assert name not in farms.odd and not broken.went and abs(off - BROKEN_BY) < 3
    assert set(gone.went) == {name, *farms.odd} == set(again.came) and not gone.came and not again.went
    assert set(repaired.went) == {name} and not repaired.came
    with everlog.open(results_of(folder) / "tables") as kb:
        assert kb.version == report.version + 4
        assert {str(fact[0]) for fact in kb.facts("oddSensor")} == set(farms.odd)
        assert kb.verify()
    output = Console(file=io.StringIO(), width=200)
    for happened in (broken, gone, again, repaired):
        show_happened(output, happened)
    said = output.file.getvalue()  # type: ignore[attr-defined]
    assert f"odd sensors: one more, {name}" in said and f"odd sensors: {len(farms.odd) + 1} fewer" in said


def test_people_can_read_it(folder: Path, report: PipelineReport, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = read_odd(results_of(folder) / "odd_sensors.csv")
    console = Console(width=120)
    with console.capture() as captured:
        show(console, report, found)
    text = captured.get()
    assert all(name.partition("-")[2] in text for name, *_ in found) and "maintain" in text
    plot_farms(
        read_temperatures(results_of(folder) / "temperatures.csv"), {name for name, *_ in found}, tmp_path / "a.png"
    )
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.nightly
def test_again_there_is_nothing_new(folder: Path, report: PipelineReport, spark: SparkSession) -> None:
    again = run(tiny(), folder, spark, lambda line: None)
    assert again.version >= report.version and not again.committed


def test_other_readings_start_with_empty_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = copied(tmp_path)
    monkeypatch.setattr(pipeline, "run_pipeline", lambda *given: (results_of(copy) / "tables").mkdir(exist_ok=True))
    lines: list[str] = []
    run(tiny(), copy, None, lines.append)
    run(tiny(), copy, None, lines.append)
    assert not lines
    (results_of(copy) / "tables" / "old").touch()
    run(tiny(seed=8), copy, None, lines.append)
    assert "empty tables" in lines[0] and not (results_of(copy) / "tables" / "old").exists()


def test_the_rules_are_those_of_the_paper() -> None:
    paper = (FOLDER / "rules.dl").read_text(encoding="utf-8").partition("r1:")[2]
    assert (FOLDER / "pipeline.dl").read_text(encoding="utf-8").partition("r1:")[2] == paper
