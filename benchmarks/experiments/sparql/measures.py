"""How is one update measured, and by what are the answers of systems compared?"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from benchmarks.experiments.sparql.triples import Edit
from benchmarks.experiments.sparql.workload import Task
from benchmarks.reporting.results import Record

FEW = 10_000  # rows up to which answers of different systems are compared by content; beyond it, by number
OFTEN = 3  # times that a quick query is asked again; the fastest counts
PATIENCE = 12.0  # seconds for one task: a slow system goes through fewer cycles of its updates


def within_patience(task: Task, least: int = 1) -> Iterator[tuple[int, Edit]]:
    """The updates, in whole cycles, with the number of the cycle; so many cycles whatever they take."""
    started = time.monotonic()
    for number, cycle in enumerate(task.cycles):
        if number >= least and time.monotonic() - started > PATIENCE:
            return
        for edit in cycle:  # without gc.collect(): it walks over all objects, and leaves the update a cold cache
            yield number, edit


def quickest(action: Callable[[], Any]) -> tuple[Any, float]:
    """What an action gives, and the least it took."""
    best = float("inf")
    for _ in range(OFTEN):
        started = time.perf_counter()
        found = action()
        best = min(best, time.perf_counter() - started)
        if best > 0.1:
            break
    return found, best


def digest(count: int, rows: Iterable[tuple[str | None, ...]]) -> Record:
    """By which the answers of systems are compared: their number, and their content where they are few."""
    if count > FEW:
        return {"answers": count, "digest": None}
    listed = sorted(repr(row) for row in rows)
    return {"answers": count, "digest": hashlib.sha256("\n".join(listed).encode()).hexdigest()[:16]}
