"""How are lines edited, remembered and completed? With Python's own readline, where there is one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_LONGEST = 10_000  # lines of history that are kept


def history_file() -> Path:
    """Where lines are remembered from one session to the next."""
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "everlog" / "history"


@contextmanager
def editing(complete: Callable[[str, str], list[str]]) -> Iterator[None]:
    """While a shell reads lines: arrows, history, and the tabulator, which completes words."""
    try:
        import readline
    except ImportError:  # a Python built without: lines can still be typed
        yield
        return
    found: list[str] = []

    def completer(word: str, number: int) -> str | None:
        if number == 0:
            found[:] = complete(word, readline.get_line_buffer()[: readline.get_endidx()])
        return found[number] if number < len(found) else None

    history: Path | None = None
    with suppress(OSError, RuntimeError):  # no home, or none that may be read: nothing is remembered
        history = history_file()
        history.parent.mkdir(parents=True, exist_ok=True)
        if history.exists():
            readline.read_history_file(history)
    readline.set_history_length(_LONGEST)
    readline.set_completer(completer)
    readline.set_completer_delims(" \t\n()[]{},!<>=?")  # a colon belongs to a word: ex:part
    readline.parse_and_bind("bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete")
    try:
        yield
    finally:
        readline.set_completer(None)
        if history is not None:
            with suppress(OSError):
                readline.write_history_file(history)
