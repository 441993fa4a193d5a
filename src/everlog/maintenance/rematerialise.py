"""Rematerialise: take away every fact of a component and derive it again."""

from __future__ import annotations

from everlog.engines.interface import MaintainingEngine
from everlog.limits import Watch
from everlog.maintenance import counting
from everlog.maintenance.component import MaintainedComponent
from everlog.maintenance.insertion import from_scratch
from everlog.maintenance.reports import ComponentReport
from everlog.maintenance.strategy import Strategy


def maintain(engine: MaintainingEngine, component: MaintainedComponent, watch: Watch, report: ComponentReport) -> None:
    """Clear and derive again; ranks and weights are then as after a first run."""
    if component.recursive:
        report.touched += engine.overdelete(component.heads)
        report.add("insertion", engine.sweep(from_scratch(component), watch))
    else:
        counting.count_again(engine, component, watch, report)


STRATEGY = Strategy("rematerialise", maintain, flat=True, counts_all=True, ranks_after=True)
