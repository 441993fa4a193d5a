"""How does a knowledge base outlive its process?

It has a folder with two files: `updates.log` (log.py) and `lock`, which the one writer holds. Every update is written
to the log before it counts. Opening reads the log, works out which explicit facts, rules and prefixes are left in the
end (replay.py), and derives once from those, so that it takes as long as the data asks for, not as its history does.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.engines.interface import Shape
from everlog.errors import OutputError, StoreInUseError, UsageError
from everlog.rules.printer import print_rule
from everlog.rules.syntax import Rule
from everlog.store.encoding import Batch, EncodedFacts
from everlog.store.log import UpdateLog
from everlog.store.records import UNREADABLE, Record, decode_record, encode_record
from everlog.store.replay import Replay

if TYPE_CHECKING:
    from everlog.store.applying import Target
    from everlog.store.store import KnowledgeBase

LOG, LOCK = "updates.log", "lock"
_OURS = (LOCK, "updates.new")  # what is there before the log is


def open_folder(kb: KnowledgeBase, folder: Path) -> None:
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
        journal.replay(kb)
    except BaseException:
        journal.close()
        raise
    kb._journal = journal


def is_folder(path: Path) -> bool:
    """Whether a knowledge base is kept there."""
    return (path / LOG).is_file()


class Journal:
    """Where a knowledge base writes its updates."""

    def __init__(self, log: UpdateLog, lock: int) -> None:
        self._log: UpdateLog | None = log
        self._lock = lock

    def replay(self, kb: KnowledgeBase) -> None:
        """Bring an empty knowledge base to the last version of the log."""
        assert self._log is not None and kb.version == 0
        replay = Replay()
        for offset, payload in self._log.read():
            try:
                replay.add(decode_record(payload, kb._dictionary))
            except UNREADABLE as error:
                raise self._log.damage(offset, f"a record that says no update ({error!r})") from error
        for name, arity in replay.relations.items():
            kb._engine.declare(Shape(name, arity))
            kb._arities[name] = arity
        if replay.version:
            kb._replayed(replay.facts(), replay.program(), replay.views)
        kb.version = replay.version

    def write(
        self,
        kb: KnowledgeBase,
        version: int,
        target: Target,
        prefixes: Mapping[str, str],
        kept: Sequence[Rule],
        inserted: Mapping[str, Batch],
        deleted: Mapping[str, Batch],
    ) -> None:
        """Log an update that is about to count: the target's rules are those `kept` and then the new ones."""
        if self._log is None:
            raise UsageError("this knowledge base is closed", hint="open it again")
        names = {rule.name for rule in kept}
        record = Record(
            version,
            insert=[EncodedFacts(batch.relation, batch.columns(), batch.rows) for batch in inserted.values()],
            delete=[EncodedFacts(batch.relation, batch.columns(), batch.rows) for batch in deleted.values()],
            relations={name: arity for name, arity in target.arities.items() if kb._arities.get(name) != arity},
            prefixes=prefixes,
            remove_rules=[str(rule.name) for rule in kb._rules if rule.name not in names],
            add_rules={str(rule.name): print_rule(rule) for rule in target.rules[len(kept) :]},
            views={
                name: view.text if (view := target.views.get(name)) is not None else None
                for name in dict.fromkeys((*kb._views, *target.views))
                if kb._views.get(name) is not target.views.get(name)
            },
        )
        self._log.append(encode_record(record, kb._dictionary))

    def close(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None
            os.close(self._lock)


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
