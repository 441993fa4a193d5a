"""What changed between two runs? `python -m benchmarks.compare BEFORE.json AFTER.json` prints a Markdown table."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

Key = tuple[str, str, float]


def measured(path: Path) -> dict[Key, dict[str, Any]]:
    records = json.loads(path.read_text(encoding="utf-8"))["records"]
    return {(r["workload"], r["system"], r["scale"]): r for r in records if "best" in r}


def compare(before: Path, after: Path) -> str:
    """Best times and memory side by side; a ratio above 1 is a gain."""
    old, new = measured(before), measured(after)
    lines = [
        "| workload | system | before, s | after, s | faster by | memory before, MB | after, MB |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for key in [key for key in new if key in old]:
        a, b = old[key], new[key]
        name = key[0] if key[2] == 1 else f"{key[0]} ×{key[2]:g}"
        lines.append(f"| {name} | {key[1]} | {a['best']:.3f} | {b['best']:.3f} | {a['best'] / b['best']:.2f}× "
                     f"| {a['memory'] / 1e6:,.0f} | {b['memory'] / 1e6:,.0f} |")  # fmt: skip
    for path, alone in ((before, old.keys() - new.keys()), (after, new.keys() - old.keys())):
        if alone:
            names = ", ".join(sorted(f"{name} {system}" for name, system, _ in alone))
            lines.append(f"\nOnly in {path.name}: {names}.")
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python -m benchmarks.compare BEFORE.json AFTER.json")
    print(compare(Path(sys.argv[1]), Path(sys.argv[2])))
