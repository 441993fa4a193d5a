"""How does an update touch facts so that it can be undone, or become the new state?

The first time an update touches a row, it records the row's mask, weight and rank. Until commit it sets
bits, weights and ranks and adds rows that are absent; nothing else changes.
"""
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False

from __future__ import annotations

import numpy as np

from everlog.engines.columnar import layout as at
from everlog.engines.columnar.fact_kernels import add_facts, describe_new, find_facts, has_room, index_rows
from everlog.engines.columnar.kernel_language import kernel
from everlog.engines.columnar.memory import int32s, int64s, publish, uint16s, uint64s
from everlog.engines.columnar.step_kernels import is_own
from everlog.engines.columnar.version_kernels import gone_at

_ALL_BITS = 0xFFFF


@kernel
def journal_has_room(relations, relation, count):
    """Can so many more rows be touched?"""
    return relations[relation, at.R_JOURNAL_SIZE] + count <= relations[relation, at.R_JOURNAL_LIMIT]


@kernel
def touch(relations, relation, row):
    """Record what a row was, unless this update already has."""
    masks = uint16s(relations[relation, at.R_MASKS])
    if masks[row] & at.TOUCHED:
        return
    entry = relations[relation, at.R_JOURNAL_SIZE]
    int32s(relations[relation, at.R_JOURNAL])[entry] = row
    uint16s(relations[relation, at.R_OLD_MASKS])[entry] = masks[row]
    if relations[relation, at.R_WEIGHTS] != 0:
        int64s(relations[relation, at.R_OLD_WEIGHTS])[entry] = int64s(relations[relation, at.R_WEIGHTS])[row]
    if relations[relation, at.R_RANKS] != 0:
        int32s(relations[relation, at.R_OLD_RANKS])[entry] = int32s(relations[relation, at.R_RANKS])[row]
    publish()  # who reads the row as it is from now on finds what it was
    relations[relation, at.R_JOURNAL_SIZE] = entry + 1
    publish()
    masks[row] |= np.uint16(at.TOUCHED)


@kernel
def relabelled(mask, set_, clear):
    return np.uint16((np.int64(mask) | set_) & (_ALL_BITS ^ clear))


@kernel
def enqueue(relations, relation, row):
    size = relations[relation, at.R_QUEUE_SIZE]
    int32s(relations[relation, at.R_QUEUE])[size] = row
    relations[relation, at.R_QUEUE_SIZE] = size + 1


@kernel
def take_up_again(relations, indexes, relation, count, found, keys):
    """Facts that are to come back get a new row where some reader still sees them in their old one."""
    oldest = relations[relation, at.R_OLDEST]
    masks, lives = uint16s(relations[relation, at.R_MASKS]), uint64s(relations[relation, at.R_LIVES])
    facts, width = int32s(relations[relation, at.R_FACTS]), relations[relation, at.R_ARITY]
    newer = int32s(relations[relation, at.R_NEWER])
    before = relations[relation, at.R_SIZE]
    size = before
    for i in range(count):
        row = found[i]
        if row < 0:
            continue
        if newer[row] != 0:  # an earlier one of the batch was the same fact
            found[i] = newer[row] - 1
        elif (masks[row] & at.DEAD) == at.DEAD and gone_at(lives[row]) > oldest:  # touched or not: weights are cleared
            for position in range(width):
                facts[size * width + position] = facts[row * width + position]
            describe_new(relations, relation, size, at.DEAD)
            newer[size] = 0
            publish()
            newer[row] = size + 1
            found[i] = size
            size += 1
    if size > before:
        relations[relation, at.R_SIZE] = size
        index = relations[relation, at.R_FIRST_INDEX]
        while index >= 0:
            index_rows(relations, indexes, relation, index, before, size, keys)
            index = indexes[index, at.I_SIBLING]


@kernel
def edit_batch(relations, indexes, relation, code, batch, count, explicit, keys, places, fresh, found):
    """Make a batch of facts explicit, or no longer; returns how many that changed, or -1 where there is no room."""
    if not journal_has_room(relations, relation, count) or not has_room(relations, indexes, relation, count):
        return np.int64(-1)
    if explicit:
        add_facts(relations, indexes, relation, code, 0, batch, count, at.DEAD, keys, places, fresh)
    find_facts(relations, relation, code, 0, batch, count, keys, places, found)
    if explicit and relations[relation, at.R_OLDEST] >= 0:
        take_up_again(relations, indexes, relation, count, found, keys)
    masks = uint16s(relations[relation, at.R_MASKS])
    changed = np.int64(0)
    for i in range(count):
        row = found[i]
        if row < 0 or ((masks[row] & at.EXPLICIT) != 0) == explicit:
            continue
        touch(relations, relation, row)
        if explicit:
            masks[row] = relabelled(masks[row], at.EXPLICIT | at.EDITED, 0)
        else:
            masks[row] = relabelled(masks[row], at.EDITED, at.EXPLICIT)
        changed += 1
    return changed


@kernel
def settle_unowned(relations, relation, code, owners):
    """Facts that no rule may conclude are there if they are explicit; returns how many were gained and lost."""
    journal, masks = int32s(relations[relation, at.R_JOURNAL]), uint16s(relations[relation, at.R_MASKS])
    facts, arity = int32s(relations[relation, at.R_FACTS]), relations[relation, at.R_ARITY]
    gained, lost = np.int64(0), np.int64(0)
    for entry in range(relations[relation, at.R_JOURNAL_SIZE]):
        row = journal[entry]
        if (masks[row] & at.EDITED) == 0 or (owners >= 0 and is_own(facts, arity, row, code, owners)):
            continue
        gained_row, lost_row = _decide(masks, row, (masks[row] & at.EXPLICIT) != 0)
        gained += gained_row
        lost += lost_row
        masks[row] = relabelled(masks[row], 0, at.EDITED)
    return gained, lost


@kernel
def _decide(masks, row, present):
    """Set whether a fact is present now; returns whether that is a gain and whether it is a loss."""
    masks[row] = relabelled(masks[row], 0, at.ABSENT) if present else relabelled(masks[row], at.ABSENT, 0)
    was = (masks[row] & at.WAS_ABSENT) == 0
    return 1 if present and not was else 0, 1 if was and not present else 0


@kernel
def decide_batch(relations, indexes, relation, code, batch, count, present, keys, places, fresh, found):
    """Set whether a batch of facts is present; returns gains, losses and whether there was room."""
    gained, lost = np.int64(0), np.int64(0)
    if not journal_has_room(relations, relation, count) or not has_room(relations, indexes, relation, count):
        return gained, lost, False
    if present:
        add_facts(relations, indexes, relation, code, 0, batch, count, at.DEAD, keys, places, fresh)
    find_facts(relations, relation, code, 0, batch, count, keys, places, found)
    if present and relations[relation, at.R_OLDEST] >= 0:
        take_up_again(relations, indexes, relation, count, found, keys)
    masks = uint16s(relations[relation, at.R_MASKS])
    for i in range(count):
        row = found[i]
        if row >= 0 and ((masks[row] & at.ABSENT) == 0) != present:
            touch(relations, relation, row)
            gained_row, lost_row = _decide(masks, row, present)
            gained += gained_row
            lost += lost_row
    return gained, lost, True


@kernel
def chain_rows(relations, indexes, index, head, rows, used):
    """Append the rows of a chain whose facts are there to a list; returns its length, or -1 if it does not fit."""
    following = int32s(indexes[index, at.I_NEXT])
    masks = uint16s(relations[indexes[index, at.I_RELATION], at.R_MASKS])
    row = head
    while row >= 0:
        if (masks[row] & at.ABSENT) == 0:
            if used >= len(rows):
                return np.int64(-1)
            rows[used] = row
            used += 1
        row = following[row]
    return np.int64(used)


@kernel
def touches_pattern(relations, relation, code, owners, edited):
    """Has a fact that matches some patterns changed, or if `edited`, been edited?"""
    journal, masks = int32s(relations[relation, at.R_JOURNAL]), uint16s(relations[relation, at.R_MASKS])
    facts, arity = int32s(relations[relation, at.R_FACTS]), relations[relation, at.R_ARITY]
    for entry in range(relations[relation, at.R_JOURNAL_SIZE]):
        row = journal[entry]
        if edited:
            counts = (masks[row] & at.EDITED) != 0
        else:
            state = masks[row] & at.DEAD
            counts = state == at.ABSENT or state == at.WAS_ABSENT
        if counts and is_own(facts, arity, row, code, owners):
            return True
    return False


@kernel
def finish_component(relations, relation, code, owners, counted):
    """A component is done. If `counted`, its touched facts are present if explicit or derived at least once.

    Returns how many were gained and lost. Other components see no bits of this one.
    """
    journal, masks = int32s(relations[relation, at.R_JOURNAL]), uint16s(relations[relation, at.R_MASKS])
    facts, arity = int32s(relations[relation, at.R_FACTS]), relations[relation, at.R_ARITY]
    weights = int64s(relations[relation, at.R_WEIGHTS])
    gained, lost = np.int64(0), np.int64(0)
    for entry in range(relations[relation, at.R_JOURNAL_SIZE]):
        row = journal[entry]
        if not is_own(facts, arity, row, code, owners):
            continue
        mask = masks[row]
        present = (mask & at.ABSENT) == 0
        if counted:
            present = (mask & at.EXPLICIT) != 0 or weights[row] > 0
        gained_row, lost_row = _decide(masks, row, present)
        gained += gained_row
        lost += lost_row
        masks[row] = relabelled(masks[row], 0, at.PRIVATE)
    return gained, lost


@kernel
def overdelete_rows(relations, relation, code, owners):
    """Take away every fact of the component, with its weight; returns how many there were."""
    masks = uint16s(relations[relation, at.R_MASKS])
    facts, arity = int32s(relations[relation, at.R_FACTS]), relations[relation, at.R_ARITY]
    weights, weighted = int64s(relations[relation, at.R_WEIGHTS]), relations[relation, at.R_WEIGHTS] != 0
    deleted = np.int64(0)
    for row in range(relations[relation, at.R_SIZE]):
        if not is_own(facts, arity, row, code, owners):
            continue
        if (masks[row] & at.ABSENT) == 0:
            touch(relations, relation, row)
            masks[row] = relabelled(relabelled(masks[row], 0, at.PRIVATE), at.ABSENT | at.SUSPECT, 0)
            deleted += 1
        if weighted and weights[row] != 0:
            touch(relations, relation, row)
            weights[row] = 0
    return deleted


@kernel
def suspect_rows(relations, relation, code, owners):
    """Make every fact of the component suspect that is there and not explicit; returns how many."""
    facts, arity = int32s(relations[relation, at.R_FACTS]), relations[relation, at.R_ARITY]
    masks = uint16s(relations[relation, at.R_MASKS])
    suspects = np.int64(0)
    for row in range(relations[relation, at.R_SIZE]):
        if not masks[row] & (at.ABSENT | at.EXPLICIT) and is_own(facts, arity, row, code, owners):
            touch(relations, relation, row)
            masks[row] |= np.uint16(at.SUSPECT)
            suspects += 1
    return suspects


@kernel
def uncount_rows(relations, relation, code, owners):
    """Set the weight of every fact of the component to zero; returns how many had one."""
    facts, arity = int32s(relations[relation, at.R_FACTS]), relations[relation, at.R_ARITY]
    weights = int64s(relations[relation, at.R_WEIGHTS])
    counted = np.int64(0)
    for row in range(relations[relation, at.R_SIZE]):
        if weights[row] != 0 and is_own(facts, arity, row, code, owners):
            touch(relations, relation, row)
            weights[row] = 0
            counted += 1
    return counted


@kernel
def lift_rows(relations, relation, code, owners, by):
    """Add to the rank of every fact of the component; returns the highest rank there is then, or -1."""
    facts, arity = int32s(relations[relation, at.R_FACTS]), relations[relation, at.R_ARITY]
    ranks = int32s(relations[relation, at.R_RANKS])
    highest = np.int64(-1)
    for row in range(relations[relation, at.R_SIZE]):
        if is_own(facts, arity, row, code, owners):
            ranks[row] += by
            highest = max(highest, ranks[row])
    return highest


@kernel
def changed_rows(relations, relation):
    """Leave the rows whose fact the update has brought in the queue, and those whose fact went in the frontier."""
    journal, masks = int32s(relations[relation, at.R_JOURNAL]), uint16s(relations[relation, at.R_MASKS])
    gains, losses = int32s(relations[relation, at.R_QUEUE]), int32s(relations[relation, at.R_FRONTIER])
    gained, lost = 0, 0
    for entry in range(relations[relation, at.R_JOURNAL_SIZE]):
        row = journal[entry]
        state = masks[row] & at.DEAD
        if state == at.WAS_ABSENT:
            gains[gained] = row
            gained += 1
        elif state == at.ABSENT:
            losses[lost] = row
            lost += 1
    relations[relation, at.R_QUEUE_SIZE] = gained
    relations[relation, at.R_FRONTIER_SIZE] = lost


@kernel
def commit_rows(relations, relation, tick):
    """The state now becomes the state before the next update; returns the dead rows more.

    From this tick on readers see what was gained, and no longer what was lost.
    """
    journal, masks = int32s(relations[relation, at.R_JOURNAL]), uint16s(relations[relation, at.R_MASKS])
    old_masks, lives = uint16s(relations[relation, at.R_OLD_MASKS]), uint64s(relations[relation, at.R_LIVES])
    died = 0
    for entry in range(relations[relation, at.R_JOURNAL_SIZE]):
        row = journal[entry]
        absent, was_absent = (masks[row] & at.ABSENT) != 0, (masks[row] & at.WAS_ABSENT) != 0
        if was_absent and not absent:
            lives[row] = np.uint64(tick)
        elif absent and not was_absent:
            lives[row] |= np.uint64(tick) << np.uint64(32)
        died += (1 if absent else 0) - (1 if old_masks[entry] & at.WAS_ABSENT else 0)
        kept = np.int64(masks[row]) & (at.EXPLICIT | at.MARKED)
        masks[row] = np.uint16(kept | at.DEAD) if absent else np.uint16(kept)
    relations[relation, at.R_JOURNAL_SIZE] = 0
    return died


@kernel
def abort_rows(relations, relation):
    """Every touched row becomes what it was."""
    journal, masks = int32s(relations[relation, at.R_JOURNAL]), uint16s(relations[relation, at.R_MASKS])
    old_masks = uint16s(relations[relation, at.R_OLD_MASKS])
    for entry in range(relations[relation, at.R_JOURNAL_SIZE]):
        row = journal[entry]
        masks[row] = old_masks[entry]
        if relations[relation, at.R_WEIGHTS] != 0:
            int64s(relations[relation, at.R_WEIGHTS])[row] = int64s(relations[relation, at.R_OLD_WEIGHTS])[entry]
        if relations[relation, at.R_RANKS] != 0:
            int32s(relations[relation, at.R_RANKS])[row] = int32s(relations[relation, at.R_OLD_RANKS])[entry]
    relations[relation, at.R_JOURNAL_SIZE] = 0
