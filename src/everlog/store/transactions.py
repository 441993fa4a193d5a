"""How does a state become the next one?

A transaction takes the newest state and edits to the next state and a change; nothing else can. One update is a
transaction, and so is a group of them, a change of rules or views, a request in SPARQL Update, a replay of the log, and
the question what an update would change, which ends without a new state.

Of a single update everything is worked out, checked against the constraints and written to the log before it is put in
place, so that it can be given up at any time. Updates in a group are put in place one by one, where only the
transaction sees them; if the group is given up, one more update takes them back.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from everlog.engines.interface import Engine, MaintainingEngine
from everlog.errors import ProgramError, UsageError
from everlog.facts.missing import MissingValues
from everlog.facts.terms import Term
from everlog.limits import Limits, Watch
from everlog.maintenance.reports import Progress
from everlog.maintenance.strategies import CHOOSE, check_strategy
from everlog.maintenance.update import Maintenance
from everlog.rules.finding import without_rules
from everlog.rules.names import name_rules
from everlog.rules.same_rules import new_rules, rule_difference
from everlog.rules.syntax import Declaration, Program, Rule
from everlog.store.answers import answer, datalog_answer
from everlog.store.applying import (
    CheckedUpdate,
    DerivedAgain,
    DerivedInPlace,
    Maintained,
    Target,
    Work,
    Workings,
)
from everlog.store.changes import Change, Report
from everlog.store.collecting import no_collecting
from everlog.store.constraints import check_constraints
from everlog.store.encoding import Batch, FactEncoder, layered
from everlog.store.given_facts import EncodedFacts
from everlog.store.interrupts import Interrupts
from everlog.store.lookout import Lookout
from everlog.store.records import Record
from everlog.store.replay import Replay, parse_rules
from everlog.store.rule_steps import rule_arities, rule_step
from everlog.store.settled import settled_arities, settled_for
from everlog.store.state import Definitions, FactsAtVersion, State
from everlog.store.steps import Step, edits_back, together
from everlog.store.unknown_relations import point_out, unknown_to
from everlog.store.updates import Update
from everlog.store.updating import RulesArgument, TakesUpdates
from everlog.store.view_queries import ViewQuery, view_arities, view_query, view_rules
from everlog.store.windows import Windows

if TYPE_CHECKING:
    from everlog.store.rows import Rows
    from everlog.store.timeline import Timeline

OVERHAUL_FROM = 10_000  # edits in one update below which nobody thinks of beginning anew


class Transaction(TakesUpdates):
    """Updates and queries that see them, all or nothing; made by `kb.transaction()`."""

    def __init__(self, timeline: Timeline, interrupts: Interrupts) -> None:
        self._timeline, self._workings = timeline, timeline.workings
        self._interrupts = interrupts  # held back while an update is put in place, and until it counts
        self._began = timeline.newest
        self._state = timeline.newest
        self._steps: list[Step] = []
        self._left: Left | None = None  # the engine that was there before an update derived everything in another
        self._over = False
        self._replaying = False  # what a log says has been pointed out before
        self.ticket: int | None = None  # what the log has to sync before it counts
        self.change: Change | None = None  # once it is committed: what it came to

    # --- what users call ----------------------------------------------------------------------------------------------

    def __enter__(self) -> Transaction:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._over:
            if kind is None:
                self.commit()
            else:
                self.rollback()

    def query(
        self,
        text: str,
        *,
        bindings: Mapping[str, Term] | None = None,
        base: str | None = None,
        limits: Limits | None = None,
    ) -> Any:
        """The answers to a query in SPARQL or Datalog, as if the updates so far were all there is."""
        from everlog.store.reading import is_sparql

        state = self.state().limited(limits)
        return answer(state, text, bindings, base) if is_sparql(text) else self._datalog(state, text)

    def _datalog(self, state: State, text: str) -> Rows:
        return datalog_answer(state, text, strict=self._timeline.strict)

    def sparql_update(
        self,
        text: str,
        *,
        base: str | None = None,
        load_from: str | Path | None = None,
        limits: Limits | None = None,
    ) -> list[Change]:
        """Apply a request in SPARQL Update; gives a change for each of its operations."""
        from everlog.store.sparql_updates import apply_request

        watch = (limits or self._workings.limits).watch()
        return apply_request(self, text, base, Path(load_from) if load_from is not None else None, watch)

    # --- for the store ------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """The state that the updates so far have led to, to be read by this transaction."""
        self._check_open()
        if not self._steps:
            self._state.facts.take()
            return self._state
        return self._state.at(self._state.version, FactsAtVersion.newest(self._workings.engine))

    def apply(self, update: Update, **options: Any) -> Change:
        """Apply an update, in the engine too, where only this transaction sees it."""
        self._check_open()
        if not self._workings.engine.capabilities.maintains and self._steps:
            raise UsageError(
                f"on the engine {self._workings.engine.name} a transaction has one update", hint="use columnar"
            )
        with Interrupts() as interrupts:
            step = self._prepare(update, interrupts, **options)
            left = Left(self._workings.engine, self._workings.maintenance, self._state, len(self._steps))
            self._put_in_place(step, publish=False)
            self._steps.append(step)  # before an interrupt that has come is raised: it is to be taken back
            if self._left is None and self._workings.engine is not left.engine:
                self._left = left
        return step.change(self._began.version + 1)

    def only(self, update: Update, *, covers: int = 1, **options: Any) -> Change:
        """Apply an update that is all there is to this transaction, and commit it."""
        started = time.perf_counter()
        version = self._began.version + covers
        step = self._prepare(update, self._interrupts, **options)
        try:
            check_constraints(step.target.rules, step.work.changes, self._began.dictionary)
            ticket = self.ticket = self._timeline.log(step, version)
        except BaseException:
            step.work.abort()
            raise
        self._over = True
        with self._timeline.publishing(ticket, step) as publish:
            state = self._put_in_place(step, publish=bool(publish), version=version)
            if not publish:
                state.facts.take(latest=True)
            step.report.seconds = time.perf_counter() - started
            self.change = step.change(version, covers)
            self._timeline.accept(state, step, self.change, ticket, publish=bool(publish))
        self._reclaim()
        return self.change

    def replay(self, record: Record) -> None:
        """Make an update of the log again; nothing is logged."""
        self._replaying = True
        facts = {name: (change.gained(), change.lost()) for name, change in record.explicit.items()}
        inserted = [EncodedFacts(name, gained) for name, (gained, _) in facts.items() if gained.rows]
        deleted = [EncodedFacts(name, lost) for name, (_, lost) in facts.items() if lost.rows]
        said = [*record.declarations.values(), *record.add_rules.values()]
        program = parse_rules(said, record.prefixes, self._state.prefixes)
        self._know(record.relations)
        views = self._state.views
        if record.views:
            texts = {name: text for name, text in record.views.items() if text is not None}
            prefixes = {**self._state.prefixes, **record.prefixes}
            made = {name: view_query(name, text, prefixes, record.version) for name, text in texts.items()}
            views = {name: view for name, view in views.items() if name not in record.views} | made
        update = Update(inserted, deleted, program, record.remove_rules)
        if not record.reshaped:
            self.only(update, covers=record.version - self._began.version, views=views)
            return
        # The facts of the arity before go first: a relation never has both.
        self.apply(Update({}, [EncodedFacts(name, lost.lost()) for name, lost in record.reshaped.items()]))
        self.apply(update, views=views)
        self.commit()

    def replay_all(self, replay: Replay) -> None:
        """Become what a log says, all at once; nothing is logged."""
        self._replaying = True
        program = replay.program()
        views = {name: view_query(name, *made, replay.version) for name, made in replay.views.items()}
        self._know(replay.relations)
        self.only(Update(replay.facts(), {}, program), covers=replay.version, views=views or None)

    def _know(self, arities: Mapping[str, int]) -> None:
        """There are relations that need not have facts."""
        new = {name: arity for name, arity in arities.items() if name not in self._state.arities}
        if new:
            known = {**self._state.arities, **new}
            self._state = self._state._replace(definitions=replace(self._state.definitions, arities=known))
            self._workings.declare(known)

    def sync_update(self, rules: RulesArgument, name: str) -> Update:
        """The update that makes the rules those of a text; the facts that stand among them are inserted.

        The rules of ontologies stay: they come and go with their ontologies.
        """
        from everlog.store.ontologies import without_ontologies

        program = _read_rules(rules, name, self._state.prefixes)
        difference = rule_difference(program.rules, without_ontologies(self.state()))
        return Update(add_rules=replace(program, rules=difference.added), remove_rules=difference.removed)

    def what_if(self, update: Update, *, limits: Limits | None = None) -> Change:
        """What an update would change; nothing is changed."""
        with Interrupts() as interrupts:
            step = self._prepare(update, interrupts, limits=limits)
            try:
                check_constraints(step.target.rules, step.work.changes, self._began.dictionary)
                return step.change(self._began.version + 1)
            finally:
                self._over = True
                step.work.abort()

    def commit(self) -> Change:
        """Make all updates so far the next version."""
        self._check_open()
        started = time.perf_counter()
        if not self._steps:
            self._over = True
            self.change = Change(self._began.version, {}, self._began.dictionary)
            return self.change
        total = together(self._steps)
        version = self._began.version + 1
        try:
            check_constraints(self._state.rules, total.changes, self._began.dictionary)
            self._interrupts.hold()
            ticket = self.ticket = self._timeline.log(total, version)
        except BaseException:
            self.rollback()
            raise
        self._over = True
        state = self._state.at(version, self._facts_now())
        state.facts.take(latest=True)
        total.report.seconds += time.perf_counter() - started
        self.change = total.change(version)
        self._timeline.accept(state, total, self.change, ticket, publish=False)
        self._reclaim()
        return self.change

    def rollback(self) -> None:
        """Take back all updates so far."""
        if self._over:
            return
        self._over = True
        if not self._steps:
            return
        with Interrupts() as interrupts:
            interrupts.hold()
            if self._left is not None:
                self._return_to(self._left)
                if not self._steps:
                    return
            step = self._prepared_back(together(self._steps), interrupts)
            self._put_in_place(step, publish=False)
            engine = self._workings.engine
            for name in self._state_names() - set(self._began.arities):
                cast(MaintainingEngine, engine).drop(name)
            self._timeline.restore(self._began.at(self._began.version, self._facts_now()))

    def _return_to(self, left: Left) -> None:
        """Go on from where an update left for another engine: what came then is nowhere else."""
        workings = self._workings
        workings.engine, workings.maintenance, workings.windows = (
            left.engine,
            left.maintenance,
            Windows(left.state.dictionary),
        )
        workings.windows.fill(left.state.views, left.engine)
        self._state, self._steps = left.state, self._steps[: left.steps]

    def _state_names(self) -> set[str]:
        return {name for step in self._steps for name in step.target.arities}

    def _prepared_back(self, total: Step, interrupts: Interrupts) -> Step:
        """The update that leads back to where the transaction began; it has no limits."""
        inserted, deleted = edits_back(total.explicit)
        before = self._began.definitions
        change = None
        if before.rules != self._state.rules or before.views is not self._state.views:
            change = self._changed_program(before.rules, before.views)
        target = Target(
            before.rules, before.prefixes, before.views, self._state.arities, before.rule_arities,
            None if change is None else rule_step(self._workings.maintenance, change), before.declared,
        )  # fmt: skip
        checked = CheckedUpdate(inserted, deleted, target, Report(), Limits(rounds=None, facts=None).watch())
        work = self._begin(checked, CHOOSE, None, interrupts)
        return Step(work, target, checked.report, self._began.definitions, self._began.dictionary, self._began.version)

    def _check_open(self) -> None:
        if self._over:
            raise UsageError("this transaction is over", hint="begin another one")

    # --- one update ---------------------------------------------------------------------------------------------------

    def _prepare(
        self,
        update: Update,
        interrupts: Interrupts,
        *,
        name: str | None = None,
        strategy: str | None = None,
        views: Mapping[str, ViewQuery] | None = None,
        lookout: Lookout | None = None,
        limits: Limits | None = None,
        progress: Progress | None = None,
    ) -> Step:
        """Read, check and work out an update; nothing is in place yet. An interrupt waits from then on."""
        before = self._state.definitions
        watch = (limits or self._workings.limits).watch()
        strategy = check_strategy(strategy or self._workings.strategy)
        with no_collecting() if update.add_rules or update.remove_rules else nullcontext():
            checked = self._read(
                update,
                name or "<rules>",
                before.views if views is None else views,
                lookout,
                watch,
                progress or self._workings.progress,
            )
        work = self._begin(checked, strategy, lookout, interrupts)
        step = Step(work, checked.target, checked.report, before, self._state.dictionary, self._began.version)
        if self._timeline.journal is not None and self._timeline.journal.wants_states:
            step.touched = work.touched()
        return step

    def _read(
        self,
        update: Update,
        name: str,
        views: Mapping[str, ViewQuery],
        lookout: Lookout | None,
        watch: Watch,
        progress: Progress | None,
    ) -> CheckedUpdate:
        """Read and check an update, and say where it leads."""
        before = self._state.definitions
        program = _read_rules(update.add_rules, name, before.prefixes)
        staying = (
            without_rules(before.rules, update.remove_rules, before.prefixes) if update.remove_rules else before.rules
        )
        rules = staying
        if new := new_rules(program.rules, staying) if program.rules else ():
            rules = (*staying, *name_rules(new, taken={rule.name or "" for rule in staying}))
        if rules is not before.rules and rules == before.rules:
            rules = before.rules
        in_rules = before.rule_arities if rules is before.rules else rule_arities(rules)
        declared = before.declared
        if program.declarations:
            declared = {**declared, **{each.relation: each for each in program.declarations}}
        if rules is not before.rules or program.declarations:
            self._check(rules, in_rules, program)
        report = Report()
        inserted, deleted = self._encode(update, program, in_rules, lookout, report, declared, watch)
        if new and self._timeline.doors and not self._replaying:
            problems = unknown_to(before, self._workings.engine, rules, new, program, inserted)
            point_out(problems, strict=self._timeline.strict)
        prefixes = {**before.prefixes, **program.prefixes} if program.prefixes else before.prefixes
        target = replace(self._target(rules, prefixes, views, inserted, in_rules), declared=declared)
        checked = CheckedUpdate(inserted, deleted, target, report, watch, progress)
        if target.step is not None:
            checked.report.rules = before.rules, target.rules
            checked.report.rebuilt = target.step.rebuilt
        return checked

    def _check(self, rules: tuple[Rule, ...], in_rules: Mapping[str, int], program: Program) -> None:
        from everlog.rules.checks import check_program

        before = self._state.definitions
        program = Program(rules, program.facts, program.prefixes, declarations=program.declarations)
        new = {each.relation for each in program.declarations}
        columns = {name: len(names) for name, names in before.declared_names.items() if name not in new}
        settled = {**columns, **settled_for(self._workings, before, in_rules)}
        problems = check_program(program, settled, passed=self._state.rules)
        if problems:
            raise ProgramError(problems)

    def _encode(
        self,
        update: Update,
        program: Program,
        in_rules: Mapping[str, int],
        lookout: Lookout | None,
        report: Report,
        declared: Mapping[str, Declaration],
        watch: Watch,
    ) -> tuple[dict[str, Batch], dict[str, Batch]]:
        before, dictionary = self._state.definitions, self._state.dictionary
        arities = settled_arities(self._workings, before, in_rules)
        names = {name: each.columns for name, each in declared.items()}
        if names:
            arities = layered({name: len(columns) for name, columns in names.items()}, arities)
        if lookout is not None:
            lookout.arities, lookout.names = arities, names
        inserting = FactEncoder(dictionary, arities, names, new=self._timeline.doors)
        inserting.add_atoms(program.facts)
        missing = MissingValues(update.nulls)
        inserting.add(update.insert, missing, watch)
        report.skipped = missing.skipped
        ahead = lookout.encoded if lookout is not None else None
        # What was encoded ahead knew nothing of relations that this very update brings in.
        if (
            ahead is not None
            and ahead[0] is update
            and in_rules is before.rule_arities
            and inserting.batches.keys() <= arities.keys()
        ):
            return inserting.batches, ahead[1]
        brought = {batch.relation: batch.arity for batch in inserting.batches.values()}
        deleting = FactEncoder(dictionary, layered(brought, arities), names)
        deleting.add(update.delete, missing, watch)
        report.skipped = missing.skipped
        return inserting.batches, deleting.batches

    def _target(
        self,
        rules: tuple[Rule, ...],
        prefixes: Mapping[str, str],
        views: Mapping[str, ViewQuery],
        inserted: Mapping[str, Batch],
        in_rules: Mapping[str, int],
    ) -> Target:
        """Where an update leads: rules, views, relations, and the step that its change of rules is."""
        before = self._state.definitions
        arities, step = before.arities, None
        if rules is not before.rules or views is not before.views:
            arities = {**arities, **in_rules, **view_arities(views)}
            step = rule_step(self._workings.maintenance, self._changed_program(rules, views))
        new = {batch.relation: batch.arity for batch in inserted.values()}
        if any(arities.get(name) != arity for name, arity in new.items()):
            arities = {**arities, **new}
        return Target(rules, prefixes, views, arities, in_rules, step)

    def _changed_program(self, rules: Sequence[Rule], views: Mapping[str, ViewQuery]) -> Any:
        workings = self._workings
        return workings.maintenance.program.changed(rules, rewrites=workings.rewrites, views=view_rules(views))

    def _begin(self, update: CheckedUpdate, strategy: str, lookout: Lookout | None, interrupts: Interrupts) -> Work:
        """Carry an update out, in the way that suits it."""
        workings, before, target = self._workings, self._state.definitions, update.target
        workings.arities = before.arities
        step = target.step
        reshaped = target.arities is not before.arities and any(
            target.arities.get(name, arity) != arity for name, arity in before.arities.items()
        )
        in_place = not before.rules and not before.views and not update.deleted and not reshaped
        begins = step is not None and (in_place or step.way is None)
        overhaul = strategy == CHOOSE and _is_overhaul(workings, update)
        if not (overhaul or reshaped or begins) and _can_maintain(workings, lookout):
            if lookout is not None:
                lookout.waits = workings.is_empty()
            return Maintained(workings, update, interrupts, strategy, lookout)
        return (DerivedInPlace if in_place else DerivedAgain)(workings, update, interrupts)

    # --- putting in place ---------------------------------------------------------------------------------------------

    def _put_in_place(self, step: Step, *, publish: bool, version: int | None = None) -> State:
        """The new state of an update that is worked out; nothing can fail from here on."""
        workings, target = self._workings, step.target
        if not publish:
            self._timeline.hold_published()
        engine, maintenance = step.work.commit(publish=publish)
        workings.engine, workings.maintenance, workings.arities = engine, maintenance, target.arities
        before = self._state.definitions
        definitions = before
        now, then = ((each.prefixes, each.arities, each.declared) for each in (target, before))
        if target.step is not None or any(new is not old for new, old in zip(now, then, strict=True)):
            definitions = Definitions(
                target.rules,
                target.prefixes,
                target.views,
                target.arities,
                target.rule_arities,
                maintenance.program,
                target.declared,
            )
        step.views = workings.windows.follow(step.work.changes, before.views, target.views, engine)
        shown = workings.windows.shown(self._state.shown)
        version = self._state.version if version is None else version
        self._state = State(
            version, self._state.dictionary, definitions, self._facts_now(), shown, self._state.limits, {}
        )
        return self._state

    def _reclaim(self) -> None:
        """Give room back, while readers go on: not a moment earlier, since this may take a while."""
        engine = self._workings.engine
        if engine.capabilities.maintains:
            cast(MaintainingEngine, engine).reclaim()

    def _facts_now(self) -> FactsAtVersion:
        engine = self._workings.engine
        return FactsAtVersion(engine, engine.tick)


class Left(NamedTuple):
    """What a transaction worked with before one of its updates, and the number of updates until then."""

    engine: Engine
    maintenance: Maintenance
    state: State
    steps: int


def _read_rules(rules: str | Program | Sequence[Rule] | None, name: str, prefixes: Mapping[str, str]) -> Program:
    if rules is None:
        return Program()
    if isinstance(rules, Program):
        return rules
    if isinstance(rules, str):
        from everlog.rules.parser import parse_program

        return parse_program(rules, name, prefixes)
    return Program(rules=tuple(rules))


def new_view(state: State, name: str, text: str) -> dict[str, ViewQuery]:
    """The views of a state and one more."""
    if name in state.views:
        raise UsageError(f"there is a view {name} already", hint="drop it first, or choose another name")
    return {**state.views, name: view_query(name, text, state.prefixes, state.version + 1)}


def _can_maintain(workings: Workings, lookout: Lookout | None) -> bool:
    """Is there something to go on from, and an engine that can?"""
    if not workings.engine.capabilities.maintains or not workings.maintenance.possible:
        return False
    # Into an empty store facts are loaded and everything is derived, which is what that is best at; but where updates
    # are marked, derived facts are to remember what they came from.
    return lookout is not None or not workings.is_empty()


def _is_overhaul(workings: Workings, update: CheckedUpdate) -> bool:
    """Does an update replace so much that beginning anew is less work?"""
    edits = sum(batch.rows for batches in (update.inserted, update.deleted) for batch in batches.values())
    if edits < OVERHAUL_FROM:
        return False
    defined = workings.maintenance.defined
    given = sum(workings.engine.count(name) for name in workings.arities if name not in defined)
    return 2 * edits > given
