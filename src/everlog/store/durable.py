"""How does a knowledge base outlive its process?

It has a folder with two files: `updates.log` (log.py) and `lock`, which the one writer holds. Every update is written
to the log before it counts. Opening reads the log, works out which explicit facts, rules and prefixes are left in the
end (replay.py), and derives once from those, so that it takes as long as the data asks for, not as its history does.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.dictionary.dictionary import Dictionary
from everlog.errors import OutputError, StoreInUseError, UsageError
from everlog.rules.printer import print_rule
from everlog.store.log import UpdateLog
from everlog.store.records import UNREADABLE, Record, decode_record, encode_record
from everlog.store.replay import Replay

if TYPE_CHECKING:
    from everlog.store.timeline import Timeline
    from everlog.store.transactions import Step

LOG, LOCK = "updates.log", "lock"
_OURS = (LOCK, "updates.new")  # what is there before the log is


def open_folder(timeline: Timeline, folder: Path) -> None:
    """Bring an empty knowledge base to the state that a folder keeps, and keep its updates there from now on."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made a folder ({error.strerror})", hint="choose another one") from error
    if not (folder / LOG).exists() and any(entry.name not in _OURS for entry in folder.iterdir()):
        raise UsageError(f"{folder} holds other files, and no knowledge base", hint="name an empty or a new folder")
    lock = _lock(folder)
    try:
        journal = Journal(UpdateLog(folder / LOG), lock)
    except BaseException:
        os.close(lock)
        raise
    try:
        journal.replay(timeline)
    except BaseException:
        journal.close()
        raise
    timeline.journal = journal


def is_folder(path: Path) -> bool:
    """Whether a knowledge base is kept there."""
    return (path / LOG).is_file()


class Journal:
    """Where a knowledge base writes its updates."""

    def __init__(self, log: UpdateLog, lock: int) -> None:
        self._log: UpdateLog | None = log
        self._lock = lock
        self._dictionary: Dictionary

    def replay(self, timeline: Timeline) -> None:
        """Bring an empty knowledge base to the last version of the log."""
        assert self._log is not None and timeline.newest.version == 0
        self._dictionary = timeline.newest.dictionary
        replay = Replay()
        for offset, payload in self._log.read():
            try:
                replay.add(decode_record(payload, self._dictionary))
            except UNREADABLE as error:
                raise self._log.damage(offset, f"a record that says no update ({error!r})") from error
        if replay.version:
            with timeline.writing() as transaction:
                transaction.replay(replay)
            timeline.settle(None)
            timeline.history.begin_at(replay.version)

    def write(self, step: Step, version: int) -> int:
        """Log an update that is about to count; gives what `sync` is to be called with."""
        self.check_open()
        assert self._log is not None
        return self._log.append(encode_record(record_of(step, version), self._dictionary))

    def check_open(self) -> None:
        if self._log is None:
            raise UsageError("this knowledge base is closed", hint="open it again")

    def sync(self, ticket: int) -> None:
        """Wait until an update is on disk."""
        log = self._log
        if log is not None:  # else it was closed, which syncs
            log.sync(ticket)

    def synced(self) -> int:
        return self._log.synced if self._log is not None else 1 << 62

    def close(self) -> None:
        if self._log is not None:
            log, self._log = self._log, None
            log.close()
            os.close(self._lock)


def record_of(step: Step, version: int) -> Record:
    """What the log keeps of an update."""
    before, target = step.before, step.target
    remaining = set(target.rules)
    known = set(before.rules)
    return Record(
        version,
        explicit=step.explicit,
        relations={name: arity for name, arity in target.arities.items() if before.arities.get(name) != arity},
        prefixes={name: iri for name, iri in target.prefixes.items() if before.prefixes.get(name) != iri},
        remove_rules=[str(rule.name) for rule in before.rules if rule not in remaining],
        add_rules={str(rule.name): print_rule(rule) for rule in target.rules if rule not in known},
        views={
            name: view.text if (view := target.views.get(name)) is not None else None
            for name in dict.fromkeys((*before.views, *target.views))
            if before.views.get(name) is not target.views.get(name)
        },
        updates=version - step.version_before,
        at=time.time(),
    )


def _lock(folder: Path) -> int:
    """Become the folder's one writer. The system lets go of the lock when the process ends, however it ends."""
    path = folder / LOCK
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise OutputError(f"{path}: cannot be opened ({error.strerror})", hint="choose another folder") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.read(lock, 20).decode(errors="replace").strip()
        os.close(lock)
        who = "this process" if holder == str(os.getpid()) else f"process {holder}" if holder else "another process"
        raise StoreInUseError(
            f"{folder} is open in {who}", hint="one at a time may write to it: close it there first"
        ) from None
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    return lock
