"""How does a knowledge base outlive its process?

It has a folder (folders.py). Every update is written to the log before it counts. Now and then a snapshot is written,
beside the updates that go on meanwhile: from its version on there is a new log, so that opening reads the snapshot and
the log after it. Older snapshots, two at most, and the logs since then stay for the history of versions.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from everlog.dictionary.dictionary import Dictionary
from everlog.errors import DamagedLogError, DamagedSnapshotError, EverlogError, OutputError, UsageError
from everlog.logs import logger
from everlog.rules.printer import print_declaration, print_rule
from everlog.rules.syntax import Rule
from everlog.store.folders import Folder
from everlog.store.log import LogReader, UpdateLog, damage
from everlog.store.records import UNREADABLE, Record, decode_record, encode_record
from everlog.store.snapshots import KnownByRules, OpenedSnapshot, known_of, write_snapshot
from everlog.store.state import State
from everlog.store.view_queries import ViewQuery

if TYPE_CHECKING:
    from everlog.store.steps import Step
    from everlog.store.timeline import Timeline

T = TypeVar("T")

_SNAPSHOT_FROM = 8 << 20  # bytes of log from which a snapshot is worth the while …
_SNAPSHOT_SHARE = 0.5  # … and how much of the last snapshot's size they come to at least


def is_folder(path: Path) -> bool:
    """Whether a knowledge base is kept there."""
    return Folder(path).exists()


def open_folder(timeline: Timeline, path: Path) -> None:
    """Bring an empty knowledge base to the state that a folder keeps, and keep its updates there from now on."""
    if not timeline.workings.engine.capabilities.durable:
        raise UsageError(
            f"the engine {timeline.workings.engine.name} keeps nothing in a folder",
            hint="use columnar, or a pipeline, which writes tables",
        )
    folder = Folder(path)
    folder.make()
    lock = folder.lock()
    log: UpdateLog | None = None
    try:
        folder.remove_unfinished()
        snapshot = read_newest(timeline, folder)
        check_log(folder, snapshot)
        base = max((base for base, _ in folder.logs()), default=snapshot)
        log = UpdateLog(folder.log(base), base)
        timeline.replay(list(records_after(folder, snapshot, timeline.newest.dictionary, log)))
    except BaseException as error:
        if log is not None:
            log.close()
        os.close(lock)
        if isinstance(error, OSError):
            raise OutputError(
                f"{path}: cannot be opened ({error.strerror})", hint="see to the files and to the disk"
            ) from error
        raise
    timeline.journal, timeline.folder = Journal(timeline, folder, log, lock), folder


def read_newest(timeline: Timeline, folder: Folder) -> int:
    """Begin with the newest snapshot, or with nothing; gives its version."""
    snapshots = folder.snapshots()
    if not snapshots:
        return 0
    version, path = snapshots[-1]
    try:
        timeline.begin(open_snapshot(version, path))
    except DamagedSnapshotError as error:
        error.hint = error.hint or _what_can_be_saved(folder, path)
        raise
    return version


def open_snapshot(version: int, path: Path) -> OpenedSnapshot:
    """A snapshot, if it is the one that its name says."""
    opened = OpenedSnapshot(path)
    if opened.version != version:
        raise DamagedSnapshotError(
            f"byte 0: the snapshot is of version {opened.version}, and its name says {version}",
            path=str(path),
            offset=0,
        )
    return opened


def check_log(folder: Folder, snapshot: int) -> None:
    """A snapshot has a log that goes on from it: if that is gone, so are the updates in it."""
    path = folder.log(snapshot)
    if not path.exists() and (snapshot or folder.snapshots()):
        raise DamagedLogError(
            f"the log of the updates after version {snapshot} is missing",
            path=str(path),
            offset=0,
            hint="the file was removed; restore it from a copy",
        )


def _what_can_be_saved(folder: Folder, path: Path) -> str:
    older = [version for version, other in folder.snapshots() if other != path]
    logs = [base for base, _ in folder.logs()]
    begin = older[-1] if older else 0
    if begin in logs:
        return f"nothing is lost: remove {path.name}, and the log from version {begin} on gives everything back"
    return "restore it from a copy; everlog backup makes one"


def records_after(folder: Folder, version: int, dictionary: Dictionary, log: UpdateLog | None) -> Iterator[Record]:
    """The updates after a version, log after log; the last log is read through `log`, to be written to from then on."""
    logs = folder.logs()
    reached = version
    for number, (base, path) in enumerate(logs):
        following = logs[number + 1][0] if number + 1 < len(logs) else None
        if following is not None and following <= version:
            continue  # all of it is in the snapshot
        if base > reached:
            raise DamagedLogError(
                f"the updates from version {reached} to {base} are missing",
                path=str(path),
                offset=0,
                hint="a file was removed; restore the folder from a copy",
            )
        payloads = log.read() if log is not None and path == log.path else LogReader(path, base).read()
        for offset, payload in payloads:
            record = read_record(path, offset, payload, dictionary, reached)
            if record is not None:
                reached = record.version
                yield record
        if following is not None and reached < following:
            raise DamagedLogError(
                f"the log ends at version {reached}, and the next begins at {following}",
                path=str(path),
                offset=path.stat().st_size,
                hint="the file was cut; restore it from a copy",
            )


def read_record(path: Path, offset: int, payload: bytes, dictionary: Dictionary, reached: int) -> Record | None:
    """The update that a record of a log says, unless it is part of the version that is reached."""
    try:
        record = decode_record(payload, dictionary)
        before = record.version - record.updates
    except UNREADABLE as error:
        raise damage(path, offset, f"a record that says no update ({error!r})") from error
    if record.version <= reached:
        return None
    if before != reached:
        raise damage(path, offset, f"an update of version {before} comes after version {reached}")
    return record


class Journal:
    """Where a knowledge base writes its updates."""

    wants_states = False

    def __init__(self, timeline: Timeline, folder: Folder, log: UpdateLog, lock: int) -> None:
        self._timeline, self.folder = timeline, folder
        self._place = log, 0  # and the bytes of logs before this one, so that tickets go on growing
        self._lock, self._closed = lock, False
        self._dictionary = timeline.newest.dictionary
        self._snapshot_size = max((path.stat().st_size for _, path in folder.snapshots()), default=0)
        self._snapshotting = threading.RLock()
        self._thread: threading.Thread | None = None

    def write(self, step: Step, version: int) -> int:
        """Log an update that is about to count; gives what `sync` is to be called with."""
        self.check_open()
        log, before = self._place
        return before + log.append(encode_record(record_of(step, version), self._dictionary))

    def check_open(self) -> None:
        if self._closed:
            raise UsageError("this knowledge base is closed", hint="open it again")

    def sync(self, ticket: int) -> None:
        """Wait until an update is on disk."""
        log, before = self._place
        if ticket > before:  # else it was synced when the log was changed
            log.sync(ticket - before)

    def synced(self) -> int:
        log, before = self._place
        return before + log.synced

    def close(self) -> None:
        """Let others write to the folder, once what this one has begun is done."""
        if self._closed:
            return
        with self._snapshotting, self._timeline.paused():
            if self._closed:
                return
            self._closed = True
            log, _ = self._place
            try:
                log.sync(log.size)
            except OutputError as error:
                logger.error("%s", error)  # those who wait for it are told as well
            log.close()
            os.close(self._lock)

    # --- snapshots ----------------------------------------------------------------------------------------------------

    def snapshot_if_due(self) -> None:
        """Write a snapshot in the background, if the log has become long."""
        log, _ = self._place
        if self._closed or log.size < max(_SNAPSHOT_FROM, _SNAPSHOT_SHARE * self._snapshot_size):
            return
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._snapshot_quietly, name="everlog-snapshot", daemon=True)
            self._thread.start()

    def _snapshot_quietly(self) -> None:
        try:
            self.snapshot()
        except EverlogError as error:
            if not self._closed:
                logger.error("no snapshot was written: %s", error)

    def snapshot(self) -> Path:
        """Write a snapshot of the newest state, and go on with a new log; updates may go on meanwhile."""
        with self._snapshotting:
            state, known = self._begin_log()
            self.check_open()  # somebody who was told of a change may have closed it
            path = self.folder.snapshot(state.version)
            started = time.perf_counter()
            size = self._snapshot_size = write_snapshot(path, state, known)
            logger.info("%s: %d bytes in %.2f s", path, size, time.perf_counter() - started)
            self._remove_superfluous(state.version)
            return path

    def _begin_log(self) -> tuple[State, KnownByRules]:
        """From the state that is given on, updates go to another log."""
        with self._timeline.paused() as state:
            self.check_open()
            known = known_of(self._timeline.workings.maintenance)
            old, before = self._place
            old.check()
            old.sync(old.size)
            if old.base != state.version:
                self._place = self._empty_log(state.version), before + old.size
                old.close()
        self._timeline.settle(None)
        return state, known

    def _empty_log(self, version: int) -> UpdateLog:
        log = UpdateLog(self.folder.log(version), version)
        try:
            for offset, _ in log.read():
                raise damage(log.path, offset, "updates are here that another process has made")
        except BaseException:
            log.close()
            raise
        return log

    def _remove_superfluous(self, version: int) -> None:
        """Remove what neither opening nor the history of versions needs."""
        logs, snapshots = self.folder.logs(), self.folder.snapshots()
        remembered = version - self._timeline.history.limits.updates
        # All can be derived again from any of these on, with the logs after it.
        begins = [0] * (logs[0][0] == 0) + [each for each, _ in snapshots]
        begin = max((each for each in begins if each <= remembered), default=min(begins))
        # One between stays, to begin from when it is old enough: else none that is written soon enough ever would be.
        middle = min((each for each, _ in snapshots if begin < each < version), default=version)
        superfluous = [path for each, path in snapshots if each not in (begin, middle, version)]
        superfluous += [path for (_, path), (following, _) in pairwise(logs) if following <= begin]
        for path in superfluous:
            try:
                path.unlink(missing_ok=True)
                logger.info("%s: removed, there is a newer snapshot", path)
            except OSError as error:
                logger.warning("%s: cannot be removed (%s)", path, error.strerror)
                return


def record_of(step: Step, version: int) -> Record:
    """What the log keeps of an update: facts by themselves, and definitions only where they have changed."""
    before, target = step.before, step.target
    return Record(
        version,
        explicit=step.explicit,
        reshaped=step.reshaped_explicit,
        relations=_changed(before.arities, target.arities),
        prefixes=_changed(before.prefixes, target.prefixes),
        remove_rules=[str(rule.name) for rule in _new(target.rules, before.rules)],
        add_rules={str(rule.name): print_rule(rule) for rule in _new(before.rules, target.rules)},
        views=_changed_views(before.views, target.views),
        updates=version - step.version_before,
        at=time.time(),
        declarations={
            name: print_declaration(each) for name, each in _changed(before.declared, target.declared).items()
        },
    )


def _new(before: tuple[Rule, ...], after: tuple[Rule, ...]) -> list[Rule]:
    """Rules that were not there before; most updates change none, and there may be very many."""
    if before is after:
        return []
    known = set(before)
    return [rule for rule in after if rule not in known]


def _changed(before: Mapping[str, T], after: Mapping[str, T]) -> dict[str, T]:
    return {} if before is after else {name: value for name, value in after.items() if before.get(name) != value}


def _changed_views(before: Mapping[str, ViewQuery], after: Mapping[str, ViewQuery]) -> dict[str, str | None]:
    """The texts of views that came, and None for those that went."""
    if before is after:
        return {}
    gone: dict[str, str | None] = {name: None for name in before if name not in after}
    return gone | {name: view.text for name, view in after.items() if before.get(name) is not view}
