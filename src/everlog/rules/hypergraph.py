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
from typing import Generic, NamedTuple

from everlog.rules.atom_index import AtomIndex
from everlog.rules.components import Component, maintenance_components, numbered_components
from everlog.rules.dependencies import R, strongly_connected
from everlog.rules.syntax import Atom

Reads = Callable[[R], Iterable[tuple[Atom, bool]]]
Edges = Mapping[int, Mapping[int, bool]]  # from a rule to the rules it feeds; True where a dependency is negative
# Rules whose heads unify. Of many whose heads match the same facts, all are tied to one: pairs would be too many.
Ties = Mapping[int, frozenset[int]]


class GraphAtoms(NamedTuple):
    """The atoms of all rules, to be found by what they match."""

    heads: AtomIndex[int]  # by the number of the rule
    reads: AtomIndex[tuple[int, bool]]  # and whether they stand under NOT or AGGREGATE


class _Links(NamedTuple):
    """What holds rules together."""

    atoms: GraphAtoms
    feeds: Edges
    ties: Ties


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
    places: Mapping[int, int] = field(default_factory=dict)  # which component a rule is in
    tied: bool = True  # rules with unifying heads are together; False where that would put negation on a cycle
    owning: bool = True  # whether they should be, so that each fact has one component; False: the paper's hyper-nodes
    atoms: GraphAtoms = field(default_factory=lambda: GraphAtoms(AtomIndex(), AtomIndex()))
    _feeds: Edges = field(default_factory=dict)
    _ties: Ties = field(default_factory=dict)

    @classmethod
    def of(cls, rules: Iterable[R], reads: Reads[R]) -> Hypergraph[R]:
        return cls(reads).changed((), rules)[0]

    def changed(self, remove: Collection[int], add: Iterable[R]) -> tuple[Hypergraph[R], Impact[R]]:
        """The graph without some rules and with some others, and the impact of the change."""
        added = self._numbers_for(add)
        rules = {number: rule for number, rule in self.rules.items() if number not in remove} | added
        links = self._links(rules, remove, added)
        graph = self._regrouped(rules, links, remove, added) or self._from_the_start(rules, links)
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
        return self._regrouped(rules, self._links(rules, (), added), (), added)

    def _numbers_for(self, add: Iterable[R]) -> dict[int, R]:
        return dict(enumerate(add, start=max(self.rules, default=-1) + 1))

    def _regrouped(
        self, rules: Mapping[int, R], links: _Links, remove: Collection[int], added: Collection[int]
    ) -> Hypergraph[R] | None:
        """Algorithms 2 and 3; None where that would put negation on a cycle, or already had before."""
        if not self.tied:
            return None
        nodes = [*self._split(remove, links), *((number,) for number in added)]
        groups = _merge(nodes, links)
        node_of = {number: place for place, group in enumerate(groups) for number in group}
        if any(negative and node_of[s] == node_of[t] for s, to in links.feeds.items() for t, negative in to.items()):
            return None
        return self._numbered(rules, groups, links)

    def _links(self, rules: Mapping[int, R], remove: Collection[int], added: Mapping[int, R]) -> _Links:
        """Edges and ties without those of removed rules and with those of added ones, both into and out of them."""
        atoms = GraphAtoms(
            self.atoms.heads.changed(self._heads_of(self.rules, remove), self._heads_of(rules, added)),
            self.atoms.reads.changed(self._reads_of(self.rules, remove), self._reads_of(rules, added)),
        )
        return _Links(atoms, self._feeds_now(atoms, remove, added), self._ties_now(atoms, rules, remove, added))

    def _heads_of(self, rules: Mapping[int, R], numbers: Iterable[int]) -> list[tuple[int, Atom]]:
        return [(number, head) for number in numbers for head in rules[number].heads]

    def _reads_of(self, rules: Mapping[int, R], numbers: Iterable[int]) -> list[tuple[tuple[int, bool], Atom]]:
        return [((number, negative), atom) for number in numbers for atom, negative in self.reads(rules[number])]

    def _feeds_now(self, atoms: GraphAtoms, remove: Collection[int], added: Mapping[int, R]) -> Edges:
        feeds = dict(self._feeds)
        own: dict[int, dict[int, bool]] = {}

        def of(source: int) -> dict[int, bool]:
            """What a rule feeds, to be changed."""
            if source not in own:
                own[source] = feeds[source] = dict(feeds.get(source, ()))
            return own[source]

        for number, atom in ((number, atom) for (number, _), atom in self._reads_of(self.rules, remove)):
            for source in self.atoms.heads.unifying(atom):
                of(source).pop(number, None)
        for number in remove:
            feeds.pop(number, None)
        for number, rule in added.items():
            fed = of(number)
            for head in rule.heads:
                for target, negative in atoms.reads.unifying(head):
                    fed[target] = fed.get(target, False) or negative
            for atom, negative in self.reads(rule):
                for source in atoms.heads.unifying(atom):
                    targets = of(source)
                    targets[number] = targets.get(number, False) or negative
        return feeds

    def _ties_now(
        self, atoms: GraphAtoms, rules: Mapping[int, R], remove: Collection[int], added: Mapping[int, R]
    ) -> Ties:
        if not self.owning:
            return {}
        ties = dict(self._ties)
        untied = {other for number in remove for other in ties.pop(number, ())}.difference(remove)
        for number in untied:
            ties[number] = ties[number].difference(remove)
        more: dict[int, set[int]] = {}
        for number in (*untied, *added):  # those that held together by a rule that goes need another one
            for head in rules[number].heads:
                for other in atoms.heads.representatives(head):
                    if other != number:
                        more.setdefault(number, set()).add(other)
                        more.setdefault(other, set()).add(number)
        for number, others in more.items():
            ties[number] = ties.get(number, frozenset()) | others
        return ties

    def _split(self, remove: Collection[int], links: _Links) -> list[tuple[int, ...]]:
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
                for target in (*links.feeds.get(source, ()), *links.ties.get(source, ()))
                if target in place
            ]
            nodes += [tuple(left[index] for index in part) for part in strongly_connected(len(left), edges)]
        return nodes

    def _numbered(self, rules: Mapping[int, R], groups: Sequence[tuple[int, ...]], links: _Links) -> Hypergraph[R]:
        """The graph with these groups of rules, given in the order of evaluation."""
        node_of = {number: place for place, group in enumerate(groups) for number in group}
        edges = [
            (node_of[source], node_of[target], negative)
            for source, targets in links.feeds.items()
            for target, negative in targets.items()
        ]
        components = numbered_components([tuple(rules[number] for number in group) for group in groups], edges)
        return self._arranged(rules, components, groups, links, tied=True)

    def _arranged(
        self,
        rules: Mapping[int, R],
        components: Sequence[Component[R]],
        members: Sequence[tuple[int, ...]],
        links: _Links,
        *,
        tied: bool,
    ) -> Hypergraph[R]:
        return replace(
            self,
            rules=rules,
            components=tuple(components),
            members=tuple(members),
            places={number: place for place, group in enumerate(members) for number in group},
            tied=tied,
            atoms=links.atoms,
            _feeds=links.feeds,
            _ties=links.ties,
        )

    def fed_by(self, place: int) -> set[int]:
        """The places of the components that read what the one at a place concludes."""
        return {self.places[target] for number in self.members[place] for target in self._feeds.get(number, ())}

    def _impact(self, direct: set[int], readers: Iterable[int]) -> Impact[R]:
        """Algorithm 4."""
        reached = {self.places[number] for number in readers}
        waiting = [*direct, *reached]
        while waiting:
            for target in self.fed_by(waiting.pop()).difference(reached):
                reached.add(target)
                waiting.append(target)
        return Impact(
            tuple(self.components[place] for place in sorted(direct)),
            tuple(self.components[place] for place in sorted(reached - direct)),
        )

    def _from_the_start(self, rules: Mapping[int, R], links: _Links) -> Hypergraph[R]:
        """All components anew: where not all unifying heads can be together, which ones can depends on all rules."""
        components = maintenance_components(list(rules.values()), self.reads)
        numbers = {id(rule): number for number, rule in rules.items()}
        members = tuple(tuple(numbers[id(rule)] for rule in component.rules) for component in components)
        group_of = {number: place for place, group in enumerate(members) for number in group}
        tied = all(group_of[a] == group_of[b] for a, others in links.ties.items() for b in others)
        return self._arranged(rules, components, members, links, tied=tied)


def _merge(nodes: Sequence[tuple[int, ...]], links: _Links) -> list[tuple[int, ...]]:
    """Merge nodes that are now on a cycle; returns all nodes in an order of evaluation."""
    node_of = {number: place for place, node in enumerate(nodes) for number in node}
    edges = {
        (node_of[source], node_of[target])
        for along in (links.feeds, links.ties)
        for source, targets in along.items()
        for target in targets
    }
    return [
        nodes[parts[0]] if len(parts) == 1 else tuple(sorted(number for part in parts for number in nodes[part]))
        for parts in strongly_connected(len(nodes), edges)
    ]
