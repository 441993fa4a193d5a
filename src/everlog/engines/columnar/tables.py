"""How is a key found among millions?

Open addressing with linear probing over an array of 64-bit keys. Keys of one or two ids are the ids themselves,
packed; longer ones are a hash, and whoever finds one compares the columns. A slot is chosen by multiplying the upper
half of the hash with the number of slots, so a table may have any size, and one that grows is refilled front to back
in memory order.
"""
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False

from __future__ import annotations

import numpy as np
from numba import njit

from everlog.engines.columnar.memory import int32s, prefetch, uint64s

EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)  # the pair of ids (-1, -1), which is never given out
_ALMOST_EMPTY = np.uint64(0xFFFFFFFFFFFFFFFE)
_MIX_1 = np.uint64(0x9E3779B97F4A7C15)
_MIX_2 = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)


@njit(inline="always")
def mix(key):
    """Spread a key over 64 bits."""
    key = (key ^ (key >> _HALF)) * _MIX_1
    return (key ^ (key >> _HALF)) * _MIX_2


@njit(inline="always")
def slot_of(key, slots):
    """Where to look first."""
    return np.int64(((mix(key) >> _HALF) * np.uint64(slots)) >> _HALF)


@njit(inline="always")
def pack_first(id_):
    return np.uint64(np.uint32(id_))


@njit(inline="always")
def pack_second(key, id_):
    return (key << _HALF) | np.uint64(np.uint32(id_))


@njit(inline="always")
def hash_more(key, id_):
    """Fold a further id into the key of a fact with three arguments or more."""
    key = mix(key ^ (np.uint64(np.uint32(id_)) + _MIX_1))
    return _ALMOST_EMPTY if key == EMPTY else key


@njit(inline="always")
def add_to_key(key, position, width, id_):
    """The key so far and one more id: packed while there are at most two ids, hashed when there are more."""
    if width <= 2:
        return pack_first(id_) if position == 0 else pack_second(key, id_)
    return hash_more(np.uint64(position) if position == 0 else key, id_)


@njit(cache=True, nogil=True)
def refill(old_keys, old_rows, keys_address, rows_address, slots):
    """Move every key of a table to a larger one."""
    keys, rows = uint64s(keys_address), int32s(rows_address)
    for old in range(len(old_keys)):
        key = old_keys[old]
        if key != EMPTY:
            slot = slot_of(key, slots)
            while keys[slot] != EMPTY:
                slot = slot + 1 if slot + 1 < slots else 0
            keys[slot] = key
            rows[slot] = old_rows[old]


@njit(inline="always")
def prefetch_slots(keys, count, keys_address, slots):
    for i in range(count):
        prefetch(keys_address + 8 * slot_of(keys[i], slots))
