"""How much memory do a process and everything it started hold?

Read from /proc twice a second: the memory of Java, Python and all its workers, added up. Pages that processes share are
divided among them (Linux's proportional set size), since forked workers share most of theirs, and a process that forks
seems to be there twice for a moment. Only Linux has /proc; elsewhere nothing is measured.
"""

from __future__ import annotations

import re
import threading
from pathlib import Path
from types import TracebackType

_PROC = Path("/proc")
_EVERY = 0.5  # seconds: short against any stage that matters, and a sample of a large Java takes milliseconds
_SHARE = re.compile(r"^Pss: +(\d+) kB", re.MULTILINE)


def tree_memory(root: int) -> int | None:
    """The bytes that a process and its descendants hold; None where the system does not tell."""
    if not (_PROC / "self" / "smaps_rollup").exists():
        return None
    parents = {int(folder.name): _parent(folder) for folder in _PROC.iterdir() if folder.name.isdigit()}
    return sum(_share(_PROC / str(process)) for process in parents if _descends(process, root, parents))


def _parent(folder: Path) -> int:
    try:
        # After the command's name, which may hold anything: the state, then the parent.
        return int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0  # it has ended since


def _share(folder: Path) -> int:
    try:
        found = _SHARE.search((folder / "smaps_rollup").read_text())
    except OSError:
        return 0  # it has ended since, or is another user's
    return 1024 * int(found[1]) if found else 0


def _descends(process: int, root: int, parents: dict[int, int]) -> bool:
    while process != root:
        if process not in parents:
            return False
        process = parents[process]
    return True


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
        while not self._over.wait(_EVERY):
            held = tree_memory(self._process)
            if held is not None:
                self.bytes = max(self.bytes or 0, held)
