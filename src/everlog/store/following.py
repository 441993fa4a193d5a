"""How does one process read what another one writes?

It opens the newest snapshot, makes the updates of the log after it again, and goes on with those that come: `refresh`
does that once, a thread does it all the time. Nothing is written, not even a lock, so that a folder may be read-only, a
copy, or in use. Who falls so far behind that the log it was reading is gone begins again with a newer snapshot.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

from everlog.errors import DamagedLogError, EverlogError, NotFoundError
from everlog.logs import logger
from everlog.store.durable import check_log, read_newest, read_record
from everlog.store.folders import Folder
from everlog.store.log import LogReader
from everlog.store.records import Record
from everlog.store.timeline import Timeline

_EVERY = 0.02  # seconds between two looks at the log
_TRIES = 100  # to read files that the writer may be removing, since there are newer ones


class Follower:
    """Brings a knowledge base to the state of a folder, again and again."""

    def __init__(self, timeline: Timeline, path: Path) -> None:
        self._timeline, self._folder = timeline, Folder(path)
        self._lock = threading.Lock()
        self._refreshing: int | None = None  # the thread that has it
        self._reader: LogReader | None = None
        self._begun = False
        self._ended_at: int | None = None  # the version at which the log ended when there was a later one
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        if not self._folder.exists():
            raise NotFoundError(
                f"{path}: there is no knowledge base to read", hint="who writes to it has to open it first"
            )
        timeline.read_only, timeline.folder = True, self._folder
        self.refresh()

    def refresh(self) -> int:
        """Make the updates that have come since the last time; gives the version that is reached."""
        if self._refreshing == threading.get_ident():  # it is being told of one of them
            return self._timeline.published.version
        with self._lock:
            self._refreshing = threading.get_ident()
            try:
                return self._refresh()
            except BaseException:
                self._reader = None  # some of what it has read may not have been made
                raise
            finally:
                self._refreshing = None

    def _refresh(self) -> int:
        for _ in range(_TRIES):
            try:
                if not self._begun:
                    self._begin()
                self._timeline.replay(list(self._new_records()))
                while self._next_log():
                    self._timeline.replay(list(self._new_records()))
                return self._timeline.newest.version
            except FileNotFoundError:  # what was to be read is superfluous to the writer
                self._reader = None
            except OSError as error:
                raise self._unreadable(error.strerror) from error
        raise self._unreadable("its files vanish")

    def _unreadable(self, why: str | None) -> NotFoundError:
        return NotFoundError(f"{self._folder.path}: cannot be read ({why})", hint="see to the folder and to the disk")

    def _begin(self) -> None:
        """Begin with the newest snapshot."""
        version = read_newest(self._timeline, self._folder)
        snapshots = self._folder.snapshots()
        if snapshots and snapshots[-1][0] != version:
            raise FileNotFoundError  # there is a newer one by now
        check_log(self._folder, version)
        self._begun = True

    def _new_records(self) -> Iterator[Record]:
        if self._reader is None:
            return
        version, dictionary = self._timeline.newest.version, self._timeline.newest.dictionary
        for offset, payload in self._reader.read():
            record = read_record(self._reader.path, offset, payload, dictionary, version)
            if record is not None:
                version = record.version
                yield record

    def _next_log(self) -> bool:
        """Go on with the log that has the next update, if there may be one that was not read."""
        version = self._timeline.newest.version
        logs = self._folder.logs()
        later = [base for base, _ in logs if base > version]
        readable = [(base, path) for base, path in logs if base <= version]
        if readable:
            base, path = readable[-1]
            if self._reader is None or self._reader.path != path:
                self._reader = LogReader(path, base)
                return True
            if later and self._ended_at != version:  # what was missing may have been written just before the later one
                self._ended_at = version
                return True
        elif [each for each, _ in self._folder.snapshots() if each > version]:
            self._begin()
            return True
        if later or not logs:
            raise DamagedLogError(
                f"the updates after version {version} are missing",
                path=str(readable[-1][1] if readable else self._folder.log(version)),
                offset=self._reader.end if self._reader is not None else 0,
                hint="a file was removed or cut; restore the folder from a copy",
            )
        return False

    # --- by itself ----------------------------------------------------------------------------------------------------

    def follow(self) -> None:
        """Stay up to date from now on."""
        self._thread = threading.Thread(target=self._keep_refreshing, name="everlog-follower", daemon=True)
        self._thread.start()

    def _keep_refreshing(self) -> None:
        while not self._stop.wait(_EVERY):
            try:
                self.refresh()
            except EverlogError as error:
                logger.error("the knowledge base is no longer followed: %s", error)
                return

    def close(self) -> None:
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
