"""How are the dependency graph and its components updated when rules are added or removed?

The graph is updated, not rebuilt: adding a rule adds its edges, removing one removes its edges, and only the components
that this affects are recomputed. Adding may merge components, removing may split one. This is what Xu and
Curé do with their hyper-nodes (ZodiacEdge, section 4.4):

    Algorithm 2   added rules enter as nodes of their own, with edges in both directions (the paper's text leaves out
                  the edges into them); strongly connected components of that graph of nodes are the new nodes
    Algorithm 3   the nodes that lose rules are *dirty*; each is split into the strongly connected components of what
                  is left of it (its line 8 loops over DIHN, which is empty there; it must be the dirty nodes)
    Algorithm 4   what is affected and all that lies downstream, in the order of evaluation

A graph is never changed in place: `changed` makes another one, so a rule that turns out to be wrong leaves nothing to
undo. Rules keep their numbers, so that an unchanged component is recognised by the numbers of its rules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic

from everlog.rules.components import Component, maintenance_components, numbered_components
from everlog.rules.dependencies import AtomIndex, R, strongly_connected
from everlog.rules.syntax import Atom

Reads = Callable[[R], Iterable[tuple[Atom, bool]]]
Edges = Mapping[int, Mapping[int, bool]]  # from a rule to the rules it feeds; True where a dependency is negative


@dataclass(frozen=True)
class Impact(Generic[R]):
    """The components that a change of rules affects, in the order of evaluation."""

    direct: tuple[Component[R], ...]  # components that have gained, lost, merged or split rules
    indirect: tuple[Component[R], ...]  # components downstream of those


@dataclass(frozen=True)
class Hypergraph(Generic[R]):
    """Rules, the edges between them, and the components these make."""

    reads: Reads[R]
    rules: Mapping[int, R] = field(default_factory=dict)  # by number; a rule keeps its number while it is in the graph
    components: tuple[Component[R], ...] = ()
    members: tuple[tuple[int, ...], ...] = ()  # the rules of each component
    tied: bool = True  # rules with unifying heads are together; False where that would put negation on a cycle
    owning: bool = True  # whether they should be, so that each fact has one component; False: the paper's hyper-nodes
    _feeds: Edges = field(default_factory=dict)
    _ties: Mapping[int, frozenset[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, rules: Iterable[R], reads: Reads[R]) -> Hypergraph[R]:
        return cls(reads).changed((), rules)[0]

    def changed(self, remove: Collection[int], add: Iterable[R]) -> tuple[Hypergraph[R], Impact[R]]:
        """The graph without some rules and with some others, and the impact of the change."""
        added = self._numbers_for(add)
        rules = {number: rule for number, rule in self.rules.items() if number not in remove} | added
        feeds, ties = self._edges(rules, remove, added)
        graph = self._regrouped(rules, feeds, ties, remove, added) or self._from_the_start(rules, feeds, ties)
        known = set(self.members)
        lost_some = {number for group in self.members if not set(group).isdisjoint(remove) for number in group}
        direct = {
            place
            for place, group in enumerate(graph.members)
            if group not in known or any(number in added or number in lost_some for number in group)
        }
        # What a removed rule fed is affected even if nothing that is left feeds it.
        readers = {target for number in remove for target in self._feeds.get(number, ()) if target not in remove}
        return graph, graph._impact(direct, readers)

    def extended(self, add: Iterable[R]) -> Hypergraph[R] | None:
        """The graph with more rules, which need not make sense together; None if negation would be on a cycle."""
        added = self._numbers_for(add)
        rules = {**self.rules, **added}
        return self._regrouped(rules, *self._edges(rules, (), added), (), added)

    def _numbers_for(self, add: Iterable[R]) -> dict[int, R]:
        return dict(enumerate(add, start=max(self.rules, default=-1) + 1))

    def _regrouped(
        self,
        rules: Mapping[int, R],
        feeds: Edges,
        ties: Mapping[int, frozenset[int]],
        remove: Collection[int],
        added: Collection[int],
    ) -> Hypergraph[R] | None:
        """Algorithms 2 and 3; None where that would put negation on a cycle, or already had before."""
        if not self.tied:
            return None
        nodes = [*self._split(remove, feeds, ties), *((number,) for number in added)]
        groups = _merge(nodes, feeds, ties)
        node_of = {number: place for place, group in enumerate(groups) for number in group}
        if any(negative and node_of[s] == node_of[t] for s in feeds for t, negative in feeds[s].items()):
            return None
        return self._numbered(rules, groups, feeds, ties)

    def _edges(
        self, rules: Mapping[int, R], remove: Collection[int], added: Mapping[int, R]
    ) -> tuple[dict[int, dict[int, bool]], dict[int, frozenset[int]]]:
        """Edges and ties without those of removed rules and with those of added ones, both into and out of them."""
        feeds = {
            source: {target: sign for target, sign in targets.items() if target not in remove}
            for source, targets in self._feeds.items()
            if source not in remove
        }
        ties = {number: tied.difference(remove) for number, tied in self._ties.items() if number not in remove}
        heads = AtomIndex((number, head) for number, rule in rules.items() for head in rule.heads)
        readers = AtomIndex(
            ((number, negative), atom) for number, rule in rules.items() for atom, negative in self.reads(rule)
        )
        for number, rule in added.items():
            feeds.setdefault(number, {})
            tied = {other for head in rule.heads if self.owning for other in heads.unifying(head)} - {number}
            ties[number] = frozenset(tied)
            for other in tied:
                ties[other] = ties.get(other, frozenset()) | {number}
            for head in rule.heads:
                for target, negative in readers.unifying(head):
                    feeds[number][target] = feeds[number].get(target, False) or negative
            for atom, negative in self.reads(rule):
                for source in heads.unifying(atom):
                    targets = feeds.setdefault(source, {})
                    targets[number] = targets.get(number, False) or negative
        return feeds, ties

    def _split(
        self, remove: Collection[int], feeds: Edges, ties: Mapping[int, frozenset[int]]
    ) -> list[tuple[int, ...]]:
        """The nodes without the removed rules; dirty nodes are split."""
        nodes: list[tuple[int, ...]] = []
        for group in self.members:
            left = [number for number in group if number not in remove]
            if len(left) == len(group):
                nodes.append(group)
                continue
            place = {number: index for index, number in enumerate(left)}
            edges = [
                (place[source], place[target])
                for source in left
                for target in (*feeds.get(source, ()), *ties.get(source, ()))
                if target in place
            ]
            nodes += [tuple(left[index] for index in part) for part in strongly_connected(len(left), edges)]
        return nodes

    def _numbered(
        self,
        rules: Mapping[int, R],
        groups: Sequence[tuple[int, ...]],
        feeds: Edges,
        ties: Mapping[int, frozenset[int]],
    ) -> Hypergraph[R]:
        """The graph with these groups of rules, given in the order of evaluation."""
        node_of = {number: place for place, group in enumerate(groups) for number in group}
        edges = [
            (node_of[source], node_of[target], negative)
            for source, targets in feeds.items()
            for target, negative in targets.items()
        ]
        components = numbered_components([tuple(rules[number] for number in group) for group in groups], edges)
        return replace(
            self, rules=rules, components=tuple(components), members=tuple(groups), tied=True, _feeds=feeds, _ties=ties
        )

    def _impact(self, direct: set[int], readers: Iterable[int]) -> Impact[R]:
        """Algorithm 4."""
        node_of = {number: place for place, group in enumerate(self.members) for number in group}
        reached = {node_of[number] for number in readers}
        waiting = [*direct, *reached]
        while waiting:
            for number in self.members[waiting.pop()]:
                for target in self._feeds.get(number, ()):
                    if node_of[target] not in reached:
                        reached.add(node_of[target])
                        waiting.append(node_of[target])
        return Impact(
            tuple(self.components[place] for place in sorted(direct)),
            tuple(self.components[place] for place in sorted(reached - direct)),
        )

    def _from_the_start(
        self, rules: Mapping[int, R], feeds: Edges, ties: Mapping[int, frozenset[int]]
    ) -> Hypergraph[R]:
        """All components anew: where not all unifying heads can be together, which ones can depends on all rules."""
        components = maintenance_components(list(rules.values()), self.reads)
        numbers = {id(rule): number for number, rule in rules.items()}
        members = tuple(tuple(numbers[id(rule)] for rule in component.rules) for component in components)
        group_of = {number: place for place, group in enumerate(members) for number in group}
        tied = all(group_of[a] == group_of[b] for a, others in ties.items() for b in others)
        return replace(
            self, rules=rules, components=tuple(components), members=members, tied=tied, _feeds=feeds, _ties=ties
        )


def _merge(nodes: Sequence[tuple[int, ...]], feeds: Edges, ties: Mapping[int, frozenset[int]]) -> list[tuple[int, ...]]:
    """Merge nodes that are now on a cycle; returns all nodes in an order of evaluation."""
    node_of = {number: place for place, node in enumerate(nodes) for number in node}
    edges = {
        (node_of[source], node_of[target])
        for along in (feeds, ties)
        for source, targets in along.items()
        for target in targets
    }
    return [
        nodes[parts[0]] if len(parts) == 1 else tuple(sorted(number for part in parts for number in nodes[part]))
        for parts in strongly_connected(len(nodes), edges)
    ]
