"""How do columns become a batch that a kernel reads?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Ids
from everlog.engines.columnar import layout as at


@cache
def slot_operands(width: int) -> npt.NDArray[np.int64]:
    """Operands that name the first slots in order."""
    return np.array([[at.SLOT, position] for position in range(width)], np.int64).ravel()


def stack(columns: Sequence[Ids], start: int, end: int) -> Ids:
    if not columns:
        return np.zeros((1, end - start), np.int32)
    batch = np.empty((len(columns), end - start), np.int32)
    for place, column in enumerate(columns):
        batch[place] = column[start:end]  # np.stack takes five times as long for a few rows
    return batch
