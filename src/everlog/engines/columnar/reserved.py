"""How does a long array grow without being copied?

Memory that was never touched costs nothing: a mapping may be many times longer than what is used of it. Arrays of some
size are therefore put into mappings with room for 64 times as much, so that growing seldom means more than a larger
length. Where the system does not grant such a mapping, arrays double and are copied, as usual.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

_LONG = 1 << 18  # rows from which an array is put into a mapping
_ROOM = 64
_MOST_ROWS = (1 << 31) - 1  # a row's number has 31 bits
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)


def larger_capacity(needed: int, capacity: int) -> int:
    """Rows to make room for when `needed` are needed and `capacity` were there."""
    if needed < _LONG:
        return max(needed, 2 * capacity)
    return min(_MOST_ROWS, _ROOM * needed)


def lengthened(array: npt.NDArray[Any], capacity: int, used: int) -> npt.NDArray[Any]:
    """An array of `capacity` rows that begins with the first `used` rows of another; the others are zero."""
    shape = (capacity, *array.shape[1:])
    longer = _mapped(shape, array.dtype) if capacity >= _LONG else np.zeros(shape, array.dtype)
    longer[:used] = array[:used]
    return longer


def _mapped(shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    try:
        mapping = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
    except (OSError, ValueError, AttributeError):
        return np.zeros(shape, dtype)  # the same promise, made by malloc; it may be refused for lack of memory
    if hasattr(mmap, "MADV_HUGEPAGE"):
        mapping.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(mapping, dtype).reshape(shape)
