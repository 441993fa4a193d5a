"""How does an update that has been read and checked become the new state?

Mostly by maintenance: what is explicit and which rules there are is changed, and the components follow. Where there is
nothing to go on from, or going on would be more work, everything is derived: in the engine that is there if nothing is
derived in it yet, and otherwise in another one beside it. Either way the old state stays until the new one is complete
and logged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from everlog.engines.interface import Engine, FactColumns, MaintainingEngine, Shape
from everlog.maintenance.materialise import materialise
from everlog.maintenance.program import EvaluatedProgram
from everlog.maintenance.update import MARKS, Maintenance
from everlog.rules.syntax import Rule
from everlog.sparql.deltas import Delta
from everlog.store.bases import in_part, load_bases
from everlog.store.changes import Report
from everlog.store.encoding import Batch
from everlog.store.engines import make_engine
from everlog.store.interrupts import Interrupts
from everlog.store.lookout import Lookout, nothing_ahead
from everlog.store.rematerialise import difference, load, load_remaining
from everlog.store.rows import Rows
from everlog.store.rule_steps import RuleStep, rule_arities
from everlog.store.views import View, bag_changes, differences, set_changes

if TYPE_CHECKING:
    from everlog.store.store import KnowledgeBase

# Facts gained and lost, by relation; and what changed in the answers of views.
Changed = tuple[dict[str, Rows], dict[str, Rows], dict[str, Delta]]
Acknowledge = Callable[[Mapping[str, int]], None]


@dataclass(frozen=True)
class Target:
    """Where an update leads, besides facts."""

    rules: tuple[Rule, ...]
    views: Mapping[str, View]
    arities: dict[str, int]
    step: RuleStep | None  # None: neither rules nor views change

    def reached(self, kb: KnowledgeBase) -> None:
        """The update is complete."""
        new = [view for name, view in self.views.items() if kb._views.get(name) is not view]
        kb._rules, kb._views, kb._arities = self.rules, self.views, self.arities
        if self.step is not None:
            kb._rule_arities = rule_arities(self.rules)
        for view in new:
            view.fill()


@dataclass(frozen=True)
class CheckedUpdate:
    """An update that has been read and checked: facts, what else it leads to, and who is told of it."""

    inserted: Mapping[str, Batch]
    deleted: Mapping[str, Batch]
    target: Target
    report: Report
    acknowledge: Acknowledge  # called when the new state is complete, before anybody sees it


def maintain(kb: KnowledgeBase, update: CheckedUpdate, strategy: str) -> Changed:
    """Change what is explicit, and rules, and carry that through the components."""
    target, report = update.target, update.report
    engine, step = cast(MaintainingEngine, kb._engine), target.step
    kept = kb._maintenance.kept()
    report.strategy = strategy
    new = [Shape(name, arity) for name, arity in target.arities.items() if name not in kb._arities]
    staying = [view for name, view in kb._views.items() if target.views.get(name) is view]
    answers: dict[str, Delta] = {}
    try:
        for shape in new:
            engine.declare(shape)
        if step is not None:
            step.begin(engine)
        engine.suspect_marked()
        watch, marking = kb.limits.watch(), strategy in MARKS and kb._look_ahead is not nothing_ahead
        if marking:
            # The first facts of all are taken in before the next update is looked at, as the paper does.
            ahead = nothing_ahead if kb._is_empty() else kb._look_ahead
            watch.between_sweeps = Lookout(kb, engine, ahead, report).look
        edited = _edit_all(kb, engine, update)
        if step is not None:
            edited += step.edit_bases(engine, kb._dictionary)
        report.phases = kb._maintenance.run(
            engine, edited, strategy, watch, kb.on_progress, marking=marking, way=step.way if step else None
        )
        watch.look()
        report.marked_implicit += sum(component.marked for component in report.phases)
        answers = bag_changes(engine, staying)
        update.acknowledge(target.arities)
    except BaseException:
        engine.abort()
        kb._maintenance.restore(kept)
        for name in (*(shape.name for shape in new), *(step.new_auxiliaries if step is not None else ())):
            engine.drop(name)
        raise
    changes = engine.commit()
    if step is not None:
        kb._maintenance = step.finish(engine, kb._maintenance)
    gained, lost = {}, {}
    for name, arity in target.arities.items():
        if name in changes:
            more, less = changes[name]
            if more.rows:
                gained[name] = kb._named(arity, more)
            if less.rows:
                lost[name] = kb._named(arity, less)
    answers |= set_changes(changes, staying)
    target.reached(kb)
    return gained, lost, answers


def _edit_all(kb: KnowledgeBase, engine: MaintainingEngine, update: CheckedUpdate) -> list[str]:
    """Change what is explicit; says which relations that concerns."""
    report = update.report
    edited: list[str] = []
    for name, batch in update.deleted.items():
        known = kb._arities.get(name) == batch.arity
        changed = _edit(kb, engine, batch, edited, explicit=False) if known else 0
        report.deleted += changed
        report.not_there += batch.rows - changed
    for batch in update.inserted.values():
        changed = _edit(kb, engine, batch, edited, explicit=True)
        report.inserted += changed
        report.already_there += batch.rows - changed
    return edited


def _edit(kb: KnowledgeBase, engine: MaintainingEngine, batch: Batch, edited: list[str], *, explicit: bool) -> int:
    """Make facts explicit or no longer, also in the bases of closures."""
    facts = FactColumns(batch.columns(), batch.rows)
    edited.append(batch.relation)
    for closure in kb._maintenance.program.rewriting.closures:
        if closure.part.relation == batch.relation:
            engine.edit(closure.base, *in_part(closure, facts, kb._dictionary), explicit=explicit)
            edited.append(closure.base)
    return engine.edit(batch.relation, *facts, explicit=explicit)


def derive_again(kb: KnowledgeBase, update: CheckedUpdate, *, goes_on: bool) -> Changed:
    """Derive everything; `goes_on` if the facts that are there have nothing derived among them, and none goes."""
    target, report = update.target, update.report
    program = kb._maintenance.program if target.step is None else target.step.change.after
    if goes_on and kb._maintains():
        with Interrupts() as interrupts:
            interrupts.hold()
            cast(MaintainingEngine, kb._engine).tidy()
    engine, savepoint = kb._engine, kb._engine.savepoint()
    answers: dict[str, Delta] = {}
    lost: dict[str, Rows] = {}
    try:
        if goes_on:
            _derive(kb, engine, program, update)
            gained = _since(kb, savepoint, target.arities)
        else:
            engine = make_engine(kb._engine_name, kb._dictionary)
            for name, arity in target.arities.items():
                engine.declare(Shape(name, arity))
            load_remaining(kb._engine, engine, kb._arities, update.deleted, report)
            _derive(kb, engine, program, update)
            gained, lost = _differences(kb, engine, target.arities)
            staying = [view for name, view in kb._views.items() if target.views.get(name) is view]
            answers = differences(kb._engine, engine, staying)
        update.acknowledge(target.arities)
    except BaseException:
        kb._engine.rollback(savepoint)
        raise
    # Nothing can fail from here on: the new state replaces the old one whole.
    kb._maintenance = Maintenance(program, report.phases)
    kb._engine = engine
    target.reached(kb)
    return gained, lost, answers


def _derive(kb: KnowledgeBase, engine: Engine, program: EvaluatedProgram, update: CheckedUpdate) -> None:
    """Add facts and derive everything, where nothing is derived yet."""
    for name, arity in update.target.arities.items():
        engine.declare(Shape(name, arity))
    load(engine, update.inserted, update.report)
    load_bases(engine, program.rewriting.closures)
    update.report.phases = materialise(engine, program.components, kb.limits.watch(), kb.on_progress)


def _since(kb: KnowledgeBase, savepoint: Any, arities: Mapping[str, int]) -> dict[str, Rows]:
    found = {name: kb._named(arity, kb._engine.since(savepoint, name)) for name, arity in arities.items()}
    return {name: rows for name, rows in found.items() if len(rows)}


def _differences(
    kb: KnowledgeBase, after: Engine, arities: Mapping[str, int]
) -> tuple[dict[str, Rows], dict[str, Rows]]:
    """What another engine has more and less than the one there is."""
    before, gained, lost = kb._engine, {}, {}
    for name, arity in arities.items():
        arity_before = kb._arities.get(name)
        same = arity == arity_before
        gained[name] = kb._named(arity, difference(after, before if same else None, name))
        if arity_before is not None:
            lost[name] = kb._named(arity_before, difference(before, after if same else None, name))
    return (
        {name: rows for name, rows in gained.items() if len(rows)},
        {name: rows for name, rows in lost.items() if len(rows)},
    )
