"""How does Everlog keep a view through a workload, and where does the time of an update go?

After every update the view is compared with a fresh query. The same updates without a view say what the triples alone
cost; the rest of an update is in its report, component by component (view_operators.py names them).
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.experiments.sparql.measures import digest, quickest, within_patience
from benchmarks.experiments.sparql.systems.view_operators import operators
from benchmarks.experiments.sparql.triples import Edit, plain, terms
from benchmarks.experiments.sparql.workload import Task, Workload
from benchmarks.measuring.memory import held
from benchmarks.reporting.results import Record
from everlog.errors import EngineError
from everlog.facts.terms import key_of
from everlog.store.changes import Change
from everlog.store.opening import open as open_kb
from everlog.store.store import KnowledgeBase

VIEW = "view"
LEAST = 4  # cycles, the first of which does not count
_WITHOUT = 3  # times that the updates are made without a view
_LONG = 0.1  # seconds
_AT_ONCE = 1 << 15  # rows, so few that they stay in the cache


def run_everlog(workload: Workload) -> Iterator[Record]:
    """The memory of the data, then for each task the view kept and the query asked afresh after each update."""
    before = held()
    kb = open_kb()
    kb.update(insert=workload.data)
    yield {"data": held() - before}
    for task in workload.tasks:
        yield _task(kb, task)


def _task(kb: KnowledgeBase, task: Task) -> Record:
    alone = _without_view(kb, task)
    called, made, gained = operators(task.text, VIEW), {}, Counter[str]()

    def note(_done: int, _of: int, report: Any) -> None:
        made[report.name] = report.seconds
        gained.update(report.gained)

    before = held()
    kb.on_progress = note
    view = kb.view(VIEW, task.text)
    kb.on_progress = None
    memory = held() - before
    kept = {name: gained[name] for name in called}  # its relations were empty before
    lines: list[Record] = []
    for cycle, edit in within_patience(task, LEAST):
        change, seconds = _applied(kb, edit)
        if not lines:
            memory = max(memory, held() - before)  # with what the first update adds to it, and no query yet
        fresh, again = quickest(lambda: kb.query(task.text))
        if _fingerprint(view.rows()) != _fingerprint(fresh):
            raise EngineError(f"{task.name}: after {edit.name} the view is not what a fresh query gives")
        compared = fresh if task.comparable == task.text else kb.query(task.comparable)
        taken = {report.name: report.seconds for report in change.report.phases}
        line = {"cycle": cycle, "edit": edit.name, "seconds": seconds, "again": again}
        line |= {"edits": len(edit.delete) + len(edit.insert), "alone": alone[edit.name]}
        line |= {"operators": {name: taken.get(name, 0.0) for name in called}}
        lines.append(line | digest(len(compared), _texts(compared)))
    view.drop()
    return {"task": task.name, "lines": lines, "memory": memory, "kept": kept, "called": called, "made": made}


def _texts(solutions: Any) -> Iterator[tuple[str | None, ...]]:
    """The rows as other systems write them; decoded when somebody asks for one."""
    for row in solutions:
        yield tuple(None if term is None else plain(key_of(term)) for term in row)


def _applied(kb: KnowledgeBase, edit: Edit) -> tuple[Change, float]:
    delete, insert = {"triple": terms(edit.delete)}, {"triple": terms(edit.insert)}
    started = time.perf_counter()
    change = kb.update(delete=delete, insert=insert)
    return change, time.perf_counter() - started


def _without_view(kb: KnowledgeBase, task: Task) -> dict[str, float]:
    """The seconds of each update where nothing is kept but the triples, which in the end are what they were.

    As with a view the query is asked in between, unless that takes long: caches are as warm as they are there.
    """
    cycle, slow = task.cycles[0], quickest(lambda: kb.query(task.text))[1] > _LONG
    taken: dict[str, list[float]] = {edit.name: [] for edit in cycle}
    for _ in range(_WITHOUT):
        for edit in cycle:
            if not slow:
                kb.query(task.text)
            taken[edit.name].append(_applied(kb, edit)[1])
        for edit in reversed(cycle):
            _applied(kb, Edit(edit.name, edit.insert, edit.delete))
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def _fingerprint(solutions: Any) -> tuple[int, ...]:
    """The same for the same bag of rows, and for others only by a chance of one in 2**128; cheaper than sorting."""
    sums = [0, 0]
    ids = solutions._columns  # nothing public gives them, and terms of sixty million rows are too many to decode
    for start in range(0, len(solutions), _AT_ONCE):
        columns = [column[start : start + _AT_ONCE].astype(np.uint64) for column in ids]
        for seed in (0, 1):
            sums[seed] += int(_mixed(columns, seed, min(_AT_ONCE, len(solutions) - start)).sum(dtype=np.uint64))
    return len(solutions), *(each % (1 << 64) for each in sums)  # whatever the order of the rows


def _mixed(columns: Sequence[npt.NDArray[np.uint64]], seed: int, rows: int) -> npt.NDArray[np.uint64]:
    """A number for each row that depends on all of its columns: shifts, and products with odd numbers."""
    mixed = np.full(rows, seed + 1, np.uint64)
    for column in columns:
        mixed ^= column
        for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
            mixed *= np.uint64(factor)
            mixed ^= mixed >> np.uint64(31)
    return mixed
