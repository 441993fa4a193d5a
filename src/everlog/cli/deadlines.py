"""How is a command stopped when its time is over, whatever it is doing?

Limits are looked at in every round of derivation; reading a file, opening a folder and writing results know none. So a
timer interrupts the command just as Ctrl-C does, which leaves a whole version behind (store/interrupts.py).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_GRACE = 0.1  # seconds in which a limit inside of the work, which says more, may come first


@contextmanager
def deadline(seconds: float | None) -> Iterator[threading.Event]:
    """Interrupt the block after so many seconds; the event tells this from Ctrl-C."""
    passed = threading.Event()
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield passed
        return
    lock, over = threading.Lock(), False

    def interrupt() -> None:
        with lock:
            if not over:
                passed.set()
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    if not callable(before):  # in the background of a shell interrupts are ignored, and this one is meant
        signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds + _GRACE, interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield passed
    finally:
        timer.cancel()
        with lock:
            over = True
        if not callable(before):
            signal.signal(signal.SIGINT, before)
