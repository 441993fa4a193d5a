"""How is something measured without taking the machine's memory, or the whole day? In a process of its own, watched.

What it finds comes out piece by piece, so what there was before it had to be stopped is not lost.
"""

from __future__ import annotations

import multiprocessing
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from everlog.errors import EngineError
from everlog.limits import memory_of

_EVERY = 0.25  # seconds between looks at the process


@dataclass(frozen=True)
class Allowance:
    """What a process may take; None is no bound."""

    seconds: float | None = None
    memory: int | None = None

    def passed(self, seconds: float, memory: int) -> str:
        """What is used up, in words; empty if nothing is."""
        if self.seconds is not None and seconds > self.seconds:
            return f"stopped after {self.seconds:.0f} s" if self.seconds >= 1 else "no time was left for it"
        if self.memory is not None and memory > self.memory:
            return f"stopped at {self.memory / (1 << 30):.0f} GiB of memory"
        return ""


UNBOUNDED = Allowance()


class SharedTime:
    """Seconds for several runs, one after the other: each may take an equal share of what is left."""

    def __init__(self, seconds: float, runs: int) -> None:
        self._end, self._runs = time.monotonic() + seconds, runs

    def share(self) -> float:
        """The seconds of the next run."""
        left, runs = max(0.0, self._end - time.monotonic()), max(1, self._runs)
        self._runs -= 1
        return left / runs


def run_apart(
    function: Callable[..., Iterator[Any]], *arguments: Any, allowance: Allowance = UNBOUNDED
) -> tuple[list[Any], str]:
    """All that a function yields, called in another process; and why it was stopped, if it was."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_send_all, args=(theirs, function, arguments), daemon=True)
    process.start()
    theirs.close()  # so that the end of the process is the end of the pipe
    try:
        return _received(ours, process.pid or 0, allowance)
    finally:
        process.kill()
        process.join()
        ours.close()


def _received(pipe: Connection, process: int, allowance: Allowance) -> tuple[list[Any], str]:
    found: list[Any] = []
    started = time.monotonic()
    while True:
        if pipe.poll(_EVERY):
            try:
                kind, value = pipe.recv()
            except EOFError:
                return found, "it was ended by the system, most likely for want of memory"
            if kind == "end":
                return found, ""
            if kind == "error":
                raise EngineError(value)
            found.append(value)
        if reason := allowance.passed(time.monotonic() - started, memory_of(process) or 0):
            return found, reason


def _send_all(pipe: Connection, function: Callable[..., Iterator[Any]], arguments: tuple[Any, ...]) -> None:
    try:
        for piece in function(*arguments):
            pipe.send(("piece", piece))
        pipe.send(("end", None))
    except Exception:
        pipe.send(("error", traceback.format_exc()))
