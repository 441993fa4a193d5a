"""How long before the first fact? `python -m benchmarks.start_up` times an import, a rule and a fact, and a program.

Each is the best of five fresh processes, interpreter included; the bare interpreter stands beside them. One run before
counting fills the kernel cache.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """\
edge(a, b).
edge(b, c).
edge(c, d).
colour(a, red).
colour(d, blue).
path(X, Y) :- edge(X, Y).
path(X, Z) :- path(X, Y), edge(Y, Z).
mixed(X, Y) :- path(X, Y), colour(X, C), colour(Y, D), C != D.
lonely(X) :- colour(X, C), not edge(X, Y).
degree(X, N) :- AGGREGATE(path(X, Y) ON X BIND COUNT(Y) AS N).
"""
WARM = "import everlog; kb = everlog.open(); kb.add_rules('q(?x) :- p(?x).'); kb.insert('p', [('a',)])"
LIMITS = {"import everlog": 0.4, "warm start": 0.5, "everlog run": 0.7}


def best(command: list[str], repeat: int = 5) -> float:
    times = []
    for _ in range(repeat + 1):
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - begin)
    return min(times[1:])


def measure() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "ten_lines.dl"
        program.write_text(PROGRAM, encoding="utf-8")
        entry = "from everlog.cli.main import main; main()"
        return {
            "python": best([sys.executable, "-c", "pass"]),
            "import everlog": best([sys.executable, "-c", "import everlog"]),
            "warm start": best([sys.executable, "-c", WARM]),
            "everlog run": best([sys.executable, "-c", entry, "run", str(program), "--count"]),
        }


if __name__ == "__main__":
    found = measure()
    if "--json" in sys.argv:
        print(json.dumps(found))
    else:
        for name, seconds in found.items():
            asked = f"   asked: under {LIMITS[name]} s" if name in LIMITS else ""
            print(f"{name:<16} {seconds:.3f} s{asked}")
