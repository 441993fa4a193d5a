"""How does a person read what the pipeline found?"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path

from examples.wind_farm.farms import farm_of
from examples.wind_farm.stream import Happened
from rich.console import Console
from rich.table import Table

from everlog.pipeline.job import PipelineReport


def read_odd(path: Path) -> list[tuple[str, float, float, float]]:
    """Turbine, its temperature, the median nearby, and what it is off by: a row per odd sensor, the worst first."""
    with open(path, encoding="utf-8", newline="") as lines:
        _, *found = csv.reader(lines)  # the first line holds the names
    rows = [(name, float(reads), float(median), float(off)) for name, reads, median, off in found]
    return sorted(rows, key=lambda row: (-row[3], row[0]))


def read_temperatures(path: Path) -> dict[str, float]:
    with open(path, encoding="utf-8", newline="") as lines:
        _, *found = csv.reader(lines)
    return {name: float(degrees) for name, degrees in found}


def show(console: Console, report: PipelineReport, odd: list[tuple[str, float, float, float]]) -> None:
    """Print what the run did and found."""
    stages = _table("Stages", "stage", "rows", "seconds")
    for stage in report.stages:
        stages.add_row(stage.name, f"{stage.rows:,}", f"{stage.seconds:.2f}")
    relations = _table("Relations", "relation", "facts", "gained", "lost")
    for each in report.relations:
        relations.add_row(each.name, f"{each.facts:,}", f"{each.gained:,}", f"{each.lost:,}")
    sensors = _table("Odd sensors", "farm", "turbine", "reads", "median nearby", "off by")
    for name, reads, median, _ in odd:
        number = name.partition("-")[2]
        sensors.add_row(farm_of(name), number, f"{reads:.1f} °C", f"{median:.2f} °C", f"{reads - median:+.2f} °C")
    for table in (stages, relations, sensors):
        console.print(table)


def show_happened(console: Console, happened: Happened) -> None:
    """Print an update of the stream and the odd sensors that came and went with it."""
    report = happened.report
    moved = [*_named(happened.came, "one more", "more"), *_named(happened.went, "one fewer", "fewer")]
    facts = f"+{report.gained:,} -{report.lost:,} facts in {report.seconds * 1000:,.0f} ms"
    console.print(f"version {report.version:>3}  {happened.what}", markup=False, soft_wrap=True)
    console.print(f"{'':13}{facts}; odd sensors: {'; '.join(moved) or 'the same'}", markup=False, soft_wrap=True)


def _named(sensors: Mapping[str, Decimal], one: str, several: str) -> Iterator[str]:
    if len(sensors) == 1:
        ((name, off),) = sensors.items()
        yield f"{one}, {name} ({off:+.2f} °C)"
    elif sensors:
        yield f"{len(sensors)} {several}"


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for number, name in enumerate(columns):
        text = number == 0 or name == "turbine"
        table.add_column(name, justify="left" if text else "right", no_wrap=True)
    return table
