"""Where are tables, and what can be done there?

In a local folder (local_place.py), which is the default, or in an object store (object_place.py). Everything that reads
or writes tables goes through one of these. Two things differ, and a place says so: whether a lock keeps a second writer
away (in an object store only the commit decides, which is put if absent), and where the files are that cannot be in an
object store: sorted runs, checkpoints and notes of streams, the record of outputs. Those are `beside` the tables.

A file has an address: its path, or `s3://…`. A place can be sent to tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from everlog.addresses import is_remote, local_text
from everlog.errors import EverlogError


@dataclass(frozen=True)
class StoredFile:
    """A file in a place."""

    address: str
    size: int
    modified: float  # seconds since 1970


class TablePlace(Protocol):
    """A place for tables; `str` gives its address. Names inside of it have `/` between their parts."""

    @property
    def beside(self) -> Path:
        """The local folder of the files that belong to these tables and are no part of them."""

    @property
    def has_lock(self) -> bool:
        """Whether `writing` keeps other writers away, until the block ends."""

    @property
    def storage(self) -> dict[str, str] | None:
        """The options with which `deltalake` gets there."""

    def writing(self) -> AbstractContextManager[None]:
        """A block that writes. Raises CommitConflictError where others are seen to write."""

    def talking(self) -> AbstractContextManager[None]:
        """A block in which others, `deltalake` or Arrow, use the place: what they raise becomes an error of ours."""

    def at(self, *names: str) -> str:
        """The address of a file or folder, by the parts of its name."""

    def name(self, address: str) -> str:
        """The other way round."""

    def inside(self, address: str) -> str:
        """What the file system of Arrow calls a file."""

    def filesystem(self) -> Any:
        """The file system for Arrow; None for the local one."""

    def names(self, folder: str) -> list[str]:
        """The names of the files in a folder."""

    def folders(self, folder: str = "") -> list[str]:
        """The names of the folders in a folder, or in the place itself."""

    def files(self, folder: str) -> list[StoredFile]:
        """All files below a folder."""

    def size(self, address: str) -> int:
        """How many bytes a file has."""

    def holds(self, folder: str) -> bool:
        """Whether there is such a folder."""

    def read(self, name: str) -> bytes:
        """What a file holds. Raises FileNotFoundError."""

    def put(self, name: str, data: bytes, *, replaces: bool = False) -> None:
        """Make a file, whole or not at all.

        Raises:
            FileExistsError: it is there; or with `replaces`, it is not there any more.
        """

    def make_folder(self, folder: str) -> None:
        """Let files be written there."""

    def sync(self, addresses: Sequence[str], *, new_folder: bool = True) -> None:
        """Wait until files that others wrote, in a new folder or an old one, will last."""

    def remove(self, addresses: Iterable[str]) -> None:
        """Remove files."""

    def remove_folder(self, folder: str) -> None:
        """Remove a folder with all that is in it, if it is there."""

    def failure(self, error: Exception) -> EverlogError:
        """What to tell of an error that came while the place was written."""


def table_place(
    where: str | Path | TablePlace, storage: Mapping[str, str] | None = None, beside: Path | None = None
) -> TablePlace:
    """The place that a path or an address names.

    Args:
        storage: options for the object store, as `deltalake` knows them.
        beside: for an object store, the local folder of what is beside the tables; a cache folder by default.
    """
    if not isinstance(where, str | Path):
        return where
    if isinstance(where, str) and is_remote(where):
        from everlog.tables.object_place import object_place

        return object_place(where, storage or {}, beside)
    from everlog.tables.local_place import LocalPlace

    return LocalPlace(Path(local_text(where) if isinstance(where, str) else where).absolute())
