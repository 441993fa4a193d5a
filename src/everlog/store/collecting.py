"""When does Python's collector only stand in the way?

While a large program is read and arranged, millions of objects come and none is garbage; but the more there are,
the longer the collector looks at all of them, again and again: two fifths of the time for 20,000 rules.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collecting() -> Iterator[None]:
    """Without looking for garbage in cycles; afterwards as before."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
