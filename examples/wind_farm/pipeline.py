"""Which temperature sensors of fifty wind farms are odd, and by how much?

Makes two days of readings (farms.py), brings them through the Spark pipeline of pipeline.toml, and shows what it found:
tables on the terminal, a CSV file and a plot in out/wind_farm. Run again, it finds nothing new and says so. Then
readings and rules change while the pipeline streams (stream.py), and the odd sensors follow.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent.parent))  # so that it runs from any folder

from examples.wind_farm.farms import Farms, csv_files, make_farms  # noqa: E402
from examples.wind_farm.plot import plot_farms  # noqa: E402
from examples.wind_farm.report import read_odd, read_temperatures, show, show_happened  # noqa: E402
from examples.wind_farm.stream import tell  # noqa: E402

from everlog.engines.spark.session import session_for_a_while  # noqa: E402
from everlog.errors import EverlogError, ProgramError  # noqa: E402
from everlog.pipeline.job import PipelineReport, run_pipeline  # noqa: E402
from everlog.pipeline.settings import Settings, read_settings  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def results_of(folder: Path) -> Path:
    """Where the pipeline.toml in a folder puts everything."""
    return folder.parent.parent / "out" / "wind_farm"


def prepare(farms: Farms, folder: Path = FOLDER, says: Callable[[str], None] = print) -> Settings:
    """Write the readings, and read what is to be done with them."""
    results = results_of(folder)
    results.mkdir(parents=True, exist_ok=True)
    texts = csv_files(farms)
    there = {path.name: path.read_text(encoding="utf-8") for path in map(results.joinpath, texts) if path.is_file()}
    if there != texts:
        if (results / "tables").exists():  # first: killed after this, the next run comes here again
            says("other readings than last time: starting with empty tables")
            shutil.rmtree(results / "tables")
            shutil.rmtree(results / "stream", ignore_errors=True)  # of those tables
        for name, text in texts.items():
            (results / name).write_text(text, encoding="utf-8")
    return read_settings(folder / "pipeline.toml")


def run(
    farms: Farms, folder: Path = FOLDER, spark: SparkSession | None = None, says: Callable[[str], None] = print
) -> PipelineReport:
    """Write the readings and run the pipeline over them."""
    return run_pipeline(prepare(farms, folder, says), spark, says)


def main() -> None:
    console = Console(highlight=False)
    started = time.perf_counter()

    def says(line: str) -> None:
        console.print(f"{time.perf_counter() - started:7.1f} s  {line}", markup=False, soft_wrap=True)

    farms = make_farms()
    says(f"{len(farms.readings):,} readings of {farms.turbines} turbines; starting Spark")
    settings = prepare(farms, says=says)
    with session_for_a_while(settings.spark, settings.master) as spark:
        report = run_pipeline(settings, spark, says)
        _show_run(console, report)
        console.print("\nNow updates arrive as files, and Structured Streaming applies them:", style="bold")
        for happened in tell(settings, spark, farms, results_of(FOLDER) / "stream"):
            show_happened(console, happened)


def _show_run(console: Console, report: PipelineReport) -> None:
    results = results_of(FOLDER)
    odd = read_odd(results / "odd_sensors.csv")
    plot = results / "odd_sensors.png"
    plot_farms(read_temperatures(results / "temperatures.csv"), {name for name, *_ in odd}, plot)

    console.print()
    show(console, report, odd)
    if report.committed:
        console.print(f"This is version {report.version} of the tables. Written:")
    else:
        console.print(f"The readings are those of version {report.version}: no new version. Written again:")
    for what, path in (
        ("odd sensors", results / "odd_sensors.csv"),
        ("temperatures", results / "temperatures.csv"),
        ("plot", plot),
        ("tables", results / "tables"),
    ):
        console.print(f"  {what:<14}{os.path.relpath(path)}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    try:
        main()
    except ProgramError as error:
        sys.exit(str(error))  # its diagnostics say "error" themselves
    except EverlogError as error:
        sys.exit(f"error[{error.code}]: {error}")
    except OSError as error:
        sys.exit(f"error: {error}")  # it names the file; most likely out/ cannot be written
