"""What does it take to go to another state and back, and is it right both times?

Facts or rules change and change back, some times over. What is there after each step is compared with a run from
scratch: the size of every relation each time, every fact the first time. The times are those of the fastest trip; the
first one, which makes plans and indexes that later ones keep, is told apart.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks.datasets.knowledge import fact_counts
from benchmarks.experiments.rules.data import RuleSet
from benchmarks.measuring.counters import strategies
from benchmarks.measuring.timing import Taken, timed
from benchmarks.reporting.results import Record
from everlog.errors import EngineError
from everlog.store.changes import Change
from everlog.store.store import KnowledgeBase

PATIENCE = 0.8  # seconds of one trip's repeats: slow ones are repeated less

Sizes = dict[str, int]
Step = Callable[[KnowledgeBase], Change]


@dataclass(frozen=True)
class Scratch:
    """A run from scratch: how many facts relations have, those derived, and the time it took to derive them."""

    sizes: Sizes
    derived: int
    taken: Taken


def from_scratch(rule_set: RuleSet, repeats: int) -> Scratch:
    """Derive all that follows; the fastest time of some. Loading the facts does not count."""
    times: list[Taken] = []
    while not times or (len(times) < repeats and sum(taken.seconds for taken in times) < PATIENCE):
        kb = rule_set.load()
        _, taken = timed(partial(kb.add_rules, rule_set.text(rule_set.rules)))
        times.append(taken)
    derived = derived_facts(kb)
    if rule_set.derived not in (None, derived):
        raise EngineError(f"{rule_set.name}: {derived:,} facts derived from scratch, not {rule_set.derived:,}")
    return Scratch(sizes(kb), derived, min(times))


def sizes(kb: KnowledgeBase) -> Sizes:
    """The number of facts of each relation that has some."""
    return {relation: count for relation, count in fact_counts(kb).items() if count}


def derived_facts(kb: KnowledgeBase) -> int:
    """As the paper counts them: all facts of relations that rules define."""
    return sum(relation.facts for relation in kb.relations() if relation.defined)


@dataclass(frozen=True)
class Trip:
    """Two steps, each with a name; `there` is the state between them."""

    name: str
    there: RuleSet
    steps: tuple[tuple[str, Step], tuple[str, Step]]


@dataclass
class _Measured:
    """One step of a trip, taken some times."""

    first: Taken
    best: Taken
    change: Change
    repeats: int = 1

    def again(self, change: Change, taken: Taken) -> None:
        self.repeats += 1
        if taken < self.best:
            self.best, self.change = taken, change


def measure(kb: KnowledgeBase, home: Scratch, trip: Trip, repeats: int) -> list[Record]:
    """A record for each of the two steps."""
    there = from_scratch(trip.there, repeats)
    gc.collect()  # what others leave behind is not its work
    measured: dict[str, _Measured] = {}
    spent, number = 0.0, 0
    while number == 0 or (number < repeats and spent < PATIENCE):
        for (name, step), state in zip(trip.steps, (there, home), strict=True):
            change, taken = timed(partial(step, kb))
            spent += taken.seconds
            if name in measured:
                measured[name].again(change, taken)
            else:
                measured[name] = _Measured(taken, taken, change)
            _check(kb, state, f"{trip.name}, {name}", every_fact=number == 0)
        number += 1
    return [
        _record(trip.name, name, measured[name], state)
        for (name, _), state in zip(trip.steps, (there, home), strict=True)
    ]


def _check(kb: KnowledgeBase, state: Scratch, where: str, *, every_fact: bool) -> None:
    found = sizes(kb)
    if found != state.sizes:
        wrong = {name: (found.get(name, 0), size) for name, size in state.sizes.items() if found.get(name, 0) != size}
        raise EngineError(f"{where}: not the facts of a run from scratch; here and there: {wrong}")
    if every_fact and not (verification := kb.verify()):
        raise EngineError(f"{where}: {verification}")


def _record(trip: str, name: str, measured: _Measured, state: Scratch) -> Record:
    report = measured.change.report.as_data()
    components = sorted(report["components"], key=lambda component: -component["seconds"])
    counts = measured.change.counts().values()
    return {
        "what": trip,
        "step": name,
        **measured.best.as_data(),
        "first": measured.first.seconds,
        "repeats": measured.repeats,
        "scratch": state.taken.as_data(),
        "derived": state.derived,
        "gained": sum(gained for gained, _ in counts),
        "lost": sum(lost for _, lost in counts),
        "used": strategies(measured.change),
        "direct": len(report["directly_affected"]),
        "indirect": len(report["indirectly_affected"]),
        "rebuilt": report["rebuilt"],
        # Where the time goes: each component that was worked on, the slowest first, and all that is not in one.
        "components": [[each["component"], each.get("strategy", ""), each["seconds"]] for each in components],
        "elsewhere": max(0.0, measured.best.seconds - sum(each["seconds"] for each in components)),
    }
