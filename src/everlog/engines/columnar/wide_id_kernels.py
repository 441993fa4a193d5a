"""How do 64-bit ids become dense 32-bit ones, and back?

Tables on disk and on Spark hold 64-bit ids, made from the terms alone (engines/spark/ids.py); kernels work on 32 bits.
A hash table gives each wide id its row, in the order in which ids come: no sorting. Integers that fit are translated
without a row, and so is the id of no term.
"""
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False

from __future__ import annotations

import numpy as np

from everlog.dictionary.dictionary import INLINE_LEAST, INLINE_MOST, INLINE_OFFSET, UNBOUND
from everlog.engines.columnar.hash_tables import slot_of
from everlog.engines.columnar.kernel_language import kernel
from everlog.engines.spark.ids import INTEGER, UNBOUND_ID


@kernel
def to_narrow(ids, narrow, slots, wide, used):
    """The dense ids of wide ones, made where there are none; `slots` has room for all. Returns how many rows are used.

    `slots` holds rows, 0 is empty; `wide` holds the wide id of each row.
    """
    size = len(slots)
    for position in range(len(ids)):
        id_ = ids[position]
        if id_ & 7 == INTEGER:
            value = id_ >> 3
            if INLINE_LEAST <= value <= INLINE_MOST:
                narrow[position] = value - INLINE_OFFSET
                continue
        elif id_ == UNBOUND_ID:
            narrow[position] = UNBOUND
            continue
        slot = slot_of(np.uint64(id_), size)
        while True:
            row = slots[slot]
            if row == 0:
                slots[slot] = used
                wide[used] = id_
                row = used
                used += 1
                break
            if wide[row] == id_:
                break
            slot = slot + 1 if slot + 1 < size else 0
        narrow[position] = row
    return used


@kernel
def find_narrow(id_, slots, wide):
    """The row of a wide id, 0 where it has none."""
    size = len(slots)
    slot = slot_of(np.uint64(id_), size)
    while slots[slot] != 0:
        if wide[slots[slot]] == id_:
            return slots[slot]
        slot = slot + 1 if slot + 1 < size else 0
    return 0


@kernel
def to_wide(narrow, wide, ids):
    """The wide ids of dense ones."""
    for position in range(len(narrow)):
        row = narrow[position]
        if row < 0:
            ids[position] = ((np.int64(row) + INLINE_OFFSET) << 3) | INTEGER
        elif row == UNBOUND:
            ids[position] = UNBOUND_ID
        else:
            ids[position] = wide[row]


@kernel
def refill(wide, used, slots):
    """Put every row into an empty table."""
    size = len(slots)
    for row in range(1, used):
        slot = slot_of(np.uint64(wide[row]), size)
        while slots[slot] != 0:
            slot = slot + 1 if slot + 1 < size else 0
        slots[slot] = row
