"""Who is told of a change, and when?

After the update is complete, outside of it: a callback may query and update. Changes are told in the order of their
versions, by the thread that made them or by one that is telling already. What a callback raises is reported and
disturbs neither the others nor whoever made the update.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from everlog.logs import logger
from everlog.store.changes import Change
from everlog.store.views import ViewChange

Callback = Callable[[Any], None]


class Subscriptions:
    """Callbacks, for all changes or for those of one view."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: dict[int, tuple[str | None, Callback]] = {}
        self._next = 0
        self._waiting: deque[tuple[Change, Mapping[str, ViewChange], list[int]]] = deque()
        self._telling = False
        self.on_error: Callable[[BaseException], None] | None = None

    def __bool__(self) -> bool:
        return bool(self._callbacks)

    def add(self, callback: Callback, view: str | None) -> Callable[[], None]:
        """Call this with every change, or with every change of a view; gives a function that ends it."""
        with self._lock:
            number, self._next = self._next, self._next + 1
            self._callbacks[number] = view, callback

        def unsubscribe() -> None:
            with self._lock:
                self._callbacks.pop(number, None)

        return unsubscribe

    def note(self, change: Change, views: Mapping[str, ViewChange]) -> None:
        """A change is to be told; called in the order of versions."""
        if self._callbacks:
            self._waiting.append((change, views, list(self._callbacks)))

    def tell(self) -> None:
        """Tell what waits, unless some thread is at it."""
        while self._waiting:
            with self._lock:
                if self._telling:
                    return
                self._telling = True
            try:
                self._tell_all()
            finally:
                with self._lock:
                    self._telling = False

    def _tell_all(self) -> None:
        while self._waiting:
            change, views, numbers = self._waiting.popleft()
            for number in numbers:  # those who had subscribed by then, and still do
                view, callback = self._callbacks.get(number, (None, None))
                told = change if view is None else views.get(view)
                if told is not None and callback is not None:
                    self._call(callback, told)

    def _call(self, callback: Callback, told: Change | ViewChange) -> None:
        try:
            callback(told)
        except Exception as error:
            if self.on_error is not None:
                self.on_error(error)
            else:
                logger.exception("a callback failed at version %s", told.version)
