"""What do readers, folders and threads cost?

*Opening*: a folder with a snapshot, beside deriving the same from its log alone. *Durable updates*: of one fact, by one
thread and by 64, which share syncs; and by 64 whose waiting updates are applied at once. *Queries beside a writer*:
their time while another thread makes 1,000 updates a second, beside their time alone.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import everlog
from benchmarks.reporting.results import Record, Says, new_results, write_results
from everlog import IRI, KnowledgeBase

FACTS = 5_000_000  # explicit ones, and as many derived
THREADS = 64
RATE = 1_000  # updates a second beside which queries are asked
QUERIES = {
    "one subject": "SELECT ?a { <urn:5> <urn:p> ?y . ?y <urn:age> ?a }",
    "a join with a filter": "SELECT ?x ?a { ?x <urn:p> ?y . ?y <urn:age> ?a FILTER(?a > 80) }",
    "Datalog": "path(3, ?y)",
}


def bench_store(folder: Path, says: Says, *, quick: bool) -> Record:
    """Measure all three and write the results; returns what store.json then holds."""
    from benchmarks.experiments.store.report import draw, page

    facts, updates, queries = (20_000, 20, 20) if quick else (FACTS, 200, 300)
    results = new_results(quick=quick, facts=facts)
    with tempfile.TemporaryDirectory(dir=_on_disk(folder)) as scratch:
        results["opening"] = opening(Path(scratch) / "opened", facts)
        says(f"opening: {results['opening']['open'] * 1e3:.0f} ms, deriving {results['opening']['derive']:.2f} s")
        results["durable"] = [
            durable(Path(scratch) / f"durable{number}", *case, updates)
            for number, case in enumerate([(1, False), (THREADS, False), (THREADS, True)])
        ]
        for line in results["durable"]:
            says(f"{line['threads']} threads: {line['rate']:,.0f} durable updates a second")
    results["beside"] = beside(queries)
    for line in results["beside"]:
        says(f"{line['query']}: {line['alone'] * 1e3:.3f} ms alone, {line['beside'] * 1e3:.3f} ms beside a writer")
    write_results(folder, "store", results, page, draw)
    return results


def _on_disk(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)  # beside the results: where people keep data, not where /tmp is memory
    return folder


def opening(path: Path, facts: int) -> Record:
    """Fill a folder, open it with its snapshot, and open it again with nothing but its log."""
    people = pa.array([f"person number {number}" for number in range(facts // 4)])
    chosen = np.random.default_rng(1).integers(0, len(people), (2, facts))
    with everlog.open(path) as kb:
        kb.add_rules("knows(?x, ?y) :- says(?y, ?x).")
        kb.insert("says", pa.table({name: people.take(pa.array(c)) for name, c in zip("xy", chosen, strict=True)}))
        snapshot = kb.compact()
        size, held = snapshot.stat().st_size, sum(relation.facts for relation in kb.relations())
    seconds, kb = timed(lambda: everlog.open(path))
    first, _ = timed(lambda: kb.insert("says", [("one", "two")]))
    second, _ = timed(lambda: kb.insert("says", [("two", "three")]))
    kb.close()
    snapshot.unlink()
    derive, kb = timed(lambda: everlog.open(path))
    kb.close()
    shutil.rmtree(path)
    return {"facts": held, "bytes": size, "open": seconds, "first": first, "second": second, "derive": derive}


def durable(path: Path, threads: int, coalesce: bool, updates: int) -> Record:
    """So many updates of one fact by each thread."""
    with everlog.open(path, coalesce=coalesce) as kb:
        kb.insert("p", [(0, 0)])

        def work(number: int) -> None:
            for step in range(updates):
                kb.insert("p", [(number, step)])

        workers = [threading.Thread(target=work, args=(number,)) for number in range(1, threads + 1)]
        started = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        seconds = time.perf_counter() - started
        assert kb.version == 1 + threads * updates
    return {"threads": threads, "coalesce": coalesce, "rate": threads * updates / seconds}


def beside(queries: int) -> list[Record]:
    """Each query alone, and beside a writer."""
    kb = everlog.open()
    kb.add_rules("path(?x, ?y) :- edge(?x, ?y).   path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).")
    kb.insert("edge", [(number, number + 1) for number in range(400)])
    links = [(IRI(f"urn:{n}"), IRI("urn:p"), IRI(f"urn:{n + 1}")) for n in range(30_000)]
    kb.insert("triple", [*links, *((IRI(f"urn:{n}"), IRI("urn:age"), n % 90) for n in range(30_000))])
    alone = {name: _median(kb, query, queries) for name, query in QUERIES.items()}
    stop, made = threading.Event(), [0]
    writer = threading.Thread(target=_write, args=(kb, stop, made))
    started = time.perf_counter()
    writer.start()
    busy = {name: _median(kb, query, queries) for name, query in QUERIES.items()}
    stop.set()
    writer.join()
    rate = made[0] / (time.perf_counter() - started)
    return [{"query": name, "alone": alone[name], "beside": busy[name], "rate": rate} for name in QUERIES]


def _median(kb: KnowledgeBase, query: str, times: int) -> float:
    for _ in range(5):
        len(kb.query(query))
    return statistics.median(timed(lambda: len(kb.query(query)))[0] for _ in range(times))


def _write(kb: KnowledgeBase, stop: threading.Event, made: list[int]) -> None:
    started = time.perf_counter()
    while not stop.is_set():
        kb.insert("written", [(made[0],)])
        made[0] += 1
        time.sleep(max(0.0, started + made[0] / RATE - time.perf_counter()))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """How long something takes, and what it gives."""
    started = time.perf_counter()
    done = work()
    return time.perf_counter() - started, done
