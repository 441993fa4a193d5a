"""How much memory and processor time do a process and everything it started take?

Read from /proc: Java, Python and all its workers, added up. Memory that processes share is divided among them (Linux's
proportional set size), since forked workers share most of theirs, and a process that forks seems to be there twice for
a moment. Only Linux has /proc; elsewhere nothing is measured.
"""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path
from types import TracebackType

_PROC = Path("/proc")
_EVERY = 0.5  # seconds: short against any stage that matters, and a sample of a large Java takes milliseconds
_SHARE = re.compile(r"^Pss: +(\d+) kB", re.MULTILINE)
_IDLE = (3, 4)  # of the times in /proc/stat: idle, and waiting for a disk


def is_told() -> bool:
    """Whether this system says what is asked here."""
    return (_PROC / "self" / "smaps_rollup").exists()


def tree_memory(root: int) -> int:
    """The bytes that a process and its descendants hold."""
    return sum(_share(process) for process in _tree(root))


def tree_seconds(root: int) -> float:
    """The processor time that a process and its descendants have taken, with those that have ended."""
    # User and system time, its own and that of children that it has waited for.
    ticks = sum(sum(map(int, fields[11:15])) for fields in _tree(root).values())
    return ticks / os.sysconf("SC_CLK_TCK")


def machine_seconds() -> float:
    """The processor time that all processes of the machine have taken."""
    times = (_PROC / "stat").read_text().split("\n", 1)[0].split()[1:9]
    return sum(int(time) for place, time in enumerate(times) if place not in _IDLE) / os.sysconf("SC_CLK_TCK")


def _tree(root: int) -> dict[int, list[str]]:
    """The fields of each process's `stat` after the command's name, which may hold anything."""
    known: dict[int, list[str]] = {}
    for folder in _PROC.iterdir():
        if folder.name.isdigit() and (text := _text(folder / "stat")):
            known[int(folder.name)] = text.rpartition(")")[2].split()
    return {process: fields for process, fields in known.items() if _descends(process, root, known)}


def _descends(process: int, root: int, known: dict[int, list[str]]) -> bool:
    while process != root:
        if process not in known:
            return False
        process = int(known[process][1])  # its parent
    return True


def _share(process: int) -> int:
    found = _SHARE.search(_text(_PROC / str(process) / "smaps_rollup"))
    return 1024 * int(found[1]) if found else 0


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""  # the process has ended since, or is another user's


class PeakMemory:
    """The most that a process and its descendants hold while the block runs, in `bytes`."""

    def __init__(self, process: int) -> None:
        self.bytes: int | None = None
        self._process = process
        self._over = threading.Event()
        self._sampler = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._sampler.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._sampler.join()

    def _sample(self) -> None:
        while is_told() and not self._over.wait(_EVERY):
            self.bytes = max(self.bytes or 0, tree_memory(self._process))
