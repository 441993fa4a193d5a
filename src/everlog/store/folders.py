"""What is in the folder of a knowledge base?

    lock                      the one writer holds it
    updates-000000000000.log  updates (log.py), from the version after the one in its name on
    snapshot-000000004711     a state (snapshots.py), from which the log of that name goes on

A snapshot makes older logs and snapshots superfluous; the last of them stay, for the history of versions.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from everlog.errors import NotFoundError, OutputError, StoreInUseError, UsageError

LOCK = "lock"
_LOG, _SNAPSHOT, _NEW = re.compile(r"updates-(\d{12,})\.log"), re.compile(r"snapshot-(\d{12,})"), ".new"


class Folder:
    """The files of a knowledge base."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def log(self, base: int) -> Path:
        """The log that goes on from a version."""
        return self.path / f"updates-{base:012}.log"

    def snapshot(self, version: int) -> Path:
        return self.path / f"snapshot-{version:012}"

    def logs(self) -> list[tuple[int, Path]]:
        """The logs with the versions that they go on from, oldest first."""
        return self._numbered(_LOG)

    def snapshots(self) -> list[tuple[int, Path]]:
        """The snapshots with their versions, oldest first."""
        return self._numbered(_SNAPSHOT)

    def _numbered(self, name: re.Pattern[str]) -> list[tuple[int, Path]]:
        found = ((name.fullmatch(path.name), path) for path in self._entries())
        return sorted((int(match[1]), path) for match, path in found if match is not None)

    def exists(self) -> bool:
        """Is a knowledge base kept here?"""
        return self.path.is_dir() and bool(self.logs() or self.snapshots())

    def is_free(self) -> bool:
        """Is there nothing yet, or an empty folder?"""
        return not self.path.exists() or (self.path.is_dir() and not self._entries())

    def remove_empty(self, made: Sequence[Path]) -> None:
        """Remove a knowledge base that has no update yet, and the folders that were made for it, innermost first."""
        with suppress(OSError, NotFoundError):
            for path in (*(path for _, path in self.logs()), self.path / LOCK):
                path.unlink(missing_ok=True)
            for folder in made:
                folder.rmdir()

    def _entries(self) -> list[Path]:
        try:
            return list(self.path.iterdir())
        except OSError as error:
            raise NotFoundError(
                f"{self.path}: cannot be read ({error.strerror})", hint="is the folder still there?"
            ) from error

    def make(self) -> None:
        """Make the folder, if it is not there; it has nothing else in it."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(
                f"{self.path}: cannot be made a folder ({error.strerror})", hint="choose another one"
            ) from error
        others = [path for path in self._entries() if path.name != LOCK and not path.name.endswith(_NEW)]
        if others and not self.exists():
            raise UsageError(
                f"{self.path} holds other files, and no knowledge base", hint="name an empty or a new folder"
            )

    def remove_unfinished(self) -> None:
        """Remove what a writer that was killed has not finished."""
        for path in self._entries():
            if path.name.endswith(_NEW):
                path.unlink(missing_ok=True)

    def lock(self) -> int:
        """Become the folder's one writer. The system lets go of the lock when the process ends, however it ends."""
        path = self.path / LOCK
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise OutputError(
                f"{path}: cannot be opened ({error.strerror})",
                hint="choose another folder, or open it with read_only=True",
            ) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(lock, 20).decode(errors="replace").strip()
            os.close(lock)
            who = "this process" if holder == str(os.getpid()) else f"process {holder}" if holder else "another process"
            raise StoreInUseError(
                f"{self.path} is open in {who}",
                hint="one at a time may write to it: close it there first, or open it with read_only=True",
            ) from None
        with suppress(OSError):  # who holds it is only said in a message; there may be no room for it
            os.ftruncate(lock, 0)
            os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        return lock
