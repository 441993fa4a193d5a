"""Which plain value does a NumPy scalar hold?

NumPy is not imported: whoever has such a value has it already.
"""

from __future__ import annotations

from typing import Any


def is_numpy_scalar(value: object) -> bool:
    """Is this a single value of a NumPy type, such as an element of an array?"""
    return type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "shape", None) == ()


def plain_value(value: Any) -> Any:
    """The Python value of a NumPy scalar; of a point in time one to the microsecond.

    >>> import numpy as np
    >>> plain_value(np.int16(7)), plain_value(np.datetime64("2024-05-31")), plain_value(np.datetime64(5, "ns"))
    (7, datetime.date(2024, 5, 31), datetime.datetime(1970, 1, 1, 0, 0))
    """
    found = value.item()
    if value.dtype.kind == "M" and isinstance(found, int):  # finer than datetime can say
        found = value.astype("datetime64[us]").item()
    return found
