"""In which groups and in which order are rules evaluated?

Two groupings of the same rules:

*Hyper-nodes* are the strongly connected components of the rule dependency graph, as Xu and Curé draw them
(ZodiacEdge, section 4.2). Pictures and reports show them: RS2 has 14.

*Maintenance components* also keep together all rules whose heads unify, because one component alone must own a fact's
weight, rank and explicit bit (DESIGN 2.2): RS2's r1, r2 and r3 all define p11 and are one component. Where tying
heads together would put a negative dependency inside a component, its rules fall back to their hyper-nodes: the
order of evaluation takes precedence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic

from everlog.rules.dependencies import Dependency, R, dependencies_between, heads_of, strongly_connected
from everlog.rules.syntax import Atom

Reads = Callable[[R], Iterable[tuple[Atom, bool]]]


@dataclass(frozen=True)
class Component(Generic[R]):
    """Rules that are evaluated together, and their stratum."""

    number: int
    rules: tuple[R, ...]
    recursive: bool
    stratum: int  # the most negative dependencies on any path to this component

    def relations(self) -> tuple[str, ...]:
        """The relations that its rules define, in order of first mention."""
        return tuple(dict.fromkeys(head.relation for rule in self.rules for head in rule.heads))


def hyper_nodes(rules: Sequence[R], reads: Reads[R]) -> list[Component[R]]:
    """The paper's components of rules, in topological order."""
    found = dependencies_between(rules, reads)
    return _components(rules, found, strongly_connected(len(rules), ((d.source, d.target) for d in found)))


def maintenance_components(rules: Sequence[R], reads: Reads[R]) -> list[Component[R]]:
    """Components that own their facts, in topological order."""
    found = dependencies_between(rules, reads)
    edges = [(dependency.source, dependency.target) for dependency in found]
    heads = heads_of(rules)
    ties: list[tuple[int, int]] = []
    for index, rule in enumerate(rules):
        for head in rule.heads:
            for other in heads.representatives(head):
                ties += ((index, other), (other, index)) if other != index else ()
    while True:
        groups = strongly_connected(len(rules), [*edges, *ties])
        broken = _with_negation_inside(groups, found)
        if not broken:
            return _components(rules, found, groups)
        # Stratified by hyper-nodes but not by relations: drop the ties that put negation inside a component.
        remaining = [(a, b) for a, b in ties if a not in broken or b not in broken]
        assert len(remaining) < len(ties), "negation round a cycle passed the checks"
        ties = remaining


def _with_negation_inside(groups: Sequence[Sequence[int]], found: Iterable[Dependency]) -> set[int]:
    group_of = {member: number for number, group in enumerate(groups) for member in group}
    bad = {group_of[d.source] for d in found if d.negative and group_of[d.source] == group_of[d.target]}
    return {member for number in bad for member in groups[number] if len(groups[number]) > 1}


def _components(rules: Sequence[R], found: Iterable[Dependency], groups: Sequence[Sequence[int]]) -> list[Component[R]]:
    group_of = {member: number for number, group in enumerate(groups) for member in group}
    edges = [(group_of[d.source], group_of[d.target], d.negative) for d in found]
    return numbered_components([tuple(rules[index] for index in group) for group in groups], edges)


def numbered_components(groups: Sequence[tuple[R, ...]], edges: Iterable[tuple[int, int, bool]]) -> list[Component[R]]:
    """Components of groups in topological order, given the edges between them and which of these are negative."""
    recursive: set[int] = set()
    incoming: list[list[tuple[int, bool]]] = [[] for _ in groups]
    for source, target, negative in edges:
        if source == target:
            recursive.add(source)
        else:
            incoming[target].append((source, negative))
    strata: list[int] = []
    for number in range(len(groups)):
        strata.append(max((strata[source] + negative for source, negative in incoming[number]), default=0))
    return [Component(number, group, number in recursive, strata[number]) for number, group in enumerate(groups)]
