"""How is everything derived that follows from the facts?

Component by component in topological order (DESIGN 2.2), so that what a rule negates or aggregates is complete before
the rule is evaluated. Within a component, semi-naively: every rule once over what is there, then the delta variants of
its recursive rules until no fact is new. This is Xu and Curé's Algorithm 1 (ZodiacEdge, section 4.3).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from everlog.engines.interface import Engine, Phase, PhaseReport, Shape
from everlog.limits import Watch
from everlog.maintenance.fixpoint import run_phase
from everlog.maintenance.reports import Progress
from everlog.plans.delta_variants import delta_variants, full_variant
from everlog.plans.flat_rules import (
    EvaluatedRule,
    FlatRule,
    WholeRule,
    auxiliary_atoms,
    flatten_rules,
    rule_reads,
)
from everlog.rules.components import Component, maintenance_components
from everlog.rules.syntax import Rule


def evaluation_components(rules: Iterable[Rule]) -> list[Component[EvaluatedRule]]:
    """The components of named rules, flattened, in the order of evaluation."""
    return maintenance_components(flatten_rules(rules), rule_reads)


def shapes(components: Sequence[Component[EvaluatedRule]]) -> list[Shape]:
    """Every relation that the rules mention."""
    found: dict[str, Shape] = {}
    for component in components:
        for rule in component.rules:
            bag = isinstance(rule, FlatRule) and rule.bag
            for head in rule.heads:
                # What maintenance will need: ranks where there is recursion, counts of derivations elsewhere.
                known = found.get(head.relation, Shape(head.relation, len(head.args)))
                found[head.relation] = Shape(
                    head.relation,
                    len(head.args),
                    bag,
                    weighted=known.weighted or (isinstance(rule, FlatRule) and not component.recursive),
                    ranked=known.ranked or component.recursive,
                )
    for component in components:
        for rule in component.rules:
            for atom, _ in rule_reads(rule):
                found.setdefault(atom.relation, Shape(atom.relation, len(atom.args)))
            for atom in auxiliary_atoms(rule):
                found.setdefault(atom.relation, Shape(atom.relation, len(atom.args)))
    return list(found.values())


def component_phase(component: Component[EvaluatedRule]) -> Phase:
    """Materialising a component, as data."""
    flat = [rule for rule in component.rules if isinstance(rule, FlatRule)]
    heads = [head for rule in flat for head in rule.heads]
    return Phase(
        name=", ".join(dict.fromkeys(rule.name for rule in component.rules)),
        first=tuple(full_variant(rule) for rule in flat),
        loop=tuple(variant for rule in flat for variant in delta_variants(rule, heads)) if component.recursive else (),
        relations=component.relations(),
    )


@dataclass(frozen=True)
class Evaluation:
    """What deriving everything takes, worked out before: components as phases, in order."""

    shapes: tuple[Shape, ...]
    steps: tuple[Phase | WholeRule, ...]

    @classmethod
    def of(cls, components: Sequence[Component[EvaluatedRule]]) -> Evaluation:
        return cls(tuple(shapes(components)), tuple(map(_step, components)))

    def run(self, engine: Engine, watch: Watch, progress: Progress | None = None) -> list[PhaseReport]:
        """Derive everything from the facts that the engine holds; one report per component."""
        for shape in self.shapes:
            engine.declare(shape)
        reports = []
        for done, step in enumerate(self.steps, start=1):
            report = run_phase(engine, step, watch) if isinstance(step, Phase) else _group(engine, step)
            reports.append(report)
            if progress is not None:
                progress(done, len(self.steps), report)
        return reports


def materialise(
    engine: Engine,
    components: Sequence[Component[EvaluatedRule]],
    watch: Watch,
    progress: Progress | None = None,
) -> list[PhaseReport]:
    """Derive everything that the rules say from the facts that the engine holds; one report per component."""
    return Evaluation.of(components).run(engine, watch, progress)


def _step(component: Component[EvaluatedRule]) -> Phase | WholeRule:
    only = component.rules[0]
    if isinstance(only, FlatRule):
        return component_phase(component)
    assert len(component.rules) == 1, "an auxiliary relation is defined by one rule"
    return only


def _group(engine: Engine, rule: WholeRule) -> PhaseReport:
    started = time.perf_counter()
    gained = engine.group(rule)
    seconds = time.perf_counter() - started
    return PhaseReport(rule.name, 1, gained, {rule.head.relation: gained}, seconds)
