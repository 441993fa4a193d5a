"""How is code made that is not there yet?

In processes beside this one, a *part* each: kernels that have much in common, so that Numba compiles that once. What
is not in use is not compiled. Nobody is left to wonder: a bar says how far it is, or where nobody sees bars, a line.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from everlog.engines.columnar.native import folders
from everlog.engines.columnar.native.entry import Entry
from everlog.progress import Bar

_LOOK = 0.1  # seconds between two looks at how far it is


def code_of(entry: Entry) -> bytes:
    """The code of a kernel, compiled where there is none; with it, what will be used next."""
    if (code := folders.find(entry.name)) is not None:
        return code
    from everlog.engines.columnar.entries import used_with

    compile_missing(used_with(entry))
    return folders.find(entry.name) or _built_here(entry)


def compile_missing(parts: Iterable[Sequence[Entry]]) -> int:
    """Compile what is missing of some parts; returns how many kernels that were."""
    missing = [part for each in parts if (part := [entry for entry in each if folders.find(entry.name) is None])]
    names = [entry.name for part in missing for entry in part]
    if not names:
        return 0
    folder = folders.folder_for_new_code()
    with Bar("compiling kernels") as bar:
        if not bar.is_shown:
            _tell(folder)
        if folder is not None and sys.executable and not hasattr(sys, "frozen"):
            with suppress(OSError):  # where no process can be started, `code_of` compiles in this one
                _in_processes(missing, names, folder, bar)
    return sum(folders.find(name) is not None for name in names)


@cache
def _tell(folder: Path | None) -> None:
    """Say on stderr what takes so long, once."""
    told = "everlog: compiling kernels, which takes a minute or so, this once\n"
    if not folders.is_kept(folder):
        told = (
            "everlog: compiling kernels, for a minute or so, each time: no folder to keep them in can be written\n"
            "  = help: set NUMBA_CACHE_DIR to one that can, or run `everlog compile` as somebody who may\n"
        )
    if sys.stderr is not None:
        sys.stderr.write(told)


def _in_processes(parts: Sequence[Sequence[Entry]], names: Sequence[str], folder: Path, bar: Bar) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    module = "everlog.engines.columnar.native.compile_part"
    commands = [[sys.executable, "-m", module, str(folder), *(entry.name for entry in part)] for part in parts]
    # As many at a time as there are processors. Longer parts come first.
    running: list[subprocess.Popen[bytes]] = []
    try:
        while commands or running:
            while commands and len(running) < (os.cpu_count() or 1):
                running.append(subprocess.Popen(commands.pop(0), env=environment, stdin=subprocess.DEVNULL))
            time.sleep(_LOOK)
            running = [process for process in running if process.poll() is None]
            done = sum(folders.is_there(folder, name) for name in names)
            bar(f"compiling kernels, once: {done} of {len(names)}", done / len(names))
    finally:
        for process in running:
            process.terminate()
            process.wait()


def _built_here(entry: Entry) -> bytes:
    """Compiled in this process, and not kept: where there is no folder, or no other process can be started."""
    from everlog.engines.columnar.native.building import build
    from everlog.engines.columnar.native.targets import this_target

    with Bar(f"compiling {entry.name}"):
        return build(entry, this_target())
