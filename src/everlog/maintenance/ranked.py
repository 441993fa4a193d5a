"""Ranked deletion: one step back instead of a search (DESIGN 6).

Every derived fact that is not explicit has a rule instance all of whose own facts have smaller ranks. A fact is a
candidate when it stops being explicit or loses an instance whose ranks all lie below its own. Candidates are taken in
ascending rank, each once: one that still has an instance over standing facts of smaller rank stays as it is, any other
is suspended, and the heads it helped to derive become candidates. What was suspended is then derived again, with a new
rank, or is lost. Smaller ranks make support well founded, so nothing supports itself in a circle.
"""

from __future__ import annotations

from everlog.engines.interface import MaintainingEngine, Shape
from everlog.limits import Watch
from everlog.maintenance.component import MaintainedComponent
from everlog.maintenance.insertion import insertion, rederivation
from everlog.maintenance.reports import ComponentReport
from everlog.maintenance.strategy import Strategy
from everlog.plans.labels import Bit, Label, having
from everlog.plans.sweep_variants import spreading_instances, supporting_instances
from everlog.plans.sweeps import Begin, Effect, Ranks, Relabel, Sweep

# Facts that are explicit after the update stay in any case, and are no candidates.
_CANDIDATE = Effect(
    require=having(lacking=Bit.ABSENT | Bit.CHECKED | Bit.EXPLICIT), relabel=Relabel(set=Bit.CHECKED), above=True
)
_SUPPORT = Effect(require=having(lacking=Bit.SUPPORTED), relabel=Relabel(set=Bit.SUPPORTED), queue=None)
_NO_LONGER_EXPLICIT = Begin(
    having(Bit.EDITED, lacking=Bit.EXPLICIT | Bit.ABSENT | Bit.CHECKED), Relabel(set=Bit.CHECKED)
)

_ORPHANED = Begin(having(Bit.SUSPECT, lacking=Bit.ABSENT | Bit.CHECKED), Relabel(set=Bit.CHECKED))


def maintain(engine: MaintainingEngine, component: MaintainedComponent, watch: Watch, report: ComponentReport) -> None:
    """Suspend what has lost its support, derive it again or lose it, and take in gains."""
    if not component.recursive:
        for head in component.heads:
            engine.declare(Shape(head.relation, len(head.args), ranked=True))
    if component.orphans:
        report.touched += engine.suspect_derived(component.orphans)
    suspended = report.add(
        "deletion", engine.sweep(component.cached("suspension", _suspension), watch, most=report.most)
    )
    if suspended.stopped:
        report.stopped = True
        return
    if suspended.worked_on:
        report.add("backward", engine.sweep(rederivation(component), watch))
    report.add("insertion", engine.sweep(insertion(component), watch))


def _suspension(component: MaintainedComponent) -> Sweep:
    rules, heads = component.rules, component.heads
    orphans = component.orphans
    removed = [rule for rule in component.removed if not all(head in orphans for head in rule.heads)]
    first = component.lost(rules, _CANDIDATE, Ranks.CARRIED, removed=removed)
    check = [
        variant
        for rule in rules
        for variant in supporting_instances(
            rule,
            heads,
            _SUPPORT,
            seed=Label.FRONTIER,
            own=Label.STANDING,
            others=Label.RETAINED,
            absent=Label.NEVER,
            ranks=Ranks.BELOW_SEED,
            enough=Bit.SUPPORTED,
        )  # fmt: skip
    ]
    loop = [
        variant
        for rule in component.old_rules
        for variant in spreading_instances(
            rule,
            heads,
            _CANDIDATE,
            before=Label.UNTOUCHED,
            after=Label.UNDONE,
            others=Label.RETAINED,
            absent=Label.NEVER,
            ranks=Ranks.CARRIED,
        )  # fmt: skip
    ]
    return Sweep(
        "suspension",
        heads,
        (_NO_LONGER_EXPLICIT, *((_ORPHANED,) if orphans else ())),
        tuple(first),
        tuple(check),
        tuple(loop),
        enter=Relabel(set=Bit.FRONTIER),
        survives=having(Bit.SUPPORTED),
        survivors=Relabel(clear=Bit.FRONTIER),
        others=Relabel(set=Bit.SUSPECT | Bit.ABSENT),
        done=Relabel(set=Bit.DONE, clear=Bit.FRONTIER),
        by_rank=True,
    )


STRATEGY = Strategy("ranked", maintain, needs_ranks=True)
