"""How is progress shown? As a spinner on a terminal, and elsewhere as plain lines if asked for."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

EVERY = 0.1  # seconds between two changes of the spinner's text; more often only costs time


class Progress:
    """Shows on stderr what a command is doing; stdout is for results only."""

    def __init__(self, *, verbose: bool, quiet: bool = False, lines_every: float = 0.0) -> None:
        self._lines = verbose
        self._lines_every = lines_every  # seconds
        self._spins = not quiet and not verbose and sys.stderr.isatty()
        self._status: Status | None = None
        self._started = time.monotonic()
        self._changed = self._started if lines_every else 0.0  # the spinner starts with the first thing to say

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop showing progress: results come next."""
        if self._status is not None:
            self._status.stop()
            self._status = None
        self._spins = False

    def __call__(self, what: str) -> None:
        """Show that the work has reached this point."""
        now = time.monotonic()
        if self._lines and now - self._changed >= self._lines_every:
            self._changed = now
            print(f"{now - self._started:8.2f} s  {what}", file=sys.stderr, flush=True)
        elif self._spins and now - self._changed >= EVERY:
            self._changed = now
            self._spin(what)

    def _spin(self, what: str) -> None:
        if self._status is None:
            from rich.console import Console

            self._status = Console(stderr=True).status(what)
            self._status.start()
        else:
            self._status.update(what)
