"""Which command makes the numbers? `python -m benchmarks.run [WORKLOAD…] [--systems …] [--repeat N] [--json FILE]`.

Each measurement is a process of its own (`measure.py`); systems take turns, so that a busy minute of the machine does
not fall on one of them alone. `--scale 10` measures the workloads that can grow at sizes 1 and 10 and prints what ten
times the data costs. The JSON file holds every single run, the machine and the versions; `table.py` and `compare.py`
read it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measuring.machine import machine
from benchmarks.systems import DEFAULT
from benchmarks.workload import ROOT, Workload
from benchmarks.workloads import ALL, BY_NAME

Record = dict[str, Any]


def one_run(workload: str, system: str, scale: float, timeout: float) -> Record:
    """One measurement in a fresh process; never raises for what happens inside."""
    command = [sys.executable, "-m", "benchmarks.measure", workload, system, str(scale)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return {"failed": f"not done after {timeout:g} s"}
    if done.returncode:
        last = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return {"failed": last[-1][:200]}
    record: Record = json.loads(done.stdout.strip().splitlines()[-1])
    return record


def summary(workload: Workload, system: str, scale: float, runs: list[Record]) -> Record:
    """Best and median of the runs, and whether the counts are what they must be."""
    record: Record = {"workload": workload.name, "system": system, "scale": scale}
    for word in ("skipped", "failed"):
        if any(word in run for run in runs):
            return record | {word: next(run[word] for run in runs if word in run)}
    reason = [run["reason"] for run in runs]
    facts = runs[0]["counts"]
    record |= {
        "best": min(reason), "median": statistics.median(reason),
        "load": min(run["load"] for run in runs), "start_up": min(run["start_up"] for run in runs),
        "peak": max(run["peak"] for run in runs),
        "memory": max(run["peak"] - run["before"] for run in runs),
        "bytes_per_fact": min(run["bytes_per_fact"] for run in runs),
        "counts": facts, "given": runs[0]["given"], "version": runs[0]["version"], "runs": runs,
    }  # fmt: skip
    if scale == 1:
        record["derivations"] = workload.derivations
        record["right"] = facts == dict(workload.counts)
    for extra in ("rule_applications", "rounds"):
        if extra in runs[0]:
            record[extra] = runs[0][extra]
    return record


def told(record: Record) -> str:
    """One line for the terminal."""
    name = f"{record['workload']:<16} x{record['scale']:<4g} {record['system']:<18}"
    if "best" not in record:
        return name + next(f"{word}: {record[word]}" for word in ("skipped", "failed") if word in record)
    wrong = "" if record.get("right", True) else f"  WRONG COUNTS {record['counts']}"
    facts = sum(record["counts"].values())
    return (f"{name}{record['best']:8.3f} s best {record['median']:8.3f} s median   load {record['load']:.3f} s"
            f"   memory {record['memory'] / 1e6:,.0f} MB   {facts:,} facts{wrong}")  # fmt: skip


def measure_all(workloads: list[Workload], systems: list[str], repeat: int, scales: list[float], timeout: float
                ) -> Iterator[Record]:  # fmt: skip
    for workload in workloads:
        for scale in scales if workload.scales else [1.0]:
            runs: dict[str, list[Record]] = {system: [] for system in systems}
            for _ in range(repeat):
                for system in systems:
                    if not any("reason" not in run for run in runs[system]):  # skipped and failed runs are not repeated
                        runs[system].append(one_run(workload.name, system, scale, timeout))
            for system in systems:
                yield summary(workload, system, scale, runs[system])


def write_json(path: Path, repeat: int, records: list[Record]) -> None:
    versions = {record["system"]: record["version"] for record in records if "version" in record}
    document = {"machine": machine(), "versions": versions, "repeat": repeat, "records": records}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def growth(records: list[Record]) -> list[str]:
    """What ten times the data costs, for every workload and system measured at two scales."""
    lines = []
    base = {(r["workload"], r["system"]): r for r in records if r["scale"] == 1 and "best" in r}
    for record in records:
        small = base.get((record["workload"], record["system"]))
        if record["scale"] != 1 and small and "best" in record:
            lines.append(f"{record['workload']:<16} {record['system']:<18} {record['scale']:g} times the data:"
                         f" {record['best'] / small['best']:.1f} times the time")  # fmt: skip
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of: {', '.join(BY_NAME)} (default: all)")
    parser.add_argument("--systems", nargs="+", default=list(DEFAULT), help=f"default: {' '.join(DEFAULT)}")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs of each (default 3)")
    parser.add_argument("--scale", type=float, default=1.0, help="also at this size, where the workload can grow")
    parser.add_argument("--timeout", type=float, default=600.0, metavar="S", help="seconds for one run (default 600)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every number here")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.workloads if name not in BY_NAME]:
        parser.error(f"no workload {', '.join(unknown)}; there are: {', '.join(BY_NAME)}")
    chosen = [BY_NAME[name] for name in arguments.workloads] or list(ALL)
    scales = [1.0] if arguments.scale == 1 else [1.0, arguments.scale]
    if len(scales) > 1 and not arguments.workloads:
        chosen = [workload for workload in chosen if workload.scales]
    records: list[Record] = []
    for record in measure_all(chosen, arguments.systems, arguments.repeat, scales, arguments.timeout):
        records.append(record)
        print(told(record), flush=True)
        if arguments.json:  # after each, so that a run that is stopped keeps what it has
            write_json(arguments.json, arguments.repeat, records)
    for line in growth(records):
        print(line)
    return int(any(not record.get("right", True) or "failed" in record for record in records))


if __name__ == "__main__":
    sys.exit(main())
