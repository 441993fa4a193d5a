"""What happens to the odd sensors when readings and rules change while the pipeline runs?

A story of four update files that land in a folder one after the other, each when the one before has been applied: a
sensor breaks, rules 3 to 6 go and come again (ZodiacEdge's story), the sensor is repaired. In the end everything is as
it was, so that `make run` can be repeated.
"""

from __future__ import annotations

import dataclasses
import json
import queue
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from examples.wind_farm.farms import Farms

from everlog.pipeline.settings import Settings
from everlog.pipeline.settings_parts import StreamSettings
from everlog.pipeline.stream import BatchReport, start_stream
from everlog.rules.parser import parse_program
from everlog.rules.printer import print_rule
from everlog.store.table_folders import decoded_changes, table_of
from everlog.tables.table_store import TableStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BROKEN_BY = 9  # degrees that a broken sensor reads too much
PATIENCE = 120  # seconds, for a batch on a busy machine
RULES = ("r3", "r4", "r5", "r6")


class Happened(NamedTuple):
    """An update, and what it did to the odd sensors: their names with what each is off by."""

    what: str
    report: BatchReport
    came: dict[str, Decimal]
    went: dict[str, Decimal]


def story(farms: Farms, program: str) -> list[tuple[str, dict[str, Any]]]:
    """What happens, and the update that says so."""
    name = _healthy(farms)
    readings = [(hour, degrees) for turbine, hour, degrees in farms.readings if turbine == name]
    right = [_reading(name, hour, degrees) for hour, degrees in readings]
    wrong = [_reading(name, hour, degrees + BROKEN_BY) for hour, degrees in readings]
    texts = [print_rule(rule) for rule in parse_program(program).rules if rule.name in RULES]
    return [
        (f"{name} breaks: it reads {BROKEN_BY} degrees too much", {"delete": right, "insert": wrong}),
        ("rules 3 to 6 go", {"remove_rules": list(RULES)}),
        ("rules 3 to 6 come again", {"add_rules": "\n".join(texts)}),
        (f"{name} is repaired", {"delete": wrong, "insert": right}),
    ]


def _reading(name: str, hour: int, degrees: float) -> list[Any]:
    return ["reading", name, hour, {"@value": f"{degrees:.1f}", "@type": "xsd:decimal"}]


def _healthy(farms: Farms) -> str:
    """A turbine whose sensor agrees with its neighbours: in the farm in the middle of those without an odd sensor."""
    odd = {name.partition("-")[0] for name in farms.odd}
    names = sorted({name for name, _, _ in farms.readings if name.partition("-")[0] not in odd})
    return names[len(names) // 2]


def tell(settings: Settings, spark: SparkSession, farms: Farms, folder: Path) -> Iterator[Happened]:
    """Let the story happen, and say after each update what became of it."""
    folder.mkdir(parents=True, exist_ok=True)
    streaming = StreamSettings(str(folder / "updates"), str(folder / "checkpoint"), on_error="stop", trigger=0.1)
    settings = dataclasses.replace(settings, stream=streaming)
    tables = TableStore(settings.tables)
    reports: queue.Queue[BatchReport] = queue.Queue()
    query, updates = start_stream(settings, spark, says=reports.put)
    try:
        for what, update in story(farms, settings.program_path.read_text(encoding="utf-8")):
            before = tables.commit().version
            _land(folder, f"after-{before}.jsonl", json.dumps(update))
            report = reports.get(timeout=PATIENCE)
            yield Happened(what, report, *_moved(tables, before))
    finally:
        query.stop()
        updates.close()


def _land(folder: Path, name: str, text: str) -> None:
    """A file has its name only when it is whole."""
    written = folder / name
    written.write_text(text + "\n", encoding="utf-8")
    written.rename(folder / "updates" / name)


def _moved(tables: TableStore, since: int) -> tuple[dict[str, Decimal], dict[str, Decimal]]:
    """The sensors that became odd and those that no longer are, from the table's changes."""
    moved: dict[str, int] = {}
    off: dict[str, Decimal] = {}
    for _, weight, (name, reads, median, _) in decoded_changes(tables, table_of("oddSensor"), since):
        moved[str(name)] = moved.get(str(name), 0) + weight
        off[str(name)] = Decimal(str(reads)) - Decimal(str(median))
    came = {name: off[name] for name, weight in moved.items() if weight > 0}
    went = {name: off[name] for name, weight in moved.items() if weight < 0}
    return came, went
