"""Where are type, shape and data of an array in the object that Python passes around?

NumPy's C interface fixes the fields behind an object's header, whose size differs between builds of CPython. Compiled
code relies on these offsets, so they are looked at once more before any is called.
"""

from __future__ import annotations

import ctypes

import numpy as np

_WORD = 8
AT_DATA = object.__basicsize__
AT_DIMENSIONS = AT_DATA + _WORD  # an int, how many there are
AT_SHAPE = AT_DATA + 2 * _WORD  # the address of the lengths
AT_DTYPE = AT_DATA + 5 * _WORD  # behind strides and base; the address of an object
AT_FLAGS = AT_DATA + 6 * _WORD  # an int
CONTIGUOUS = 1  # the flag of arrays that lie row after row

AT_CHARACTER = object.__basicsize__ + _WORD + 1  # in a dtype, behind its class and the character of its kind
AT_BYTE_ORDER = AT_CHARACTER + 1
NATIVE = b"=|"  # this machine's byte order, or of a single byte


def characters(dtype: str) -> list[int]:
    """How NumPy marks a type; some have two names in C, of the same size."""
    types = [np.dtype(each) for each in np.typecodes["AllInteger"] + np.typecodes["Float"]]
    return sorted({ord(each.char) for each in types if each == dtype})


def are_as_expected() -> bool:
    """Does NumPy keep arrays as compiled code reads them?"""
    array = np.zeros((3, 5), np.int32)
    word, number, byte = ctypes.c_int64.from_address, ctypes.c_int32.from_address, ctypes.c_uint8.from_address
    shape = word(id(array) + AT_SHAPE).value
    return (
        word(id(array) + AT_DATA).value == array.ctypes.data
        and number(id(array) + AT_DIMENSIONS).value == 2
        and (word(shape).value, word(shape + _WORD).value) == array.shape
        and word(id(array) + AT_DTYPE).value == id(array.dtype)
        and number(id(array) + AT_FLAGS).value & CONTIGUOUS == CONTIGUOUS
        and byte(id(array.dtype) + AT_CHARACTER).value == ord(array.dtype.char)
        and byte(id(array.dtype) + AT_BYTE_ORDER).value in NATIVE
    )
