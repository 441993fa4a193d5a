"""How is a generated workload run by hand? `python -m benchmarks.write_data WORKLOAD DIR [SCALE]` writes its data.

One CSV file per relation, named after it and without a header, or `triple.nt` for triples: what `everlog run` takes.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pyarrow as pa

from benchmarks.workloads import BY_NAME


def write_data(name: str, folder: Path, scale: float = 1.0) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for relation, table in BY_NAME[name].data(scale).items():
        path = folder / ("triple.nt" if relation == "triple" else f"{relation}.csv")
        if relation == "triple":
            write_triples(path, table)
        else:
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
        written.append(path)
    return written


def write_triples(path: Path, table: pa.Table) -> None:
    """Write a table of terms as N-Triples, some rows at a time: millions of strings take gigabytes."""
    with path.open("w", encoding="utf-8") as lines:
        for batch in table.to_batches(50_000):
            rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            lines.writelines(f"{s} {p} {o} .\n" for s, p, o in rows)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in BY_NAME:
        sys.exit(f"usage: python -m benchmarks.write_data WORKLOAD DIR [SCALE]; workloads: {', '.join(BY_NAME)}")
    for path in write_data(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) == 4 else 1.0):
        print(path)
