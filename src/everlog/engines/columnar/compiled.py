"""How is the machine code of kernels cached, and never older than its source?

Numba keeps compiled code beside a function's file and compiles again when *that file* changes. Our kernels call each
other across files, so code compiled from an older file would stay in use. Kernels are therefore cached in a folder
named after a hash of all kernel files: when one changes, all are compiled anew.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import njit

_HERE = Path(__file__).parent
_SOURCES = (
    "../../dictionary/kinds.py",
    "../../plans/labels.py",
    "comparison_kernels.py",
    "compiled.py",
    "fact_kernels.py",
    "hash_tables.py",
    "journal_kernels.py",
    "kernels.py",
    "layout.py",
    "mark_kernels.py",
    "memory.py",
    "step_kernels.py",
    "sweep_kernels.py",
    "version_kernels.py",
    "wide_id_kernels.py",
)
_PREFIX = "kernels-"


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called, without the interpreter's lock, and cache the code for later runs."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_CACHE)
    try:
        return njit(cache=True, nogil=True)(function)
    finally:
        numba.config.CACHE_DIR = before


def _cache_folder() -> Path:
    digest = hashlib.sha256()
    for name in _SOURCES:
        digest.update((_HERE / name).read_bytes())
    name = _PREFIX + digest.hexdigest()[:16]
    beside = _HERE / "__pycache__"
    return (beside if _writable(beside) else _user_folder()) / name


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _user_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "everlog"


def are_compiled() -> bool:
    """Were kernels compiled from these very sources before?"""
    return next(_CACHE.rglob("*.nbi"), None) is not None


def remove_outdated_kernels() -> None:
    """Delete what was compiled from older sources."""
    for folder in _CACHE.parent.glob(f"{_PREFIX}*"):
        if folder != _CACHE:
            shutil.rmtree(folder, ignore_errors=True)


_CACHE = _cache_folder()
