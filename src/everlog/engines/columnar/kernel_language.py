"""What are kernels written in? In what Numba compiles, less all that needs Numba while they run.

Kernels neither allocate arrays nor count references nor raise, so their machine code stands alone: it is made once
(native/building.py), kept in files, and loaded without Numba. Only who compiles kernels imports this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function where it is called by another kernel, or as an entry point (entries.py)."""
    return njit(nogil=True)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """The same for functions of a line or two, which are put in place of their calls."""
    return njit(inline="always")(function)
