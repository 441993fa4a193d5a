"""Is what runs apart stopped in time, and is what it had found by then kept?"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from benchmarks.measuring.apart import Allowance, SharedTime, run_apart
from benchmarks.measuring.process_tree import is_told

from everlog.errors import EngineError

pytestmark = pytest.mark.slow


def counting_up(count: int) -> Iterator[int]:
    yield from range(count)


def hanging() -> Iterator[str]:
    yield "first"
    time.sleep(60)
    yield "never"


def growing() -> Iterator[int]:
    taken = []
    while True:
        taken.append(b"x" * (1 << 24))
        time.sleep(0.01)
        yield len(taken)


def failing() -> Iterator[int]:
    raise ValueError("no such thing")
    yield 0


def test_all_pieces_arrive() -> None:
    assert run_apart(counting_up, 3) == ([0, 1, 2], "")


def test_stopped_after_a_time() -> None:
    assert run_apart(hanging, allowance=Allowance(seconds=2)) == (["first"], "stopped after 2 s")


@pytest.mark.skipif(not is_told(), reason="this system does not say how much memory a process holds")
def test_stopped_at_a_size() -> None:
    pieces, reason = run_apart(growing, allowance=Allowance(seconds=60, memory=1 << 30))
    assert pieces and reason == "stopped at 1 GiB of memory"


def test_a_failure_is_one_here_too() -> None:
    with pytest.raises(EngineError, match="no such thing"):
        run_apart(failing)


def test_time_that_is_left_is_shared() -> None:
    shared = SharedTime(100, 4)
    assert [round(shared.share()) for _ in range(5)] == [25, 33, 50, 100, 100]
