"""Which state is the newest, which one do readers see, and who may make the next?

One thread at a time makes a state; the others take turns. Readers see the *published* state, which in memory is the
newest. In a folder a state is published when its update is on disk: updates that several threads make meanwhile share
one sync. A reader takes the published state in a moment, whatever the writer is doing.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from everlog.errors import UsageError
from everlog.limits import Limits
from everlog.store.applying import Workings
from everlog.store.changes import Change
from everlog.store.history import Entry, History, HistoryLimits, now
from everlog.store.state import State
from everlog.store.subscriptions import Subscriptions
from everlog.store.transactions import Step, Transaction
from everlog.store.views import ViewChange

if TYPE_CHECKING:
    from everlog.store.durable import Journal

_LONG_COMMIT = 1 << 16  # changed facts from which putting them in place takes a while, and nobody is to wait for it


@dataclass(frozen=True)
class _Accepted:
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
        self.journal: Journal | None = None  # where updates are written before they count; None: nowhere
        self._writing = threading.Lock()
        self._writer: int | None = None  # the thread that has it, or had it last
        self._publishing = threading.Lock()
        self._accepted: deque[_Accepted] = deque()
        self.on_new_state: Callable[[State], None] | None = None

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
        with self._writing:
            self.published.facts.take()
            return self.published

    def hold_published(self) -> None:
        """Hold on to the published state, before another one is put in place that is not published at once."""
        with self._publishing:
            self.published.facts.take()

    def set_limits(self, limits: Limits) -> None:
        """Bounds on updates and queries from now on."""
        with self._writing, self._publishing:
            self.workings.limits = limits
            self.newest, self.published = (replace(state, limits=limits) for state in (self.newest, self.published))

    # --- writing ------------------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A transaction for this thread, when it is its turn. What it commits counts when `settle` is through."""
        if self._is_writing():
            raise UsageError(
                "a transaction is under way in this thread", hint="make the update part of it, or end it first"
            )
        with self._writing:
            self._writer = threading.get_ident()
            if self.journal is not None:
                self.journal.check_open()
            if not self.workings.engine.capabilities.concurrent:
                self.published.facts.take()  # readers in this thread see it, whatever the transaction does
            yield Transaction(self)

    def _is_writing(self) -> bool:
        """Is it this thread's turn?"""
        return self._writing.locked() and self._writer == threading.get_ident()

    def log(self, step: Step, version: int) -> int | None:
        """Write an update that is about to be put in place; where that fails, nothing was changed."""
        return self.journal.write(step, version) if self.journal is not None else None

    @contextmanager
    def publishing(self, ticket: int | None, step: Step) -> Iterator[bool]:
        """While a state is put in place: says whether it is published at once, and nobody reads meanwhile."""
        large = sum(facts.rows for facts in step.changes.values()) > _LONG_COMMIT
        if ticket is not None or large:
            yield False
        else:
            with self._publishing:
                yield True

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """The same, and what it commits counts at the end of the block."""
        made: list[Transaction] = []
        try:
            with self.writing() as transaction:
                made.append(transaction)
                yield transaction
        finally:  # also where an interrupt has waited for the end of the commit
            if made and made[0].change is not None:
                self.settle(made[0].ticket)

    def accept(self, state: State, step: Step, change: Change, ticket: int | None, *, publish: bool) -> None:
        """A state is in place; by the thread that writes. It is published, unless the log has to sync it first.

        If `publish`, the caller sees to it that nobody reads meanwhile.
        """
        views = {name: facts.at(state.version) for name, facts in step.views.items()}
        entry = Entry(
            step.before, state.version, step.changes, step.explicit, step.reshaped, step.reshaped_explicit, views,
            change.updates, now(),
        )  # fmt: skip
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
        if ticket is not None:
            assert self.journal is not None
            self.journal.sync(ticket)
        with self._publishing:
            self._publish_accepted()
        self.subscriptions.tell()

    def _publish_accepted(self) -> None:
        synced = self.journal.synced() if self.journal is not None else 0
        while self._accepted and (self._accepted[0].ticket is None or self._accepted[0].ticket <= synced):
            self._publish(self._accepted.popleft())

    def _publish(self, accepted: _Accepted) -> None:
        state = accepted.state
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
        if self.on_new_state is not None:
            self.on_new_state(state)

    def follow(self, prepared: Callable[[Transaction], Any]) -> Any:
        """Do something in a transaction of its own, and settle it."""
        with self.transaction() as transaction:
            return prepared(transaction)
