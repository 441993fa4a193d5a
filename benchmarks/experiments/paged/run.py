"""What does an update cost when the facts are in files, and does that grow with the data?

LUBM's ten universities with all that its rules derive stand in sorted runs, once and ten times. A hundred triples go
out and come back, through the store's transactions and the maintenance code, over the paged engine. *Cold*: the files
are not in the system's cache and were just opened; plans are made. *Next*: updates after that, each of other triples.
*Warm*: the same updates again.
"""

from __future__ import annotations

import gc
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.experiments.paged.data import Ids, Universities, samples, universities, write_runs
from benchmarks.reporting.results import Record, Says, new_results, write_results
from everlog.engines.paged.dictionary import PagedDictionary
from everlog.engines.paged.engine import PagedEngine
from everlog.engines.paged.folder import RunFolder
from everlog.facts.weighted import WeightedFacts
from everlog.limits import Limits
from everlog.maintenance.update import Maintenance
from everlog.rules.syntax import TRIPLE
from everlog.store.applying import Workings
from everlog.store.given_facts import EncodedFacts
from everlog.store.history import HistoryLimits
from everlog.store.state import Definitions, FactsAtVersion, State
from everlog.store.timeline import Timeline
from everlog.store.updates import Update
from everlog.store.windows import Windows

COPIES = (1, 10)
TRIPLES = 100  # that go out and come back
TIMES = 5  # cold; and as many next, each time


def bench_paged(folder: Path, says: Says, *, quick: bool) -> Record:
    """Measure both sizes and write the results; returns what paged.json then holds."""
    from benchmarks.experiments.paged.report import draw, page

    copies, times = ((1, 3), 2) if quick else (COPIES, TIMES)
    results = new_results(quick=quick, triples=TRIPLES, times=times)
    data = universities(quick=quick)
    says(f"{data.facts:,} facts derived once")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:  # where people keep data, not where /tmp is memory
        sizes = [_Size(data, number, Path(scratch) / f"runs{number}") for number in copies]
        for cold in range(times):  # in turn, so that what else the machine does is shared by all
            for size in sizes:
                size.measure(times, seed=cold)
        results["sizes"] = [size.line() for size in sizes]
    for line in results["sizes"]:
        says(
            f"{line['facts']:,} facts: out {line['cold out']['seconds'] * 1e3:.0f} ms cold,"
            f" {line['warm out']['seconds'] * 1e3:.0f} ms warm; {line['cold out']['rows']:.0f} rows"
        )
    write_results(folder, "paged", results, page, draw)
    return results


class _Size:
    """Runs of some copies, and what was measured of them so far."""

    def __init__(self, data: Universities, copies: int, path: Path) -> None:
        self._data, self._path = data, path
        started = time.perf_counter()
        write_runs(data, copies, path)
        self._line: Record = {"copies": copies, "facts": copies * data.facts, "written": time.perf_counter() - started}
        self._line["bytes"] = sum(file.stat().st_size for file in path.iterdir())
        self._figures: dict[str, list[Record]] = {}

    def measure(self, times: int, seed: int) -> None:
        """Open the files anew, make one update and some more."""
        gc.collect()  # what is mapped stays in the system's cache
        _out_of_cache(self._path)
        started = time.perf_counter()
        timeline = timeline_over(self._path, self._data.definitions)
        self._note("open", {"seconds": time.perf_counter() - started})
        chosen = list(samples(self._data, TRIPLES, 1 + times, seed))
        kinds = ["cold", *["next"] * times, *["warm"] * (1 + times)]
        for kind, triples in zip(kinds, [*chosen, *chosen], strict=True):
            for way in ("out", "in"):
                self._note(f"{kind} {way}", _update(timeline, triples, way == "in"))

    def _note(self, name: str, found: Record) -> None:
        self._figures.setdefault(name, []).append(found)

    def line(self) -> Record:
        """Medians of all that was measured."""
        for name, found in self._figures.items():
            self._line[name] = {what: statistics.median(each[what] for each in found) for what in found[0]}
        return self._line


def _update(timeline: Timeline, triples: Sequence[Ids], comes: bool) -> Record:
    facts = [EncodedFacts(TRIPLE, WeightedFacts.present(triples, len(triples[0])))]
    update = Update(facts, {}) if comes else Update({}, facts)
    engine = timeline.workings.engine
    assert isinstance(engine, PagedEngine)
    before, started = engine.counters.copy(), time.perf_counter()
    change = timeline.run(lambda transaction: transaction.only(update))
    seconds = time.perf_counter() - started
    assert change.report.inserted + change.report.deleted == len(triples[0])
    return {"seconds": seconds, **engine.counters.since(before).as_data()}


def timeline_over(path: Path, definitions: Definitions) -> Timeline:
    """A store's timeline that goes on from runs."""
    folder = RunFolder.open(path)
    assert folder is not None and folder.version is not None
    dictionary = PagedDictionary(folder.terms)
    engine, limits = PagedEngine(dictionary, folder), Limits()
    workings = Workings(
        engine, Maintenance(definitions.program), Windows(dictionary), "choose", True, limits, definitions.arities
    )
    state = State(folder.version, dictionary, definitions, FactsAtVersion(engine, engine.tick), {}, limits, {})
    return Timeline(state, workings, HistoryLimits())


def _out_of_cache(path: Path) -> None:
    """Ask the system to forget what it has read of these files."""
    for file in path.iterdir():
        descriptor = os.open(file, os.O_RDONLY)
        try:
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)
