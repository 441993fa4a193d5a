"""Where does a rule stand among the others: in which component, what does it read, and who reads it?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from everlog.rules.atom_index import unify
from everlog.rules.components import Component, hyper_nodes
from everlog.rules.constraints import is_constraint
from everlog.rules.dependencies import body_atoms, heads_of
from everlog.rules.extents import extent
from everlog.rules.syntax import Atom, Rule


@dataclass(frozen=True)
class Link:
    """Facts that pass between rules, and the rules at the other end; none: the facts are given."""

    extent: Atom
    negative: bool  # under NOT or AGGREGATE
    rules: tuple[str, ...]


@dataclass(frozen=True)
class Standing:
    """A rule in its program."""

    rule: Rule
    component: Component[Rule]
    components: int  # of the program
    concludes: tuple[Atom, ...]  # extents; a constraint has none
    reads: tuple[Link, ...]
    read_by: tuple[Link, ...]


def standing(rule: Rule, rules: Sequence[Rule]) -> Standing:
    """Where one of the rules stands; all have their names."""
    nodes = hyper_nodes(rules, body_atoms)
    component = next(node for node in nodes if rule in node.rules)
    heads = heads_of(rules)
    reads = (
        (extent(atom), negative, [rules[index] for index in heads.unifying(atom)]) for atom, negative in _body(rule)
    )
    read_by = (
        (extent(head), negative, [other])
        for other in rules
        for atom, negative in _body(other)
        for head in rule.heads
        if unify(head, atom)
    )
    concludes = () if is_constraint(rule) else tuple(dict.fromkeys(extent(head) for head in rule.heads))
    return Standing(rule, component, len(nodes), concludes, _links(reads), _links(read_by))


def _body(rule: Rule) -> Iterable[tuple[Atom, bool]]:
    return dict.fromkeys(body_atoms(rule))


def _links(found: Iterable[tuple[Atom, bool, Sequence[Rule]]]) -> tuple[Link, ...]:
    links: dict[tuple[Atom, bool], dict[str, None]] = {}
    for atom, negative, rules in found:
        links.setdefault((atom, negative), {}).update((rule.name or "", None) for rule in rules)
    return tuple(Link(atom, negative, tuple(names)) for (atom, negative), names in links.items())
