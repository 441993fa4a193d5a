"""How does an update flow through the components?

In topological order. A component takes the change of what it reads, explicit facts of its own included, and hands on
the change of what it defines; components that no change reaches are not visited.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from copy import copy
from functools import cached_property

from everlog.engines.interface import Flow, MaintainingEngine, PhaseReport
from everlog.limits import Watch
from everlog.maintenance.choose import most_work
from everlog.maintenance.component import Known, MaintainedComponent
from everlog.maintenance.insertion import explicit_only
from everlog.maintenance.program import EvaluatedProgram, ProgramChange
from everlog.maintenance.reach import Reach
from everlog.maintenance.reports import ComponentReport, Progress
from everlog.maintenance.rule_changes import Group, Transition, transition
from everlog.maintenance.strategies import CHOOSE, COUNTING, RANKED, REMATERIALISE, marks_of, pick
from everlog.plans.sweeps import Marks


class Maintenance:
    """The components of a program, ready to be kept true."""

    def __init__(
        self,
        program: EvaluatedProgram,
        derived: Sequence[PhaseReport | ComponentReport] = (),
        components: dict[Group, MaintainedComponent] | None = None,
    ) -> None:
        """`derived` are the reports of deriving all components, in order, if that was just done."""
        self.program = program
        if components is None:
            parts = zip(program.graph.members, program.components, strict=True)
            components = {group: MaintainedComponent(component) for group, component in parts}
        self._by_group = components
        self.components = list(components.values())
        for component, report in zip(self.components, derived, strict=False):
            component.known.derivations = report.rule_applications
        self._before: list[tuple[MaintainedComponent, Known]] = []  # what was known of those that an update maintains

    @cached_property
    def defined(self) -> set[str]:
        """The relations that rules conclude."""
        return {head.relation for component in self.components for head in component.heads}

    @property
    def possible(self) -> bool:
        """Does each fact belong to one component? Not so where that would put a negation inside one."""
        return self.program.graph.tied

    def transition(self, change: ProgramChange) -> Transition | str:
        """How to go over to a changed program, or why all must be derived again."""
        return transition(self._by_group, change)

    def after(self, way: Transition, engine: MaintainingEngine) -> Maintenance:
        """The components of the changed program, once an update has gone that way."""
        settled = way.settled()
        staying = {id(component) for component in settled.values()}
        for component in (*self.components, *way.components.values()):
            if id(component) not in staying:
                engine.forget(component.sweeps())
        return Maintenance(way.change.after, components=settled)

    def run(
        self,
        engine: MaintainingEngine,
        edited: Iterable[str],
        strategy: str,
        watch: Watch,
        progress: Progress | None = None,
        *,
        marking: bool = False,
        way: Transition | None = None,
    ) -> list[ComponentReport]:
        """Carry edits of explicit facts and a change of rules through all components; the caller commits or aborts."""
        self._before.clear()
        graph = self.program.graph if way is None else way.between
        components = self._by_group if way is None else way.components
        reach = Reach(engine, graph)
        changed: dict[str, Flow] = {}
        edited = set(dict.fromkeys(edited))
        for relation in sorted(edited):
            _note(changed, relation, engine.settle(relation, reach.owners(relation)))
            reach.add_readers(relation)
        reports = []
        if way is not None:
            reach.add(way.changed)
            if way.cleared:
                reports.append(_clear(engine, way, changed, watch))
                for place in way.gone_places:
                    reach.add_fed_by(place)
        for place in reach:
            component = components.get(graph.members[place])
            if component is None:
                continue
            if component.rules_change or self._is_reached(engine, component, changed, edited):
                self._before.append((component, copy(component.known)))
                component.marks = marks_of(strategy) if marking else Marks.NONE
                reports.append(_maintain(engine, component, strategy, changed, watch))
                reach.add_fed_by(place)
                if progress is not None:
                    progress(place + 1, len(graph.members), reports[-1])
        return reports

    @staticmethod
    def _is_reached(
        engine: MaintainingEngine, component: MaintainedComponent, changed: dict[str, Flow], edited: set[str]
    ) -> bool:
        by_relation = any(relation in changed for relation in component.read_relations) or any(
            relation in edited for relation in component.defined_relations
        )
        if not by_relation or not component.selective or component.group is not None:
            return by_relation
        return engine.reaches(component.read_atoms, component.heads)

    def restore(self) -> None:
        """The update has failed: what is known of components is what it was before."""
        for component, known in reversed(self._before):
            component.known = known


def _clear(engine: MaintainingEngine, way: Transition, changed: dict[str, Flow], watch: Watch) -> ComponentReport:
    """Facts that no rule concludes any more: of them only the explicit ones stay."""
    started = time.perf_counter()
    report, heads = ComponentReport(way.gone, "clear", "no rule concludes its facts any more"), way.cleared
    report.touched += engine.overdelete(heads)
    stay = explicit_only(heads)
    engine.sweep(stay, watch)
    engine.forget([stay])
    for relation, flow in engine.finish(heads, counted=False).items():
        report.gained[relation], report.lost[relation] = flow
        _note(changed, relation, flow)
    report.seconds = time.perf_counter() - started
    return report


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
        report.strategy = COUNTING.name
        flows = {component.group.head.relation: engine.regroup(component.group, new=bool(component.added))}
    else:
        strategy, report.reason = pick(engine, component, wanted, changed)
        if wanted == CHOOSE and strategy is RANKED:
            report.most = most_work(engine, component)
        strategy.maintain(engine, component, watch, report)
        if report.stopped:
            strategy, report.reason = REMATERIALISE, "ranked deletion had done a good part of the work of that"
            strategy.maintain(engine, component, watch, report)
        report.strategy = strategy.name
        flows = dict(engine.finish(component.heads, counted=not component.recursive and strategy.counts_all))
        strategy.leaves(component)
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
