"""How is a workload given to every system, and are their answers the same?

Each system runs in a process of its own, which takes a small version through first, so that kernels and libraries are
loaded before anything is measured. Ours runs to its end; the others until their share of the time or the memory is used
up, and what they had not done by then is left out, with the reason.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from benchmarks.experiments.sparql.systems.counting import run_counting
from benchmarks.experiments.sparql.systems.everlog import run_everlog
from benchmarks.experiments.sparql.systems.oxigraph import run_oxigraph
from benchmarks.experiments.sparql.workload import Workload
from benchmarks.measuring.apart import Allowance, SharedTime, run_apart
from benchmarks.reporting.results import Record
from everlog.errors import EngineError

Maker = Callable[..., Workload]
SYSTEMS: dict[str, Callable[[Workload], Iterator[Record]]] = {
    "everlog": run_everlog,
    "counting": run_counting,
    "oxigraph": run_oxigraph,
}
OURS = "everlog"
PEERS = tuple(system for system in SYSTEMS if system != OURS)
MOST_MEMORY = 12 << 30  # bytes, for a peer


def run_workload(maker: Maker, arguments: Record, small: Record, time_left: SharedTime) -> Record:
    """What each system took, by task and kind of update; and why a peer was stopped, if one was."""
    whole, *ours = run_apart(run_here, maker, arguments, small, OURS)[0]
    found: dict[str, list[Record]] = {OURS: ours}
    data, stopped = {OURS: whole["data"]}, {}
    for system in PEERS:
        allowance = Allowance(time_left.share(), MOST_MEMORY)
        (first, *found[system]), reason = _peer(
            run_apart(run_here, maker, arguments, small, system, allowance=allowance)
        )
        data[system] = first["data"]
        if reason:
            stopped[system] = reason
    tasks = []
    for number, own in enumerate(ours):
        runs = {system: run[number] for system, run in found.items() if number < len(run)}
        compare(own["task"], runs)
        tasks.append({"task": own["task"], "systems": {system: _summary(run) for system, run in runs.items()}})
    line = {"workload": whole["workload"], "triples": whole["triples"], **arguments}
    return line | {"data": data, "tasks": tasks, "stopped": stopped}


def _peer(run: tuple[list[Record], str]) -> tuple[list[Record], str]:
    """A run that has at least said what its data takes, though that is nothing known."""
    pieces, reason = run
    return pieces or [{"data": None}], reason


def run_here(maker: Maker, arguments: Record, small: Record, system: str) -> Iterator[Record]:
    """What a system yields for a workload, with the workload's name and size in the first piece."""
    for _ in SYSTEMS[system](maker(**small)):
        pass
    workload = maker(**arguments)
    pieces = SYSTEMS[system](workload)
    yield {"workload": workload.name, "triples": workload.size, **next(pieces)}
    yield from pieces


def compare(task: str, runs: Record) -> None:
    """After the same updates all have the same answers."""
    right = {place: _answer(line) for place, line in enumerate(runs[OURS]["lines"])}
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
        **{k: run[k] for k in ("memory", "kept", "called", "made") if k in run},
    }
    for edit in dict.fromkeys(line["edit"] for line in counted):
        own = [line for line in counted if line["edit"] == edit]
        figures: Record = {"updates": len(own), "answers": own[0]["answers"], "again": _median(own, "again")}
        figures |= {name: _median(own, name) for name in ("seconds", "alone") if name in own[0]}
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
