"""What does it cost to keep the answer to a SPARQL query true? The counting paper's experiments, and its method.

Views live through updates: over random graphs (hops.py), over a shop like BSBM's (bsbm_views.py), of sums
(sum_views.py). Columns: the update of the view, the query asked again in our engine, the paper's method on DuckDB
(counting_sql.py), the query asked again in DuckDB and in pyoxigraph. After every update the view is compared with a
fresh query, and the answers of all systems with each other. Queries that are asked once stand beside pyoxigraph's
(sparql_adhoc.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from everlog.benches.bsbm_views import explore, producers
from everlog.benches.hops import star, three_hops
from everlog.benches.results import Record, Says, new_results, write_results
from everlog.benches.sparql_adhoc import adhoc_lines
from everlog.benches.sparql_runs import Maker, run_workload
from everlog.benches.sum_views import sums
from everlog.errors import UsageError

ONE_IN = (1_000, 200, 100, 50, 35)  # p = 1/…; not the paper's 1/25: of 64 million paths each check takes a minute
STAR_ONE_IN = (1_000, 200)  # a node's edges to the fourth power
UPDATES = 8
PRODUCTS = (1_000, 10_000, 15_000)
SUMMED, NUMBERS = (1_000, 5_000, 10_000, 20_000, 50_000), (50, 100)
_FEW_NODES, _FEW_PRODUCTS = 60, 100
ADHOC = "adhoc"
SECTIONS = ("hops", "explore", "shapes", "sums", ADHOC)
Part = tuple[str, Maker, Record, Record]  # a section, a workload with its arguments, and those of a small version


def bench_sparql(folder: Path, says: Says, *, quick: bool, only: str = "") -> Record:
    """Measure all, or one section, and write the results; returns what sparql.json then holds.

    Where one section is measured, the others that the folder has stay.
    """
    from everlog.benches.sparql_plot import draw
    from everlog.benches.sparql_report import page

    if only and only not in SECTIONS:
        raise UsageError(f"there is no section {only!r}; there are {', '.join(SECTIONS)}")
    results = new_results(quick=quick, updates=UPDATES) | {"views": [], "adhoc": []}
    results["versions"] |= {package: version(package) for package in ("duckdb", "pyoxigraph", "rdflib")}
    if only and (folder / "sparql.json").exists():
        before = json.loads((folder / "sparql.json").read_text(encoding="utf-8"))
        results["views"] = [line for line in before["views"] if line["section"] != only]
        results["adhoc"] = before["adhoc"]
    for section, maker, arguments, small in _parts(quick):
        if only and section != only:
            continue
        line = {"section": section, **run_workload(maker, arguments, small)}
        results["views"].append(line)
        for task in line["tasks"]:
            says(_told(line["workload"], task))
        write_results(folder, "sparql", results, page, draw)  # after each: what was measured stays
    if not only or only == ADHOC:
        results["adhoc"] = adhoc_lines(says, quick=quick)
    write_results(folder, "sparql", results, page, draw)
    return results


def _parts(quick: bool) -> Iterator[Part]:
    few = {"edits": 3, "nodes": _FEW_NODES}
    for one_in in (20, 10) if quick else ONE_IN:
        yield "hops", three_hops, few | {"one_in": one_in} if quick else _graph(one_in), few | {"one_in": 20}
    for products in (_FEW_PRODUCTS,) if quick else PRODUCTS:
        yield "explore", explore, {"products": products}, {"products": _FEW_PRODUCTS, "cycles": 1}
    for one_in in (20,) if quick else STAR_ONE_IN:
        yield "shapes", star, few | {"one_in": one_in} if quick else _graph(one_in), few | {"one_in": 20}
    for products in (_FEW_PRODUCTS,) if quick else PRODUCTS[:2]:
        yield "shapes", producers, {"products": products}, {"products": _FEW_PRODUCTS, "cycles": 1}
    small = {"products": 20, "numbers": 10, "cycles": 2}
    for numbers in (10,) if quick else NUMBERS:
        for products in (20, 40) if quick else SUMMED:
            yield "sums", sums, {"products": products, "numbers": numbers, "cycles": 2 if quick else UPDATES}, small


def _graph(one_in: int) -> Record:
    return {"one_in": one_in, "edits": UPDATES, "nodes": 1_000}


def _told(workload: str, task: Record) -> str:
    ours, theirs = (task["systems"][system]["edits"] for system in ("everlog", "counting"))
    times = (f"{edit} {ours[edit]['seconds'] * 1e3:,.2f} ms ({theirs[edit]['seconds'] * 1e3:,.0f})" for edit in ours)
    return f"{workload}, {task['task']}: {', '.join(times)}"
