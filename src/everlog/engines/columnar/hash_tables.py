"""How is a key found among millions?

Open addressing with linear probing over an array of 64-bit entries. There are two kinds of table:

*packed*: keys of one or two ids are the ids themselves, side by side in the entry, and a second array gives the row; so
finding a key never looks at facts. (Index keys of three ids or more are hashed, and the caller compares the ids.)

*wide*: for facts of three ids or more an entry is a tag, the upper half of the fact's hash, and the row. The caller
that finds a tag compares the fact.

The first slot to look at is the upper half of the hash times the number of slots, so a table may have any size, one
that grows is refilled front to back in memory order, and a wide one is refilled from its tags alone.
"""
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False

from __future__ import annotations

import numpy as np

from everlog.engines.columnar.kernel_language import inlined, kernel

# Entries are stored inverted, so that zero means empty: fresh memory is zero, and costs nothing until it is touched.
# Only the pair of ids (-1, -1) would be stored as zero, and the dictionary never assigns -1.
EMPTY = np.uint64(0)
_NOT_EMPTY = np.uint64(1)
_MIX_1 = np.uint64(0x9E3779B97F4A7C15)
_MIX_2 = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)  # to invert by; Numba's ~ would make the number signed
_LOWER = np.uint64(0xFFFFFFFF)


@inlined
def mix(key):
    """Spread a key over 64 bits."""
    key = (key ^ (key >> _HALF)) * _MIX_1
    return (key ^ (key >> _HALF)) * _MIX_2


@inlined
def slot_of(key, slots):
    """Where to look first."""
    return np.int64(((mix(key) >> _HALF) * np.uint64(slots)) >> _HALF)


@inlined
def add_to_key(key, position, width, id_):
    """The key so far and one more id: packed while there are at most two ids, hashed when there are more."""
    id_ = np.uint64(np.uint32(id_))
    if width == 1:
        return id_ ^ _ALL
    if width == 2:
        return id_ if position == 0 else ((key << _HALF) | id_) ^ _ALL
    key = mix((_MIX_1 if position == 0 else key) ^ (id_ + _MIX_1))
    return _NOT_EMPTY if key == EMPTY else key


@inlined
def tag_of(key):
    """What a wide table keeps of a hashed key: enough to find the slot again."""
    return mix(key) >> _HALF


@inlined
def slot_of_tag(tag, slots):
    return np.int64((tag * np.uint64(slots)) >> _HALF)


@inlined
def wide_entry(tag, row):
    return ((tag << _HALF) | np.uint64(row)) ^ _ALL


@inlined
def entry_tag(entry):
    return (entry ^ _ALL) >> _HALF


@inlined
def entry_row(entry):
    return np.int64((entry ^ _ALL) & _LOWER)


@kernel
def refill_packed(old_keys, old_rows, keys, rows):
    """Move every key of a packed table to a larger one."""
    slots = len(keys)
    for old in range(len(old_keys)):
        key = old_keys[old]
        if key != EMPTY:
            slot = slot_of(key, slots)
            while keys[slot] != EMPTY:
                slot = slot + 1 if slot + 1 < slots else 0
            keys[slot] = key
            rows[slot] = old_rows[old]


@kernel
def refill_wide(old_entries, entries):
    """Move every entry of a wide table to a larger one."""
    slots = len(entries)
    for old in range(len(old_entries)):
        entry = old_entries[old]
        if entry != EMPTY:
            slot = slot_of_tag(entry_tag(entry), slots)
            while entries[slot] != EMPTY:
                slot = slot + 1 if slot + 1 < slots else 0
            entries[slot] = entry
