"""Which state is the newest, which one do readers see, and who may make the next?

One thread at a time makes a state; the others take turns. Readers see the *published* state, which in memory is the
newest. In a folder a state is published when its update is on disk: updates that several threads make meanwhile share
one sync. A reader takes the published state in a moment, whatever the writer is doing.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

from everlog.engines.interface import Shape
from everlog.errors import UsageError
from everlog.limits import Limits
from everlog.maintenance.program import EvaluatedProgram
from everlog.maintenance.strategies import check_strategy
from everlog.maintenance.update import Maintenance
from everlog.store.applying import Workings
from everlog.store.changes import Change
from everlog.store.engines import make_dictionary, make_engine
from everlog.store.folders import Folder
from everlog.store.history import Entry, History, HistoryLimits, now
from everlog.store.interrupts import Interrupts
from everlog.store.records import Record
from everlog.store.replay import Replay
from everlog.store.state import Definitions, FactsAtVersion, State
from everlog.store.steps import Step
from everlog.store.subscriptions import Subscriptions
from everlog.store.telling import log_change
from everlog.store.transactions import Transaction
from everlog.store.views import ViewChange
from everlog.store.windows import Windows

if TYPE_CHECKING:
    from everlog.store.earlier_tables import TableHistory
    from everlog.store.journals import UpdateJournal
    from everlog.store.snapshots import StateToBeginWith

_LONG_COMMIT = 1 << 16  # changed facts from which putting them in place takes a while, and nobody is to wait for it


class _Accepted(NamedTuple):
    """A state that is in place and waits for its update to be on disk."""

    ticket: int | None
    state: State
    entry: Entry
    change: Change


class Timeline:
    """The states of a knowledge base, one after the other."""

    def __init__(self, state: State, workings: Workings, history: HistoryLimits) -> None:
        self.workings = workings
        self.newest = self.published = state
        self.history = History(history, state.version)
        self.subscriptions = Subscriptions()
        self.folder: Folder | None = None  # where it is kept …
        self.tables: TableHistory | None = None  # … or these tables
        self.journal: UpdateJournal | None = None  # where updates are written before they count; None: nowhere
        self._writing = threading.Lock()
        self._writer: int | None = None  # the thread that has it, or had it last
        self._publishing = threading.Lock()
        self._accepted: deque[_Accepted] = deque()
        self.strict = False  # whether relations that nothing knows are errors
        self.doors = True  # whether it is looked at what comes in (doors.py); a fleet does so for its knowledge bases
        self.read_only = False  # whoever opened it only follows what another process writes

    @classmethod
    def of(cls, engine: str, limits: Limits, strategy: str, rewrites: bool, history: HistoryLimits) -> Timeline:
        """The timeline of a new knowledge base: version 0, nothing in it."""
        dictionary = make_dictionary(engine)
        facts = make_engine(engine, dictionary)
        nothing, windows = Maintenance(EvaluatedProgram()), Windows(dictionary)
        workings = Workings(facts, nothing, windows, check_strategy(strategy), rewrites, limits)
        state = State(0, dictionary, Definitions(), FactsAtVersion(facts, facts.tick), {}, limits, {})
        return cls(state, workings, history)

    # --- reading ------------------------------------------------------------------------------------------------------

    def read(self) -> State:
        """The published state, held on to."""
        if not self.workings.engine.capabilities.concurrent:
            return self._read_between_updates()
        with self._publishing:
            state = self.published
            state.facts.take()
        return state

    def _read_between_updates(self) -> State:
        """For engines that can be read only while no update is at work."""
        if self._is_writing():
            self.published.facts.take()
            return self.published
        with self._turn():
            self.published.facts.take()
            return self.published

    def _hold_between_updates(self) -> None:
        """Hold on to the published state of an engine that cannot be read while an update is at work."""
        if not self.workings.engine.capabilities.concurrent:
            self.hold_published()

    def hold_published(self) -> None:
        """Hold on to the published state, before another one is put in place that is not published at once."""
        with self._publishing:
            self.published.facts.take()

    def set_limits(self, limits: Limits) -> None:
        """Bounds on updates and queries from now on."""
        with self._turn(), self._publishing:
            self.workings.limits = limits
            self.newest, self.published = (state._replace(limits=limits) for state in (self.newest, self.published))

    def entries(self, since: int, newest: int) -> list[Entry]:
        """What has changed after a version up to another, update by update; oldest first."""
        if since < self.history.oldest and (self.folder is not None or self.tables is not None):
            writes = self._is_writing()
            with nullcontext() if writes else self._turn():  # terms may get ids
                if since < self.history.oldest:
                    self.history.prepend(self._earlier(since))
        return self.history.since(since, newest)

    def _earlier(self, since: int) -> list[Entry]:
        """What was before this timeline's own history, where it is kept."""
        if self.tables is not None:
            return self.tables.entries(self, since)
        from everlog.store.earlier import earlier_entries

        assert self.folder is not None
        return earlier_entries(self, self.folder, since)

    def empty(self) -> Timeline:
        """A timeline of the same kind, without any facts or rules."""
        workings = self.workings
        return Timeline.of(
            workings.engine.name, workings.limits, workings.strategy, workings.rewrites, self.history.limits
        )

    # --- writing ------------------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self, interrupts: Interrupts | None = None) -> Iterator[Transaction]:
        """A transaction for this thread, when it is its turn. What it commits counts when `settle` is through."""
        if self._is_writing():
            raise UsageError(
                "a transaction is under way in this thread", hint="make the update part of it, or end it first"
            )
        with self._turn():
            if self.journal is not None:
                self.journal.check_open()
                self._hold_between_updates()
            if interrupts is not None:
                yield Transaction(self, interrupts)
            else:
                with Interrupts() as own:
                    yield Transaction(self, own)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """While it is this thread's turn: no other writes meanwhile."""
        with self._writing:
            self._writer = threading.get_ident()
            yield

    def _is_writing(self) -> bool:
        """Is it this thread's turn?"""
        return self._writing.locked() and self._writer == threading.get_ident()

    @contextmanager
    def paused(self) -> Iterator[State]:
        """The newest state, held on to, while nobody writes."""
        if self._is_writing():
            raise UsageError("a transaction is under way in this thread", hint="end it first")
        with self._turn():
            newest = self.newest
            if newest is not self.published:
                newest = newest.at(newest.version, FactsAtVersion.newest(newest.facts.engine))
            else:
                newest.facts.take()
            yield newest

    # --- beginning where a folder ends --------------------------------------------------------------------------------

    def begin(self, snapshot: StateToBeginWith) -> None:
        """Begin with the state of a snapshot instead of another one."""
        before = self.read() if self.subscriptions else None
        with self._turn():
            self._begin(snapshot)
        if before is not None:
            from everlog.store.leaps import leap

            self.subscriptions.note(*leap(before, self.read()))
            self.subscriptions.tell()

    def _begin(self, snapshot: StateToBeginWith) -> None:
        workings, name = self.workings, self.workings.engine.name
        dictionary = snapshot.dictionary()
        definitions = snapshot.definitions(rewrites=workings.rewrites)
        engine, workings.maintenance = snapshot.engine(name, dictionary, definitions, workings.limits)
        workings.windows = Windows(dictionary)
        workings.engine, workings.arities = engine, definitions.arities
        for relation, arity in definitions.arities.items():
            engine.declare(Shape(relation, arity))
        workings.windows.fill(definitions.views, engine)
        shown = workings.windows.shown({})
        state = State(
            snapshot.version, dictionary, definitions, FactsAtVersion(engine, engine.tick), shown, workings.limits, {}
        )
        with self._publishing:
            self.newest = self.published = state
            self.history.begin_at(snapshot.version)

    def replay(self, records: Sequence[Record]) -> None:
        """Make the updates of a log again; the first of very many at once, as what they come to."""
        at_once = len(records) - self.history.limits.updates if self.newest.version == 0 else 0
        if at_once > 1:
            replay = Replay()
            for record in records[:at_once]:
                replay.add(record)
            with self.writing() as transaction:
                transaction.replay_all(replay)
            self.settle(None)
            self.history.begin_at(replay.version)
        for record in records[max(0, at_once) if at_once > 1 else 0 :]:
            with self.writing() as transaction:
                transaction.replay(record)
            self.settle(None)

    def _check_writable(self) -> None:
        if self.read_only:
            raise UsageError("this knowledge base was opened to be read", hint="open it without read_only=True")

    def log(self, step: Step, version: int) -> int | None:
        """Write an update that is about to be put in place; where that fails, nothing was changed."""
        return self.journal.write(step, version) if self.journal is not None else None

    def publishing(self, ticket: int | None, step: Step) -> AbstractContextManager[bool | None]:
        """While a state is put in place: if true, it is published at once, and nobody reads meanwhile."""
        large = sum([facts.rows for facts in step.changes.values()]) > _LONG_COMMIT
        return nullcontext() if ticket is not None or large else self._publishing

    def accept(self, state: State, step: Step, change: Change, ticket: int | None, *, publish: bool) -> None:
        """A state is in place; by the thread that writes. It is published, unless the log has to sync it first.

        If `publish`, the caller sees to it that nobody reads meanwhile.
        """
        size = 0
        for facts in step.changes.values():
            facts.version = state.version  # nobody has seen them before
            size += facts.rows
        for facts in step.views.values():
            facts.version = state.version
        parts = (step.changes, step.explicit, step.reshaped, step.reshaped_explicit, step.views)
        entry = Entry(step.before, state.version, *parts, change.updates, now(), size)
        self.newest = state
        self._accepted.append(_Accepted(ticket, state, entry, change))
        if publish:
            self._publish_accepted()
        elif ticket is None:
            with self._publishing:
                self._publish_accepted()

    def restore(self, state: State) -> None:
        """A transaction was taken back: the same state at another place."""
        with self._publishing:
            if self.published.version == self.newest.version:  # else it holds on to its facts where they were
                state.facts.engine.publish(state.facts.tick)
                self.newest = self.published = state

    def settle(self, ticket: int | None) -> None:
        """Wait until an update is on disk, publish it, and tell of it; not by a thread that writes."""
        self._publish_synced(ticket)
        self._after_publishing()

    def _publish_synced(self, ticket: int | None) -> None:
        if ticket is not None:
            assert self.journal is not None
            self.journal.sync(ticket)
        with self._publishing:
            self._publish_accepted()

    def _after_publishing(self) -> None:
        self.subscriptions.tell()
        if self.journal is not None:
            self.journal.snapshot_if_due()

    def _publish_accepted(self) -> None:
        synced = self.journal.synced() if self.journal is not None else 0
        while self._accepted and (self._accepted[0].ticket is None or self._accepted[0].ticket <= synced):
            self._publish(self._accepted.popleft())

    def _publish(self, accepted: _Accepted) -> None:
        state = accepted.state
        if state.limits is not self.workings.limits:  # which were changed while it waited for the disk
            state = state._replace(limits=self.workings.limits)
        state.facts.engine.publish(state.facts.tick)
        self.published = state
        self.history.add(accepted.entry)  # with it, so that nobody who reads a version misses what led to it
        if self.subscriptions:
            views = {
                name: ViewChange(name, state.views[name].query, facts, state.dictionary)
                for name, facts in accepted.entry.views.items()
                if name in state.views
            }
            self.subscriptions.note(accepted.change, views)

    def run(self, prepared: Callable[[Transaction], Any]) -> Any:
        """Do something in a transaction of its own, and settle it."""
        self._check_writable()
        try:
            # An interrupt that comes when the update cannot be given up any more waits for its end.
            with Interrupts() as interrupts:
                with self.writing(interrupts) as transaction:
                    done = prepared(transaction)
                self._publish_synced(transaction.ticket)
        finally:
            self._after_publishing()
        return done

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction of several updates, which is committed and settled at the end of the block."""
        self._check_writable()
        try:
            with Interrupts() as interrupts:
                with self.writing(interrupts) as transaction, transaction:
                    self._hold_between_updates()
                    yield transaction
                self._publish_synced(transaction.ticket)
        finally:
            self._after_publishing()
        if transaction.change is not None:
            log_change(transaction.change)
