"""Backward/Forward: candidates for deletion are proved from what remains, or deleted (Motik et al. 2015).

The paper's Algorithms 1 to 3, a set at a time. Facts of D are examined batch by batch. A batch is checked (its
Algorithm 2): rule instances that may support an unproved fact are looked up, and the facts in their bodies are checked
too; forward chaining from what is proved (Algorithm 3) goes on in between. What stays unproved when all its instances
have been looked at is disproved, and the consequences of disproved facts of D join D.

Two things differ from working fact by fact. An unproved fact looks at a few instances first and at more each round, so
that a fact with an easy proof does not drag in its whole support. And facts of lower components need no search:
they are present or not, so a fact with an instance over them alone is proved at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from everlog.engines.interface import MaintainingEngine
from everlog.limits import Watch
from everlog.maintenance.component import MaintainedComponent
from everlog.maintenance.insertion import insertion
from everlog.maintenance.reports import ComponentReport
from everlog.maintenance.strategy import Strategy
from everlog.plans.flat_rules import FlatRule
from everlog.plans.labels import Bit, Label, having
from everlog.plans.sweep_variants import spreading_instances, supporting_instances
from everlog.plans.sweeps import Begin, Effect, Marks, Relabel, Sweep

# What was checked is proved, or disproved and suspect already.
SUSPECT = Effect(
    require=having(lacking=Bit.WAS_ABSENT | Bit.SUSPECT | Bit.CHECKED), relabel=Relabel(set=Bit.SUSPECT), queue=None
)
_CHECK = Effect(require=having(lacking=Bit.WAS_ABSENT | Bit.CHECKED), relabel=Relabel(set=Bit.CHECKED), queue=None)
_PROVE = Effect(require=having(lacking=Bit.SUPPORTED), relabel=Relabel(set=Bit.SUPPORTED), queue=None)
_FOLLOW = Effect(
    require=having(lacking=Bit.WAS_ABSENT | Bit.SUPPORTED),
    relabel=Relabel(set=Bit.SUPPORTED),
    queue=having(Bit.CHECKED),
)
_NO_LONGER_EXPLICIT = Begin(
    having(Bit.EDITED, lacking=Bit.EXPLICIT | Bit.WAS_ABSENT | Bit.SUSPECT), Relabel(set=Bit.SUSPECT)
)
_IN_ROUND = Relabel(set=Bit.FRONTIER)
_FIRST_LOOK = 4  # rule instances per rule that an unproved fact looks at first …
_WIDER = 4  # … and the factor by which that grows in each further round


def maintain(engine: MaintainingEngine, component: MaintainedComponent, watch: Watch, report: ComponentReport) -> None:
    """Delete what cannot be proved any more, and take in gains."""
    report.add("deletion", engine.sweep(component.cached("first suspects", _losses), watch))
    delete_unproved(engine, component, watch, report, component.marking("easy proofs", _easy_proofs))
    report.add("insertion", engine.sweep(insertion(component), watch))


def delete_unproved(
    engine: MaintainingEngine, component: MaintainedComponent, watch: Watch, report: ComponentReport, easy: Sweep
) -> None:
    """Algorithm 1 from its line 3 on: examine D until no fact in it is left to examine."""
    spread = component.cached("deletion", _spread)
    while _search(engine, component, watch, report, easy):
        if not report.add("deletion", engine.sweep(spread, watch)).worked_on:
            break
    engine.sweep(component.cached("conclusion", _conclusion), watch)


def _search(
    engine: MaintainingEngine, component: MaintainedComponent, watch: Watch, report: ComponentReport, easy: Sweep
) -> bool:
    """Prove or disprove the facts of D that were not checked yet; returns whether some were disproved."""
    saturate, ask = component.marking("forward", _saturate), component.cached("backward", _ask)
    limit = _FIRST_LOOK
    while report.add("backward", engine.sweep(easy, watch)).worked_on or limit > _FIRST_LOOK:
        if not component.recursive_rules:
            break
        report.add("forward", engine.sweep(saturate, watch))
        asked = report.add("backward", engine.sweep(ask, watch, limit))
        if not asked.worked_on:
            break
        if not asked.effects:
            limit *= _WIDER
    return engine.sweep(component.cached("disproof", _disproof), watch).worked_on > 0


def _losses(component: MaintainedComponent) -> Sweep:
    return losses_of(component, component.rules, (_NO_LONGER_EXPLICIT,))


def losses_of(component: MaintainedComponent, rules: Sequence[FlatRule], begin: tuple[Begin, ...]) -> Sweep:
    """What the change of the inputs makes suspect directly."""
    return Sweep("first suspects", component.heads, begin, tuple(component.lost(rules, SUSPECT)))


def _spread(component: MaintainedComponent) -> Sweep:
    """Lines 6 to 10: consequences of facts of D that were not proved."""
    loop = [
        variant
        for rule in component.old_rules
        for variant in spreading_instances(
            rule,
            component.heads,
            SUSPECT,
            before=Label.UNTOUCHED,
            after=Label.UNDONE,
            others=Label.RETAINED,
            absent=Label.NEVER,
        )  # fmt: skip
    ]
    return Sweep(
        "deletion",
        component.heads,
        (Begin(having(Bit.SUSPECT | Bit.DISPROVED, lacking=Bit.DONE)),),
        loop=tuple(loop),
        enter=_IN_ROUND,
        done=Relabel(set=Bit.DONE, clear=Bit.FRONTIER),
    )


def begins_of_search(*, by_count: bool) -> tuple[Begin, ...]:
    """Facts that become checked or were just checked: explicit ones are proved, and so are those with easy proofs."""
    tried, proved = Bit.CHECKED | Bit.TRIED, Bit.CHECKED | Bit.TRIED | Bit.SUPPORTED
    suspect, asked = having(Bit.SUSPECT, lacking=Bit.CHECKED), having(Bit.CHECKED, lacking=Bit.TRIED)
    explicit = (
        Begin(having(Bit.SUSPECT | Bit.EXPLICIT, lacking=Bit.CHECKED), Relabel(set=proved)),
        Begin(having(Bit.CHECKED | Bit.EXPLICIT, lacking=Bit.TRIED), Relabel(set=proved)),
    )
    counted = (
        (Begin(suspect, Relabel(set=proved), counted=True), Begin(asked, Relabel(set=proved), counted=True))
        if by_count
        else ()
    )
    return (*explicit, *counted, Begin(suspect, Relabel(set=tried)), Begin(asked, Relabel(set=tried)))


def _easy_proofs(component: MaintainedComponent) -> Sweep:
    check = [
        variant
        for rule in component.other_rules
        for variant in supporting_instances(
            rule,
            component.heads,
            _PROVE,
            seed=Label.FRONTIER,
            own=Label.RETAINED,
            others=Label.RETAINED,
            absent=Label.NEVER,
            enough=Bit.SUPPORTED,
        )  # fmt: skip
    ]
    return Sweep(
        "easy proofs",
        component.heads,
        begins_of_search(by_count=False),
        check=tuple(check),
        enter=_IN_ROUND,
        done=Relabel(clear=Bit.FRONTIER),
    )


def _saturate(component: MaintainedComponent) -> Sweep:
    """Algorithm 3: what follows from proved facts is proved if it is checked, and remembered if it is not."""
    loop = [
        variant
        for rule in component.recursive_rules
        for variant in spreading_instances(
            rule,
            component.heads,
            _FOLLOW,
            before=Label.PROVED_BEFORE,
            after=Label.PROVED,
            others=Label.RETAINED,
            absent=Label.NEVER,
        )  # fmt: skip
    ]
    return Sweep(
        "forward",
        component.heads,
        (Begin(having(Bit.CHECKED | Bit.SUPPORTED, lacking=Bit.EXPANDED)),),
        loop=tuple(loop),
        enter=Relabel(set=Bit.FRONTIER | Bit.EXPANDED),
        done=Relabel(clear=Bit.FRONTIER),
    )


def _ask(component: MaintainedComponent) -> Sweep:
    """Lines 15 to 18: the facts in the bodies of instances that may support an unproved fact are checked."""
    check = [
        variant
        for rule in component.recursive_rules
        for variant in supporting_instances(
            rule,
            component.heads,
            _CHECK,
            seed=Label.FRONTIER,
            own=Label.UNREFUTED,
            others=Label.RETAINED,
            absent=Label.NEVER,
            enough=Bit.SATED,
            ask=True,
        )  # fmt: skip
    ]
    return Sweep(
        "backward",
        component.heads,
        (Begin(having(Bit.CHECKED, lacking=Bit.SUPPORTED | Bit.ASKED)),),
        check=tuple(check),
        enter=_IN_ROUND,
        survives=having(Bit.SATED),
        survivors=Relabel(clear=Bit.SATED | Bit.FRONTIER),
        others=Relabel(set=Bit.ASKED),
        done=Relabel(clear=Bit.FRONTIER),
    )


def _disproof(component: MaintainedComponent) -> Sweep:
    """Line 5: what was checked and not proved is disproved, and so it is to be deleted."""
    begin = Begin(having(Bit.CHECKED, lacking=Bit.SUPPORTED | Bit.DISPROVED), Relabel(set=Bit.DISPROVED | Bit.SUSPECT))
    return Sweep("disproof", component.heads, (begin,))


def _conclusion(component: MaintainedComponent) -> Sweep:
    """Line 11: facts of D that were not proved are gone. Bits that mean something else to insertion are cleared."""
    gone = Begin(having(Bit.SUSPECT | Bit.DISPROVED), Relabel(set=Bit.ABSENT, clear=Bit.TRIED))
    return Sweep("conclusion", component.heads, (gone, Begin(having(Bit.TRIED), Relabel(clear=Bit.TRIED))))


# A proved fact may rest on facts of higher rank.
STRATEGY = Strategy("bf", maintain, flat=True, mixed=False, marks=Marks.EXPLICIT, ranks_after=False)
