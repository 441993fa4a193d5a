"""How many rows a second go through each stage of the pipeline, and how much memory does it take?

For each kind of data and each size a new process starts Spark and brings seeded N-Triples to tables and outputs, as
`everlog pipeline run` does. Stages time themselves. Before that, the same pipeline runs over a little data: Java
compiles what it runs often, and is several times as slow before it has. That first run is reported beside the others.

Results go into one folder: `pipeline.json` with every figure, `pipeline.md` and `pipeline.png` made from it. Runs that
are in it already, of another kind or size, are kept, so that the long ones can be measured one by one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.datasets.ntriples import write_lines
from benchmarks.experiments.pipeline import graph_data, university_data
from benchmarks.measuring.machine import machine
from benchmarks.measuring.process_tree import PeakMemory
from everlog.errors import EngineError

Record = dict[str, Any]
Says = Callable[[str], None]

MILLION = 1_000_000
RESULTS = "pipeline.json"
_ROOT = Path(__file__).resolve().parents[3]  # of the repository, where a new process finds `benchmarks`
_FIRST_TRIPLES = 50_000  # run first: enough that Java compiles what matters, few enough to take seconds
PACKAGES = ("everlog", "pyspark", "pyarrow", "deltalake")


@dataclass(frozen=True)
class Workload:
    """Data that can have any size, and what the pipeline does with it."""

    lines: Callable[[int, int], Iterator[pa.Array]]  # how many triples, and a seed
    rules: str
    outputs: Mapping[str, str]  # relations and where they go


WORKLOADS = {
    "graph": Workload(graph_data.graph_lines, graph_data.RULES, graph_data.OUTPUTS),
    "lubm": Workload(university_data.university_lines, university_data.RULES, university_data.OUTPUTS),
}


@dataclass(frozen=True)
class Conditions:
    """What a run is made with; runs made with other conditions are not shown beside it."""

    seed: int
    master: str  # as Spark takes it: local[2]
    memory: str  # of Java, as Spark takes it: 4g


def bench_pipeline(
    names: Sequence[str], sizes: Sequence[int], folder: Path, conditions: Conditions, says: Says
) -> Record:
    """Measure the pipeline and write the results; returns everything that `pipeline.json` then holds.

    Args:
        names: which workloads.
        sizes: how many triples, one run for each.
        folder: where results go; data and tables are in it too while a run lasts.
    """
    from benchmarks.experiments.pipeline.report import write_report

    results: Record = {
        "machine": machine(),
        "versions": {package: version(package) for package in PACKAGES},
        "conditions": asdict(conditions),
    }
    runs = _kept(folder / RESULTS, results)
    for name in names:
        for size in sizes:
            says(f"{name}, {size:,} triples")
            runs[name, size] = run = _measure(name, size, folder, conditions)
            says(_told(run))
            results["runs"] = [runs[key] for key in sorted(runs)]
            write_report(results, folder)  # after each run: what was measured stays, whatever happens to the next
    return results


def _kept(path: Path, results: Record) -> dict[tuple[str, int], Record]:
    """The runs that a folder holds, where they were made on this machine under the same conditions."""
    if not path.is_file():
        return {}
    old = json.loads(path.read_text(encoding="utf-8"))
    if any(old.get(what) != results[what] for what in results):
        return {}
    return {(run["data"], run["triples"]): run for run in old["runs"]}


def _measure(name: str, triples: int, folder: Path, conditions: Conditions) -> Record:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".pipeline-", dir=folder) as work:
        first, measured = Path(work) / "first", Path(work) / "measured"
        _prepare(WORKLOADS[name], _FIRST_TRIPLES, first, conditions)
        size = _prepare(WORKLOADS[name], triples, measured, conditions)
        command = [sys.executable, "-m", "benchmarks.experiments.pipeline.session"]
        command += [str(place / "pipeline.toml") for place in (first, measured)]
        found_at = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": found_at},
        ) as process:
            with PeakMemory(process.pid) as peak:
                out, errors = process.communicate()
    if process.returncode:
        raise EngineError(
            f"the pipeline failed on {triples:,} triples of {name}: {errors.strip()[-2000:]}",
            hint="fewer triples (--sizes), more memory for Java (--memory), or more room for --out",
        )
    before, found = json.loads(out)
    report, processor = found["report"], found["processor"]
    return {
        "data": name,
        "triples": triples,
        "bytes": size,
        "stages": {
            each["name"]: {name: each[name] for name in ("rows", "seconds")}
            | {"processor": processor.get(each["name"])}
            for each in report["stages"]
        },
        "facts": {each["name"]: each["facts"] for each in report["relations"]},
        "terms": report["terms"],
        "first": {"triples": _FIRST_TRIPLES, "seconds": before["report"]["seconds"]},
        "others": found["others"],
        "peak": peak.bytes,
    }


def _prepare(workload: Workload, triples: int, place: Path, conditions: Conditions) -> int:
    """Write data, rules and pipeline.toml into a new folder; returns the bytes of the data."""
    place.mkdir()
    (place / "rules.dl").write_text(workload.rules, encoding="utf-8")
    outputs = [f'[[output]]\nrelation = "{name}"\npath = "{path}"\n' for name, path in workload.outputs.items()]
    (place / "pipeline.toml").write_text(
        'program = "rules.dl"\n[[source]]\npath = "data.nt"\n'
        + "".join(outputs)
        + f'[spark]\nmaster = "{conditions.master}"\n"spark.driver.memory" = "{conditions.memory}"\n'
        # On the disk that is measured, and gone with the folder.
        + f'"spark.local.dir" = {json.dumps(str(place.parent / "spark"))}\n',
        encoding="utf-8",
    )
    return write_lines(place / "data.nt", workload.lines(triples, conditions.seed), triples)


def _told(run: Record) -> str:
    stages = ", ".join(f"{name} {stage['seconds']:.1f} s" for name, stage in run["stages"].items())
    memory = "" if run["peak"] is None else f"; {run['peak'] / (1 << 30):.1f} GiB"
    return f"{run['data']}, {run['triples']:,} triples: {stages}{memory}"
