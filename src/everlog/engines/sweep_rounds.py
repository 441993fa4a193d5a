"""In which order does a sweep go, for engines that run it round by round?

As plans/sweeps.py describes it: what it begins with is queued, and the first variants are evaluated; then, while
anything waits, the queue becomes the frontier, its facts are checked, those that survive are set apart, and the others
are followed. An engine says how each of these is done with its facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from everlog.limits import Watch
from everlog.plans.labels import Condition
from everlog.plans.sweeps import Most, Sweep, SweepReport, SweepVariant


class SweepSteps(Protocol):
    """What an engine does for a sweep."""

    def begin(self, sweep: Sweep) -> None:
        """Forget other sweeps, and queue what this one begins with."""

    def take(self, sweep: Sweep) -> int | None:
        """The queue, or its part of the lowest rank, becomes the frontier: of so many facts; None if nothing waits."""

    def evaluate(self, sweep: Sweep, variants: Sequence[SweepVariant], report: SweepReport, limit: int) -> None:
        """Find the instances of variants, and let them have their effects."""

    def sift(self, sweep: Sweep, survives: Condition) -> None:
        """Take the facts from the frontier that survive."""

    def end_round(self, sweep: Sweep) -> None:
        """What is left of the frontier is done."""

    def bindings(self) -> int:
        """How many bindings this sweep has looked at, where that is counted."""


def run_sweep(steps: SweepSteps, sweep: Sweep, watch: Watch, limit: int, most: Most) -> SweepReport:
    """Run a sweep until nothing waits, or it has done more than it may."""
    report = SweepReport()
    watch.look()
    steps.begin(sweep)
    steps.evaluate(sweep, sweep.first, report, 0)
    while (taken := steps.take(sweep)) is not None:
        report.rounds += 1
        report.worked_on += taken
        watch.check(rounds=report.rounds, facts=0)
        steps.evaluate(sweep, sweep.check, report, limit)
        if sweep.survives is not None:
            steps.sift(sweep, sweep.survives)
        steps.evaluate(sweep, sweep.loop, report, limit)
        steps.end_round(sweep)
        if (most.facts and report.worked_on > most.facts) or (most.bindings and steps.bindings() > most.bindings):
            report.stopped = True
            break
    return report
