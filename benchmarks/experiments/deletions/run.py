"""What does it cost to delete few facts, and many? The Backward/Forward paper's Table 2, on data of this size.

Facts are drawn at random, each as likely as any other, and deleted in one update: 10, 100, 1,000, and 25 to 100 percent
of the equilibrium, at which Backward/Forward takes as long as starting over. Each run opens a knowledge base of its own
and deletes and reinserts one fact first, since the first update makes indexes that later ones keep (its time is in the
JSON file as `first`); the time is that of the update alone, the best of some runs. What is left must be the same for
all strategies.

    Boris Motik, Yavor Nenov, Robert Piro, Ian Horrocks. Incremental Update of Datalog Materialisation: the
    Backward/Forward Algorithm. AAAI 2015.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.datasets.knowledge import STRATEGIES, Knowledge, fact_counts
from benchmarks.experiments.deletions import data
from benchmarks.measuring.counters import counted, strategies
from benchmarks.reporting.results import Record, Says, new_results, write_results
from everlog.errors import EngineError, TimeLimitError
from everlog.limits import Limits
from everlog.store.store import KnowledgeBase

COUNTS = (10, 100, 1000)
SHARES = (0.25, 0.5, 0.75, 1.0)
SEED = 5
PATIENCE = 60.0  # seconds for one update: what takes longer is shown as that
_AFRESH = "rematerialise"
_FULL: tuple[Callable[[], Knowledge], ...] = (
    data.lubm,
    data.wordnet,
    data.debian,
    lambda: data.cliques(rewrites=False),
    lambda: data.cliques(rewrites=True),
)
_QUICK: tuple[Callable[[], Knowledge], ...] = (
    data.small_forest,
    lambda: data.cliques(rewrites=False, count=3, members=20),
)


def bench_deletions(folder: Path, says: Says, *, quick: bool) -> Record:
    """Measure every strategy on every data set and write the results; returns what deletions.json then holds."""
    from benchmarks.experiments.deletions.report import draw, page

    repeats = 1 if quick else 2
    results = new_results(quick=quick, repeats=repeats, seed=SEED, patience=PATIENCE)
    results["data"], results["lines"] = [], []
    for made in _QUICK if quick else _FULL:
        knowledge = made()
        results["data"].append(_described(knowledge))
        for line in _Deletions(knowledge, repeats).lines():
            results["lines"].append(line)
            says(_told(line))
        write_results(folder, "deletions", results, page, draw)  # after each: what was measured stays
    return results


def _described(knowledge: Knowledge) -> Record:
    started = time.perf_counter()
    kb = knowledge.open(_AFRESH)
    return {
        "name": knowledge.name,
        "title": knowledge.title,
        "explicit": knowledge.size,
        "facts": sum(fact_counts(kb).values()),
        "seconds": time.perf_counter() - started,
    }


class _Deletions:
    """The deletions from one data set."""

    def __init__(self, knowledge: Knowledge, repeats: int) -> None:
        self._knowledge, self._repeats = knowledge, repeats

    def lines(self) -> Iterator[Record]:
        for strategy in STRATEGIES:
            self._run(strategy, COUNTS[0])  # kernels are loaded before anything is measured
        found = []
        for count in COUNTS:
            if count < self._knowledge.size:
                found.append(self._line(count))
                yield found[-1]
        equilibrium = self._equilibrium(found)
        if equilibrium is not None:
            for share in SHARES:
                yield self._line(round(share * equilibrium), share)

    def _line(self, count: int, share: float | None = None) -> Record:
        runs: Record = {}
        for _ in range(self._repeats):
            for strategy in STRATEGIES:  # in turn: a busy minute does not fall on one strategy alone
                run = self._run(strategy, count)
                runs[strategy] = min(runs.get(strategy, run), run, key=lambda each: each["seconds"] or math.inf)
        left = runs[_AFRESH]["left"]
        for strategy, run in runs.items():
            if run["seconds"] is not None and run["left"] != left:
                raise EngineError(f"{self._knowledge.name}: {strategy} leaves {run['left']} facts, not {left}")
        lost = sum(runs[_AFRESH]["lost"].values())
        return {"data": self._knowledge.name, "deleted": count, "share": share, "lost": lost, "runs": runs}

    def _run(self, strategy: str, count: int) -> Record:
        kb = self._knowledge.open(strategy)
        first = _out_and_in(kb, self._knowledge)
        kb.limits = Limits(seconds=PATIENCE)
        delete = self._knowledge.sample(count, SEED)
        gc.collect()  # what the last run leaves behind is not this one's work
        started = time.perf_counter()
        try:
            change = kb.update(delete=delete)
        except TimeLimitError:
            return {"seconds": None, "first": first}
        return {
            "seconds": time.perf_counter() - started,
            "first": first,
            "lost": {relation: lost for relation, (_, lost) in change.counts().items()},
            "left": fact_counts(kb),
            "counters": counted([change]),
            "used": strategies(change),
        }

    def _equilibrium(self, lines: Sequence[Record]) -> int | None:
        """About how many deletions take Backward/Forward as long as starting over; None below the fewest measured."""
        behind: list[int] = [line["deleted"] for line in lines if self._pays(line["runs"])]
        if len(behind) < len(lines):
            return None
        low, most = behind[-1], self._knowledge.size
        high = min(2 * low, most)
        while high < most and self._pays_at(high):
            low, high = high, min(2 * high, most)
        for _ in range(3):  # to a twelfth of it
            middle = round(math.sqrt(low * high))
            low, high = (middle, high) if self._pays_at(middle) else (low, middle)
        return high

    def _pays_at(self, count: int) -> bool:
        return self._pays({strategy: self._run(strategy, count) for strategy in (_AFRESH, "bf")})

    @staticmethod
    def _pays(runs: Record) -> bool:
        afresh, maintained = runs[_AFRESH]["seconds"], runs["bf"]["seconds"]
        return maintained is not None and (afresh is None or maintained <= afresh)


def _out_and_in(kb: KnowledgeBase, knowledge: Knowledge) -> float:
    """Delete a fact and put it back; the seconds. The first update makes plans and indexes that later ones keep."""
    one = knowledge.sample(1, SEED + 1)
    started = time.perf_counter()
    kb.update(delete=one)
    kb.update(insert=one)
    return time.perf_counter() - started


def _told(line: Record) -> str:
    times = ", ".join(
        f"{strategy} " + (f"{run['seconds'] * 1e3:,.1f} ms" if run["seconds"] is not None else "stopped")
        for strategy, run in line["runs"].items()
    )
    return f"{line['data']}, {line['deleted']:,} deleted: {times}"
