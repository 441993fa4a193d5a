"""What did it take to bring a component up to date?

Counted in rule applications, rounds and facts, which do not depend on the machine. The phases are the papers': deletion
(what may a loss take away?), backward (is there a reason to keep it?), forward (what do proofs imply?), insertion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from everlog.engines.interface import PhaseReport
from everlog.plans.sweeps import NO_BOUND, Most, SweepReport

# Components done, components in all, and what the last one took.
Progress = Callable[[int, int, "PhaseReport | ComponentReport"], None]

PHASES = ("deletion", "backward", "forward", "insertion")


@dataclass
class PhaseCount:
    """Rule instances found in a phase, those among them that had an effect, and the facts worked on."""

    applications: int = 0
    effects: int = 0
    facts: int = 0


@dataclass
class ComponentReport:
    """How one component was maintained."""

    name: str
    strategy: str = ""
    reason: str = ""
    rounds: int = 0
    touched: int = 0
    marked: int = 0  # derived facts that were marked for the next update
    phases: dict[str, PhaseCount] = field(default_factory=dict)
    gained: dict[str, int] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    most: Most = NO_BOUND  # work that a deletion may do before it stops
    stopped: bool = False

    def add(self, phase: str, report: SweepReport) -> SweepReport:
        """Count a sweep under one of the phases."""
        count = self.phases.setdefault(phase, PhaseCount())
        count.applications += report.applications
        count.effects += report.effects
        count.facts += report.worked_on
        self.rounds += report.rounds
        self.touched += report.effects
        self.marked += report.marked
        return report

    @property
    def rule_applications(self) -> int:
        return sum(count.applications for count in self.phases.values())

    def as_data(self) -> dict[str, Any]:
        return {
            "component": self.name,
            "strategy": self.strategy,
            "reason": self.reason,
            "rounds": self.rounds,
            "rule_applications": {phase: count.applications for phase, count in self.phases.items()},
            "effects": {phase: count.effects for phase, count in self.phases.items()},
            "touched": self.touched,
            "marked": self.marked,
            "gained": self.gained,
            "lost": self.lost,
            "seconds": round(self.seconds, 6),
        }

    def __str__(self) -> str:
        work = ", ".join(f"{phase} {count.applications:,}" for phase, count in self.phases.items())
        return (
            f"{self.name}: {self.strategy}{f' ({self.reason})' if self.reason else ''}; {work or 'no rule applied'};"
            f" {self.rounds} rounds, {self.touched:,} facts touched, {1000 * self.seconds:.2f} ms"
        )
