"""Which strategy brings a component up to date, and why?

Each strategy is a file of its own. A strategy that a user asks for is used wherever it fits: `counting` needs a
component without recursion, `ranked` and `bf-counting` one with recursion, and bags are always counted, since nothing
else knows multiplicities.
"""

from __future__ import annotations

from collections.abc import Mapping

from everlog.engines.interface import Flow, MaintainingEngine
from everlog.errors import UsageError
from everlog.maintenance import bf, bf_counting, counting, dred, ranked, rematerialise
from everlog.maintenance.choose import better_again, hardly_any_choice
from everlog.maintenance.component import MaintainedComponent
from everlog.maintenance.strategy import Strategy
from everlog.plans.sweeps import Marks

COUNTING, RANKED, DRED, REMATERIALISE = counting.STRATEGY, ranked.STRATEGY, dred.STRATEGY, rematerialise.STRATEGY
STRATEGIES: dict[str, Strategy] = {
    each.name: each for each in (COUNTING, bf.STRATEGY, bf_counting.STRATEGY, RANKED, DRED, REMATERIALISE)
}
CHOOSE = "choose"
NAMES = (CHOOSE, *STRATEGIES)


def check_strategy(name: str) -> str:
    """The name of a strategy, or an error that lists them."""
    if name not in NAMES:
        raise UsageError(f"there is no strategy {name!r}", hint=f"one of: {', '.join(NAMES)}")
    return name


def marks_of(name: str) -> Marks:
    """The facts marked by the update before that a strategy can begin with."""
    return STRATEGIES[name].marks if name in STRATEGIES else Marks.NONE


def pick(
    engine: MaintainingEngine, component: MaintainedComponent, wanted: str, changed: Mapping[str, Flow]
) -> tuple[Strategy, str]:
    """The strategy for a component in this update, and the reason where it is not the one asked for."""
    if wanted == CHOOSE and (reason := better_again(engine, component, changed)):
        return REMATERIALISE, reason
    if component.refuted_relations() & set(changed):
        return REMATERIALISE, "a condition inside NOT depends on the rule's own recursion"
    if any(rule.refuted for rule in component.removed):
        return REMATERIALISE, "a removed rule has a condition inside NOT that depends on its own recursion"
    asked = STRATEGIES.get(wanted)
    if not component.recursive:
        return _pick_without_recursion(component, asked)
    if wanted == CHOOSE and hardly_any_choice(engine, component):
        return DRED, "nearly every fact has one derivation"
    if asked is None or not asked.recursive:
        asked = RANKED
    if not asked.mixed and component.mixed:
        return DRED, f"{asked.name} would have to tell this component's facts from those of others"
    if asked.needs_ranks and not component.known.ranks:
        return REMATERIALISE, "ranks were not kept by the strategy used before"
    return asked, ""


def _pick_without_recursion(component: MaintainedComponent, asked: Strategy | None) -> tuple[Strategy, str]:
    if asked is not None and asked.flat and not component.bag:
        return asked, ""
    if component.known.weights:
        return COUNTING, ""
    if component.bag:
        return REMATERIALISE, "counts were not kept by the strategy used before"
    none = "there are no counts, since a strategy or a rule before had no use for them"
    # Ranks hold in a component without recursion, but a rule that goes may have recursed by ranks that do not.
    return DRED if component.removed and not component.known.ranks else RANKED, none
