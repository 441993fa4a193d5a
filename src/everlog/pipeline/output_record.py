"""Which outputs are out of date?

Beside the tables is a record, `_outputs.json`: for each output the state of its relation that it was written from, how
it was written, and the size and time of what was written. An output is due if one of these is not as recorded any more:
the relation has changed, the settings have, or somebody touched the file. Of a change feed, which says itself how far
it goes, the record has the version up to which nothing more was to be told.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from everlog.addresses import one_spelling
from everlog.formats.compression import replacing
from everlog.pipeline.outputs import Output

RECORD = "_outputs.json"


def due_outputs(tables: Path, outputs: Sequence[Output], states: Mapping[str, str]) -> list[Output]:
    """The outputs to write.

    Args:
        states: for each relation a text that is another one whenever its facts are.
    """
    known = _read(tables)
    return [output for output in outputs if known.get(_place(output)) != _entry(output, states.get(output.key))]


def remember_outputs(tables: Path, outputs: Sequence[Output], states: Mapping[str, str]) -> None:
    """Record that outputs are written."""
    known = _read(tables)
    for output in outputs:
        known[_place(output)] = _entry(output, states.get(output.key))
    _write(tables, known)


def _write(tables: Path, known: Mapping[str, Any]) -> None:
    tables.mkdir(parents=True, exist_ok=True)
    with replacing(tables / RECORD) as stream:
        stream.write(json.dumps(known, indent=1, ensure_ascii=False, sort_keys=True).encode())


def seen_version(tables: Path, output: Output, told: int | None) -> int | None:
    """Up to which version a feed is complete that tells of versions up to another."""
    known = _read(tables).get(_place(output), {})
    return known["seen"] if told is not None and known.get("told") == told else told


def remember_seen(tables: Path, output: Output, told: int | None, seen: int) -> None:
    """Record that a feed, which tells of versions up to one, is complete up to another."""
    if told is not None:
        _write(tables, {**_read(tables), _place(output): {"told": told, "seen": seen}})


def _read(tables: Path) -> dict[str, Any]:
    try:
        found = json.loads((tables / RECORD).read_bytes())
    except (OSError, ValueError):
        return {}  # without a record everything is written again
    return found if isinstance(found, dict) else {}


def _place(output: Output) -> str:
    return str(one_spelling(output.path))


def _entry(output: Output, state: str | None) -> dict[str, Any]:
    how = [output.key, output.kind, output.one_file, output.header, list(output.columns or ())]
    return {"state": state, "how": how, "written": _signature(output)}


def _signature(output: Output) -> list[int] | None:
    """The size and time of a file, the time of a folder, or of a Delta table's log; None where there is nothing."""
    path = output.path / "_delta_log" if output.kind == "delta" else output.path
    try:
        found = os.stat(path)
    except OSError:
        return None
    return [found.st_mtime_ns, found.st_size if path.is_file() else 0]
