"""Which components, in the paper's sense, does a change of rules affect?

Reports and pictures speak of hyper-nodes (components.py) of the rules as written. Evaluation has components of its own,
of rules as it rewrites them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from everlog.rules.dependencies import body_atoms
from everlog.rules.hypergraph import Hypergraph, Impact
from everlog.rules.syntax import Rule


@dataclass(frozen=True)
class HyperNodeChange:
    """The graphs of hyper-nodes before and after a change of rules, and its impact."""

    before: Hypergraph[Rule]
    after: Hypergraph[Rule]
    impact: Impact[Rule]


def hyper_node_change(rules: Sequence[Rule], removed: Sequence[Rule], added: Sequence[Rule]) -> HyperNodeChange:
    """Rules are numbered by position; added ones get the numbers that follow."""
    before = Hypergraph(body_atoms, owning=False).changed((), rules)[0]
    numbers = {number for number, rule in before.rules.items() if rule in removed}
    return HyperNodeChange(before, *before.changed(numbers, added))


def affected_names(before: Sequence[Rule], after: Sequence[Rule]) -> tuple[list[str], list[str]]:
    """Components of the later program that are affected directly and indirectly, by the names of their rules."""
    removed = [rule for rule in before if rule not in after]
    added = [rule for rule in after if rule not in before]
    impact = hyper_node_change(before, removed, added).impact
    direct, indirect = (
        [", ".join(rule.name or "" for rule in component.rules) for component in components]
        for components in (impact.direct, impact.indirect)
    )
    return direct, indirect
