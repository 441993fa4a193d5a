"""Counting: a fact's weight is its number of derivations, and delta rules keep it exact.

For components without recursion, sets and bags alike: an instance that was lost takes one away, one that was gained
adds one, and a fact is there while it is explicit or its weight is above zero.
"""

from __future__ import annotations

from everlog.engines.interface import MaintainingEngine
from everlog.limits import Watch
from everlog.maintenance.component import MaintainedComponent
from everlog.maintenance.reports import ComponentReport
from everlog.maintenance.strategy import Strategy
from everlog.plans.sweep_variants import full_instances
from everlog.plans.sweeps import Effect, Sweep

_LESS = Effect(create=True, weigh=-1, queue=None)
_MORE = Effect(create=True, weigh=1, queue=None)


def maintain(engine: MaintainingEngine, component: MaintainedComponent, watch: Watch, report: ComponentReport) -> None:
    """Bring the weights of a component in line with the change of what it reads."""
    report.add("deletion", engine.sweep(component.cached("losses", _losses), watch))
    report.add("insertion", engine.sweep(component.cached("gains", _gains), watch))


def count_again(
    engine: MaintainingEngine, component: MaintainedComponent, watch: Watch, report: ComponentReport
) -> None:
    """Count all derivations of a component anew."""
    report.touched += engine.overdelete(component.heads)
    report.add("insertion", engine.sweep(component.cached("all instances", _all), watch))


def _losses(component: MaintainedComponent) -> Sweep:
    return Sweep("losses", component.heads, first=tuple(component.lost(component.rules, _LESS)))


def _gains(component: MaintainedComponent) -> Sweep:
    return Sweep("gains", component.heads, first=tuple(component.gained(component.rules, _MORE)))


def _all(component: MaintainedComponent) -> Sweep:
    heads = component.heads
    return Sweep("all instances", heads, first=tuple(full_instances(rule, heads, _MORE) for rule in component.rules))


STRATEGY = Strategy("counting", maintain, recursive=False, counts_all=True)
