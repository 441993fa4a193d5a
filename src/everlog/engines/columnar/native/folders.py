"""Where is machine code kept, and when is it out of date?

Code is kept in a folder named after what it is for and a hash of all that it is made from: kernels call each other
across files, so when one changes all are compiled anew. Such folders are looked for in these places:

1. `$NUMBA_CACHE_DIR/everlog`, where that is set;
2. beside this file: code that came with the package, or that somebody compiled who may write there, for every user;
3. `$XDG_CACHE_HOME/everlog`, or `~/.cache/everlog`.

New code goes to the first of them that can be written, or else to a folder that lives as long as the process.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

from everlog.engines.columnar.native.objects import AT_DATA
from everlog.engines.columnar.native.targets import this_target

_HERE = Path(__file__).parent
_COLUMNAR = _HERE.parent
_BESIDE = _HERE / "machine_code"
_SOURCES = (
    "../../dictionary/dictionary.py",
    "../../dictionary/kinds.py",
    "../../plans/labels.py",
    "../spark/ids.py",
    "comparison_kernels.py",
    "entries.py",
    "fact_kernels.py",
    "hash_tables.py",
    "journal_kernels.py",
    "kernel_language.py",
    "kernels.py",
    "layout.py",
    "mark_kernels.py",
    "memory.py",
    "native/building.py",
    "native/objects.py",
    "step_kernels.py",
    "sweep_kernels.py",
    "version_kernels.py",
    "wide_id_kernels.py",
)
_SUFFIX = ".kernel"
_HASH = hashlib.sha256


def find(name: str) -> bytes | None:
    """The code of a kernel, from wherever there is some."""
    return next((code for place in _places() if (code := _read(place / _folder_name(), name)) is not None), None)


def folder_of(name: str) -> Path | None:
    """The folder that the code of a kernel is taken from."""
    folders = (place / _folder_name() for place in _places())
    return next((folder for folder in folders if _read(folder, name) is not None), None)


def _read(folder: Path, name: str) -> bytes | None:
    """The code of a kernel in a folder; damaged code is none."""
    try:
        held = (folder / f"{name}{_SUFFIX}").read_bytes()
    except OSError:
        return None
    size = _HASH().digest_size
    return held[size:] if _HASH(held[size:]).digest() == held[:size] else None


def is_there(folder: Path, name: str) -> bool:
    """Has a folder the code of a kernel?"""
    return (folder / f"{name}{_SUFFIX}").exists()


def write(folder: Path, name: str, code: bytes) -> None:
    """Keep the code of a kernel, for all who may read the folder; a reader finds all of it or nothing."""
    handle, path = tempfile.mkstemp(dir=folder, prefix=name)
    try:
        with open(handle, "wb") as file:
            file.write(_HASH(code).digest() + code)
        os.chmod(path, 0o644)  # as the folder, for everybody
        os.replace(path, folder / f"{name}{_SUFFIX}")
    except BaseException:
        os.unlink(path)
        raise


@cache
def folder_for_new_code() -> Path | None:
    """Where new code goes; None where nothing can be written at all."""
    for place in _places():
        if _is_writable(folder := place / _folder_name()):
            return folder
    try:
        temporary = tempfile.mkdtemp(prefix="everlog-kernels-")
    except OSError:
        return None
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    _places().append(Path(temporary))
    (folder := Path(temporary) / _folder_name()).mkdir()
    return folder


def is_kept(folder: Path | None) -> bool:
    """Will other processes find what is in a folder?"""
    return folder is not None and folder.parent in _lasting_places()


def remove_outdated(folder: Path) -> None:
    """Delete what was compiled from other sources, beside a folder of code."""
    for other in folder.parent.glob(f"{this_target().name}-*"):
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)


@cache
def _places() -> list[Path]:
    """Where to look, best first; a temporary one is added when there is one."""
    return _lasting_places()


def _lasting_places() -> list[Path]:
    asked = os.environ.get("NUMBA_CACHE_DIR")
    return [*([Path(asked) / "everlog"] if asked else []), _BESIDE, *_user_places()]


def _user_places() -> list[Path]:
    try:
        return [Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "everlog"]
    except RuntimeError:  # a user without a home
        return []


def _is_writable(folder: Path) -> bool:
    try:
        for each in (folder.parent, folder):
            if not each.exists():
                each.mkdir(parents=True, exist_ok=True)
                each.chmod(0o755)  # whatever the mask of who compiles, for instance as root
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@cache
def _folder_name() -> str:
    digest = _HASH(str(AT_DATA).encode())
    for name in _SOURCES:
        digest.update((_COLUMNAR / name).read_bytes())
    return f"{this_target().name}-{digest.hexdigest()[:16]}"
