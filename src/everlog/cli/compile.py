"""`everlog compile`: make the machine code of all kernels ahead, so that no program has to."""

from __future__ import annotations

import time

from everlog.cli.knowledge_bases import JsonOption
from everlog.cli.outcomes import outcome, print_json


def compile_(as_json: JsonOption = False) -> None:
    """Compile all kernels ahead, for whoever may read the folder they are kept in.

    A program does so when it first needs them, unless they came with the package.
    """
    from everlog.engines.columnar.entries import PARTS
    from everlog.engines.columnar.native.compiling import compile_missing
    from everlog.engines.columnar.native.folders import folder_of, remove_outdated

    with outcome(as_json=as_json):
        started = time.perf_counter()
        compiled = compile_missing(PARTS)
        seconds = time.perf_counter() - started
        kernels = [entry.name for part in PARTS for entry in part]
        folders = sorted({folder for name in kernels if (folder := folder_of(name)) is not None})
        for folder in folders:
            remove_outdated(folder)
        if as_json:
            said = {"kernels": len(kernels), "compiled": compiled, "folders": [str(each) for each in folders]}
            print_json({**said, "seconds": round(seconds, 1)})
        else:
            took = f"{compiled} compiled in {seconds:.1f} s" if compiled else "none to compile"
            print(f"{', '.join(map(str, folders))}: {len(kernels)} kernels, {took}")
