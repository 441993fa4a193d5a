"""What has changed, version by version, for as long as that is remembered?

Each update adds an entry: what it changed in relations and views, and which program it left. From the entries after a
version its state is found again, by taking the changes back. Entries are forgotten when there are too many of them,
when they are too old, and when they hold too many facts.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from everlog.errors import HistoryError
from everlog.facts.weighted import WeightedFacts
from everlog.store.state import Definitions


@dataclass(frozen=True)
class HistoryLimits:
    """How much is remembered at most; what passes one of the bounds is forgotten, oldest first.

    Attributes:
        updates: How many updates.
        seconds: Their age.
        facts: How many facts gained and lost they hold in all.
    """

    updates: int = 1000
    seconds: float = 24 * 3600.0
    facts: int = 10_000_000


class Entry(NamedTuple):
    """What led from one version to the next."""

    before: Definitions
    version: int
    changes: Mapping[str, WeightedFacts]
    explicit: Mapping[str, WeightedFacts]
    reshaped: Mapping[str, WeightedFacts]  # lost of relations that have another arity now …
    reshaped_explicit: Mapping[str, WeightedFacts]  # … and what was explicit of that
    views: Mapping[str, WeightedFacts]  # what came and went of what views show
    updates: int
    at: float
    size: int  # how many facts it holds, about


class History:
    """The last entries, oldest first."""

    def __init__(self, limits: HistoryLimits, version: int = 0) -> None:
        self.limits = limits
        self._entries: deque[Entry] = deque()
        self._size = 0
        self._oldest = version
        self._lock = threading.Lock()

    @property
    def oldest(self) -> int:
        """The oldest version that can be gone back to."""
        return self._oldest

    def begin_at(self, version: int) -> None:
        """What was before a version is not known."""
        with self._lock:
            self._entries.clear()
            self._size, self._oldest = 0, version

    def add(self, entry: Entry) -> None:
        with self._lock:
            self._entries.append(entry)
            self._size += entry.size
            while self._is_full(entry.at):
                gone = self._entries.popleft()
                self._size -= gone.size
                self._oldest = gone.version

    def _is_full(self, now: float) -> bool:
        if len(self._entries) <= 1:
            return False
        return (
            len(self._entries) > self.limits.updates
            or self._size > self.limits.facts
            or now - self._entries[0].at > self.limits.seconds
        )

    def prepend(self, entries: Sequence[Entry]) -> None:
        """What was before the oldest entry is known after all."""
        with self._lock:
            new = [entry for entry in entries if entry.version <= self._oldest]
            if new:
                self._entries.extendleft(reversed(new))
                self._size += sum(entry.size for entry in new)
                self._oldest = new[0].version - new[0].updates

    def since(self, version: int, newest: int) -> list[Entry]:
        """The entries after a version up to another, oldest first."""
        with self._lock:
            if version < self._oldest:
                raise HistoryError(version, self._oldest)
            return [entry for entry in self._entries if version < entry.version <= newest]


def now() -> float:
    """The time of an entry."""
    return time.time()
