"""In which form is a program evaluated, and what does a change of its rules mean for that form?

Rules as written are rewritten (plans/rewrites.py), flattened (plans/flat_rules.py) and arranged in components that are
updated as rules come and go (rules/hypergraph.py). For evaluation a change of a program is a difference of flat rules:
adding a transitive rule, say, removes the rules that put facts where its closure now stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from everlog.engines.interface import Shape
from everlog.maintenance.materialise import shapes
from everlog.plans.flat_rules import EvaluatedRule, Flattened, flatten_each, rule_reads
from everlog.plans.rewrites import Rewriting, rewrite_rules
from everlog.rules.components import Component
from everlog.rules.hypergraph import Hypergraph
from everlog.rules.syntax import Rule


@dataclass(frozen=True)
class EvaluatedProgram:
    """Rules in the form in which they are evaluated."""

    rewriting: Rewriting = field(default_factory=Rewriting)
    graph: Hypergraph[EvaluatedRule] = field(default_factory=lambda: Hypergraph(rule_reads))
    flattened: Mapping[Rule, Flattened] = field(default_factory=dict)  # so that rules which stay are not made again

    @property
    def components(self) -> tuple[Component[EvaluatedRule], ...]:
        return self.graph.components

    @cached_property
    def shapes(self) -> dict[str, Shape]:
        """Every relation that the rules mention, by name."""
        return {shape.name: shape for shape in shapes(self.graph.components)}

    def changed(self, rules: Iterable[Rule], *, rewrites: bool, views: Iterable[EvaluatedRule] = ()) -> ProgramChange:
        """The program of these rules and of views, which are flat already, and how it differs from this one."""
        rewriting = rewrite_rules(rules, enabled=rewrites)
        flattened = flatten_each(rewriting.rules, self.flattened)
        wanted = dict.fromkeys((*(flat for each in flattened.values() for flat in each.flat), *views))
        known = {rule: number for number, rule in self.graph.rules.items()}
        removed = tuple(rule for rule in known if rule not in wanted)
        added = tuple(rule for rule in wanted if rule not in known)
        graph, _ = self.graph.changed({known[rule] for rule in removed}, added)
        return ProgramChange(self, EvaluatedProgram(rewriting, graph, flattened), removed, added)


@dataclass(frozen=True)
class ProgramChange:
    """Two programs, and the rules in which they differ."""

    before: EvaluatedProgram
    after: EvaluatedProgram
    removed: tuple[EvaluatedRule, ...]
    added: tuple[EvaluatedRule, ...]

    def between(self) -> Hypergraph[EvaluatedRule] | None:
        """The graph of the rules of both programs, in whose components facts have one owner before and after.

        None where these rules together would put a negation on a cycle.
        """
        if not self.added:
            return self.before.graph if self.before.graph.tied else None
        if not self.removed:
            return self.after.graph if self.after.graph.tied else None
        return self.before.graph.extended(self.added)
