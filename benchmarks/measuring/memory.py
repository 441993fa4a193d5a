"""How much memory is in use?"""

from __future__ import annotations

import ctypes
import gc
import sys

import pyarrow as pa

from everlog.limits import resident_memory


def held() -> int:
    """The memory in use; what is free is given back first."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    return resident_memory()
