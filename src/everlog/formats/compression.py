"""How is a file opened, compressed or not, so that every failure is one of our errors?

The last extension says how a file is packed: ``.gz``, ``.bz2``, ``.xz`` or not at all. Reading hands out a plain stream
of bytes; a file that is cut short or is not what its name says raises `FormatError` in the middle of a read. Writing
goes to a temporary file beside the target, which takes its name only once everything is in it.
"""

from __future__ import annotations

import bz2
import contextlib
import difflib
import gzip
import io
import lzma
import os
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from everlog.errors import DataError, FormatError, NotFoundError, OutputError

COMPRESSIONS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}

_BUFFER = 1 << 20  # big reads: decompressors and Arrow work in runs of about this size


def split_name(path: Path) -> tuple[str, str, str]:
    """A file's stem, its format's extension and its compression's, the latter two in lower case or empty.

    >>> split_name(Path("data/edge.csv.gz"))
    ('edge', '.csv', '.gz')
    >>> split_name(Path("v1.2/a.b.NT"))
    ('a.b', '.nt', '')
    """
    name = path.name
    packed = path.suffix.lower()
    if packed in COMPRESSIONS:
        name = name[: -len(packed)]
    else:
        packed = ""
    suffix = Path(name).suffix
    return name[: len(name) - len(suffix)], suffix.lower(), packed


def check_readable(path: Path) -> None:
    """Raise a fitting error if a path is not a readable file."""
    if path.is_dir():
        inside = sorted(entry.name for entry in path.iterdir() if entry.is_file())[:3]
        hint = f"name a file in it, such as {path / inside[0]}" if inside else "it holds no files"
        raise DataError("this is a folder, not a file", path=str(path), hint=hint)
    if not path.exists():
        raise NotFoundError(f"{path}: there is no such file", hint=_near_names(path))


def open_bytes(path: Path) -> BinaryIO:
    """A stream of the file's unpacked bytes, whose reads raise our errors."""
    check_readable(path)
    packed = split_name(path)[2]
    try:
        raw = open(path, "rb", buffering=_BUFFER)
    except OSError as error:
        raise _unreadable(path, error) from error
    if not packed:
        return cast(BinaryIO, io.BufferedReader(_Checked(raw, path, ""), _BUFFER))
    unpacked: Any = {".gz": gzip.GzipFile, ".bz2": bz2.BZ2File, ".xz": lzma.LZMAFile}[packed]
    stream = unpacked(fileobj=raw) if packed == ".gz" else unpacked(raw)
    return cast(BinaryIO, io.BufferedReader(_Checked(stream, path, packed, raw), _BUFFER))


class _Checked(io.RawIOBase):
    """A stream that turns the many ways in which reading fails into `FormatError` and `DataError`."""

    def __init__(self, inner: Any, path: Path, packed: str, raw: IO[bytes] | None = None) -> None:
        self._inner, self._path, self._packed, self._raw = inner, path, packed, raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        kind = COMPRESSIONS.get(self._packed, "")
        try:
            return int(self._inner.readinto1(buffer))  # what is there: a pipe may bring the rest much later
        except EOFError as error:
            raise FormatError(
                f"the {kind} data ends too early", path=str(self._path), hint="the file was cut short: copy it again"
            ) from error
        except (zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise self._not_packed(kind, error) from error
        except OSError as error:
            if error.errno is None and self._packed:  # how bz2 reports an invalid data stream
                raise self._not_packed(kind, error) from error
            raise _unreadable(self._path, error) from error

    def _not_packed(self, kind: str, error: Exception) -> FormatError:
        return FormatError(
            f"this is not valid {kind} data ({error})",
            path=str(self._path),
            hint=f"the file is damaged, or not packed at all: then take {self._packed} off its name",
        )

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
            if self._raw is not None:
                self._raw.close()  # a decompressor does not close the stream it was given
        super().close()


def packed_by_mistake(start: bytes) -> str | None:
    """A hint for a file without a compression's extension that begins like a packed one."""
    for magic, suffix in ((b"\x1f\x8b", ".gz"), (b"BZh", ".bz2"), (b"\xfd7zXZ", ".xz")):
        if start.startswith(magic):
            return f"the file looks compressed: add {suffix} to its name"
    return None


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream whose bytes become the file `path` when the block succeeds, and are discarded when it fails."""
    packed = split_name(path)[2]
    target = Path(os.path.realpath(path))  # a link stays a link, to new facts
    # The process in the name keeps two writers apart; the dot keeps globs from picking up a half-written file.
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    device = target.exists() and not target.is_file() and not target.is_dir()  # such as /dev/stdout: never replaced
    try:
        with open(target if device else beside, "wb", buffering=_BUFFER) as raw, _packing(raw, packed) as stream:
            yield stream
        if not device:
            if target.is_file():
                shutil.copymode(target, beside)
            os.replace(beside, target)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        if not device:
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)


@contextlib.contextmanager
def _packing(raw: BinaryIO, packed: str) -> Iterator[BinaryIO]:
    if not packed:
        yield raw
    elif packed == ".gz":
        # No name and no time in the header: equal facts give equal files.
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as stream:
            with io.BufferedWriter(cast(Any, stream), _BUFFER) as buffered:
                yield cast(BinaryIO, buffered)
    else:
        kind: Any = bz2.BZ2File if packed == ".bz2" else lzma.LZMAFile
        with kind(raw, "wb") as stream:
            yield stream


def _near_names(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"there is no folder {folder} either"
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return f"the folder {folder} cannot be listed"
    near = difflib.get_close_matches(path.name, names, n=3, cutoff=0.5)
    if near:
        return "did you mean " + " or ".join(str(folder / name) for name in near) + "?"
    return f"nothing in {folder} has a similar name"


def _unreadable(path: Path, error: OSError) -> DataError:
    if isinstance(error, PermissionError):
        return DataError("reading this file is not permitted", path=str(path), hint=f"try: chmod u+r {path}")
    return DataError(f"this file cannot be read ({error.strerror or error})", path=str(path))


def _unwritable(path: Path, error: OSError) -> OutputError:
    folder = path.parent
    reason = error.strerror or str(error)
    if not folder.exists():
        hint = f"make the folder first: mkdir -p {folder}"
    elif path.is_dir():
        hint = "name a file, not a folder"
    elif isinstance(error, PermissionError):
        hint = f"choose a folder you may write to, or: chmod u+w {folder}"
    else:
        hint = "nothing was left half-written; free some room or choose another place, then try again"
    return OutputError(f"{path}: cannot be written ({reason})", hint=hint)
