"""How does an update flow through the components?

In topological order. A component takes the change of what it reads, explicit facts of its own included, and hands on
the change of what it defines; components that no change reaches are not visited.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from copy import copy

from everlog.engines.interface import Flow, MaintainingEngine, PhaseReport
from everlog.limits import Watch
from everlog.maintenance.choose import most_work
from everlog.maintenance.component import MaintainedComponent
from everlog.maintenance.reports import ComponentReport, Progress
from everlog.maintenance.strategies import CHOOSE, STRATEGIES, note_what_is_kept, pick
from everlog.plans.flat_rules import EvaluatedRule
from everlog.plans.sweeps import Marks
from everlog.rules.components import Component
from everlog.rules.dependencies import unify

MARKS = {"bf": Marks.EXPLICIT, "dred": Marks.ANY}
"""Strategies that can begin with facts which the update before has marked."""


class Maintenance:
    """The components of a program, ready to be kept true."""

    def __init__(
        self, components: Sequence[Component[EvaluatedRule]], derived: Sequence[PhaseReport | ComponentReport] = ()
    ) -> None:
        """`derived` are the reports of deriving all components, in order, if that was just done."""
        self.components = [MaintainedComponent(component) for component in components]
        for component, report in zip(self.components, derived, strict=False):
            component.kept.derivations = report.rule_applications
        self.heads = tuple(dict.fromkeys(head for component in self.components for head in component.heads))
        self.defined = {head.relation for head in self.heads}
        self.shared = self._shared()

    def _shared(self) -> str | None:
        """Two components that may conclude the same fact, which happens only to keep negation in order."""
        for number, one in enumerate(self.components):
            for other in self.components[:number]:
                if any(unify(a, b) for a in one.heads for b in other.heads):
                    return f"{other.name} and {one.name} may conclude the same facts on two sides of a negation"
        return None

    def run(
        self,
        engine: MaintainingEngine,
        edited: Iterable[str],
        strategy: str,
        watch: Watch,
        progress: Progress | None = None,
        *,
        marking: bool = False,
    ) -> list[ComponentReport]:
        """Carry edits of explicit facts through all components; the caller commits or aborts."""
        edited = list(dict.fromkeys(edited))
        changed: dict[str, Flow] = {}
        for relation in edited:
            _note(changed, relation, engine.settle(relation, self.heads))
        own_edits = self.defined.intersection(edited)
        reports = []
        for done, component in enumerate(self.components, start=1):
            if self._is_reached(engine, component, changed, own_edits):
                component.marks = MARKS.get(strategy, Marks.NONE) if marking else Marks.NONE
                reports.append(_maintain(engine, component, strategy, changed, watch))
                if progress is not None:
                    progress(done, len(self.components), reports[-1])
        return reports

    @staticmethod
    def _is_reached(
        engine: MaintainingEngine, component: MaintainedComponent, changed: dict[str, Flow], own_edits: set[str]
    ) -> bool:
        by_relation = any(relation in changed for relation in component.read_relations) or any(
            relation in own_edits for relation in component.defined_relations
        )
        if not by_relation or not component.selective or component.group is not None:
            return by_relation
        return engine.reaches(component.read_atoms, component.heads)

    def kept(self) -> list[object]:
        """What is known beside the facts, to return to if an update fails."""
        return [copy(component.kept) for component in self.components]

    def restore(self, kept: list[object]) -> None:
        for component, state in zip(self.components, kept, strict=True):
            component.kept = state  # type: ignore[assignment]


def _maintain(
    engine: MaintainingEngine,
    component: MaintainedComponent,
    wanted: str,
    changed: dict[str, Flow],
    watch: Watch,
) -> ComponentReport:
    started = time.perf_counter()
    report = ComponentReport(component.name)
    if component.group is not None:
        report.strategy = "counting"
        flows = {component.group.head.relation: engine.regroup(component.group)}
    else:
        report.strategy, report.reason = pick(engine, component, wanted, changed)
        if wanted == CHOOSE and report.strategy == "ranked":
            report.most = most_work(engine, component)
        STRATEGIES[report.strategy](engine, component, watch, report)
        if report.stopped:
            report.strategy, report.reason = (
                "rematerialise",
                "ranked deletion had done a good part of the work of that",
            )
            STRATEGIES[report.strategy](engine, component, watch, report)
        counted = not component.recursive and report.strategy in ("counting", "rematerialise")
        flows = dict(engine.finish(component.heads, counted=counted))
        note_what_is_kept(component, report.strategy)
    for relation, flow in flows.items():
        report.gained[relation], report.lost[relation] = flow
        _note(changed, relation, flow)
        if component.bag and report.touched:
            changed.setdefault(relation, flow)  # multiplicities changed, and whoever reads a bag sees them
    report.seconds = time.perf_counter() - started
    return report


def _note(changed: dict[str, Flow], relation: str, flow: Flow) -> None:
    if flow.gained or flow.lost:
        before = changed.get(relation, Flow(0, 0))
        changed[relation] = Flow(before.gained + flow.gained, before.lost + flow.lost)
