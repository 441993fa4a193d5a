"""What does a stream of updates cost, with marking and without? The marking paper's Tables 1 to 3, and more streams.

Rules run as they are written (no rewrites), so that counts compare with the paper's. As there, the first update is
complete before the second one is looked at; from then on the next update is always there to be looked at. Time is the
CPU's, for the whole stream, reading the file apart; the best of some runs. After every update the sizes of the explicit
and derived relations are compared with those that others have counted, where there are any.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.experiments.streams.data import Stream, paper_streams, shipped_streams, tracks
from benchmarks.measuring.counters import counted
from benchmarks.reporting.results import Record, Says, new_results, write_results
from everlog.errors import EngineError
from everlog.store.changes import Change
from everlog.store.opening import open as open_kb
from everlog.store.store import KnowledgeBase

# What is run: a strategy, and whether the next update is looked at. The first two are the paper's old and new.
WAYS: dict[str, tuple[str, bool | str]] = {
    "old": ("bf", False),
    "new": ("bf", True),
    "printed": ("bf", "printed"),
    "dred old": ("dred", False),
    "dred new": ("dred", True),
    "choose": ("choose", False),
}


def bench_streams(folder: Path, says: Says, *, quick: bool) -> Record:
    """Run every stream in every way and write the results; returns what streams.json then holds."""
    from benchmarks.experiments.streams.report import draw, page

    if quick:
        chosen, repeats = [*paper_streams(sizes=(10, 40), seeds=(1,)), *itertools.islice(tracks(), 2, 3)], 1
    else:
        chosen, repeats = [*paper_streams(), *tracks(), *shipped_streams()], 3
    results = new_results(quick=quick, repeats=repeats)
    run_stream(chosen[0], "old")  # kernels are loaded before anything is measured
    results["lines"] = lines = []
    for (family, size), group in itertools.groupby(chosen, lambda stream: (stream.family, stream.size)):
        lines.append(_line(family, size, list(group), repeats))
        says(_told(lines[-1]))
    write_results(folder, "streams", results, page, draw)
    return results


def _line(family: str, size: int | str, streams: Sequence[Stream], repeats: int) -> Record:
    """The mean over streams that differ by seed, as in the paper; of each, the fastest of some runs."""
    runs: dict[str, list[list[Record]]] = {way: [] for way in WAYS}
    for stream in streams:
        for way in WAYS:
            runs[way].append([])
        for _, way in itertools.product(range(repeats), WAYS):  # in turn: a busy minute does not fall on one way alone
            runs[way][-1].append(run_stream(stream, way))
    best = {way: [min(each, key=lambda run: run["cpu"]) for each in found] for way, found in runs.items()}
    return {
        "family": family,
        "size": size,
        "streams": len(streams),
        "updates": best["old"][0]["updates"],
        "checked": all(stream.expected_sizes() is not None for stream in streams),
        "ways": {way: _mean(found) for way, found in best.items()},
    }


def _mean(runs: Sequence[Record]) -> Record:
    counters = {name: statistics.fmean(run["counters"][name] for run in runs) for name in runs[0]["counters"]}
    times = ("cpu", "median", "slowest")
    return {name: statistics.fmean(run[name] for run in runs) for name in times} | {"counters": counters}


def run_stream(stream: Stream, way: str) -> Record:
    """Run a whole stream once, and check the sizes after each update."""
    strategy, marking = WAYS[way]
    kb = open_kb(strategy=strategy, rewrites=False)
    kb.add_rules(stream.rules)
    updates = list(stream.updates())
    expected = iter(stream.expected_sizes() or ())
    clock, cpu = time.perf_counter, time.process_time
    changes: list[Change] = []
    seconds, cpu_seconds = [], 0.0
    source = kb.stream(updates, marking=marking)  # a list: the next update is always there to be looked at
    for number in range(1, len(updates) + 1):
        started, cpu_started = clock(), cpu()
        changes.append(next(source))
        cpu_seconds += cpu() - cpu_started
        seconds.append(clock() - started)
        _check(kb, stream, number, expected)
    return {
        "updates": len(changes),
        "cpu": cpu_seconds,
        "median": statistics.median(seconds),
        "slowest": max(seconds),
        "counters": counted(changes),
    }


def _check(kb: KnowledgeBase, stream: Stream, number: int, expected: Iterable[tuple[int, int]]) -> None:
    for wanted in itertools.islice(expected, 1):
        relations = kb.relations()
        explicit = sum(relation.facts for relation in relations if relation.name == stream.explicit)
        found = explicit, sum(relation.facts for relation in relations) - explicit
        if found != wanted:
            raise EngineError(f"{stream.path.name}: {found} facts after update {number}, where {wanted} are right")


def _told(line: Record) -> str:
    old, new = (line["ways"][way]["cpu"] for way in ("old", "new"))
    return f"{line['family']} {line['size']}: {old:.3f} s of CPU without marking, {new:.3f} s with it"
