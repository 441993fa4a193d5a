"""Choose: maintain where that is less work than deriving again, and notice when it is not.

Deriving a component again costs about what its facts cost. Maintenance costs about what it touches, which is known only
afterwards; but a change that takes away a good part of what the component reads touches a good part of its facts. So a
large share of losses decides at once, and otherwise ranked deletion begins and is stopped when it has suspended a good
part of the component: from there on deriving again is less work. Where nearly every fact has a single derivation,
there is no other one to look for, and DRed, which does not look, is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping

from everlog.engines.interface import Flow, MaintainingEngine
from everlog.maintenance.component import MaintainedComponent
from everlog.plans.join_order import expected_work
from everlog.plans.sweeps import Most

_LOSSES = 0.25  # losing this share of a relation is assumed to affect most of what follows from it
_COUNTED_CHANGES = 0.6  # the same for gains and losses together, where derivations are counted
# Examining a fact takes about 8 times as long as deriving it anew, and 25 times as long as one of its rule instances.
_LOOKS_PER_FACT, _LOOKS_PER_INSTANCE = 0.06, 0.023  # facts to examine before deletion is given up …
_INSTANCES = 0.3  # … and rule instances, as a share of those that deriving the component took
_ONE_EACH = 1.15  # rule instances per fact up to which hardly any fact has a second derivation
_FEW = 5_000  # facts; below this, choosing another strategy does not pay


def better_again(engine: MaintainingEngine, component: MaintainedComponent, changed: Mapping[str, Flow]) -> str:
    """Why the component should be derived again; empty if it should be maintained."""
    if component.removed and not component.old_rules:
        return "none of its rules was there before"
    if component.removed and not component.bag and _more_goes_than_stays(engine, component):
        return "the rules that go have more instances than those that stay"
    for relation in component.read_relations:
        flow = changed.get(relation)
        if flow is None:
            continue
        before = engine.count_before(relation)
        touched, most = (flow.lost, _LOSSES) if component.recursive else (flow.lost + flow.gained, _COUNTED_CHANGES)
        if touched > _FEW and touched > most * before:
            return f"{touched / before:.0%} of {relation} changed" if before else f"all of {relation} is new"
    return ""


def hardly_any_choice(engine: MaintainingEngine, component: MaintainedComponent) -> bool:
    """Does nearly every fact have a single derivation, so that whatever depends on a loss is lost?"""
    facts = sum(engine.count_before(relation) for relation in component.defined_relations)
    return facts > _FEW and 0 < component.known.derivations < _ONE_EACH * facts


def _more_goes_than_stays(engine: MaintainingEngine, component: MaintainedComponent) -> bool:
    """Is examining what removed rules derived more work than deriving everything with the others?"""
    if sum(engine.count_before(relation) for relation in component.defined_relations) < _FEW:
        return False
    statistics = engine.statistics()
    goes, stays = (
        sum(expected_work(rule, statistics) for rule in rules) for rules in (component.removed, component.rules)
    )
    return goes > stays


def most_work(engine: MaintainingEngine, component: MaintainedComponent) -> Most:
    """How much work on suspended facts costs as much as deriving the component again?"""
    facts = sum(engine.count_before(relation) for relation in component.defined_relations)
    instances = max(component.known.derivations, facts)
    lost = sum(
        engine.count_before(relation) for relation in component.relations_that_go()
    )  # they are lost whatever is done
    looks = int(_LOOKS_PER_FACT * facts + _LOOKS_PER_INSTANCE * instances)
    return Most(max(_FEW, looks) + lost, max(10 * _FEW, int(_INSTANCES * instances)) + lost)
