"""How does a mark reach the facts that were derived from a marked fact?

A derived fact may have a witness: a fact of the instance that derived or last proved it. The reverse direction is a log
of facts, in which each entry refers to the previous one with the same witness; an entry is valid for as long as its
fact still has that witness.
"""
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False

from __future__ import annotations

import numpy as np

from everlog.engines.columnar import layout as at
from everlog.engines.columnar.journal_kernels import relabelled, touch
from everlog.engines.columnar.kernel_language import kernel
from everlog.engines.columnar.memory import int64s, uint16s

LOGGED = np.int64(1 << 62)  # set in a witness that is in the log
_ROW = np.int64(0xFFFFFFFF)


@kernel
def log_witnesses(relations, relation, rows, count, log_relations, log_rows, log_previous, used):
    """Log the facts of these rows under their witnesses; returns the length of the log."""
    witnesses, masks = int64s(relations[relation, at.R_WITNESSES]), uint16s(relations[relation, at.R_MASKS])
    for place in range(count):
        row = rows[place]
        witness = witnesses[row]
        if witness < 0 or (witness & LOGGED) != 0 or (masks[row] & at.ABSENT) != 0:
            continue
        if relations[witness >> 32, at.R_DERIVED] == 0:
            continue
        newest = int64s(relations[witness >> 32, at.R_DERIVED])
        log_relations[used] = relation
        log_rows[used] = row
        log_previous[used] = newest[witness & _ROW]
        newest[witness & _ROW] = used
        witnesses[row] = witness | LOGGED
        used += 1
    return used


@kernel
def mark_rows_and_derived(relations, relation, rows, count, log_relations, log_rows, log_previous, out_relations, out):
    """Mark the explicit facts among these rows, and those that came from them.

    Returns how many explicit and how many derived ones were marked; the derived ones are in `out`.
    """
    masks = uint16s(relations[relation, at.R_MASKS])
    explicit, derived = 0, 0
    for place in range(count):
        row = rows[place]
        if row < 0 or (masks[row] & (at.EXPLICIT | at.MARKED)) != at.EXPLICIT:
            continue
        masks[row] |= np.uint16(at.MARKED)
        explicit += 1
        if relations[relation, at.R_DERIVED] == 0:
            continue
        code = (np.int64(relation) << 32) | np.int64(row)
        entry = int64s(relations[relation, at.R_DERIVED])[row]
        while entry >= 0:
            other, other_row = log_relations[entry], log_rows[entry]
            witness = int64s(relations[other, at.R_WITNESSES])[other_row]
            other_masks = uint16s(relations[other, at.R_MASKS])
            untold = (other_masks[other_row] & (at.ABSENT | at.EXPLICIT | at.MARKED)) == 0
            if untold and witness == (code | LOGGED):
                other_masks[other_row] |= np.uint16(at.MARKED)
                out_relations[derived] = other
                out[derived] = other_row
                derived += 1
            entry = log_previous[entry]
    return explicit, derived


@kernel
def suspect_marked_rows(relations, relation, rows, count):
    """Unmark these rows, whose derived facts become suspect; returns how many. The journal has room for them."""
    masks = uint16s(relations[relation, at.R_MASKS])
    suspects = 0
    for place in range(count):
        row = rows[place]
        derived = (masks[row] & (at.MARKED | at.ABSENT | at.EXPLICIT)) == at.MARKED
        masks[row] = relabelled(masks[row], 0, at.MARKED)
        if derived:
            touch(relations, relation, row)
            masks[row] = relabelled(masks[row], at.SUSPECT, 0)
            suspects += 1
    return suspects
