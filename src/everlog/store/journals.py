"""Where does a knowledge base write its updates before they count?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from everlog.store.steps import Step


class UpdateJournal(Protocol):
    """A log in a folder (durable.py), or tables (table_journal.py)."""

    wants_states: bool  # of every fact that an update touches: not only which facts became explicit

    def write(self, step: Step, version: int) -> int:
        """Write an update that is about to count; gives what `sync` is to be called with."""

    def check_open(self) -> None:
        """Raise where updates are not taken any more."""

    def sync(self, ticket: int) -> None:
        """Wait until an update is on disk."""

    def synced(self) -> int:
        """The ticket up to which updates are on disk."""

    def snapshot_if_due(self) -> None:
        """See to it that opening stays fast, if that has become necessary."""

    def snapshot(self) -> Path | str:
        """Make opening as fast as it can be, now."""

    def close(self) -> None:
        """Take no more updates."""
