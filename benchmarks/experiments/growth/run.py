"""Does an update cost the same when there is more data, and after many updates?

*More data*: an update of ten facts goes out and comes back while data that has nothing to do with it grows ten and a
hundred times. *Many updates*: a window of edges moves on by one with each of 100,000 updates, so that all sizes stay as
they are; what the last thousand take, in time and memory, is compared with what the first thousand did.
"""

from __future__ import annotations

import gc
import itertools
import os
import statistics
import time
from pathlib import Path

from benchmarks.experiments.growth.data import Growing, farms, trees, window, window_updates
from benchmarks.measuring.process_tree import is_told, tree_memory
from benchmarks.reporting.results import Record, Says, new_results, write_results

FACTORS = (1, 10, 100)
PAIRS = 100  # times out and back in
STRETCH = 1_000  # updates whose median is one point
UPDATES = 100_000


def bench_growth(folder: Path, says: Says, *, quick: bool, strategy: str = "choose") -> Record:
    """Measure both and write the results; returns what growth.json then holds."""
    from benchmarks.experiments.growth.report import draw, page

    factors, pairs, updates = ((1, 5), 10, 5 * STRETCH) if quick else (FACTORS, PAIRS, UPDATES)
    results = new_results(quick=quick, strategy=strategy, pairs=pairs)
    # First, while the process holds nothing else: memory that large data gives back does not all return to the system.
    results["many updates"] = _many_updates(updates, strategy, says)
    results["more data"] = lines = []
    for growing in (trees(), farms()):
        for factor in factors:
            lines.append(_more_data(growing, factor, pairs, strategy))
            says(f"{growing.name}, {factor} times: {lines[-1]['seconds'] * 1e3:.3f} ms an update")
    write_results(folder, "growth", results, page, draw)
    return results


def _more_data(growing: Growing, factor: int, pairs: int, strategy: str) -> Record:
    kb = growing.knowledge(growing.parts * factor).open(strategy)
    seconds = []
    for _ in range(pairs + 2):
        for gone, come in ((growing.rows, {}), ({}, growing.rows)):
            started = time.perf_counter()
            kb.update(delete=gone, insert=come)
            seconds.append(time.perf_counter() - started)
    measured = seconds[4:]  # the first two times out and in, plans are made and kernels loaded
    return {
        "name": growing.name,
        "factor": factor,
        "facts": sum(relation.facts for relation in kb.relations()),
        "seconds": statistics.median(measured),
        "delete": statistics.median(measured[::2]),
        "insert": statistics.median(measured[1::2]),
        "slowest": max(measured),
    }


def _many_updates(updates: int, strategy: str, says: Says) -> list[Record]:
    """A point for each thousand updates."""
    kb = window().open(strategy)
    source = window_updates()
    points: list[Record] = []
    for done in range(STRETCH, updates + 1, STRETCH):
        seconds = []
        for gone, come in itertools.islice(source, STRETCH):
            started = time.perf_counter()
            kb.update(delete={"edge": gone}, insert={"edge": come})
            seconds.append(time.perf_counter() - started)
        gc.collect()
        memory = tree_memory(os.getpid()) if is_told() else None
        points.append({"updates": done, "seconds": statistics.median(seconds), "memory": memory})
        if done in (STRETCH, updates) or done % (10 * STRETCH) == 0:
            says(f"after {done:,} updates: {points[-1]['seconds'] * 1e3:.3f} ms an update")
    return points
