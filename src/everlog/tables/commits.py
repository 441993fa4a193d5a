"""Which versions of the tables exist, and how does the next one become visible atomically?

A folder of tables has a file per version, `_commits/00000000000000000003.json`, that names for every table the folder
and the Delta version that belong to it. Nothing is part of a version unless such a file says so: whatever a run writes
before its commit file appears is invisible, and stays so when the run is killed. The file is written under another
name, synced, and linked to its own name, which fails where that is taken: of two writers one loses, with
`CommitConflictError`.

A lock keeps a second writer from starting at all (`writer_lock`). The system lets go of it when its process ends,
however that happens, so there is never a stale one to remove.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import errno
import fcntl
import hashlib
import json
import os
import socket
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from everlog.disk import sync
from everlog.errors import DataError, EverlogError, NotFoundError, OutputError
from everlog.tables.layout import SET, all_columns

COMMITS = "_commits"
LOCK = "_lock"


class CommitConflictError(EverlogError):
    """Another writer holds the lock or has committed first; nothing of this one is visible."""

    code = "C100"
    exit_code = 8
    http_status = 409


@dataclass(frozen=True)
class TableState:
    """A table in one version."""

    folder: str  # its folder, inside that of the tables
    delta: int  # its Delta version
    columns: tuple[str, ...]  # those of the data, not those of layout.STATE
    types: tuple[str, ...]  # of those columns, as Spark names them
    kind: str = SET  # or BAG, or PLAIN
    rows: int = 0  # in all its files
    facts: int = 0  # what the weights sum up to
    changes: int = 0  # rows that came after the base, in which each fact stands once
    change_files: int = 0  # that they are in; of a plain table: all its files
    gains_only: bool = True  # and all of them are of facts that were not there: nothing has to be looked up

    @property
    def column_types(self) -> dict[str, str]:
        return dict(zip(self.columns, self.types, strict=True))

    @property
    def all_types(self) -> dict[str, str]:
        """Every column, with its type."""
        return all_columns(self.column_types, self.kind)


@dataclass(frozen=True)
class Commit:
    """A version: the state of its tables, what it added to them, and any information that the writer gave."""

    version: int
    tables: Mapping[str, TableState] = field(default_factory=dict)
    time: str = ""
    info: Mapping[str, Any] = field(default_factory=dict)
    added: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # files, inside the folder of their table
    before: int = 0  # the version that it follows
    moved: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # how many facts each table gained and lost
    replaced: tuple[str, ...] = ()  # tables that were written anew: what was added tells weights, and nothing else

    @property
    def identity(self) -> str:
        """What tells this version from one with the same number in other tables; the same after compaction."""
        said = [self.version, self.before, self.time, sorted(self.added.items())]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:32]


NOTHING = Commit(0, MappingProxyType({}))


def commit_path(folder: Path, version: int) -> Path:
    return folder / COMMITS / f"{version:020d}.json"


def committed_versions(folder: Path) -> list[int]:
    """The committed versions, in order."""
    found = (path.stem for path in (folder / COMMITS).glob("*.json"))
    return sorted(int(stem) for stem in found if stem.isdigit())


def read_commit(folder: Path, version: int | None = None) -> Commit:
    """A version, the last by default; version 0 has no tables."""
    versions = committed_versions(folder)
    if version is None:
        version = versions[-1] if versions else 0
    if version == 0:
        return NOTHING
    if version not in versions:
        there = f"there are {versions[0]} to {versions[-1]}" if versions else "nothing has been committed there yet"
        raise NotFoundError(f"{folder}: there is no version {version} of the tables", hint=there)
    path = commit_path(folder, version)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        tables = {
            name: TableState(**{**state, "columns": tuple(state["columns"]), "types": tuple(state["types"])})
            for name, state in data["tables"].items()
        }
        added = {name: tuple(names) for name, names in data["added"].items()}
        moved = {name: (gained, lost) for name, (gained, lost) in data["moved"].items()}
        return Commit(
            data["version"], tables, data["time"], data["info"], added, data["before"], moved, tuple(data["replaced"])
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"this commit file cannot be read ({error})",
            path=str(path),
            hint="bring it back from a copy; the versions before it can still be read by number",
        ) from error


def write_commit(folder: Path, commit: Commit, *, again: bool = False) -> Commit:
    """Make a version visible, or raise and leave everything as it was.

    Args:
        again: the version is there, and is to be the same in other files.

    Raises:
        CommitConflictError: the version is there already.
        OutputError: the file cannot be written.
    """
    target = commit_path(folder, commit.version)
    beside = target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")
    stamped = replace(commit, time=commit.time or dt.datetime.now(dt.UTC).isoformat(timespec="seconds"))
    data = {
        "version": stamped.version,
        "before": stamped.before,
        "time": stamped.time,
        "info": dict(stamped.info),
        "tables": {name: asdict(state) for name, state in sorted(stamped.tables.items())},
        "moved": {name: list(counts) for name, counts in sorted(stamped.moved.items())},
        "replaced": list(stamped.replaced),
        "added": {name: list(files) for name, files in sorted(stamped.added.items())},
    }
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(beside, "x", encoding="utf-8") as stream:
            json.dump(data, stream, ensure_ascii=False, indent=1)
            stream.flush()
            os.fsync(stream.fileno())
        if again:
            os.replace(beside, target)
        else:
            os.link(beside, target)  # unlike a rename, this fails where the name is taken
        sync(target.parent)
    except FileExistsError:
        raise CommitConflictError(
            f"{folder}: version {commit.version} was committed by another writer in the meantime",
            hint="run again: it then continues from that version",
        ) from None
    except OSError as error:
        raise unwritable(folder, error) from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
    return stamped


def unwritable(path: Path, error: OSError) -> OutputError:
    """The error for tables or outputs that the system does not let us write."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        hint = "free some room, or choose another folder, and run again; what was committed before is still there"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        hint = f"choose a folder you may write to, or: chmod -R u+w {path}"
    else:
        hint = "choose another folder and run again; what was committed before is still there"
    return OutputError(f"{path}: cannot be written ({error.strerror or error})", hint=hint)


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
