"""What does one run of one system on one workload cost? Runs in a process of its own and prints one JSON object.

`python -m benchmarks.measure WORKLOAD SYSTEM [SCALE]`; `run.py` calls it, so that peak memory is that system's alone.
Times are seconds of wall clock: `start_up` (import, warm-up), `load`, `reason`. Memory is in bytes: `before` is
what the process held before loading, `peak` the most it held from then on, `grown` what it holds in the end beyond
`before`.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import resource
import sys
import time
from pathlib import Path

import pyarrow as pa

from benchmarks.datasets.shared_data import DataMissing
from benchmarks.systems import Unsupported, start
from benchmarks.workload import Workload
from benchmarks.workloads import BY_NAME

STATUS = Path("/proc/self/status")


def memory(field: str) -> int:
    """VmRSS (held now) or VmHWM (the most so far). getrusage would count what the parent held when it forked."""
    if not STATUS.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def forget_peak() -> None:
    """Starts the peak afresh, so that making the data does not count (Linux; elsewhere it does)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def tidy() -> None:
    """Gives back what is free, so that the memory held is memory in use."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)


def measure(workload: Workload, system_name: str, scale: float) -> dict[str, object]:
    tables = workload.data(scale)
    given = {name: len(table) for name, table in tables.items()}
    clock = time.perf_counter
    begin = clock()
    system = start(system_name)
    start_up = clock() - begin
    system.prepare(workload, tables)
    del tables
    tidy()
    forget_peak()
    before = memory("VmRSS")
    begin = clock()
    system.load()
    loaded = clock()
    system.reason()
    done = clock()
    peak = memory("VmHWM")
    tidy()
    grown = memory("VmRSS") - before
    counts = system.count(workload.counts)
    facts = sum(counts.values()) + sum(count for name, count in given.items() if name not in counts)
    return {
        "start_up": start_up, "load": loaded - begin, "reason": done - loaded,
        "before": before, "peak": peak, "grown": grown, "facts": facts, "bytes_per_fact": grown / max(facts, 1),
        "counts": counts, "given": given, "version": system.version, **system.report(),
    }  # fmt: skip


def main(arguments: list[str]) -> None:
    name, system, *rest = arguments
    try:
        result = measure(BY_NAME[name], system, float(rest[0]) if rest else 1.0)
    except (Unsupported, DataMissing) as reason:
        result = {"skipped": str(reason)}
    print(json.dumps(result, default=str))


if __name__ == "__main__":
    main(sys.argv[1:])
