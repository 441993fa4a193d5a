"""What does it cost to keep the answer to a SPARQL query true? The counting paper's experiments, and its method.

Views live through updates: over random graphs, over a shop like BSBM's, of sums (workloads/). Columns: the update of
the view, the query asked again in our engine, the paper's method on DuckDB (systems/counting_sql.py), the query asked
again in DuckDB and in pyoxigraph. After every update the view is compared with a fresh query, and the answers of all
systems with each other. Queries that are asked once stand beside pyoxigraph's (adhoc.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from benchmarks.experiments.sparql.adhoc import adhoc_lines
from benchmarks.experiments.sparql.side_by_side import PEERS, Maker, run_workload
from benchmarks.experiments.sparql.workloads.hops import star, three_hops
from benchmarks.experiments.sparql.workloads.shop_views import explore, producers
from benchmarks.experiments.sparql.workloads.sums import sums
from benchmarks.measuring.apart import SharedTime
from benchmarks.reporting.results import Record, Says, new_results, write_results
from everlog.errors import UsageError

ONE_IN = (1_000, 200, 100, 50, 35, 25)  # p = 1/…
STAR_ONE_IN = (1_000, 200)  # a node's edges to the fourth power
UPDATES = 8
PRODUCTS = (1_000, 10_000, 15_000)
SUMMED, NUMBERS = (1_000, 5_000, 10_000, 20_000, 50_000), (50, 100)
_FEW_NODES, _FEW_PRODUCTS = 60, 100
ADHOC = "adhoc"
LAYOUT = 2  # of sparql.json; files of another layout are written anew
SECONDS = {"hops": 330, "explore": 390, "shapes": 300, "sums": 300, ADHOC: 180}
"""What a section may take; peers that have not finished by then are left out, ours is measured in any case."""
Part = tuple[Maker, Record, Record]  # a workload with its arguments, and those of a small version


def bench_sparql(folder: Path, says: Says, *, quick: bool, only: str = "") -> Record:
    """Measure all, or one section, and write the results; returns what sparql.json then holds.

    Where one section is measured, the others that the folder has stay.
    """
    from benchmarks.experiments.sparql.plot import draw
    from benchmarks.experiments.sparql.report import page

    if only and only not in SECONDS:
        raise UsageError(f"there is no section {only!r}; there are {', '.join(SECONDS)}")
    results = new_results(quick=quick, updates=UPDATES) | {
        "layout": LAYOUT,
        "views": [],
        "adhoc": [],
        "ended_early": {},
    }
    results["versions"] |= {package: version(package) for package in ("duckdb", "pyoxigraph", "rdflib")}
    if only:
        results |= _measured_before(folder / "sparql.json", only)
    for section, parts in _sections(quick).items():
        if only and section != only:
            continue
        time_left = SharedTime(SECONDS[section], len(parts) * len(PEERS))
        for maker, arguments, small in parts:
            line = {"section": section, **run_workload(maker, arguments, small, time_left)}
            results["views"].append(line)
            for task in line["tasks"]:
                says(_told(line["workload"], task))
            write_results(folder, "sparql", results, page, draw)  # after each: what was measured stays
    if not only or only == ADHOC:
        results["adhoc"], results["ended_early"] = adhoc_lines(says, SECONDS[ADHOC], quick=quick)
    write_results(folder, "sparql", results, page, draw)
    return results


def _measured_before(path: Path, only: str) -> Record:
    """The other sections of a file, if it is there and says what files say now."""
    before: Record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if before.get("layout") != LAYOUT:
        return {}
    views = [line for line in before["views"] if line["section"] != only]
    return {"views": views, "adhoc": before["adhoc"], "ended_early": before["ended_early"]}


def _sections(quick: bool) -> dict[str, list[Part]]:
    found: dict[str, list[Part]] = {}
    for section, part in _parts(quick):
        found.setdefault(section, []).append(part)
    return found


def _parts(quick: bool) -> Iterator[tuple[str, Part]]:
    """All workloads; the largest of a section come last, when the time that small ones have left is theirs."""
    few = {"edits": 3, "nodes": _FEW_NODES}
    for one_in in (20, 10) if quick else ONE_IN:
        yield "hops", (three_hops, few | {"one_in": one_in} if quick else _graph(one_in), few | {"one_in": 20})
    for products in (_FEW_PRODUCTS,) if quick else PRODUCTS:
        yield "explore", (explore, {"products": products}, {"products": _FEW_PRODUCTS, "cycles": 1})
    for one_in in (20,) if quick else STAR_ONE_IN:
        yield "shapes", (star, few | {"one_in": one_in} if quick else _graph(one_in), few | {"one_in": 20})
    for products in (_FEW_PRODUCTS,) if quick else PRODUCTS:
        yield "shapes", (producers, {"products": products}, {"products": _FEW_PRODUCTS, "cycles": 1})
    small = {"products": 20, "numbers": 10, "cycles": 2}
    for products in (20, 40) if quick else SUMMED:
        for numbers in (10,) if quick else NUMBERS:
            cycles = 2 if quick else UPDATES
            yield "sums", (sums, {"products": products, "numbers": numbers, "cycles": cycles}, small)


def _graph(one_in: int) -> Record:
    return {"one_in": one_in, "edits": UPDATES, "nodes": 1_000}


def _told(workload: str, task: Record) -> str:
    ours, theirs = (task["systems"].get(system, {"edits": {}})["edits"] for system in ("everlog", "counting"))
    times = []
    for edit in ours:
        other = f" ({theirs[edit]['seconds'] * 1e3:,.0f})" if edit in theirs else ""
        times.append(f"{edit} {ours[edit]['seconds'] * 1e3:,.2f} ms{other}")
    return f"{workload}, {task['task']}: {', '.join(times)}"
