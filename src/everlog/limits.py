"""When does work stop that would not end, or would not fit?

Limits are settings with defaults that let honest work through and stop runaway recursion (value invention through BIND
may have no fixpoint). Passing one raises a typed error; the update rolls back to the version before it.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from everlog.errors import FactLimitError, MemoryLimitError, RoundLimitError, TimeLimitError


@dataclass(frozen=True)
class Limits:
    """Bounds on one update or query. None means no bound.

    Attributes:
        rounds: Rounds of one fixpoint.
        facts: Facts that are held, derived ones included; looked at when relations grow, not after each fact.
        seconds: Time for the whole call.
        memory: Bytes that the process may hold; None stands for nine tenths of the machine's memory.
    """

    rounds: int | None = 1_000_000  # a chain of a million steps is data; more is almost surely invention
    facts: int | None = 1_000_000_000
    seconds: float | None = None
    memory: int | None = None

    def watch(self) -> Watch:
        """Start the clock of a run that is to keep these limits."""
        return Watch(self)


class Watch:
    """The limits of one run, with its clock started."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._memory = limits.memory if limits.memory is not None else int(_physical_memory() * 0.9)
        self._started = time.monotonic()
        self.between_sweeps: Callable[[], None] | None = None  # called now and then while an update works

    def left(self) -> Limits:
        """The limits with what remains of the time, for the next of several steps."""
        if self.limits.seconds is None:
            return self.limits
        return replace(self.limits, seconds=max(0.0, self.limits.seconds - (time.monotonic() - self._started)))

    def look(self) -> None:
        """Give others a chance to look at how things are."""
        if self.between_sweeps is not None:
            self.between_sweeps()

    def check(self, *, rounds: int, facts: int) -> None:
        """Raise if a limit is passed; cheap enough for every round."""
        limits = self.limits
        if limits.rounds is not None and rounds > limits.rounds:
            raise RoundLimitError(
                f"stopped after {limits.rounds:,} rounds of one component",
                hint="a rule may invent values without end (BIND in recursion); bound it by FILTER, or raise the limit",
            )
        if limits.facts is not None and facts > limits.facts:
            raise FactLimitError(
                f"stopped at {facts:,} facts; the limit is {limits.facts:,}",
                hint="a rule may derive more than was meant (a product of relations?); raise the limit if it is meant",
            )
        if limits.seconds is not None and time.monotonic() - self._started > limits.seconds:
            raise TimeLimitError(
                f"stopped after {limits.seconds:g} s", hint="raise the limit on seconds, or derive less"
            )
        if resident_memory() > self._memory:
            raise MemoryLimitError(
                f"stopped at {self._memory / 2**30:.2f} GiB of memory", hint="raise the limit on memory, or derive less"
            )


def resident_memory() -> int:
    """Bytes of memory that this process holds now (its peak, where the system does not say)."""
    found = memory_of("self")
    if found is not None:
        return found
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def memory_of(process: int | str) -> int | None:
    """Bytes of memory that a process holds; None where the system does not say, or it has ended."""
    try:
        with open(f"/proc/{process}/statm", "rb") as statm:
            return int(statm.read().split()[1]) * _PAGE
    except OSError:
        return None


def available_memory() -> int:
    """Bytes of memory that programs may take now; all there is, where the system does not say."""
    try:
        with open("/proc/meminfo", "rb") as meminfo:
            found = dict(line.split(b":", 1) for line in meminfo)
        return int(found[b"MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return _physical_memory()


@cache
def _physical_memory() -> int:
    return _PAGE * os.sysconf("SC_PHYS_PAGES")


_PAGE = os.sysconf("SC_PAGE_SIZE")
