"""What did updates cost, in counts that no machine changes?

By name: rule applications of each phase (`deletion`, …), those among them whose head was new to the set that the phase
makes (`new deletion`, …: what the marking paper counts), facts touched, rounds, and marked facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from everlog.store.changes import Change

PHASES = ("deletion", "backward", "forward", "insertion")
MARKS = ("marked_explicit", "marked_implicit")
NAMES = (*PHASES, *(f"new {phase}" for phase in PHASES), "touched", "rounds", *MARKS)


def counted(changes: Iterable[Change]) -> dict[str, int]:
    """All that the reports of some changes count, summed over components and changes."""
    found: Counter[str] = Counter(dict.fromkeys(NAMES, 0))
    for change in changes:
        report = change.report.as_data()
        found.update({name: report[name] for name in MARKS})
        for component in report["components"]:
            found.update(_of_component(component))
    return dict(found)


def strategies(change: Change) -> list[str]:
    """The strategies that an update was maintained with, each once."""
    report = change.report.as_data()
    return list(dict.fromkeys(each.get("strategy", report["strategy"]) for each in report["components"]))


def _of_component(component: dict[str, Any]) -> dict[str, int]:
    applications, effects = component["rule_applications"], component.get("effects", {})
    if isinstance(applications, int):  # derived from nothing: all of it is insertion
        applications = {"insertion": applications}
        effects = {"insertion": sum(component["gained"].values())}
    found = {phase: applications.get(phase, 0) for phase in PHASES}
    found |= {f"new {phase}": effects.get(phase, 0) for phase in PHASES}
    return found | {"touched": component.get("touched", 0), "rounds": component["rounds"]}
