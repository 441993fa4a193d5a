"""Which versions of the tables exist, and how does the next one become visible atomically?

A folder of tables has a file per version, `_commits/00000000000000000003.json`, that names for every table the folder
and the Delta version that belong to it. Nothing is part of a version unless such a file says so: whatever a run writes
before its commit file appears is invisible, and stays so when the run is killed. The file appears whole, and only where
there is none of its name (places.py): of two writers one loses, with `CommitConflictError`.
"""

from __future__ import annotations

import datetime as dt
import errno
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from everlog.errors import DataError, EverlogError, NotFoundError, OutputError
from everlog.tables.layout import SET, all_columns

if TYPE_CHECKING:
    from everlog.tables.places import TablePlace

COMMITS = "_commits"


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


def commit_name(version: int) -> str:
    """The file of a version, inside the place of the tables."""
    return f"{COMMITS}/{version:020d}.json"


def committed_versions(place: TablePlace) -> list[int]:
    """The committed versions, in order."""
    stems = (name.removesuffix(".json") for name in place.names(COMMITS) if name.endswith(".json"))
    return sorted(int(stem) for stem in stems if stem.isdigit())


def read_commit(place: TablePlace, version: int | None = None) -> Commit:
    """A version, the last by default; version 0 has no tables."""
    versions = committed_versions(place)
    if version is None:
        version = versions[-1] if versions else 0
    if version == 0:
        return NOTHING
    if version not in versions:
        there = f"there are {versions[0]} to {versions[-1]}" if versions else "nothing has been committed there yet"
        raise NotFoundError(f"{place}: there is no version {version} of the tables", hint=there)
    name = commit_name(version)
    try:
        data = json.loads(place.read(name))
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
            path=place.at(name),
            hint="bring it back from a copy; the versions before it can still be read by number",
        ) from error


def write_commit(place: TablePlace, commit: Commit, *, again: bool = False) -> Commit:
    """Make a version visible, or raise and leave everything as it was.

    Args:
        again: the version is there, and is to be the same in other files.

    Raises:
        CommitConflictError: the version is there already; or, with `again`, not any more.
        OutputError: the file cannot be written.
    """
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
        place.put(commit_name(commit.version), json.dumps(data, ensure_ascii=False, indent=1).encode(), replaces=again)
    except FileExistsError:
        raise CommitConflictError(
            f"{place}: version {commit.version} was committed by another writer in the meantime",
            hint="run again: it then continues from that version",
        ) from None
    except OSError as error:
        raise place.failure(error) from error
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
