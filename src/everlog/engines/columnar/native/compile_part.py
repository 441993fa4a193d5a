"""Compile some kernels into a folder: `python -m everlog.engines.columnar.native.compile_part FOLDER KERNEL…`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from everlog.engines.columnar.entries import ENTRIES
from everlog.engines.columnar.native.folders import write
from everlog.engines.columnar.native.targets import this_target


def main(folder: Path, names: list[str]) -> None:
    """Compile one after the other; each is there for others as soon as it is done."""
    target = this_target()
    # What Numba reads when it is imported. Its own passes need not do what those over the whole (building.py) do again.
    os.environ |= {"NUMBA_CPU_NAME": target.cpu, "NUMBA_CPU_FEATURES": target.features, "NUMBA_OPT": "1"}
    from everlog.engines.columnar.native.building import build

    for name in names:
        write(folder, name, build(ENTRIES[name], target))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
