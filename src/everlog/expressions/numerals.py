"""Which number does a numeric literal stand for, and which term is a number?

XSD's four kinds of numbers are Python's: `int` (integer and the types derived from it), `Decimal`, `float` (double),
and `Single` for xsd:float, a float that has been rounded to 32 bits. Promotion goes
integer -> decimal -> float -> double.

>>> read_number("042", "integer"), read_number("300", "byte"), read_number("1e3", "double")
(42, None, 1000.0)
>>> number_term(to_single(0.1))
Literal(lexical='1.0E-1', datatype='http://www.w3.org/2001/XMLSchema#float', language=None)
"""

from __future__ import annotations

import math
import re
import struct
from decimal import Decimal

import numpy as np

from everlog.facts.terms import XSD, Literal, Term, double_text


class Single(float):
    """The value of an xsd:float: a double that a 32-bit float holds exactly."""

    __slots__ = ()


Number = int | Decimal | float  # a Single is a float

# The integer types of XSD with their least and greatest values (None: no bound).
INTEGER_TYPES: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-(2**7), 2**7 - 1),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 2**8 - 1),
}
NUMERIC_TYPES = frozenset(INTEGER_TYPES) | {"decimal", "float", "double"}

# Python's own readers take underscores, spaces and digits of other scripts; XSD does not.
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPECIAL = {"INF": math.inf, "+INF": math.inf, "-INF": -math.inf, "NaN": math.nan}


def read_number(text: str, local: str) -> Number | None:
    """The number of a lexical form of the XSD type with that local name; None where it is not one."""
    if local in INTEGER_TYPES:
        if not _INTEGER.fullmatch(text):
            return None
        try:
            value = int(text)
        except ValueError:  # more digits than Python reads (sys.get_int_max_str_digits)
            return None
        return value if in_range(value, local) else None
    if local == "decimal":
        return Decimal(text) if _DECIMAL.fullmatch(text) else None
    number = _SPECIAL.get(text)
    if number is None:
        if not _DOUBLE.fullmatch(text):
            return None
        number = float(text)
    return to_single(number) if local == "float" else number


def in_range(value: int, local: str) -> bool:
    """Whether an integer type has this value.

    >>> in_range(127, "byte"), in_range(128, "byte")
    (True, False)
    """
    least, most = INTEGER_TYPES[local]
    return (least is None or least <= value) and (most is None or value <= most)


def number_term(value: Number) -> Term:
    """The term of a number: itself, but an xsd:float is a literal."""
    return Literal(single_text(value), XSD + "float") if isinstance(value, Single) else value


def single_text(value: float) -> str:
    """The canonical form of an xsd:float: the fewest digits that are read back as the same value."""
    return double_text(float(str(np.float32(value))) if math.isfinite(value) else value)


def to_single(value: Number) -> Single:
    """A number rounded to an xsd:float; beyond its range an infinity."""
    value = to_double(value)
    try:
        return Single(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return Single(math.copysign(math.inf, value))


def to_double(value: Number) -> float:
    """A number rounded to an xsd:double; beyond its range an infinity."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def promote(left: Number, right: Number) -> tuple[Number, Number]:
    """Both numbers in the wider type of the two; integers and decimals stay as they are, Python compares them exactly.

    >>> promote(1, 2.5), promote(1, Decimal("2.5"))
    ((1.0, 2.5), (1, Decimal('2.5')))
    """
    if isinstance(left, float) or isinstance(right, float):
        if _is_double(left) or _is_double(right):
            return to_double(left), to_double(right)
        return to_single(left), to_single(right)
    return left, right


def _is_double(value: Number) -> bool:
    return isinstance(value, float) and not isinstance(value, Single)
