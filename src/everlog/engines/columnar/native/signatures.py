"""What does a kernel take and give?

It is written as text: `"i8[:,:] i8 b1 -> i8"` takes a table, a number and a truth value, and gives a number. Arrays are
C-contiguous and of exactly this type and number of dimensions; numbers are of 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass

NUMBERS = ("i8", "u8", "b1")  # signed, unsigned, truth value


@dataclass(frozen=True)
class Argument:
    """An array of some dimensions, or with none of them a number."""

    dtype: str
    dimensions: int

    @property
    def is_array(self) -> bool:
        return self.dimensions > 0


@dataclass(frozen=True)
class Signature:
    """What a kernel takes, and the types of the numbers it gives."""

    arguments: tuple[Argument, ...]
    results: tuple[str, ...]


def read_signature(text: str) -> Signature:
    """Read a signature.

    >>> read_signature("i8[:,:] b1 -> i8 b1").results
    ('i8', 'b1')
    """
    taken, _, given = text.partition("->")
    return Signature(tuple(map(_argument, taken.split())), tuple(given.split()))


def _argument(text: str) -> Argument:
    dtype, _, dimensions = text.partition("[")
    return Argument(dtype, dimensions.count(":"))
