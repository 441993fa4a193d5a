"""How much memory do a process and everything it started hold?

Read from /proc several times a second: resident memory of Java, Python and all its workers, added up. Pages that forked
workers share are counted for each of them, so the sum is rather too high than too low. Only Linux has /proc; elsewhere
nothing is measured.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import TracebackType

_PROC = Path("/proc")
_EVERY = 0.2  # seconds: short against any stage, and a sample costs about a millisecond


def tree_memory(root: int) -> int | None:
    """The resident bytes of a process and its descendants; None where the system does not tell."""
    if not (_PROC / "self" / "stat").exists():
        return None
    parents, resident = {}, {}
    for folder in _PROC.iterdir():
        if not folder.name.isdigit():
            continue
        try:
            # After the command's name, which may hold anything: state, parent, … and resident pages as the 22nd field.
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended since
        parents[int(folder.name)], resident[int(folder.name)] = int(fields[1]), int(fields[21])
    page = os.sysconf("SC_PAGE_SIZE")
    return page * sum(pages for process, pages in resident.items() if _descends(process, root, parents))


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
