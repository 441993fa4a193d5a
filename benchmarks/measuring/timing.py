"""How long does something take? On the clock, and of the processor."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

Value = TypeVar("Value")


class Taken(NamedTuple):
    """Seconds on the clock, and seconds of processor time in all threads."""

    seconds: float
    cpu: float

    def as_data(self) -> dict[str, float]:
        return {"seconds": self.seconds, "cpu": self.cpu}


def timed(action: Callable[[], Value]) -> tuple[Value, Taken]:
    """What an action gives, and what it took."""
    clock, cpu = time.perf_counter(), time.process_time()
    value = action()
    return value, Taken(time.perf_counter() - clock, time.process_time() - cpu)
