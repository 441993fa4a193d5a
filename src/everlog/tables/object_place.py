"""How are tables kept in an object store: S3 and what speaks its language, Google's, Azure's?

A version becomes visible by putting its commit if there is none of its name, which the store decides (`If-None-Match`).
There is no lock: two writers may work at the same time, and of their commits one is refused. So nobody touches what
another may be writing (table_store.py), and no two use a folder of the same name (writing.py).

Objects are listed, read and put by `obstore`, logs of tables by `deltalake`, and data files go through `deltalake`'s
file system for Arrow: all of them are one library below, and take the same options.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from everlog.errors import EverlogError, UsageError
from everlog.tables.places import StoredFile
from everlog.tables.storage_errors import storage_error

SCHEMES = ("s3", "s3a", "gs", "az", "adl", "abfs", "abfss")

# A store that cannot be reached is told of in seconds, not after minutes of retries; options may say otherwise.
_PATIENCE = {"connect_timeout": "5s", "timeout": "60s", "max_retries": "3", "retry_timeout": "15s"}

# Options of connections, which obstore wants apart from those of the store; the rest of `deltalake`'s own it has not.
_OF_CONNECTIONS = frozenset(
    "allow_http allow_invalid_certificates connect_timeout default_content_type http1_only http2_only"
    " http2_keep_alive_interval http2_keep_alive_timeout http2_keep_alive_while_idle http2_max_frame_size"
    " pool_idle_timeout pool_max_idle_per_host proxy_url proxy_ca_certificate proxy_excludes timeout user_agent".split()
)
_OF_RETRIES = ("max_retries", "retry_timeout", "backoff_config")
_OF_LOGS = ("aws_s3_", "delta_", "mount_")


def object_place(address: str, storage: Mapping[str, str], beside: Path | None) -> ObjectPlace:
    """The place of an address such as s3://bucket/prefix."""
    found = re.fullmatch(r"([A-Za-z0-9+.-]+)://([^/]+)(?:/+(.*?))?/*", address)
    if found is None or found[1].lower() not in SCHEMES:
        raise UsageError(
            f"{address}: tables cannot be kept there",
            hint=f"name a local folder, or a bucket and a prefix: {', '.join(f'{each}://…' for each in SCHEMES)}",
        )
    whole = f"{found[1].lower()}://{found[2]}" + (f"/{found[3]}" if found[3] else "")
    return ObjectPlace(whole, tuple(sorted(storage.items())), beside or _cache_folder(whole))


def _cache_folder(address: str) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "everlog" / "tables"
    readable = re.sub(r"[^\w.-]+", "_", address)[:60]
    return cache / f"{readable}-{hashlib.sha256(address.encode()).hexdigest()[:12]}"


@dataclass(frozen=True)
class ObjectPlace:
    """A bucket, and what the names of all objects there begin with; its methods are those of `TablePlace`."""

    address: str
    options: tuple[tuple[str, str], ...]
    beside: Path

    has_lock = False

    def __str__(self) -> str:
        return self.address

    def __repr__(self) -> str:
        return f"ObjectPlace({self.address!r})"  # without the options: there are secrets among them

    @property
    def storage(self) -> dict[str, str]:
        return {**_usual_options(self.address, dict(self.options)), **dict(self.options)}

    def writing(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext()

    @contextlib.contextmanager
    def talking(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self.failure(error) from error

    def at(self, *names: str) -> str:
        return "/".join([self.address, *names])

    def name(self, address: str) -> str:
        return address.removeprefix(f"{self.address}/")

    def inside(self, address: str) -> str:
        return self.name(address)

    def filesystem(self) -> Any:
        return _filesystem(self)

    def names(self, folder: str) -> list[str]:
        return [Path(each["path"]).name for each in self._listed(folder)["objects"]]

    def folders(self, folder: str = "") -> list[str]:
        return [Path(name).name for name in self._listed(folder)["common_prefixes"]]

    def _listed(self, folder: str) -> Any:
        """What is in a folder: the objects, and the folders."""
        obstore = _library()
        with self._telling():
            return obstore.list_with_delimiter(_store(self), f"{folder}/" if folder else None)

    def files(self, folder: str) -> list[StoredFile]:
        found = self._below(folder).items()
        return [StoredFile(self.at(name), about["size"], about["last_modified"].timestamp()) for name, about in found]

    def _below(self, folder: str) -> dict[str, Any]:
        """The objects below a folder, by their names in order."""
        obstore = _library()
        with self._telling():
            found = [each for part in obstore.list(_store(self), f"{folder}/") for each in part]
        return {each["path"]: each for each in sorted(found, key=lambda each: each["path"])}

    def size(self, address: str) -> int:
        obstore = _library()
        with self._telling():
            return int(obstore.head(_store(self), self.name(address))["size"])

    def holds(self, folder: str) -> bool:
        obstore = _library()
        with self._telling():
            return any(obstore.list(_store(self), f"{folder}/", chunk_size=1))

    def read(self, name: str) -> bytes:
        obstore = _library()
        with self._telling():
            return bytes(obstore.get(_store(self), name).bytes())

    def put(self, name: str, data: bytes, *, replaces: bool = False) -> None:
        obstore = _library()
        refused = (obstore.exceptions.AlreadyExistsError, obstore.exceptions.PreconditionError, FileNotFoundError)
        try:
            with self._telling():
                mode: Any = "create"
                if replaces:  # what is there now, and nothing if it was removed meanwhile
                    about = obstore.head(_store(self), name)
                    mode = {key: about[key] for key in ("e_tag", "version") if about[key] is not None}
                obstore.put(_store(self), name, data, mode=mode, use_multipart=False)
        except refused as error:
            if not replaces and self.read(name) == data:
                return  # ours: the store's answer was lost, and the request made again
            raise FileExistsError(self.at(name)) from error

    def make_folder(self, folder: str) -> None:
        """There are no folders; names of objects may have any parts."""

    def sync(self, addresses: Sequence[str], *, new_folder: bool = True) -> None:
        """An object lasts from when it is there."""

    def remove(self, addresses: Iterable[str]) -> None:
        obstore = _library()
        names = [self.name(address) for address in addresses]
        if names:
            with self._telling():
                obstore.delete(_store(self), names)

    def remove_folder(self, folder: str) -> None:
        self.remove(self.at(name) for name in self._below(folder))

    def failure(self, error: Exception) -> EverlogError:
        return storage_error(self.address, error)

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        """What obstore raises becomes an error of ours, unless the caller expects it."""
        told = _library().exceptions
        try:
            yield
        except (told.AlreadyExistsError, told.PreconditionError, FileNotFoundError):
            raise
        except (told.BaseError, ValueError) as error:
            raise self.failure(error) from error


def _library() -> Any:
    try:
        import obstore
        import obstore.exceptions
        import obstore.store
    except ImportError as error:
        raise UsageError(
            "tables in object stores need the package obstore", hint="pip install everlog[objects]"
        ) from error
    return obstore


def _usual_options(address: str, said: Mapping[str, str]) -> dict[str, str]:
    """What goes without saying, where the options do not say otherwise."""
    known = {_plain(key): value for key, value in said.items()}
    usual = {key: value for key, value in _PATIENCE.items() if key not in known}
    if address.startswith("s3"):
        if "conditional_put" not in known:
            usual["aws_conditional_put"] = "etag"
        keys = ("endpoint_url", "endpoint")
        said_so = [*(known.get(key, "") for key in keys), *(os.environ.get(f"AWS_{key.upper()}", "") for key in keys)]
        if next(filter(None, said_so), "").startswith("http://") and "allow_http" not in known:
            usual["allow_http"] = "true"  # whoever names such an endpoint means it
    return usual


def _plain(key: str) -> str:
    """An option without what stands for the store in front of it.

    >>> _plain("AWS_ALLOW_HTTP"), _plain("timeout")
    ('allow_http', 'timeout')
    """
    return re.sub(r"\A(aws|google|azure)_", "", key.lower())


@functools.lru_cache(maxsize=16)
def _store(place: ObjectPlace) -> Any:
    """The store, opened once in a process."""
    options = place.storage
    of_connections: Any = {_plain(key): value for key, value in options.items() if _plain(key) in _OF_CONNECTIONS}
    of_store: Any = {
        key: value
        for key, value in options.items()
        if _plain(key) not in _OF_CONNECTIONS and not _plain(key).startswith(_OF_RETRIES)
        if not key.lower().startswith(_OF_LOGS)
    }
    of_retries: Any = {
        "max_retries": int(_number(place, options, "max_retries")),
        "retry_timeout": timedelta(seconds=_number(place, options, "retry_timeout")),
    }
    return _library().store.from_url(
        place.address, config=of_store, client_options=of_connections, retry_config=of_retries
    )


def _number(place: ObjectPlace, options: Mapping[str, str], key: str) -> float:
    """An option that is a number, maybe of seconds."""
    try:
        return float(options[key].removesuffix("s"))
    except ValueError:
        raise UsageError(
            f"{place}: {key} is {options[key]!r}", hint=f'write a number, as {key} = "{_PATIENCE[key]}"'
        ) from None


@functools.lru_cache(maxsize=16)
def _filesystem(place: ObjectPlace) -> Any:
    from deltalake.fs import DeltaStorageHandler
    from pyarrow.fs import PyFileSystem

    return PyFileSystem(DeltaStorageHandler(place.address, place.storage))
