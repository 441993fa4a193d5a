"""What do components know after a change of rules, and what have they to do?

A rule that is added brings its instances over what is there now, as gains. A rule that is removed takes away the
instances it had before the update, as losses. Both are changes like any other for the strategy of the component that
owns their heads, so nothing else is redone. Three things need thought:

*Facts without an owner.* What only removed rules concluded is cleared: it is there if and only if it is explicit.

*Weights.* Where a component without recursion was one before, its counts are exact and stay so. A component that has
just stopped being recursive has no counts, and is kept true by ranks, which hold in any component without recursion.

*Ranks.* A component that merges others must have them in order: what one reads from another had no rank for it, and has
one now. So the ranks of each are lifted above those of the ones before it, in the old order of evaluation. A component
that is split keeps its ranks: what is now read from others counts as lower than any rank.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from everlog.engines.interface import MaintainingEngine
from everlog.maintenance.component import Kept, MaintainedComponent
from everlog.maintenance.program import ProgramChange
from everlog.plans.flat_rules import EvaluatedRule, FlatRule, GroupRule
from everlog.plans.sweep_variants import covers
from everlog.rules.dependencies import AtomIndex
from everlog.rules.syntax import Atom

_HIGHEST_RANK = 1 << 30  # half of what engines can store

Group = tuple[int, ...]  # the numbers of a component's rules


@dataclass
class Lifts:
    """Old components whose ranks are to come one above the other, and the new components that merge some of them."""

    merged: dict[int, MaintainedComponent] = field(default_factory=dict)  # by their place in the old order
    into: list[MaintainedComponent] = field(default_factory=list)

    def apply(self, engine: MaintainingEngine) -> None:
        above = 1  # explicit facts that nobody owned have rank 0
        for _, component in sorted(self.merged.items()):
            above = engine.lift(component.heads, above) + 1
            if above > _HIGHEST_RANK:
                for new in self.into:
                    new.kept.ranks = False
                return


@dataclass(frozen=True)
class Transition:
    """The components of the new program, on the way there."""

    components: dict[Group, MaintainedComponent]
    cleared: tuple[Atom, ...]  # heads that no rule has any more
    lifts: Lifts

    @property
    def heads(self) -> tuple[Atom, ...]:
        own = (head for component in self.components.values() for head in component.heads)
        return tuple(dict.fromkeys((*own, *self.cleared)))

    def settled(self) -> dict[Group, MaintainedComponent]:
        """The components as they are from then on."""
        return {group: component.settled() for group, component in self.components.items()}


def transition(known: dict[Group, MaintainedComponent], change: ProgramChange) -> Transition | str:
    """How components go over to a changed program; or why they cannot, and all must be derived again."""
    if reason := _cannot(change):
        return reason
    graph = change.after.graph
    owners = AtomIndex(
        ((place, head), head)
        for place, component in enumerate(graph.components)
        for rule in component.rules
        for head in rule.heads
    )
    cleared: dict[Atom, None] = {}
    removed: dict[int, list[FlatRule]] = defaultdict(list)
    for rule in change.removed:
        for head in rule.heads:
            found = set(owners.unifying(head))
            if not found:
                cleared[head] = None
            elif len({place for place, _ in found}) > 1 or not any(covers(owner, head) for _, owner in found):
                return f"facts of {rule.name} have more than one component to go to"
            elif isinstance(rule, FlatRule):
                removed[next(iter(found))[0]].append(replace(rule, heads=(head,)))
    before = _Before(tuple(known.values()))
    added = set(change.added)
    components: dict[Group, MaintainedComponent] = {}
    lifts = Lifts()
    for place, (group, component) in enumerate(zip(graph.members, graph.components, strict=True)):
        if group in known and place not in removed:
            components[group] = known[group]
            continue
        new = MaintainedComponent(
            component, added=tuple(rule for rule in component.rules if rule in added), removed=tuple(removed[place])
        )
        before.hand_over(new, lifts)
        components[group] = new
    return Transition(components, tuple(cleared), lifts)


def _cannot(change: ProgramChange) -> str:
    """Why a change needs a new beginning, if it does."""
    if not (change.before.graph.tied and change.after.graph.tied):
        return "rules on two sides of a negation may conclude the same facts"
    shapes = {head.relation: _shape(rule, head) for rule in change.removed for head in rule.heads}
    for rule in change.added:
        for head in rule.heads:
            if head.relation in shapes and (shapes[head.relation] != _shape(rule, head) or isinstance(rule, GroupRule)):
                return f"rule {rule.name} has another aggregate or NOT than before"
    bases = {closure.base: closure for closure in change.before.rewriting.closures}
    if any(bases.get(closure.base, closure) != closure for closure in change.after.rewriting.closures):
        return "a transitive rule has changed under its name"
    return ""


def _shape(rule: EvaluatedRule, head: Atom) -> tuple[int, bool]:
    return len(head.args), isinstance(rule, FlatRule) and rule.bag


class _Before:
    """The components as they were."""

    def __init__(self, components: Sequence[MaintainedComponent]) -> None:
        self._components = components
        self._index = AtomIndex((place, head) for place, c in enumerate(components) for head in c.heads)

    def hand_over(self, new: MaintainedComponent, lifts: Lifts) -> None:
        """Tell a component what is known of its facts, and note whose ranks must come into order for it."""
        places = sorted({place for head in new.heads for place in self._index.unifying(head)})
        old = tuple(self._components[place] for place in places)
        counted = all(component.kept.weights and not component.recursive for component in old)
        new.kept = Kept(
            ranks=all(component.kept.ranks or not component.recursive for component in old),
            weights=counted,
            derivations=sum(component.kept.derivations for component in old),
        )
        known = [head for component in old for head in component.heads]
        joining = any(not any(covers(one, head) for one in known) for head in new.heads)
        if new.recursive and (joining or len(old) > 1):
            lifts.merged.update(zip(places, old, strict=True))
            lifts.into.append(new)
