"""How long does a small update take, by each strategy, and beside starting over?

Ten edges go and ten come with each update of a tree and of a graph; a chain loses and regains its last edge, a clique
an edge that it can spare. Against our own materialisation and DuckDB's recursive SQL, both from scratch each time. The
time is the median over some updates; all strategies follow the same ones, and the facts after each are compared.
"""

from __future__ import annotations

import itertools
import statistics
import time
from pathlib import Path

from benchmarks.datasets.knowledge import STRATEGIES, fact_counts
from benchmarks.experiments.updates.data import Edits, chain, clique, graph, tree
from benchmarks.experiments.updates.duckdb_peer import DuckDBPeer
from benchmarks.measuring.counters import counted, strategies
from benchmarks.reporting.results import Record, Says, new_results, write_results
from everlog.errors import EngineError

WARM_UP = 4  # updates that are not counted: plans are made and kernels loaded
UPDATES = 30
PATIENCE = 20.0  # seconds for the updates of one strategy: a slow one follows fewer of them, an even number
DUCKDB = "duckdb"


def bench_updates(folder: Path, says: Says, *, quick: bool) -> Record:
    """Measure small updates and write the results; returns what updates.json then holds."""
    from benchmarks.experiments.updates.report import draw, page

    if quick:
        every = [tree(2_000), graph(200, 400), chain(100), clique(60)]
    else:
        every = [tree(), graph(), chain(), clique()]
    results = new_results(quick=quick, updates=UPDATES)
    results["lines"] = lines = []
    for edits in every:
        lines.append(_line(edits, says))
        write_results(folder, "updates", results, page, draw)
    return results


def _line(edits: Edits, says: Says) -> Record:
    name = edits.knowledge.name
    runs: Record = {}
    for strategy in STRATEGIES:
        runs[strategy] = _run(edits, strategy)
        says(f"{name}, {strategy}: {runs[strategy]['seconds'] * 1e3:,.3f} ms")
    runs[DUCKDB] = _duckdb(edits)
    says(f"{name}, DuckDB from scratch: {runs[DUCKDB]['seconds'] * 1e3:,.1f} ms")
    _agree(name, runs)
    return {
        "name": name,
        "title": edits.knowledge.title,
        "edges": len(edits.edges),
        "target": edits.target,
        "share": edits.share,
        "times_duckdb": edits.times_duckdb,
        "runs": runs,
    }


def _run(edits: Edits, strategy: str) -> Record:
    kb = edits.knowledge.open(strategy)
    sizes = {0: fact_counts(kb)[edits.derived]}
    seconds, changes, spent = [], [], 0.0
    for number, (gone, come) in enumerate(itertools.islice(edits.updates(), WARM_UP + UPDATES), 1):
        started = time.perf_counter()
        change = kb.update(delete={edits.relation: gone}, insert={edits.relation: come})
        taken = time.perf_counter() - started
        spent += taken
        if number > WARM_UP and (gone or not edits.only_deletions):
            seconds.append(taken)
            changes.append(change)
        sizes[number] = fact_counts(kb)[edits.derived]
        if number > WARM_UP and number % 2 == 0 and spent > PATIENCE:
            break
    return {
        "seconds": statistics.median(seconds),
        "slowest": max(seconds),
        "updates": len(changes),
        "counters": {name: total / len(changes) for name, total in counted(changes).items()},
        "used": list(dict.fromkeys(name for change in changes for name in strategies(change))),
        "sizes": sizes,
    }


def _duckdb(edits: Edits) -> Record:
    peer = DuckDBPeer(edits)
    seconds, sizes = [], {}
    for number, (gone, come) in enumerate(itertools.islice(edits.updates(), WARM_UP + 6), 1):
        seconds.append(peer.update(gone, come))
        sizes[number] = peer.count()
    return {"seconds": statistics.median(seconds[WARM_UP:]), "updates": 6, "sizes": sizes}


def _agree(name: str, runs: Record) -> None:
    """After the same number of updates everyone has the same number of facts."""
    for strategy, run in runs.items():
        for number, size in run["sizes"].items():
            other = runs["rematerialise"]["sizes"].get(number, size)
            if size != other:
                raise EngineError(f"{name}: {strategy} has {size} facts after update {number}, rematerialise {other}")
