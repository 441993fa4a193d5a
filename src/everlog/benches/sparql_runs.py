"""How is a workload given to every system, and are their answers the same?

Each system runs in a process of its own, which takes a small version through first, so that kernels and libraries are
loaded before anything is measured.
"""

from __future__ import annotations

import multiprocessing
import statistics
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from everlog.benches.results import Record
from everlog.benches.sparql_systems import SYSTEMS
from everlog.benches.sparql_workload import Workload
from everlog.errors import EngineError

Maker = Callable[..., Workload]


def run_workload(maker: Maker, arguments: Record, small: Record, systems: Sequence[str] = tuple(SYSTEMS)) -> Record:
    """What each system took, by task and kind of update."""
    runs = {system: _apart(maker, arguments, small, system) for system in systems}
    first = runs["everlog"]
    tasks = []
    for number, own in enumerate(first["tasks"]):
        found = {system: run["tasks"][number] for system, run in runs.items()}
        compare(own["task"], found)
        tasks.append({"task": own["task"], "systems": {system: _summary(each) for system, each in found.items()}})
    data = {system: run["data"] for system, run in runs.items()}
    return {"workload": first["workload"], "triples": first["triples"], **arguments, "data": data, "tasks": tasks}


def _apart(maker: Maker, arguments: Record, small: Record, system: str) -> Record:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as apart:
        return apart.submit(run_here, maker, arguments, small, system).result()


def run_here(maker: Maker, arguments: Record, small: Record, system: str) -> Record:
    """The same in this process."""
    SYSTEMS[system](maker(**small))
    workload = maker(**arguments)
    return {"workload": workload.name, "triples": workload.size, **SYSTEMS[system](workload)}


def compare(task: str, runs: Record) -> None:
    """After the same updates all have the same answers."""
    right = {place: _answer(line) for place, line in enumerate(runs["everlog"]["lines"])}
    for system, run in runs.items():
        for place, line in enumerate(run["lines"]):
            if place in right and _answer(line) != right[place]:
                raise EngineError(f"{task}: after update {place}, {line['edit']}, {system} has other answers")


def _answer(line: Record) -> tuple[int, str | None]:
    return line["answers"], line["digest"]


def _summary(run: Record) -> Record:
    """The median for each kind of update; the first cycle of updates does not count unless it is the only one."""
    lines = run["lines"]
    counted = [line for line in lines if line["cycle"] > 0] or lines
    found: Record = {
        "edits": {},
        "first": lines[0].get("seconds"),
        **{k: run[k] for k in ("memory", "kept") if k in run},
    }
    for edit in dict.fromkeys(line["edit"] for line in counted):
        own = [line for line in counted if line["edit"] == edit]
        figures: Record = {"updates": len(own), "answers": own[0]["answers"], "again": _median(own, "again")}
        if "seconds" in own[0]:
            figures["seconds"] = _median(own, "seconds")
        if "edits" in own[0]:
            figures["triples"] = own[0]["edits"]
        if "operators" in own[0]:
            operators: Iterable[str] = own[0]["operators"]
            figures["operators"] = {name: _middle(line["operators"][name] for line in own) for name in operators}
        found["edits"][edit] = figures
    return found


def _median(lines: Sequence[Record], name: str) -> float:
    return _middle(line[name] for line in lines)


def _middle(values: Iterable[Any]) -> float:
    return float(statistics.median(list(values)))
