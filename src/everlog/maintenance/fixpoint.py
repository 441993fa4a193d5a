"""How does a phase run to its fixpoint?

The one loop of the system: rounds until nothing is new, limits, statistics. An engine may run a whole phase by itself;
for any other the rounds are driven from here.
"""

from __future__ import annotations

import time
from collections import Counter

from everlog.engines.interface import Engine, Phase, PhaseReport
from everlog.limits import Watch


def run_phase(engine: Engine, phase: Phase, watch: Watch) -> PhaseReport:
    """Run a phase to its fixpoint."""
    started = time.perf_counter()
    report = engine.run(phase, watch)
    if report is None:
        report = _run_round_by_round(engine, phase, watch)
    report.seconds = time.perf_counter() - started
    return report


def _run_round_by_round(engine: Engine, phase: Phase, watch: Watch) -> PhaseReport:
    report = PhaseReport(phase.name)
    total: Counter[str] = Counter()
    engine.begin(phase.relations)
    variants = phase.first
    while True:
        report.rounds += 1
        report.rule_applications += engine.derive(variants)
        gained = engine.advance(phase.relations)
        total.update(gained)
        watch.check(rounds=report.rounds, facts=total.total())
        if not any(gained.values()) or not phase.loop:
            break
        variants = phase.loop
    report.gained = dict(total)
    return report
