"""What did an update change?

A change is a weighted set of facts with a version: gained facts count +1, lost ones -1. An update returns it, and later
the log stores it and subscribers receive it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from everlog.engines.interface import PhaseReport
from everlog.facts.terms import Term
from everlog.maintenance.reports import ComponentReport
from everlog.rules.affected import affected_names
from everlog.rules.syntax import Rule
from everlog.store.rows import Rows


@dataclass
class Report:
    """What the update took, component by component, and what of it had no effect."""

    phases: Sequence[PhaseReport | ComponentReport] = ()
    strategy: str = "rematerialise"
    inserted: int = 0  # explicit facts that were not explicit before
    deleted: int = 0
    already_there: int = 0  # inserts without effect
    not_there: int = 0  # deletes without effect
    marked_explicit: int = 0  # facts that the next update takes away, seen while this one worked
    marked_implicit: int = 0  # facts that may go with them
    seconds: float = 0.0
    rules: tuple[Sequence[Rule], Sequence[Rule]] = ((), ())  # before and after, where they have changed
    rebuilt: str = ""  # why everything was derived again, where a change of rules came to that

    @property
    def directly_affected(self) -> Sequence[str]:
        """Components that have gained, lost, merged or split rules, by their names, in the order of evaluation."""
        return self._affected[0]

    @property
    def indirectly_affected(self) -> Sequence[str]:
        """Components downstream of those, and of rules that went with their whole component."""
        return self._affected[1]

    @cached_property
    def _affected(self) -> tuple[Sequence[str], Sequence[str]]:
        return affected_names(*self.rules)  # found when somebody asks: an update need not wait for it

    @property
    def rule_applications(self) -> int:
        return sum(phase.rule_applications for phase in self.phases)

    @property
    def rounds(self) -> int:
        return sum(phase.rounds for phase in self.phases)

    def strategies(self) -> list[str]:
        """By which strategies the components that were touched were kept true."""
        return [phase.strategy if isinstance(phase, ComponentReport) else self.strategy for phase in self.phases]

    def as_data(self) -> dict[str, Any]:
        return {
            "strategy": self.strategy,
            "inserted": self.inserted,
            "deleted": self.deleted,
            "already_there": self.already_there,
            "not_there": self.not_there,
            "rule_applications": self.rule_applications,
            "rounds": self.rounds,
            "marked_explicit": self.marked_explicit,
            "marked_implicit": self.marked_implicit,
            "seconds": round(self.seconds, 6),
            "directly_affected": list(self.directly_affected),
            "indirectly_affected": list(self.indirectly_affected),
            "rebuilt": self.rebuilt,
            "components": [phase.as_data() for phase in self.phases],
        }

    def __str__(self) -> str:
        sum_up = (
            f"{self.strategy}: {self.inserted:,} facts inserted, {self.deleted:,} deleted; {self.rule_applications:,}"
            f" rule applications in {self.rounds:,} rounds, {1000 * self.seconds:.2f} ms"
        )
        affected = []
        if self.directly_affected or self.indirectly_affected:
            direct, indirect = "; ".join(self.directly_affected), "; ".join(self.indirectly_affected)
            affected = [f"  directly affected: {direct or 'none'}", f"  indirectly affected: {indirect or 'none'}"]
        again = [f"  all derived again: {self.rebuilt}"] if self.rebuilt else []
        return "\n".join([sum_up, *affected, *again, *(f"  {phase}" for phase in self.phases)])


class Change:
    """Facts gained and lost between two versions."""

    def __init__(
        self,
        version: int,
        gained: Mapping[str, Rows],
        lost: Mapping[str, Rows],
        report: Report,
        *,
        updates: int = 1,
    ) -> None:
        self.version = version
        self.updates = updates  # how many updates of a stream it is the net effect of
        self.report = report
        self._gained, self._lost = dict(gained), dict(lost)

    def gained(self, relation: str) -> list[tuple[Term, ...]]:
        """Facts of a relation that were not there before, in order."""
        rows = self._gained.get(relation)
        return rows.sorted() if rows is not None else []

    def lost(self, relation: str) -> list[tuple[Term, ...]]:
        """Facts of a relation that are no longer there, in order."""
        rows = self._lost.get(relation)
        return rows.sorted() if rows is not None else []

    def counts(self) -> dict[str, tuple[int, int]]:
        """How many facts each changed relation gained and lost, by name."""
        names = sorted({*self._gained, *self._lost})
        return {name: (len(self._gained.get(name, ())), len(self._lost.get(name, ()))) for name in names}

    def __bool__(self) -> bool:
        return bool(self._gained or self._lost)

    def __repr__(self) -> str:
        parts = [f"{name} +{gained:,} -{lost:,}" for name, (gained, lost) in self.counts().items()]
        return f"<Change to version {self.version}: {', '.join(parts) or 'nothing'}>"
