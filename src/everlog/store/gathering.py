"""How do many threads update at once? Those that wait at the same time are applied as one update.

The first to come applies its update; what others bring meanwhile waits, and the next takes all of it, as its net effect
(`coalesce` of streams does the same). Each thread gets the change of all of them together, which says how many updates
it covers, and each has a version of its own. Where they fail together they are applied one by one, so that an error is
that of the update which caused it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from everlog.errors import EverlogError
from everlog.store.changes import Change
from everlog.store.given_facts import ColumnNames
from everlog.store.updates import Update, net_effect

MOST_AT_ONCE = 1000
Apply = Callable[[Update, int], Change]  # an update, and how many it stands for


class _Waiting:
    """An update, and what came of it; its thread sleeps until it is called."""

    def __init__(self, update: Update) -> None:
        self.update = update
        self.change: Change | None = None
        self.error: BaseException | None = None
        self.call = threading.Lock()
        self.call.acquire()


class Gathering:
    """Updates of several threads, on their way to be one."""

    def __init__(self, apply: Apply, names: Callable[[], ColumnNames] = dict) -> None:
        """`names`: the columns of relations whose columns are declared, by now."""
        self._apply, self._names = apply, names
        self._lock = threading.Lock()
        self._busy = False  # some thread is applying updates
        self._waiting: list[_Waiting] = []

    def update(self, update: Update) -> Change:
        """Apply an update, with those that others bring at the same time."""
        mine = _Waiting(update)
        with self._lock:
            self._waiting.append(mine)
            first, self._busy = not self._busy, True
        if not first:
            mine.call.acquire()
        if mine.change is None and mine.error is None:  # it is this thread's turn, for all that wait
            try:
                self._apply_waiting(mine)
            finally:
                self._call_next()
        if mine.error is not None:
            raise mine.error
        assert mine.change is not None
        return mine.change

    def _call_next(self) -> None:
        with self._lock:
            self._busy = bool(self._waiting)
            following = self._waiting[0] if self._waiting else None
        if following is not None:
            following.call.release()

    def _apply_waiting(self, mine: _Waiting) -> None:
        with self._lock:
            batch = self._waiting[:MOST_AT_ONCE]
            del self._waiting[: len(batch)]
        try:
            self._apply_all(batch)
        except BaseException as error:  # an interrupt, say: nobody is to wait for ever
            for each in batch:
                each.error = error if each.change is None else each.error
        for each in batch:
            if each is not mine:
                each.call.release()

    def _apply_all(self, batch: list[_Waiting]) -> None:
        if len(batch) > 1:
            try:
                change = self._apply(net_effect([each.update for each in batch], self._names()), len(batch))
            except (EverlogError, TypeError, ValueError):
                pass  # one of them is wrong: they are applied one by one
            else:
                for each in batch:
                    each.change = change
                return
        for each in batch:
            try:
                each.change = self._apply(each.update, 1)
            except BaseException as error:
                each.error = error
