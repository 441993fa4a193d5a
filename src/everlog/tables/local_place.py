"""How are tables kept in a local folder?

A file appears whole: it is written under another name, synced, and linked to its own name, which fails where that is
taken. A lock keeps a second writer from starting at all. The system lets go of it when its process ends, however that
happens, so there is never a stale one to remove.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import fcntl
import json
import os
import shutil
import socket
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from everlog.disk import sync
from everlog.errors import EverlogError
from everlog.tables.commits import CommitConflictError, unwritable
from everlog.tables.places import StoredFile

LOCK = "_lock"


@dataclass(frozen=True)
class LocalPlace:
    """A folder; its methods are those of `TablePlace`."""

    folder: Path

    has_lock = True
    storage = None

    def __str__(self) -> str:
        return str(self.folder)

    def __fspath__(self) -> str:
        return str(self.folder)

    @property
    def beside(self) -> Path:
        return self.folder

    def writing(self) -> AbstractContextManager[None]:
        return writer_lock(self.folder)

    def talking(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext()

    def at(self, *names: str) -> str:
        return str(self.folder.joinpath(*names))

    def name(self, address: str) -> str:
        return Path(address).relative_to(self.folder).as_posix()

    def inside(self, address: str) -> str:
        return address

    def filesystem(self) -> Any:
        return None

    def names(self, folder: str) -> list[str]:
        try:
            return os.listdir(self.folder / folder)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def folders(self, folder: str = "") -> list[str]:
        try:
            return [entry.name for entry in os.scandir(self.folder / folder) if entry.is_dir()]
        except FileNotFoundError:
            return []

    def files(self, folder: str) -> list[StoredFile]:
        found = [path for path in sorted((self.folder / folder).rglob("*")) if path.is_file()]
        return [StoredFile(str(path), (about := path.stat()).st_size, about.st_mtime) for path in found]

    def size(self, address: str) -> int:
        return os.stat(address).st_size

    def holds(self, folder: str) -> bool:
        return (self.folder / folder).exists()

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def put(self, name: str, data: bytes, *, replaces: bool = False) -> None:
        target = self.folder / name
        beside = target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with open(beside, "xb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            if replaces:
                os.replace(beside, target)
            else:
                os.link(beside, target)  # unlike a rename, this fails where the name is taken
            sync(target.parent)
        finally:
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)

    def make_folder(self, folder: str) -> None:
        (self.folder / folder).mkdir(parents=True, exist_ok=True)

    def sync(self, addresses: Sequence[str], *, new_folder: bool = True) -> None:
        for address in addresses:
            sync(Path(address))
        for folder in {Path(address).parent for address in addresses}:
            sync(folder)
            if new_folder:
                sync(folder.parent)

    def remove(self, addresses: Iterable[str]) -> None:
        for address in addresses:
            Path(address).unlink()

    def remove_folder(self, folder: str) -> None:
        shutil.rmtree(self.folder / folder, ignore_errors=True)

    def failure(self, error: Exception) -> EverlogError:
        return unwritable(self.folder, error if isinstance(error, OSError) else OSError(str(error)))


@contextlib.contextmanager
def writer_lock(folder: Path) -> Iterator[None]:
    """Be the only writer of the tables in a folder while the block runs.

    Raises:
        CommitConflictError: another process, or another block of this one, writes them.
    """
    path = folder / LOCK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stream = open(path, "a+", encoding="utf-8")
    except OSError as error:
        raise unwritable(folder, error) from error
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stream.seek(0)
            raise CommitConflictError(
                f"{folder}: these tables are being written by {_holder(stream.read())}",
                hint="wait until that run has ended, or give this one another `tables` folder",
            ) from None
        _say_holder(stream.fileno(), {"pid": os.getpid(), "host": socket.gethostname(), "since": _now()})
        try:
            yield
        finally:
            _say_holder(
                stream.fileno(), None
            )  # closing lets go of the lock; the file stays: nobody locks a removed one


def _say_holder(file: int, about: Mapping[str, Any] | None) -> None:
    """Write who holds the lock. It is for people: a disk that is full is told of where facts are written."""
    with contextlib.suppress(OSError):
        os.ftruncate(file, 0)
        if about is not None:
            os.pwrite(file, json.dumps(about).encode(), 0)


def _holder(text: str) -> str:
    try:
        data = json.loads(text)
        return f"process {data['pid']} on {data['host']} since {data['since']}"
    except (ValueError, KeyError, TypeError):
        return "another process"  # it has the lock but has not yet said who it is


def _now() -> str:
    return dt.datetime.now().astimezone().isoformat(timespec="seconds")
