"""Which dense 32-bit id stands for which 64-bit one, in one process?

>>> ids = WideIds()
>>> narrow = ids.narrow(np.array([80, 8, 80, (7 << 3) | 4], np.int64))
>>> narrow.tolist()[:3], ids.wide(narrow).tolist()
([1, 2, 1], [80, 8, 80, 60])
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import MOST_TERMS
from everlog.engines.columnar.entries import find_narrow, refill, to_narrow, to_wide
from everlog.errors import LimitError

Wide = npt.NDArray[np.int64]
Narrow = npt.NDArray[np.int32]
_BATCH = 1 << 16
_LEAST = 1 << 12


class WideIds:
    """Wide ids by row; rows count from 1, in order of first use."""

    def __init__(self) -> None:
        self._slots = np.zeros(2 * _LEAST, np.int32)
        self._wide = np.zeros(_LEAST, np.int64)
        self.used = 1  # rows, with the one that stands for no term

    def narrow(self, ids: Wide) -> Narrow:
        """The dense ids of wide ones; those that have none yet get one."""
        found = np.empty(len(ids), np.int32)
        for start in range(0, len(ids), _BATCH):
            part = ids[start : start + _BATCH]
            self._reserve(self.used + len(part))
            self.used = int(to_narrow(part, found[start : start + len(part)], self._slots, self._wide, self.used))
        return found

    def find(self, id_: int) -> int | None:
        """The row of a wide id that is neither a small integer nor that of no term."""
        return int(find_narrow(id_, self._slots, self._wide)) or None

    def wide(self, narrow: Narrow) -> Wide:
        """The wide ids of dense ones."""
        ids = np.empty(len(narrow), np.int64)
        to_wide(narrow, self._wide, ids)
        return ids

    def wide_of_row(self, row: int) -> int:
        return int(self._wide[row])

    def wide_rows(self, start: int) -> Wide:
        """The wide ids of all rows from one on."""
        return self._wide[start : self.used]

    def _reserve(self, rows: int) -> None:
        if rows >= MOST_TERMS:
            raise LimitError("more than two billion distinct terms in one task", hint="use more partitions")
        if rows > len(self._wide):
            longer = np.zeros(max(rows, 2 * len(self._wide)), np.int64)
            longer[: self.used] = self._wide[: self.used]
            self._wide = longer
        if 2 * rows > len(self._slots):
            self._slots = np.zeros(max(3 * rows, 2 * len(self._slots)), np.int32)
            refill(self._wide, self.used, self._slots)
