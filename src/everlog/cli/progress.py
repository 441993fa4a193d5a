"""How does a command say what it is doing? With a bar on a terminal (progress.py), elsewhere in lines if asked for."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from everlog.progress import Bar


class Progress:
    """Shows on stderr what a command is doing; stdout is for results only."""

    def __init__(self, *, verbose: bool, quiet: bool = False, lines_every: float = 0.0) -> None:
        self._lines = verbose
        self._lines_every = lines_every  # seconds
        self._bar = Bar("", shown=not quiet and not verbose)
        self._started = time.monotonic()
        self._said = self._started if lines_every else 0.0

    def __enter__(self) -> Progress:
        self._bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop showing progress: results come next."""
        self._bar.close()

    def __call__(self, what: str) -> None:
        """Show that the work has reached this point."""
        self._bar(what)
        now = time.monotonic()
        if self._lines and now - self._said >= self._lines_every:
            self._said = now
            print(f"{now - self._started:8.2f} s  {what}", file=sys.stderr, flush=True)
