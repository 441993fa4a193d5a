"""DRed: overdelete, rederive, insert (Gupta, Mumick and Subrahmanian 1993).

With both refinements of Motik et al. (2015, section 3): in overdeletion an atom before the frontier's reads
I \\ (O ∪ N) and one after it I \\ O, and in insertion atoms before it read I \\ N, so that no instance is found twice.
"""

from __future__ import annotations

from everlog.engines.interface import MaintainingEngine
from everlog.limits import Watch
from everlog.maintenance.component import MaintainedComponent
from everlog.maintenance.insertion import insertion, rederivation
from everlog.maintenance.reports import ComponentReport
from everlog.maintenance.strategy import Strategy
from everlog.plans.labels import Bit, Label, having
from everlog.plans.sweep_variants import spreading_instances
from everlog.plans.sweeps import Begin, Effect, Marks, Relabel, Sweep

SUSPECT = Effect(require=having(lacking=Bit.WAS_ABSENT | Bit.SUSPECT), relabel=Relabel(set=Bit.SUSPECT))
NO_LONGER_EXPLICIT = Begin(
    having(Bit.EDITED, lacking=Bit.EXPLICIT | Bit.WAS_ABSENT | Bit.SUSPECT), Relabel(set=Bit.SUSPECT)
)
MARKED_BEFORE = Begin(having(Bit.SUSPECT, lacking=Bit.FRONTIER | Bit.DONE))


def maintain(engine: MaintainingEngine, component: MaintainedComponent, watch: Watch, report: ComponentReport) -> None:
    """Take away all that depends on a loss, derive again what still follows, and take in gains."""
    overdeleted = report.add("deletion", engine.sweep(component.cached("overdeletion", _overdeletion), watch))
    if overdeleted.worked_on:
        report.add("backward", engine.sweep(rederivation(component), watch))
    report.add("insertion", engine.sweep(insertion(component), watch))


def _overdeletion(component: MaintainedComponent) -> Sweep:
    heads = component.heads
    first = component.lost(component.rules, SUSPECT)
    loop = [
        variant
        for rule in component.old_rules
        for variant in spreading_instances(
            rule, heads, SUSPECT, before=Label.UNTOUCHED, after=Label.UNDONE, others=Label.RETAINED, absent=Label.NEVER
        )
    ]
    return Sweep(
        "overdeletion",
        heads,
        (NO_LONGER_EXPLICIT, MARKED_BEFORE),
        tuple(first),
        loop=tuple(loop),
        enter=Relabel(set=Bit.FRONTIER),
        done=Relabel(set=Bit.DONE | Bit.ABSENT, clear=Bit.FRONTIER),
    )


STRATEGY = Strategy("dred", maintain, flat=True, marks=Marks.ANY)
