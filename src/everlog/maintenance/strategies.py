"""Which strategy brings a component up to date, and why?

Each strategy is a file of its own. A strategy that a user asks for is used wherever it fits: `counting` needs a
component without recursion, `ranked` and `bf-counting` one with recursion, and bags are always counted, since nothing
else knows multiplicities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from everlog.engines.interface import Flow, MaintainingEngine
from everlog.errors import UsageError
from everlog.limits import Watch
from everlog.maintenance import bf, bf_counting, counting, dred, ranked, rematerialise
from everlog.maintenance.choose import better_again, hardly_any_choice
from everlog.maintenance.component import MaintainedComponent
from everlog.maintenance.reports import ComponentReport
from everlog.plans.sweeps import Marks

Maintain = Callable[[MaintainingEngine, MaintainedComponent, Watch, ComponentReport], None]

STRATEGIES: dict[str, Maintain] = {
    "counting": counting.maintain,
    "bf": bf.maintain,
    "bf-counting": bf_counting.maintain,
    "ranked": ranked.maintain,
    "dred": dred.maintain,
    "rematerialise": rematerialise.maintain,
}
CHOOSE = "choose"
MARKS = {"bf": Marks.EXPLICIT, "dred": Marks.ANY}
"""Strategies that can begin with facts which the update before has marked."""
NAMES = (CHOOSE, *STRATEGIES)


def check_strategy(name: str) -> str:
    """The name of a strategy, or an error that lists them."""
    if name not in NAMES:
        raise UsageError(f"there is no strategy {name!r}", hint=f"one of: {', '.join(NAMES)}")
    return name


def takes_marks(name: str) -> bool:
    """Can a strategy begin with facts that the update before has marked?"""
    return name in MARKS


def pick(
    engine: MaintainingEngine, component: MaintainedComponent, wanted: str, changed: Mapping[str, Flow]
) -> tuple[str, str]:
    """The strategy for a component in this update, and the reason where it is not the one asked for."""
    if wanted == CHOOSE and (reason := better_again(engine, component, changed)):
        return "rematerialise", reason
    if component.refuted_relations() & set(changed):
        return "rematerialise", "a condition inside NOT depends on the rule's own recursion"
    if any(rule.refuted for rule in component.removed):
        return "rematerialise", "a removed rule has a condition inside NOT that depends on its own recursion"
    if not component.recursive:
        if component.bag or wanted not in ("bf", "dred", "rematerialise"):
            if component.known.weights:
                return "counting", ""
            if component.bag:
                return "rematerialise", "counts were not kept by the strategy used before"
            none = "there are no counts, since a strategy or a rule before had no use for them"
            # Ranks hold in a component without recursion, but a rule that goes may have recursed by ranks that do not.
            return "dred" if component.removed and not component.known.ranks else "ranked", none
        return wanted, ""
    if wanted == CHOOSE and hardly_any_choice(engine, component):
        return "dred", "nearly every fact has one derivation"
    if wanted in (CHOOSE, "counting"):
        wanted = "ranked"
    if wanted in ("bf", "bf-counting") and component.mixed:
        return "dred", f"{wanted} would have to tell this component's facts from those of others"
    if wanted == "ranked" and not component.known.ranks:
        return "rematerialise", "ranks were not kept by the strategy used before"
    return wanted, ""


def note_what_holds(component: MaintainedComponent, strategy: str) -> None:
    """After a strategy has run: which of the knowledge beside the facts is still true?"""
    known = component.known
    known.counts = strategy == "bf-counting"
    known.weights = strategy in ("counting", "rematerialise") or (component.recursive and known.weights)
    if strategy in ("bf", "bf-counting"):
        known.ranks = False  # a proved fact may now rest on facts of higher rank
    elif strategy == "rematerialise":
        known.ranks = True
