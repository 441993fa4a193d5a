"""How does Ctrl-C leave a whole version behind?

While an update works, Ctrl-C stops it like any error: it is rolled back. Once it is being written to the log and put
in place, stopping would leave half of it; an interrupt that comes then waits until the update is complete.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class Interrupts:
    """A block in which interrupts may be held back from some point on; one that came meanwhile is raised at its end."""

    def __init__(self) -> None:
        self._before: Any = None
        self._held = False
        self._came: list[FrameType | None] = []

    def __enter__(self) -> Interrupts:
        return self

    def hold(self) -> None:
        """From here to the end of the block an interrupt waits. Only the main thread is ever interrupted."""
        if self._held or threading.current_thread() is not threading.main_thread():
            return
        before = signal.signal(signal.SIGINT, self._remember)
        if callable(before):
            self._before, self._held = before, True
        else:
            signal.signal(signal.SIGINT, before)  # interrupts are ignored, or the business of somebody else

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self._came.append(frame)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._held:
            signal.signal(signal.SIGINT, self._before)
            self._held = False
            if self._came:
                self._before(signal.SIGINT, self._came[0])
