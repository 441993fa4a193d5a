"""How long do derivations and updates take on Spark?

*Derivations* go from sources to tables (derivations.py). *Streamed updates* land as files (streamed.py). All in one
session on two cores, after its start.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.experiments.spark.derivations import derivations
from benchmarks.experiments.spark.streamed import streamed
from benchmarks.reporting.results import Record, Says, new_results, write_results
from everlog.engines.spark.session import session_for_a_while

MASTER, MEMORY = "local[2]", "6g"


def bench_spark(folder: Path, says: Says, *, quick: bool) -> Record:
    """Measure and write the results; returns what spark.json then holds."""
    from benchmarks.experiments.spark.report import draw, page

    results = new_results(quick=quick, master=MASTER, memory=MEMORY)
    folder.mkdir(parents=True, exist_ok=True)
    results["derivations"], results["streamed"] = [], []
    with (
        tempfile.TemporaryDirectory(dir=folder) as scratch,
        session_for_a_while({"spark.driver.memory": MEMORY}, MASTER) as spark,
    ):
        for line in derivations(spark, Path(scratch), quick=quick):
            results["derivations"].append(line)
            says(f"{line['name']}: {line['warm']['maintain']:.1f} s, {line['warm']['facts']:,} facts")
            write_results(folder, "spark", results, page, draw)
        for line in streamed(spark, Path(scratch), quick=quick):
            results["streamed"].append(line)
            says(f"{line['size']} {line['way']}: out {line['out']:.2f} s, in {line['in']:.2f} s")
            write_results(folder, "spark", results, page, draw)
    return results
