"""Which components are evaluated together, part by part?

Components with a common pivot share a *stage*, in which their facts are divided once (pivots.py): each component goes
to the first stage after those it reads from, or to the last of these itself, whose pivot it fits. What has no pivot is
a stage of its own; so is a component without recursion some atom of which would have to be known whole in every part:
as a join of frames it costs no more, and other components are better off without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from everlog.plans.flat_rules import EvaluatedRule, FlatRule, rule_reads
from everlog.plans.partitioned import partition_rules
from everlog.plans.pivots import NoPivot, Pivot, component_pivot, find_pivot
from everlog.rules.atom_index import AtomIndex
from everlog.rules.components import Component
from everlog.rules.syntax import Atom

_MOST_RULES = 300  # of a stage: finding a common pivot takes longer the more rules there are


@dataclass
class Stage:
    """Components that are evaluated together; more than one only where they have a common pivot."""

    components: list[Component[EvaluatedRule]]
    pivot: Pivot | NoPivot

    @property
    def recursive(self) -> bool:
        return any(component.recursive for component in self.components)

    @property
    def rules(self) -> list[EvaluatedRule]:
        return [rule for component in self.components for rule in component.rules]

    def reads(self) -> list[Atom]:
        """Every atom that its rules read, once."""
        return list(dict.fromkeys(atom for rule in self.rules for atom, _ in rule_reads(rule)))

    def heads(self) -> list[Atom]:
        return list(dict.fromkeys(head for rule in self.rules for head in rule.heads))


def plan_stages(components: Sequence[Component[EvaluatedRule]], *, share: bool = True) -> list[Stage]:
    """Stages in an order in which they can be evaluated; each component has its own unless they may `share`."""
    stages: list[Stage] = []
    heads = AtomIndex((n, head) for n, component in enumerate(components) for r in component.rules for head in r.heads)
    stage_of: dict[int, int] = {}
    for number, component in enumerate(components):
        pivot = _pivot_of(component)
        read = [atom for rule in component.rules for atom, _ in rule_reads(rule)]
        own = [head for rule in component.rules for head in rule.heads]
        after = max((stage_of.get(other, -1) for atom in (*read, *own) for other in heads.unifying(atom)), default=-1)
        place = len(stages)
        if share and isinstance(pivot, Pivot):
            for candidate in range(max(after, 0), len(stages)):
                common = _common_pivot(stages[candidate], component)
                if common is not None:
                    place, pivot = candidate, common
                    break
        if place == len(stages):
            stages.append(Stage([component], pivot))
        else:
            stages[place].components.append(component)
            stages[place].pivot = pivot
        stage_of[number] = place
    return stages


def _pivot_of(component: Component[EvaluatedRule]) -> Pivot | NoPivot:
    pivot = component_pivot(component)
    if component.recursive or isinstance(pivot, NoPivot):
        return pivot
    whole = [role.relation for role in partition_rules([component], pivot).needs if role.position is None]
    name = component.rules[0].name
    return NoPivot(f"{name} does not recurse, and all of {whole[0]} would be needed in every part") if whole else pivot


def overlapping(components: Sequence[Component[EvaluatedRule]]) -> bool:
    """May a fact belong to two components? (Where tying them together would break stratification.)"""
    heads = AtomIndex((n, head) for n, component in enumerate(components) for r in component.rules for head in r.heads)
    return any(
        other != number
        for number, component in enumerate(components)
        for rule in component.rules
        for head in rule.heads
        for other in heads.unifying(head)
    )


def needs_terms(rules: Sequence[EvaluatedRule]) -> bool:
    """Is there anything to compute or to compare? Then terms may be needed, not only their ids."""
    return any(not isinstance(rule, FlatRule) or rule.computations or rule.refuted for rule in rules)


def _common_pivot(stage: Stage, component: Component[EvaluatedRule]) -> Pivot | None:
    if isinstance(stage.pivot, NoPivot) or len(stage.rules) + len(component.rules) > _MOST_RULES:
        return None
    together = [*stage.components, component]
    rules = [rule for each in together for rule in each.rules]
    loose = [rule for each in together if each.recursive for rule in each.rules]
    found = find_pivot(rules, loose)
    if isinstance(found, NoPivot):
        return None
    if not component.recursive and _whole(together, found) > _whole(stage.components, stage.pivot):
        return None
    return found


def _whole(components: Sequence[Component[EvaluatedRule]], pivot: Pivot) -> int:
    """How many atoms must be known whole in every part."""
    needs = partition_rules(components, pivot).needs
    return sum(len(atoms) for role, atoms in needs.items() if role.position is None)
