"""`everlog compile`: make the machine code of all kernels ahead, so that no program has to."""

from __future__ import annotations

import time

from everlog.cli.knowledge_bases import JsonOption
from everlog.cli.outcomes import outcome, print_json
from everlog.errors import EngineError


def compile_(as_json: JsonOption = False) -> None:
    """Compile all kernels ahead, for whoever may read the folder they are kept in.

    A program does so when it first needs them, unless they came with the package.
    """
    from everlog.engines.columnar.entries import PARTS
    from everlog.engines.columnar.native.compiling import compile_missing
    from everlog.engines.columnar.native.folders import folder_of, is_kept, remove_outdated
    from everlog.rules.grammar import grammar

    with outcome(as_json=as_json):
        started = time.perf_counter()
        compiled = compile_missing(PARTS)
        seconds = time.perf_counter() - started
        kernels = [entry.name for part in PARTS for entry in part]
        found = {name: folder_of(name) for name in kernels}
        if not all(map(is_kept, found.values())):
            raise EngineError(
                "kernels could not be compiled, or there is no folder to keep them in",
                hint="set NUMBA_CACHE_DIR to a folder that can be written",
            )
        folders = sorted({folder for folder in found.values() if folder is not None})
        for folder in folders:
            remove_outdated(folder)
        grammar()  # whose table is kept likewise
        if as_json:
            said = {"kernels": len(kernels), "compiled": compiled, "folders": [str(each) for each in folders]}
            print_json({**said, "seconds": round(seconds, 1)})
        else:
            took = f"{compiled} compiled in {seconds:.1f} s" if compiled else "none to compile"
            print(f"{', '.join(map(str, folders))}: {len(kernels)} kernels, {took}")
