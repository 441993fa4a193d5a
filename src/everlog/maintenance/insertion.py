"""How does a component take in gains? The last step of every strategy for recursive components.

Semi-naively: from what its inputs gained, from new explicit facts, and from facts that were taken away and are derived
in one step from what remains; then from what is new, until nothing is. Each fact's rank becomes one more than the
largest in the instance that derives it.
"""

from __future__ import annotations

from collections.abc import Sequence

from everlog.maintenance.component import MaintainedComponent
from everlog.plans.flat_rules import FlatRule
from everlog.plans.labels import Bit, Label, having
from everlog.plans.sweep_variants import (
    full_instances,
    spreading_instances,
    supporting_instances,
)
from everlog.plans.sweeps import Begin, Effect, Ranks, Relabel, Sweep, SweepVariant
from everlog.rules.syntax import Atom

CONCLUDE = Effect(require=having(Bit.ABSENT, lacking=Bit.FRESH), relabel=Relabel(set=Bit.FRESH), create=True, rank=True)
_ENTER = Relabel(set=Bit.FRONTIER, clear=Bit.ABSENT | Bit.FRESH)
_LEAVE = Relabel(clear=Bit.FRONTIER)
_EXPLICIT = Begin(having(Bit.EXPLICIT | Bit.ABSENT, lacking=Bit.FRESH), Relabel(set=Bit.FRESH))
_REDERIVED = Begin(having(Bit.FRESH | Bit.ABSENT))
_COUNTED = Begin(having(Bit.ABSENT, lacking=Bit.FRESH), Relabel(set=Bit.FRESH), counted=True)


def insertion(component: MaintainedComponent) -> Sweep:
    """Gains of the inputs, new explicit facts, what was derived again, and all that follows from these."""
    return component.marking("insertion", _insertion)


def _insertion(component: MaintainedComponent) -> Sweep:
    return _sweep(component, "insertion", _gained(component, component.rules))


def insertion_with_counts(component: MaintainedComponent) -> Sweep:
    """The same where a weight above zero says that a fact has a derivation without recursion."""
    return component.cached("insertion with counts", _insertion_with_counts)


def _insertion_with_counts(component: MaintainedComponent) -> Sweep:
    return _sweep(component, "insertion", _gained(component, component.recursive_rules), (_COUNTED,))


def from_scratch(component: MaintainedComponent) -> Sweep:
    """Everything that the rules derive, after all facts of the component were taken away."""
    return component.cached("from scratch", _from_scratch)


def _from_scratch(component: MaintainedComponent) -> Sweep:
    heads = component.heads
    return _sweep(
        component, "insertion", [full_instances(rule, heads, CONCLUDE, Ranks.CARRIED) for rule in component.rules]
    )


def explicit_only(heads: tuple[Atom, ...]) -> Sweep:
    """Restore those of the overdeleted facts that are explicit."""
    return Sweep("explicit", heads, (_EXPLICIT,), enter=_ENTER, done=_LEAVE)


def rederivation(component: MaintainedComponent) -> Sweep:
    """Facts that were taken away and follow in one step from what remains: DRed's step DR4."""
    return component.marking("rederivation", _rederivation)


def _rederivation(component: MaintainedComponent) -> Sweep:
    effect = Effect(CONCLUDE.require, CONCLUDE.relabel, rank=True, queue=None)
    variants = [
        variant
        for rule in component.rules
        for variant in supporting_instances(
            rule,
            component.heads,
            effect,
            seed=Label.OVERDELETED,
            own=Label.NOW,
            others=Label.NOW,
            absent=Label.NOT_NOW,
            ranks=Ranks.CARRIED,
            enough=Bit.FRESH,
        )  # fmt: skip
    ]
    return Sweep("rederivation", component.heads, first=tuple(variants))


def _gained(component: MaintainedComponent, rules: Sequence[FlatRule]) -> list[SweepVariant]:
    return component.gained(rules, CONCLUDE, Ranks.CARRIED)


def _sweep(
    component: MaintainedComponent, name: str, first: Sequence[SweepVariant], begin: tuple[Begin, ...] = ()
) -> Sweep:
    loop = [
        variant
        for rule in component.rules
        for variant in spreading_instances(
            rule,
            component.heads,
            CONCLUDE,
            before=Label.SETTLED,
            after=Label.NOW,
            others=Label.NOW,
            absent=Label.NOT_NOW,
            ranks=Ranks.CARRIED,
        )  # fmt: skip
    ]
    return Sweep(
        name,
        component.heads,
        (_EXPLICIT, *begin, _REDERIVED),
        tuple(first),
        loop=tuple(loop),
        enter=_ENTER,
        done=_LEAVE,
    )
