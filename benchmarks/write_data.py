"""How is a generated workload run by hand? `python -m benchmarks.write_data WORKLOAD DIR [SCALE]` writes its data.

One CSV file per relation, named after it and without a header, or `triple.nt` for triples: what `everlog run` takes.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from benchmarks.workloads import BY_NAME


def write_data(name: str, folder: Path, scale: float = 1.0) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for relation, table in BY_NAME[name].data(scale).items():
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        path = folder / ("triple.nt" if relation == "triple" else f"{relation}.csv")
        with path.open("w", encoding="utf-8", newline="") as file:
            if relation == "triple":
                file.writelines(f"{s} {p} {o} .\n" for s, p, o in rows)
            else:
                csv.writer(file).writerows(rows)
        written.append(path)
    return written


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in BY_NAME:
        sys.exit(f"usage: python -m benchmarks.write_data WORKLOAD DIR [SCALE]; workloads: {', '.join(BY_NAME)}")
    for path in write_data(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) == 4 else 1.0):
        print(path)
