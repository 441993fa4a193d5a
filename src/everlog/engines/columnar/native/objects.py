"""Where are data and shape of an array in the object that Python passes around?

NumPy's C interface fixes the fields behind an object's header, which CPython's own differs in size between builds.
Code that is compiled relies on these offsets, and so they are looked at once more before any is called.
"""

from __future__ import annotations

import ctypes

import numpy as np

_WORD = 8
AT_DATA = object.__basicsize__
AT_DIMENSIONS = AT_DATA + _WORD  # an int, how many there are
AT_SHAPE = AT_DATA + 2 * _WORD  # the address of the lengths
AT_FLAGS = AT_DATA + 6 * _WORD  # behind strides, base and dtype; an int
CONTIGUOUS = 1  # the flag of arrays that lie row after row


def are_as_expected() -> bool:
    """Does NumPy keep arrays as compiled code reads them?"""
    probe = np.zeros((3, 5), np.int32)
    words = ctypes.c_int64.from_address
    ints = ctypes.c_int32.from_address
    shape = words(id(probe) + AT_SHAPE).value
    return (
        words(id(probe) + AT_DATA).value == probe.ctypes.data
        and ints(id(probe) + AT_DIMENSIONS).value == 2
        and (words(shape).value, words(shape + _WORD).value) == probe.shape
        and ints(id(probe) + AT_FLAGS).value & CONTIGUOUS == CONTIGUOUS
        and ints(id(probe.T) + AT_FLAGS).value & CONTIGUOUS == 0
    )
