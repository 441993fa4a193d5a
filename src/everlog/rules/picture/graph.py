"""Which boxes and arrows show the rules of a program, and what a change of them would affect?

A box is a hyper-node of Xu and Curé (ZodiacEdge, section 4.2): a strongly connected component of rules. An arrow leads
from a box to those that read what it concludes; it is negative where they do so under NOT or AGGREGATE and must wait
for all of it.

A planned change is drawn as it would be afterwards. A rule that goes stands in the box that keeps the rest of its
component, or in one of its own where there is no rest, or where the rest falls apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from everlog.rules.affected import hyper_node_change
from everlog.rules.constraints import is_constraint
from everlog.rules.dependencies import body_atoms, dependencies, heads_of, strongly_connected
from everlog.rules.extents import extent
from everlog.rules.hypergraph import Hypergraph
from everlog.rules.planned import PlannedChange
from everlog.rules.syntax import Atom, Rule

MANY = 40  # boxes; in larger graphs, boxes with the same neighbours are drawn as one


class Fate(StrEnum):
    """What a planned change does to a rule."""

    STAYS = "stays"
    ADDED = "added"
    REMOVED = "removed"


class Affected(StrEnum):
    """What it does to a component."""

    NOT = "not"
    DIRECTLY = "directly"
    INDIRECTLY = "indirectly"


@dataclass(frozen=True)
class DrawnRule:
    """A rule, and whether it is added or removed."""

    rule: Rule
    fate: Fate = Fate.STAYS


@dataclass(frozen=True)
class Box:
    """Rules that depend on one another, or a single rule; or several boxes with the same neighbours."""

    rules: tuple[DrawnRule, ...]
    recursive: bool
    affected: Affected
    concludes: tuple[Atom, ...]  # extents
    given: tuple[Atom, ...]  # extents that are read and that no rule concludes
    components: int = 1

    @property
    def gone(self) -> bool:
        return all(drawn.fate is Fate.REMOVED for drawn in self.rules)


@dataclass(frozen=True)
class Arrow:
    """What the box `source` concludes is read by the box `target`, as `extents`."""

    source: int
    target: int
    negative: bool
    extents: tuple[Atom, ...]
    gone: bool  # with a rule that goes


@dataclass(frozen=True, repr=False)
class RuleGraph:
    """Boxes in an order in which they can be evaluated, and the arrows between them."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    prefixes: Mapping[str, str]
    sizes: Mapping[Atom, int] | None  # the number of facts of each extent, where they are known
    planned: bool

    def extents(self) -> set[Atom]:
        """All extents in the graph."""
        return {each for box in self.boxes for each in (*box.concludes, *box.given)}

    def svg(self) -> str:
        """A picture that needs nothing else to be seen."""
        from everlog.rules.picture.svg import to_svg

        return to_svg(self)

    def html(self, *, title: str = "Rules") -> str:
        """The picture as a page to move around in."""
        from everlog.rules.picture.page import to_html

        return to_html(self, title=title)

    def __str__(self) -> str:
        from everlog.rules.picture.listing import to_text

        return to_text(self)

    def __repr__(self) -> str:
        rules = sum(len(box.rules) for box in self.boxes)
        return f"<graph of {rules:,} rules in {sum(box.components for box in self.boxes):,} components>"

    def _repr_html_(self) -> str:
        return f'<div style="overflow:auto">{self.svg()}</div>'


def rule_graph(change: PlannedChange, prefixes: Mapping[str, str]) -> RuleGraph:
    """The graph of a program, with a planned change if there is one."""
    rules = (*change.rules, *change.added)
    nodes = hyper_node_change(change.rules, change.removed, change.added)
    before, after, impact = nodes.before, nodes.after, nodes.impact
    places: list[list[int]] = [list(group) for group in after.members]
    affected = [Affected.NOT] * len(places)
    for components, how in ((impact.direct, Affected.DIRECTLY), (impact.indirect, Affected.INDIRECTLY)):
        for component in components:
            affected[component.number] = how
    for going in _removed_together(before, after):
        affected += [Affected.DIRECTLY] * _put(going, before, places)
    drawn = [DrawnRule(rule, Fate.REMOVED if rule in change.removed else Fate.STAYS) for rule in change.rules]
    drawn += [DrawnRule(rule, Fate.ADDED) for rule in change.added]
    arrows = _arrows(drawn, places)
    recursive = [component.recursive for component in after.components]
    recursive += [False] * (len(places) - len(recursive))
    heads = heads_of(rules)
    boxes = []
    for place, members in enumerate(places):
        own = [rules[number] for number in sorted(members)]
        concludes = dict.fromkeys(extent(head) for rule in own if not is_constraint(rule) for head in rule.heads)
        given = dict.fromkeys(
            extent(atom) for rule in own for atom, _ in body_atoms(rule) if next(heads.unifying(atom), None) is None
        )
        lines = tuple(drawn[number] for number in sorted(members))
        boxes.append(Box(lines, recursive[place], affected[place], tuple(concludes), tuple(given)))
    return _in_order(RuleGraph(tuple(boxes), tuple(arrows), prefixes, None, bool(change)))


def _removed_together(before: Hypergraph[Rule], after: Hypergraph[Rule]) -> Iterator[tuple[int, ...]]:
    """The removed rules, component by component."""
    for group in before.members:
        if gone := tuple(number for number in group if number not in after.rules):
            yield gone


def _put(removed: Sequence[int], before: Hypergraph[Rule], places: list[list[int]]) -> int:
    """Find a box for rules that are removed together; returns whether that took a new one."""
    (group,) = (group for group in before.members if removed[0] in group)
    rest = [place for place in places if not set(group).isdisjoint(place)]
    if len(rest) == 1:
        rest[0] += removed
        return 0
    places.append(list(removed))
    return 1


def _arrows(drawn: Sequence[DrawnRule], places: Sequence[Sequence[int]]) -> list[Arrow]:
    place_of = {number: place for place, members in enumerate(places) for number in members}
    found: dict[tuple[int, int, bool], tuple[dict[Atom, None], list[bool]]] = {}
    for each in dependencies([one.rule for one in drawn]):
        fates = {drawn[each.source].fate, drawn[each.target].fate}
        ends = place_of[each.source], place_of[each.target]
        if ends[0] != ends[1] and fates != {Fate.ADDED, Fate.REMOVED}:  # added and removed rules never coexist
            extents, gone = found.setdefault((*ends, each.negative), ({}, []))
            extents[extent(each.atom)] = None
            gone.append(Fate.REMOVED in fates)
    return [Arrow(*key, tuple(extents), all(gone)) for key, (extents, gone) in found.items()]


def _in_order(graph: RuleGraph) -> RuleGraph:
    """Sources first. Only rules that go can close a cycle of boxes; their places are as good as any."""
    edges = [(arrow.source, arrow.target) for arrow in graph.arrows]
    order = [box for part in strongly_connected(len(graph.boxes), edges) for box in part]
    return _arranged(graph, [[box] for box in order])


def _arranged(graph: RuleGraph, groups: Sequence[Sequence[int]]) -> RuleGraph:
    """The graph with boxes joined in groups, in this order."""
    place_of = {box: place for place, group in enumerate(groups) for box in group}
    boxes = [_joined([graph.boxes[box] for box in group]) for group in groups]
    arrows: dict[tuple[int, int, bool], Arrow] = {}
    for arrow in graph.arrows:
        key = place_of[arrow.source], place_of[arrow.target], arrow.negative
        known = arrows.get(key)
        extents = (*(known.extents if known else ()), *arrow.extents)
        gone = arrow.gone and (known is None or known.gone)
        arrows[key] = Arrow(*key, tuple(dict.fromkeys(extents)), gone)
    return replace(graph, boxes=tuple(boxes), arrows=tuple(arrows[key] for key in sorted(arrows)))


def _joined(boxes: Sequence[Box]) -> Box:
    first = boxes[0]
    return Box(
        tuple(drawn for box in boxes for drawn in box.rules),
        first.recursive,
        first.affected,
        _once(each for box in boxes for each in box.concludes),
        _once(each for box in boxes for each in box.given),
        sum(box.components for box in boxes),
    )


def _once(extents: Iterable[Atom]) -> tuple[Atom, ...]:
    return tuple(dict.fromkeys(extents))


def simplified(graph: RuleGraph) -> RuleGraph:
    """A large graph with boxes joined that conclude the same, read the same boxes and are read by the same."""
    if len(graph.boxes) <= MANY:
        return graph
    around: list[set[tuple[int, bool, bool]]] = [set() for _ in graph.boxes]
    for arrow in graph.arrows:
        around[arrow.source].add((arrow.target, True, arrow.negative))
        around[arrow.target].add((arrow.source, False, arrow.negative))
    groups: dict[object, list[int]] = {}
    for place, box in enumerate(graph.boxes):
        alone = place if box.recursive else -1
        alike = alone, box.concludes, box.affected, box.gone, frozenset(around[place])
        groups.setdefault(alike, []).append(place)
    return _arranged(graph, list(groups.values()))
