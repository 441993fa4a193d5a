"""What does a change of rules mean for the components?

A rule that is added brings its instances over what is there now, as gains. A rule that is removed takes away the
instances it had before the update, as losses. Both are changes like any other for the strategy of the component that
owns their heads, so nothing else is redone.

The update works on the components of both programs together: what adding rules merges is merged already, and what
removing rules splits is not split yet. So every fact has one owner throughout. Three things need care:

*Facts without rules.* A component all of whose rules go is cleared: of its facts only the explicit ones stay.

*Weights.* Where a component without recursion was one before, its counts are exact and stay so. A component that has
just stopped being recursive has no counts; it is maintained by ranks, which hold in any component without recursion.

*Ranks.* A component that merges others must order their ranks: what one read from another had no rank for it, and has
one now. So the ranks of each are lifted above those of the ones before it, in the old order of evaluation. A component
that is split keeps its ranks: facts that are now read from other components count as lower than any rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from everlog.engines.interface import MaintainingEngine
from everlog.maintenance.component import Known, MaintainedComponent
from everlog.maintenance.program import ProgramChange
from everlog.plans.flat_rules import EvaluatedRule, FlatRule
from everlog.plans.sweep_variants import covers
from everlog.rules.components import Component
from everlog.rules.hypergraph import Hypergraph
from everlog.rules.syntax import Atom

_HIGHEST_RANK = 1 << 30  # half of what engines can store

Group = tuple[int, ...]  # the numbers of a component's rules


@dataclass
class Lifts:
    """Old components whose ranks must be stacked above each other, and the new components that merge some of them."""

    merged: dict[int, MaintainedComponent] = field(default_factory=dict)  # by their place in the old order
    into: list[MaintainedComponent] = field(default_factory=list)

    def apply(self, engine: MaintainingEngine) -> None:
        above = 1  # explicit facts that no component owned have rank 0
        for _, component in sorted(self.merged.items()):
            above = engine.lift(component.heads, above) + 1
            if above > _HIGHEST_RANK:
                for new in self.into:
                    new.known.ranks = False
                return


@dataclass(frozen=True)
class Transition:
    """The components of two programs together, for the update that goes from one to the other."""

    change: ProgramChange
    between: Hypergraph[EvaluatedRule]  # of the rules of both
    components: dict[Group, MaintainedComponent]  # of those that have rules after the update
    cleared: tuple[Atom, ...]  # heads that no rule has any more
    gone: str  # the names of the rules that had them
    lifts: Lifts

    @property
    def changed(self) -> Iterator[int]:
        """The places of the components whose rules change."""
        for place, group in enumerate(self.between.members):
            if (component := self.components.get(group)) is not None and component.rules_change:
                yield place

    @property
    def gone_places(self) -> Iterator[int]:
        """The places of those that are cleared."""
        return (place for place, group in enumerate(self.between.members) if group not in self.components)

    def settled(self) -> dict[Group, MaintainedComponent]:
        """The components of the new program, with what is known of them after the update."""
        graph = self.change.after.graph
        group_of = {number: group for group in self.components for number in group}
        settled = {}
        for group, component in zip(graph.members, graph.components, strict=True):
            past = self.components[group_of[group[0]]]
            if past.component.rules == component.rules and not past.rules_change:
                settled[group] = past
            else:
                # Other rules may be recursive now, and counts are of those that are not.
                weights = past.known.weights and (component.recursive or not past.recursive)
                known = replace(past.known, weights=weights, counts=False)
                settled[group] = MaintainedComponent(component, known)
        return settled


def transition(known: Mapping[Group, MaintainedComponent], change: ProgramChange) -> Transition | str:
    """How components go over to a changed program, or why they cannot and everything must be derived again."""
    if reason := _cannot(change):
        return reason
    between = change.between()
    if between is None:
        return "old and new rules together would have a negation on a cycle"
    added, removed = set(change.added), set(change.removed)
    components: dict[Group, MaintainedComponent] = {}
    cleared: dict[Atom, str] = {}
    lifts = Lifts()
    places = {number: place for place, group in enumerate(known) for number in group}
    before = list(known.values())
    for group, component in zip(between.members, between.components, strict=True):
        staying = tuple(rule for rule in component.rules if rule not in removed)
        if group in known and len(staying) == len(component.rules):
            components[group] = known[group]
        elif staying:
            going = (rule for rule in component.rules if rule in removed)
            now: Component[EvaluatedRule] = replace(component, rules=staying)
            new = MaintainedComponent(
                now,
                added=tuple(rule for rule in staying if rule in added),
                removed=tuple(rule for rule in going if isinstance(rule, FlatRule)),
            )
            _hand_over({places[number] for number in group if number in places}, before, new, lifts)
            components[group] = new
        else:
            cleared.update((head, rule.name) for rule in component.rules for head in rule.heads)
    return Transition(change, between, components, tuple(cleared), ", ".join(dict.fromkeys(cleared.values())), lifts)


def _cannot(change: ProgramChange) -> str:
    """Why a change requires deriving everything again; empty if it does not."""
    if not (change.before.graph.tied and change.after.graph.tied):
        return "rules on two sides of a negation may conclude the same facts"
    shapes = {head.relation: _shape(rule, head) for rule in change.removed for head in rule.heads}
    for rule in change.added:
        for head in rule.heads:
            same = isinstance(rule, FlatRule) and shapes.get(head.relation) == _shape(rule, head)
            if head.relation in shapes and not same:
                return f"rule {rule.name} has another aggregate or NOT than before"
    bases = {closure.base: closure for closure in change.before.rewriting.closures}
    if any(bases.get(closure.base, closure) != closure for closure in change.after.rewriting.closures):
        return "a transitive rule has changed under its name"
    return ""


def _shape(rule: EvaluatedRule, head: Atom) -> tuple[int, bool]:
    return len(head.args), isinstance(rule, FlatRule) and rule.bag


def _hand_over(places: set[int], known: list[MaintainedComponent], new: MaintainedComponent, lifts: Lifts) -> None:
    """Tell a new component what is known of its facts, and note whose ranks must be lifted for it."""
    old = {place: known[place] for place in sorted(places)}
    new.known = Known(
        ranks=all(component.known.ranks or not component.recursive for component in old.values()),
        weights=all(component.known.weights and not component.recursive for component in old.values()),
        derivations=sum(component.known.derivations for component in old.values()),
    )
    heads = [head for component in old.values() for head in component.heads]
    joining = any(not any(covers(one, head) for one in heads) for head in new.heads)
    if new.recursive and (joining or len(old) > 1):
        lifts.merged.update(old)
        lifts.into.append(new)
