"""How does one process read what another one writes?

It opens the newest snapshot, makes the updates of the log after it again, and goes on with those that come: `refresh`
does that once, a thread does it all the time. Nothing is written, not even a lock, so that a folder may be read-only, a
copy, or in use. Who falls so far behind that the log it was reading is gone begins again with a newer snapshot.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

from everlog.errors import EverlogError, NotFoundError
from everlog.logs import logger
from everlog.store.durable import read_newest
from everlog.store.folders import Folder
from everlog.store.log import LogReader, damage
from everlog.store.records import UNREADABLE, Record, decode_record
from everlog.store.timeline import Timeline

_EVERY = 0.02  # seconds between two looks at the log


class Follower:
    """Brings a knowledge base to the state of a folder, again and again."""

    def __init__(self, timeline: Timeline, path: Path) -> None:
        self._timeline, self._folder = timeline, Folder(path)
        self._lock = threading.Lock()
        self._reader: LogReader | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        if not self._folder.exists():
            raise NotFoundError(
                f"{path}: there is no knowledge base to read", hint="who writes to it has to open it first"
            )
        timeline.read_only, timeline.folder = True, self._folder
        read_newest(timeline, self._folder)
        self.refresh()

    def refresh(self) -> int:
        """Make the updates that have come since the last time; gives the version that is reached."""
        with self._lock:
            while True:
                try:
                    self._timeline.replay(list(self._new_records()))
                except FileNotFoundError:  # the log was superfluous to the writer
                    self._reader = None
                if not self._next_log():
                    return self._timeline.newest.version

    def _new_records(self) -> Iterator[Record]:
        if self._reader is None:
            return
        version = self._timeline.newest.version
        for offset, payload in self._reader.read():
            try:
                record = decode_record(payload, self._timeline.newest.dictionary)
            except UNREADABLE as error:
                raise damage(self._reader.path, offset, f"a record that says no update ({error!r})") from error
            if record.version > version:
                version = record.version
                yield record

    def _next_log(self) -> bool:
        """Go on with the log that has the next update, if there is another one."""
        version = self._timeline.newest.version
        logs = [(base, path) for base, path in self._folder.logs() if base <= version]
        if logs:
            if self._reader is not None and self._reader.path == logs[-1][1]:
                return False
            self._reader = LogReader(logs[-1][1])
            return True
        snapshots = self._folder.snapshots()
        if snapshots and snapshots[-1][0] > version:
            read_newest(self._timeline, self._folder)
            return True
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
