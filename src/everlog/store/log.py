"""How do updates get to disk so that none is lost and damage is noticed?

The log is one file that only grows. It begins with a header, and each update adds a record:

    header    8 bytes "EVERLOG\\n" · u32 format · u64 base version · u32 CRC-32 of the 20 bytes before
    record    u64 length · u32 CRC-32 of the payload · u32 CRC-32 of the 12 bytes before, chained · payload

all little-endian. The chained checksum begins from that of the record before (or the header), so that a record that is
missing or in another place is noticed. The base version is that of the state before the first record: a log continues
the one before it, from the version of a snapshot on (durable.py). What a payload says is in records.py.

A record is written and synced before its update is acknowledged. So whoever is killed while writing leaves at most an
incomplete last record, of an update that nobody was told of: opening cuts it off. Anything else that does not fit its
checksum is damage, and reported with its place. The length has a checksum of its own, so that a damaged length cannot
pass for an incomplete record and take those after it with it.
"""

from __future__ import annotations

import fcntl
import os
import struct
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

from everlog.disk import sync, write_all
from everlog.errors import DamagedLogError, OutputError, StoreInUseError

FORMAT = 1

_MAGIC = b"EVERLOG\n"
_HEADER = struct.Struct("<8sIQ")
_RECORD = struct.Struct("<QI")
_CHECKSUM = struct.Struct("<I")
HEADER_BYTES = _HEADER.size + _CHECKSUM.size
RECORD_BYTES = _RECORD.size + _CHECKSUM.size


class LogReader:
    """Reads the records of a log, as far as they are written; it may go on when there are more."""

    def __init__(self, path: Path, base: int) -> None:
        """`base`: the version before the first record, as the name of the file has it."""
        self.path, self.base = path, base
        self.end = 0  # where the last good record ends
        self.chain = 0  # the checksum of its head

    def read(self) -> Iterator[tuple[int, bytes]]:
        """Offset and payload of each record from the last one that was read on, up to one that is incomplete."""
        with open(self.path, "rb") as file:
            if os.fstat(file.fileno()).st_size < self.end:
                raise damage(self.path, self.end, "the file has become shorter, or it is another one")
            if not self.end:
                self.chain = self._check_header(file.read(HEADER_BYTES))
                self.end = HEADER_BYTES
            file.seek(self.end)
            while head := file.read(RECORD_BYTES):
                if len(head) < RECORD_BYTES:
                    return
                chain = zlib.crc32(head[: _RECORD.size], self.chain)
                if _CHECKSUM.pack(chain) != head[_RECORD.size :]:
                    raise damage(self.path, self.end, "the head of a record does not fit its checksum")
                length, checksum = _RECORD.unpack_from(head)
                payload = file.read(length)
                if len(payload) < length:
                    return
                if zlib.crc32(payload) != checksum:
                    raise damage(self.path, self.end, f"a record of {length:,} bytes does not fit its checksum")
                offset, self.chain, self.end = self.end, chain, self.end + RECORD_BYTES + length
                yield offset, payload

    def _check_header(self, header: bytes) -> int:
        """The header's checksum, if all is well with it."""
        if not header.startswith(_MAGIC):
            raise DamagedLogError("byte 0: this is not a log of Everlog", path=str(self.path), offset=0)
        if len(header) < HEADER_BYTES or _CHECKSUM.pack(zlib.crc32(header[: _HEADER.size])) != header[_HEADER.size :]:
            raise damage(self.path, 0, "the header does not fit its checksum")
        _, format, base = _HEADER.unpack_from(header)
        if format != FORMAT:
            raise DamagedLogError(
                f"the log has format {format}, and this Everlog reads format {FORMAT}",
                path=str(self.path),
                offset=len(_MAGIC),
                hint="use a newer Everlog",
            )
        if base != self.base:
            raise damage(self.path, _HEADER.size - 8, f"the log goes on from version {base}, not from {self.base}")
        return zlib.crc32(header[: _HEADER.size])


def damage(path: Path, offset: int, what: str) -> DamagedLogError:
    """An error for what stands at an offset of a log."""
    return DamagedLogError(
        f"byte {offset:,}: {what}",
        path=str(path),
        offset=offset,
        hint="the file was changed or the disk is failing; restore it from a copy",
    )


class UpdateLog:
    """A log open for reading once and then for appending. The caller holds the store's lock."""

    def __init__(self, path: Path, base: int = 0) -> None:
        """`base`: the version before its first record; it is made if it is not there yet."""
        self.path, self.base = path, base
        try:
            if not path.exists():
                _begin(path, base)
            self._file = os.open(path, os.O_RDWR)
        except OSError as error:
            raise OutputError(f"{path}: cannot be opened ({error.strerror})", hint="choose another folder") from error
        self._lock()
        self._place = os.fstat(self._file)
        self._chain = 0  # the checksum of the last head
        self._end = 0  # where the last good record ends
        self.synced = 0  # what is on disk for sure
        self._turn, self._syncing = threading.Lock(), False
        self._waiting: list[tuple[int, threading.Lock]] = []  # for a sync, oldest first
        self._failure: OSError | None = None  # since then the file can no longer be trusted

    def _lock(self) -> None:
        """Nobody else may write to it, even if the folder's lock was removed."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise StoreInUseError(
                f"{self.path} is being written to", hint="one at a time may write to it: close it there first"
            ) from None

    def read(self) -> Iterator[tuple[int, bytes]]:
        """Offset and payload of each record; an incomplete last one is cut off. Read it to the end before `append`."""
        reader = LogReader(self.path, self.base)
        for offset, payload in reader.read():
            yield offset, payload
            self._chain, self._end = reader.chain, reader.end
        self._chain, self._end = reader.chain, reader.end
        if os.fstat(self._file).st_size > self._end:
            os.ftruncate(self._file, self._end)
            os.fsync(self._file)
        self.synced = self._end

    def append(self, payload: bytes) -> int:
        """Add a record; gives what `sync` is to be called with. Where that fails, the log is as it was before.

        One thread at a time; others may be syncing.
        """
        self.check()
        head = _RECORD.pack(len(payload), zlib.crc32(payload))
        chain = zlib.crc32(head, self._chain)
        record = head + _CHECKSUM.pack(chain) + payload
        start = self._end
        try:
            write_all(self._file, record, start)
        except BaseException as error:
            self._cut(start)
            if isinstance(error, OSError):
                raise OutputError(
                    f"{self.path}: the update cannot be written ({error.strerror})",
                    hint="nothing was changed; free some room, then try again",
                ) from error
            raise
        self._chain, self._end = chain, start + len(record)
        return self._end

    def sync(self, end: int) -> None:
        """Wait until everything up to `end` is on disk. Threads that wait at the same time share one sync.

        One of them does it, for all that is written by then; the others sleep until they are called: those it was
        done for, and one more, whose turn is next.
        """
        while self.synced < end:
            if self._failure is not None:
                raise self._not_synced(self._failure)
            called = self._wait_if_syncing(end)
            if called is not None:
                called.acquire()  # until somebody releases it
            else:
                self._sync_up_to(self._end)

    def _wait_if_syncing(self, end: int) -> threading.Lock | None:
        """What is released when a sync has reached `end`, or it is this thread's turn; None where it is already."""
        with self._turn:
            if not self._syncing:
                self._syncing = end > 0
                return None
            called = threading.Lock()
            called.acquire()
            self._waiting.append((end, called))
            return called

    def _sync_up_to(self, written: int) -> None:
        try:
            os.fdatasync(self._file)
            self.synced = max(self.synced, written)
        except OSError as error:
            self._failure = error  # what is on disk is not known: nothing may follow it
            raise self._not_synced(error) from error
        finally:
            with self._turn:
                self._syncing = False
                called = [(end, lock) for end, lock in self._waiting if end <= self.synced or self._failure is not None]
                self._waiting = [each for each in self._waiting if each not in called]
                if self._waiting:
                    called.append(self._waiting.pop(0))
            for _, lock in called:
                lock.release()

    def _not_synced(self, failure: OSError) -> OutputError:
        return OutputError(
            f"{self.path}: the disk did not take an update ({failure.strerror})",
            hint="whether it counts shows when the knowledge base is opened again; see to the disk first",
        )

    def check(self) -> None:
        """May something be added, and will it be found? What is written to a file that was removed is lost."""
        if self._failure is not None:
            raise OutputError(
                f"{self.path}: an earlier update could be neither written nor taken back",
                hint="close the knowledge base, see to the disk, and open it again",
            )
        try:
            there = os.path.samestat(os.stat(self.path), self._place)
        except OSError:
            there = False
        if not there:
            raise OutputError(
                f"{self.path}: the file is gone, or it is another one",
                hint="nothing was changed; put the folder back where it was, or close the knowledge base",
            )

    def close(self) -> None:
        """Let go of the file; everything is synced before."""
        while (called := self._wait_if_syncing(0)) is not None:
            called.acquire()
        os.close(self._file)

    @property
    def size(self) -> int:
        """Bytes of good records."""
        return self._end

    def _cut(self, length: int) -> None:
        """Take back what was written; if even that fails, nothing may be written after it."""
        try:
            os.ftruncate(self._file, length)
            os.fsync(self._file)
        except OSError as error:
            self._failure = error  # the next append says so


def _begin(path: Path, base: int) -> None:
    """Make an empty log, whole from the first moment: a file that is shorter than a header is always damage."""
    header = _HEADER.pack(_MAGIC, FORMAT, base)
    beside = path.with_suffix(".new")
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        try:
            write_all(file, header + _CHECKSUM.pack(zlib.crc32(header)), 0)
            os.fsync(file)
        finally:
            os.close(file)
        os.replace(beside, path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    sync(path.parent)
