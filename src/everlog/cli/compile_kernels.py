"""How are kernels compiled in advance?

    python -m everlog.cli.compile_kernels

runs a small program that uses every kernel, so that Numba compiles them all and caches the machine code. Set-up does
this once; from then on kernels load in a fraction of a second.
"""

from __future__ import annotations

import time

from everlog.store.store import KnowledgeBase

_EVERY_KERNEL = """
    path(?x, ?y) :- edge(?x, ?y).
    path(?x, ?z) :- path(?x, ?y), edge(?y, ?z), ?x != ?z.
    wide(?x, ?y, 1) :- path(?x, ?y), NOT edge(?y, ?x).
    wide(?x, ?z, 1) :- wide(?x, ?y, 1), wide(?y, ?z, 1), path(?x, ?z).
    fan(?x, ?n) :- AGGREGATE(path(?x, ?y) ON ?x BIND COUNT(?y) AS ?n).
"""


def compile_kernels() -> float:
    """Compile or load every kernel; returns the seconds it took."""
    from everlog.engines.columnar.compiled import remove_outdated_kernels

    started = time.perf_counter()
    remove_outdated_kernels()
    kb = KnowledgeBase(engine="columnar")
    kb.insert("edge", [("a", "b"), ("b", "c")])
    kb.add_rules(_EVERY_KERNEL)
    kb.query("path(?x, ?y), edge(?y, ?x)")
    with kb.snapshot() as snapshot:
        kb.delete("edge", [("b", "c")])
        kb.insert("edge", [("b", "c")])
        snapshot.query("path(?x, ?y), wide(?x, ?z, 1), NOT edge(?y, ?x)")
        kb.query("path(?x, ?y), wide(?x, ?z, 1), NOT edge(?y, ?x)")
    return time.perf_counter() - started


if __name__ == "__main__":
    print(f"kernels ready in {compile_kernels():.1f} s")
