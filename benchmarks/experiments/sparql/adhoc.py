"""How fast is a query that is asked once, its text read before? BSBM's and LUBM's queries, ours beside pyoxigraph.

The text of a query is read once (rdflib does that for us, and we remember what it says); that is told apart. pyoxigraph
has no prepared queries: it reads the text each time, which takes it tens of microseconds. LUBM's ontology is rules in
our store; pyoxigraph gets all triples that ours has, derived ones too. Each data set has a process of its own.
"""

from __future__ import annotations

import csv
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.datasets.shared_data import shared_data
from benchmarks.experiments.sparql.workloads.shop import shop
from benchmarks.measuring.apart import Allowance, SharedTime, run_apart
from benchmarks.programs.ontology_rules import ontology_rules
from benchmarks.reporting.results import Record, Says
from everlog.errors import EngineError
from everlog.formats.rdf_writing import rdf_lines
from everlog.formats.reading import read_facts
from everlog.sparql.parsing import parse_query
from everlog.store.opening import open as open_kb
from everlog.store.store import KnowledgeBase

REPEATS = 15
PATIENCE = 1.0  # seconds for one query in one system
SLOW = 1e-3  # seconds that pyoxigraph needs, from which on the two are compared
ORIGINAL, MADE, LUBM = "BSBM, the original's 100 products", "BSBM, 1,000 products", "LUBM, 1 university with its rules"


def adhoc_lines(says: Says, seconds: float, *, quick: bool) -> tuple[list[Record], dict[str, str]]:
    """A line for each query on each data set; and why a data set ended early, where one did."""
    chosen = (ORIGINAL,) if quick else (ORIGINAL, LUBM, MADE)
    time_left = SharedTime(seconds, len(chosen))
    lines: list[Record] = []
    stopped = {}
    for data in chosen:
        found, reason = run_apart(lines_of, data, allowance=Allowance(time_left.share()))
        for line in found:
            times = f"{line['everlog'] * 1e3:,.2f} ms, pyoxigraph {line['oxigraph'] * 1e3:,.2f} ms"
            says(f"{data}, {line['query']}: {times}")
        if reason:
            stopped[data] = reason
        lines += found
    return lines, stopped


def lines_of(data: str) -> Iterator[Record]:
    """The figures of each query on a data set."""
    kb, folder = _DATA[data]()
    store = _with_the_same_triples(kb)
    expected = _expected_counts() if data == LUBM else {}
    for path in sorted(folder.glob("*.rq")):
        line = {"data": data, "query": path.stem, **_line(kb, store, path.read_text(encoding="utf-8"))}
        if line["answers"] != expected.get(path.stem, line["answers"]):
            raise EngineError(f"{path.stem} has {line['answers']} answers, where {expected[path.stem]} are right")
        yield line


def _original() -> tuple[KnowledgeBase, Path]:
    kb = open_kb()
    for name in ("bsbm100.nt.gz", "bsbm100-inferred-types.nt"):
        kb.update(insert=read_facts(shared_data("bsbm", name)))
    return kb, shared_data("bsbm", "queries/instances")


def _made() -> tuple[KnowledgeBase, Path]:
    kb = open_kb()
    kb.update(insert=shop(1_000).blocks)
    return kb, shared_data("bsbm", "queries/instances")


def _lubm() -> tuple[KnowledgeBase, Path]:
    kb = open_kb()
    rules = ontology_rules(shared_data("lubm", "univ-bench.ttl"))
    kb.update(insert=read_facts(shared_data("lubm", "LUBM1.nt.gz")), add_rules=rules)
    return kb, shared_data("lubm", "queries")


_DATA: dict[str, Callable[[], tuple[KnowledgeBase, Path]]] = {ORIGINAL: _original, MADE: _made, LUBM: _lubm}


def _expected_counts() -> dict[str, int]:
    with shared_data("lubm", "expected_counts.tsv").open(encoding="utf-8", newline="") as lines:
        return {line["query"]: int(line["LUBM1"]) for line in csv.DictReader(lines, delimiter="\t")}


def _with_the_same_triples(kb: KnowledgeBase) -> Any:
    import pyoxigraph as ox

    store = ox.Store()
    text = "".join(rdf_lines("nt", "triple", kb.facts("triple").keys()))
    store.bulk_load(input=text.encode(), format=ox.RdfFormat.N_TRIPLES)
    return store


def _line(kb: KnowledgeBase, store: Any, text: str) -> Record:
    started = time.perf_counter()
    parse_query(text)
    read = time.perf_counter()
    kb.query(text)
    first = time.perf_counter() - read
    count, ours = _middle(lambda: _count(kb.query(text)))
    other, theirs = _middle(lambda: _count(store.query(text)))
    if count != other and "DESCRIBE" not in text:  # what DESCRIBE gives is for each system to say
        raise EngineError(f"{count} answers, where pyoxigraph has {other}:\n{text}")
    return {"everlog": ours, "oxigraph": theirs, "answers": count, "read": read - started, "first": first}


def _count(answer: Any) -> int:
    """How many answers there are, each looked at."""
    return int(bool(answer)) if not hasattr(answer, "__iter__") else sum(1 for _ in answer)


def _middle(action: Callable[[], int]) -> tuple[int, float]:
    """What an action gives, and the median of its times; the first one counts only if there is no time for others."""
    seconds: list[float] = []
    found = 0
    while len(seconds) <= REPEATS and sum(seconds) < PATIENCE:
        started = time.perf_counter()
        found = action()
        seconds.append(time.perf_counter() - started)
    return found, statistics.median(seconds[1:] or seconds)
