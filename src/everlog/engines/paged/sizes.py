"""How much goes into a page, a run, memory and an update?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Bounds of the paged engine, in facts."""

    page: int = 512  # in a page: some 10 to 20 KB, what a disk reads in one go
    run: int = 1 << 23  # sorted in memory at a time: that takes half a gigabyte
    held: int = 1 << 16  # changed facts in memory, beyond which they become a run
    fetched: int = 1 << 22  # that one update may read, beyond which deriving in bulk is better
    runs: int = 3  # of a relation, beyond which the newest are merged: each look-up asks all of them


DEFAULT = Sizes()
