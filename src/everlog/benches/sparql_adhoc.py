"""How fast is a query that is asked once, its text read before? BSBM's and LUBM's queries, ours beside pyoxigraph.

The text of a query is read once (rdflib does that for us, and we remember what it says), and told apart. pyoxigraph has
no prepared queries: it reads the text each time, which takes it tens of microseconds. LUBM's data has no ontology here,
so both answer from the triples as they are.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from everlog.benches.bsbm import shop
from everlog.benches.results import Record, Says
from everlog.benches.shared_data import shared_data
from everlog.benches.triple_data import ntriples
from everlog.errors import EngineError
from everlog.formats.reading import read_facts
from everlog.store.opening import open as open_kb
from everlog.store.store import KnowledgeBase

REPEATS = 15
PATIENCE = 2.0  # seconds for one query in one system
SLOW = 1e-3  # seconds that pyoxigraph needs, from which on the two are compared


def adhoc_lines(says: Says, *, quick: bool) -> list[Record]:
    """A line for each query on each data set."""
    lines = []
    for data, kb, store, queries in _data(quick):
        for path in queries:
            line = {"data": data, "query": path.stem, **_line(kb, store, path.read_text(encoding="utf-8"))}
            lines.append(line)
            says(f"{data}, {path.stem}: {line['everlog'] * 1e3:,.2f} ms, pyoxigraph {line['oxigraph'] * 1e3:,.2f} ms")
    return lines


def _data(quick: bool) -> Iterator[tuple[str, KnowledgeBase, Any, list[Path]]]:
    import pyoxigraph as ox

    instances = sorted(shared_data("bsbm", "queries/instances").glob("*.rq"))
    original = [shared_data("bsbm", "bsbm100.nt.gz"), shared_data("bsbm", "bsbm100-inferred-types.nt")]
    yield "BSBM, the original's 100 products", *_loaded(original), instances
    if not quick:
        kb, store = open_kb(), ox.Store()
        made = shop(1_000)
        kb.update(insert=made.blocks)
        for block in made.blocks:
            store.bulk_load(input=ntriples(block), format=ox.RdfFormat.N_TRIPLES)
        yield "BSBM, 1,000 products", kb, store, instances
        lubm = [shared_data("lubm", "LUBM1.nt.gz"), shared_data("lubm", "univ-bench.ttl")]
        yield "LUBM, 1 university", *_loaded(lubm), sorted(shared_data("lubm", "queries").glob("*.rq"))


def _loaded(paths: list[Path]) -> tuple[KnowledgeBase, Any]:
    import gzip

    import pyoxigraph as ox

    kb, store = open_kb(), ox.Store()
    for path in paths:
        kb.update(insert=read_facts(path))
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        store.bulk_load(input=text, format=ox.RdfFormat.TURTLE)  # which N-Triples is, too
    return kb, store


def _line(kb: KnowledgeBase, store: Any, text: str) -> Record:
    started = time.perf_counter()
    kb.query(text)
    first = time.perf_counter() - started
    count, ours = _middle(lambda: _count(kb.query(text)))
    other, theirs = _middle(lambda: _count(store.query(text)))
    if count != other and "DESCRIBE" not in text:  # what DESCRIBE gives is for each system to say
        raise EngineError(f"{count} answers, where pyoxigraph has {other}:\n{text}")
    return {"everlog": ours, "oxigraph": theirs, "answers": count, "first": first}


def _count(answer: Any) -> int:
    """How many answers there are, each looked at."""
    return int(bool(answer)) if not hasattr(answer, "__iter__") else sum(1 for _ in answer)


def _middle(action: Callable[[], int]) -> tuple[int, float]:
    seconds: list[float] = []
    found = action()
    while len(seconds) < REPEATS and sum(seconds) < PATIENCE:
        started = time.perf_counter()
        found = action()
        seconds.append(time.perf_counter() - started)
    return found, statistics.median(seconds)
