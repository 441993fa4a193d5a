"""What did each batch of a stream do, and where does that stay?

Beside the tables, in a file for each stream with a line of JSON for each batch, which `spark.read.json` reads as a
table. It is for people and monitors; nothing goes on from it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from everlog.errors import OutputError

BATCHES = "_batches"


@dataclass(frozen=True)
class BatchReport:
    """What a micro-batch did."""

    batch: int
    version: int
    updates: int  # applied
    set_aside: int
    gained: int
    lost: int
    strategies: tuple[str, ...]
    seconds: float
    way: str = ""  # by which the tables are kept true, and why

    def __str__(self) -> str:
        aside = f", {self.set_aside} set aside" if self.set_aside else ""
        return (
            f"batch {self.batch:,}: {self.updates:,} updates{aside}, +{self.gained:,} -{self.lost:,} facts, "
            f"version {self.version:,}, {self.seconds:.3f} s"
        )

    def as_data(self) -> dict[str, Any]:
        return asdict(self)


class BatchLog:
    """The reports of a stream's batches, in a file that grows by a line each."""

    def __init__(self, tables: Path, stream: str, name: str) -> None:
        self._stream, self._path = stream, tables / BATCHES / f"{name}.jsonl"

    def add(self, report: BatchReport) -> None:
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "stream": self._stream,
            **report.as_data(),
        }
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(line, ensure_ascii=False) + "\n")
        except OSError as error:
            raise OutputError(f"{self._path}: cannot be written ({error.strerror})", hint="make room there") from error
