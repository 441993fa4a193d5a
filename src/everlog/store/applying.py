"""How does an update that has been read and checked become work for an engine?

Mostly by maintenance: what is explicit and which rules there are is changed, and the components follow. Where there is
nothing to go on from, or going on would be more work, everything is derived: in the engine that is there if nothing is
derived in it yet, and otherwise in another one beside it. Either way the old state stays until the work is committed,
and `abort` leaves it as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast

from everlog.engines.dumps import RelationDump
from everlog.engines.interface import Engine, MaintainingEngine, Shape
from everlog.engines.states import FactStates
from everlog.facts.weighted import WeightedFacts
from everlog.limits import Limits, Watch
from everlog.maintenance.materialise import materialise, shapes
from everlog.maintenance.program import EvaluatedProgram
from everlog.maintenance.reports import Progress
from everlog.maintenance.strategies import marks_of
from everlog.maintenance.update import Maintenance
from everlog.plans.sweeps import Marks
from everlog.rules.constraints import is_constraint_relation
from everlog.rules.syntax import Declaration, Rule
from everlog.store.bases import in_part, load_bases
from everlog.store.changes import Report
from everlog.store.encoding import Batch
from everlog.store.engines import make_engine
from everlog.store.interrupts import Interrupts
from everlog.store.lookout import Lookout
from everlog.store.rematerialise import difference, load, load_remaining
from everlog.store.rule_steps import RuleStep
from everlog.store.state import Definitions
from everlog.store.view_queries import ViewQuery
from everlog.store.windows import Windows


@dataclass(frozen=True)
class Target:
    """Where an update leads, besides facts."""

    rules: tuple[Rule, ...]
    prefixes: Mapping[str, str]
    views: Mapping[str, ViewQuery]
    arities: Mapping[str, int]
    rule_arities: Mapping[str, int]
    step: RuleStep | None  # None: neither rules nor views change
    declared: Mapping[str, Declaration] = field(default_factory=dict)


@dataclass(frozen=True)
class CheckedUpdate:
    """An update that has been read and checked: facts, and what else it leads to."""

    inserted: Mapping[str, Batch]
    deleted: Mapping[str, Batch]
    target: Target
    report: Report
    watch: Watch  # over its limits, since it began to be read
    progress: Progress | None = None  # told of each component that is done

    def edited(self) -> list[str]:
        """The relations whose explicit facts it changes."""
        known = self.target.arities
        return [name for name in dict.fromkeys((*self.deleted, *self.inserted)) if name in known]


@dataclass
class Workings:
    """What updates work with: an engine, and what is known of the components of its program."""

    engine: Engine
    maintenance: Maintenance
    windows: Windows
    strategy: str
    rewrites: bool
    limits: Limits
    arities: Mapping[str, int] = field(default_factory=dict)
    progress: Progress | None = None
    _filled: str = ""  # a relation that had facts when somebody last looked

    def is_empty(self) -> bool:
        """Is there no fact at all? Where one was the last time, one most likely still is."""
        if self._filled in self.arities and self.engine.count(self._filled):
            return False
        self._filled = next((name for name in self.arities if self.engine.count(name)), "")
        return not self._filled

    def declare(self, arities: Mapping[str, int]) -> None:
        """Make room for relations that have no facts yet."""
        for name, arity in arities.items():
            self.engine.declare(Shape(name, arity))
        self.arities = arities


class Work(Protocol):
    """An update that is carried out and can still be undone.

    Whoever makes one has it to commit or to abort, so interrupts wait from the moment at which it is carried out.
    """

    changes: Mapping[str, WeightedFacts]  # gained and lost, by relation
    explicit: Mapping[str, WeightedFacts]  # what became explicit, and what no longer is
    reshaped: Mapping[str, WeightedFacts]  # what was lost of relations that have another arity now
    replaces: bool  # all facts are derived anew, in another engine

    def touched(self) -> Mapping[str, FactStates]:
        """The facts of which anything has changed; where all are derived anew, all facts."""

    def commit(self, *, publish: bool) -> tuple[Engine, Maintenance]:
        """Make it the state of the engine; gives what the next update works with. Nothing can fail from here on."""

    def abort(self) -> None:
        """Leave everything as it was."""


class Maintained:
    """Change what is explicit, and rules, and carry that through the components."""

    reshaped: Mapping[str, WeightedFacts] = {}
    replaces = False

    def __init__(
        self,
        workings: Workings,
        update: CheckedUpdate,
        interrupts: Interrupts,
        strategy: str,
        lookout: Lookout | None,
    ) -> None:
        self._engine = cast(MaintainingEngine, workings.engine)
        self._maintenance, self._step = workings.maintenance, update.target.step
        known, wanted = workings.arities, update.target.arities
        self._new = (
            [] if wanted is known else [Shape(name, arity) for name, arity in wanted.items() if name not in known]
        )
        try:
            self._run(workings, update, strategy, lookout)
            interrupts.hold()
        except BaseException:
            self.abort()
            raise

    def _run(self, workings: Workings, update: CheckedUpdate, strategy: str, lookout: Lookout | None) -> None:
        engine, step, report = self._engine, self._step, update.report
        report.strategy = strategy
        for shape in self._new:
            engine.declare(shape)
        if step is not None:
            step.begin(engine)
        engine.suspect_marked()
        watch = update.watch
        marking = lookout is not None and marks_of(strategy) is not Marks.NONE
        if marking:
            assert lookout is not None
            watch.between_sweeps = lookout.over(engine, report)
        edited = _edit_all(workings, engine, update)
        if step is not None:
            edited += step.edit_bases(engine, engine.dictionary)
        report.phases = self._maintenance.run(
            engine, edited, strategy, watch, update.progress, marking=marking, way=step.way if step else None
        )
        watch.look()
        report.marked_implicit += sum(component.marked for component in report.phases)
        self.changes, self.explicit = engine.changes(), _explicit(engine, update)

    def touched(self) -> Mapping[str, FactStates]:
        return self._engine.touched()

    def commit(self, *, publish: bool) -> tuple[Engine, Maintenance]:
        self._engine.commit(publish=publish)
        after = self._maintenance if self._step is None else self._step.finish(self._engine, self._maintenance)
        return self._engine, after

    def abort(self) -> None:
        self._engine.abort()
        self._maintenance.restore()
        new = [shape.name for shape in self._new]
        for name in (*new, *(self._step.new_auxiliaries if self._step is not None else ())):
            self._engine.drop(name)


def _edit_all(workings: Workings, engine: MaintainingEngine, update: CheckedUpdate) -> list[str]:
    """Change what is explicit; says which relations that concerns."""
    report = update.report
    edited: list[str] = []
    for name, batch in update.deleted.items():
        known = workings.arities.get(name) == batch.arity
        changed = _edit(workings, engine, batch, edited, explicit=False) if known else 0
        report.deleted += changed
        report.not_there += batch.rows - changed
    for batch in update.inserted.values():
        changed = _edit(workings, engine, batch, edited, explicit=True)
        report.inserted += changed
        report.already_there += batch.rows - changed
    return edited


def _edit(workings: Workings, engine: MaintainingEngine, batch: Batch, edited: list[str], *, explicit: bool) -> int:
    """Make facts explicit or no longer, also in the bases of closures."""
    facts = WeightedFacts.present(batch.columns(), batch.rows)
    edited.append(batch.relation)
    for closure in workings.maintenance.program.rewriting.closures:
        if closure.part.relation == batch.relation:
            part = in_part(closure, facts, engine.dictionary)
            engine.edit(closure.base, part.columns, part.rows, explicit=explicit)
            edited.append(closure.base)
    return engine.edit(batch.relation, facts.columns, facts.rows, explicit=explicit)


def _explicit(engine: MaintainingEngine, update: CheckedUpdate) -> Mapping[str, WeightedFacts]:
    """What has become explicit, and what no longer is: mostly just what was asked for."""
    report = update.report
    if report.already_there or report.not_there or (update.inserted and update.deleted):
        return engine.explicit_changes(update.edited())
    came = {name: WeightedFacts.present(batch.columns(), batch.rows) for name, batch in update.inserted.items()}
    return came or {name: WeightedFacts.gone(batch.columns(), batch.rows) for name, batch in update.deleted.items()}


class DerivedInPlace:
    """Add facts and derive everything in the engine that is there, where nothing is derived yet and no fact goes."""

    changes: Mapping[str, WeightedFacts]
    explicit: Mapping[str, WeightedFacts]
    reshaped: Mapping[str, WeightedFacts] = {}
    replaces = False

    def __init__(self, workings: Workings, update: CheckedUpdate, interrupts: Interrupts) -> None:
        self._engine, self._program, self._report = workings.engine, _program(workings, update), update.report
        if self._engine.capabilities.maintains:
            with Interrupts() as before:
                before.hold()
                cast(MaintainingEngine, self._engine).tidy()
        try:
            self._engine.begin_from_scratch()
            _derive(workings, self._engine, self._program, update)
            self.changes = self._engine.changes()
            self.explicit = self._engine.explicit_changes(update.inserted)
            interrupts.hold()
        except BaseException:
            self._engine.abort()
            raise

    def touched(self) -> Mapping[str, FactStates]:
        return cast(MaintainingEngine, self._engine).touched()

    def commit(self, *, publish: bool) -> tuple[Engine, Maintenance]:
        self._engine.commit(publish=publish)
        return self._engine, Maintenance(self._program, self._report.phases)

    def abort(self) -> None:
        self._engine.abort()


class DerivedAgain:
    """Derive everything in another engine, and compare."""

    changes: Mapping[str, WeightedFacts]
    explicit: Mapping[str, WeightedFacts]
    reshaped: Mapping[str, WeightedFacts]
    replaces = True

    def __init__(self, workings: Workings, update: CheckedUpdate, interrupts: Interrupts) -> None:
        before, target = workings.engine, update.target
        self._program, self._report = _program(workings, update), update.report
        self._engine = after = make_engine(before.name, before.dictionary)
        after.begin_from_scratch()
        for name, arity in target.arities.items():
            after.declare(Shape(name, arity))
        load_remaining(before, after, workings.arities, update.deleted, update.report)
        _derive(workings, after, self._program, update)
        self.changes = _differences(before, after, workings, update)
        self.explicit = _explicit_differences(before, after, workings.arities, update)
        self.reshaped = {
            name: before.collect(name).negated()
            for name, arity in workings.arities.items()
            if target.arities.get(name, arity) != arity and before.count(name)
        }
        interrupts.hold()

    def touched(self) -> Mapping[str, FactStates]:
        return cast(MaintainingEngine, self._engine).touched()

    def commit(self, *, publish: bool) -> tuple[Engine, Maintenance]:
        self._engine.commit(publish=True)
        return self._engine, Maintenance(self._program, self._report.phases)

    def abort(self) -> None:
        """The engine that was there was only read."""


def derive_from_explicit(
    engine: Engine, dumps: Sequence[RelationDump], definitions: Definitions, limits: Limits
) -> None:
    """Take only what is explicit of relations that were dumped, and derive the rest."""
    engine.begin_from_scratch()
    for dump in dumps:
        if dump.shape.name in definitions.arities:
            engine.declare(Shape(dump.shape.name, dump.shape.arity))
            facts = dump.facts[dump.explicit]
            columns = [facts[:, position] for position in range(dump.shape.arity)]
            engine.load(dump.shape.name, columns, len(facts))
    load_bases(engine, definitions.program.rewriting.closures)
    materialise(engine, definitions.program.components, limits.watch())
    engine.commit()


def _program(workings: Workings, update: CheckedUpdate) -> EvaluatedProgram:
    step = update.target.step
    return workings.maintenance.program if step is None else step.change.after


def _derive(workings: Workings, engine: Engine, program: EvaluatedProgram, update: CheckedUpdate) -> None:
    """Add facts and derive everything, where nothing is derived yet."""
    for name, arity in update.target.arities.items():
        engine.declare(Shape(name, arity))
    load(engine, update.inserted, update.report)
    load_bases(engine, program.rewriting.closures)
    update.report.phases = materialise(engine, program.components, update.watch, update.progress)


def _differences(before: Engine, after: Engine, workings: Workings, update: CheckedUpdate) -> dict[str, WeightedFacts]:
    """What another engine has more and less than the one there was; of views and constraints too."""
    found = {}
    for name, arity in update.target.arities.items():
        arity_before = workings.arities.get(name)
        same = arity == arity_before
        parts = [difference(after, before if same else None, name)]
        if arity_before is not None and same:
            parts.append(difference(before, after, name).negated())
        found[name] = _joined(parts)
    programs = workings.maintenance.program, _program(workings, update)
    known, coming = ({shape.name: shape for shape in shapes(program.components)} for program in programs)
    for view in update.target.views.values():
        relation = view.relation
        counts = Counter(dict(after.collect(relation).facts()))
        if relation in known:
            counts.subtract(dict(before.collect(relation).facts()))
        found[relation] = WeightedFacts.of(counts, view.arity, after.dictionary.dtype)
    for name in dict.fromkeys(filter(is_constraint_relation, (*known, *coming))):
        # Within a transaction a constraint may have been broken before, and hold again now or be gone.
        was, is_now = known.get(name), coming.get(name)
        same = was is not None and is_now is not None and was.arity == is_now.arity
        parts = [difference(before, after if same else None, name).negated()] if was is not None else []
        parts += [difference(after, before if same else None, name)] if is_now is not None else []
        found[name] = _joined(parts if same or len(parts) == 1 else parts[1:])
    return {name: facts for name, facts in found.items() if facts.rows}


def _explicit_differences(
    before: Engine, after: Engine, arities: Mapping[str, int], update: CheckedUpdate
) -> dict[str, WeightedFacts]:
    found = {}
    for name in update.edited():
        same = arities.get(name) == update.target.arities.get(name)
        parts = [difference(after, before if same else None, name, explicit=True)]
        if same:
            parts.append(difference(before, after, name, explicit=True).negated())
        found[name] = _joined(parts)
    return {name: facts for name, facts in found.items() if facts.rows}


def _joined(parts: Sequence[WeightedFacts]) -> WeightedFacts:
    """Facts that have none in common, one after the other."""
    some = [part for part in parts if part.rows] or parts[:1]
    return some[0] if len(some) == 1 else WeightedFacts.concatenated(some)
