"""B/F with counts: each fact also keeps its number of derivations by rules that do not recurse (Hu et al. 2018).

A count above zero is a proof, without search. Delta rules keep counts exact, as in `counting`; where there are none
yet, they are counted once, from the state before the update.
"""

from __future__ import annotations

from everlog.engines.interface import MaintainingEngine, Shape
from everlog.limits import Watch
from everlog.maintenance import bf
from everlog.maintenance.component import MaintainedComponent
from everlog.maintenance.insertion import insertion_with_counts
from everlog.maintenance.reports import ComponentReport
from everlog.maintenance.strategy import Strategy
from everlog.plans.labels import Bit, having
from everlog.plans.sweep_variants import full_instances
from everlog.plans.sweeps import Begin, Effect, Relabel, Sweep

_LESS = Effect(create=True, weigh=-1, queue=None)
_MORE = Effect(create=True, weigh=1, queue=None)
_NOT_COUNTED = Begin(
    having(lacking=Bit.WAS_ABSENT | Bit.ABSENT | Bit.EXPLICIT | Bit.SUSPECT), Relabel(set=Bit.SUSPECT), counted=False
)


def maintain(engine: MaintainingEngine, component: MaintainedComponent, watch: Watch, report: ComponentReport) -> None:
    """Adjust the counts, delete what has none and cannot be proved, and take in gains."""
    if not component.known.counts:
        for head in component.heads:
            engine.declare(Shape(head.relation, len(head.args), weighted=True))
        engine.uncount(component.heads)
        engine.sweep(component.cached("counts before", _counts_before), watch)
    report.add("deletion", engine.sweep(component.cached("counts lost", _counts_lost), watch))
    report.add("insertion", engine.sweep(component.cached("counts gained", _counts_gained), watch))
    report.add("deletion", engine.sweep(component.cached("first suspects by count", _losses), watch))
    bf.delete_unproved(engine, component, watch, report, component.cached("proofs by count", _counted_proofs))
    report.add("insertion", engine.sweep(insertion_with_counts(component), watch))


def _counts_before(component: MaintainedComponent) -> Sweep:
    heads = component.heads
    counted = [rule for rule in component.other_rules if rule in component.old_rules]
    first = [full_instances(rule, heads, _MORE, before=True) for rule in counted]
    return Sweep("counts before", heads, first=tuple(first))


def _counts_lost(component: MaintainedComponent) -> Sweep:
    first = component.lost(component.other_rules, _LESS, removed=())  # what those had is not counted
    return Sweep("counts lost", component.heads, first=tuple(first))


def _counts_gained(component: MaintainedComponent) -> Sweep:
    first = component.gained(component.other_rules, _MORE)
    return Sweep("counts gained", component.heads, first=tuple(first))


def _losses(component: MaintainedComponent) -> Sweep:
    return bf.losses_of(component, component.recursive_rules, (_NOT_COUNTED,))


def _counted_proofs(component: MaintainedComponent) -> Sweep:
    return Sweep("proofs by count", component.heads, bf.begins_of_search(by_count=True))


STRATEGY = Strategy("bf-counting", maintain, mixed=False, counts_exits=True, ranks_after=False)
