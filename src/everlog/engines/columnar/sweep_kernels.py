"""How does a sweep (plans/sweeps.py) move facts from queue to frontier, and relabel them?"""
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False

from __future__ import annotations

import numpy as np

from everlog.engines.columnar import layout as at
from everlog.engines.columnar.fact_kernels import add_facts, find_facts, has_room
from everlog.engines.columnar.journal_kernels import enqueue, journal_has_room, relabelled, take_up_again, touch
from everlog.engines.columnar.kernel_language import kernel
from everlog.engines.columnar.memory import int32s, int64s, uint16s
from everlog.engines.columnar.step_kernels import is_own

NO_RANK = np.iinfo(np.int32).max


@kernel
def apply_effects(
    relations, indexes, code, starts, first, last, batch, count, keys, places, fresh, found, state, limit
):
    """Apply the effect of a variant to its heads [first, last).

    Returns how many facts it changed, or -2 minus the relation that must grow first.
    """
    for number in range(first, last):
        step = starts[number]
        relation = code[step + at.S_RELATION]
        short = not journal_has_room(relations, relation, count * (last - first))
        if code[step + at.S_FLAGS] & at.FLAG_CREATE:
            short = short or not has_room(relations, indexes, relation, count * (last - first))
        if short:
            return np.int64(-2) - relation
    if limit > 0:
        sate_seeds(relations, code, starts[first], batch, count, state, limit)
    effects = np.int64(0)
    for number in range(first, last):
        step = starts[number]
        relation = code[step + at.S_RELATION]
        find_facts(relations, relation, code, step + at.S_LISTS, batch, count, keys, places, found)
        if code[step + at.S_FLAGS] & at.FLAG_CREATE:
            missing = False
            for i in range(count):
                missing |= found[i] < 0
            if missing:
                operands = step + at.S_LISTS
                add_facts(relations, indexes, relation, code, operands, batch, count, at.DEAD, keys, places, fresh)
                find_facts(relations, relation, code, operands, batch, count, keys, places, found)
            if relations[relation, at.R_OLDEST] >= 0:
                take_up_again(relations, indexes, relation, count, found, keys)
        effects += apply_effect(relations, relation, code, step, batch, count, found, state)
    return effects


@kernel
def apply_effect(relations, relation, code, step, batch, count, found, state):
    """Apply the effect of a step to the rows that its bindings conclude; returns to how many."""
    masks = uint16s(relations[relation, at.R_MASKS])
    care, want = np.uint16(code[step + at.S_CARE]), np.uint16(code[step + at.S_WANT])
    set_, clear, weigh = code[step + at.S_SET], code[step + at.S_CLEAR], code[step + at.S_WEIGH]
    flags = code[step + at.S_FLAGS]
    queue_care, queue_want = np.uint16(code[step + at.S_QUEUE_CARE]), np.uint16(code[step + at.S_QUEUE_WANT])
    carried = batch[max(np.int64(0), code[step + at.S_RANK])]
    ranked = code[step + at.S_RANK] >= 0
    ranks = int32s(relations[relation, at.R_RANKS])
    weights = int64s(relations[relation, at.R_WEIGHTS])
    effects = np.int64(0)
    for i in range(count):
        row = found[i]
        if row < 0 or (masks[row] & care) != want:
            continue
        largest = carried[i] if ranked else np.int32(-1)
        if (flags & at.FLAG_ABOVE) != 0 and ranks[row] <= largest:
            continue
        touch(relations, relation, row)
        masks[row] = relabelled(masks[row], set_, clear)
        if weigh != 0:
            weights[row] += weigh
        if flags & at.FLAG_RANK:
            ranks[row] = largest + 1
        if code[step + at.S_WITNESS] >= 0:
            state[at.T_MARKED] += remember_witness(relations, relation, row, code[step + at.S_WITNESS], batch, i)
        if (flags & at.FLAG_QUEUE) != 0 and (masks[row] & queue_care) == queue_want:
            enqueue(relations, relation, row)
        effects += 1
    return effects


@kernel
def remember_witness(relations, relation, row, slot, batch, i):
    """Record the witness of a binding for a fact, which takes over its mark; returns 1 if the fact is newly marked."""
    from_relation, from_row = batch[slot, i], batch[slot + 1, i]
    if from_relation < 0:
        return 0
    if relations[relation, at.R_WITNESSES] != 0:
        int64s(relations[relation, at.R_WITNESSES])[row] = (np.int64(from_relation) << 32) | np.int64(from_row)
    masks = uint16s(relations[relation, at.R_MASKS])
    if (masks[row] & (at.EXPLICIT | at.MARKED)) != 0:
        return 0
    if (uint16s(relations[from_relation, at.R_MASKS])[from_row] & at.MARKED) == 0:
        return 0
    masks[row] |= np.uint16(at.MARKED)
    return 1


@kernel
def sate_seeds(relations, code, step, batch, count, state, limit):
    """Count instances per seed, which come one seed after the other; a seed with more than the limit is SATED."""
    relation, origins = code[step + at.S_ORIGIN_RELATION], batch[code[step + at.S_ORIGIN]]
    masks = uint16s(relations[relation, at.R_MASKS])
    for i in range(count):
        if origins[i] != state[at.T_ORIGIN]:
            state[at.T_ORIGIN] = origins[i]
            state[at.T_INSTANCES] = 0
        state[at.T_INSTANCES] += 1
        if state[at.T_INSTANCES] > limit:
            masks[origins[i]] |= np.uint16(at.SATED)


@kernel
def begin_sweep(relations, own, owners, code, begins):
    """Queue the touched facts of the component that a sweep begins with."""
    for relation in range(len(relations)):
        relations[relation, at.R_JOURNAL_SEEN] = relations[relation, at.R_JOURNAL_SIZE]
    for place in range(len(own)):
        relation = own[place]
        relations[relation, at.R_QUEUE_SIZE] = 0
        relations[relation, at.R_FRONTIER_SIZE] = 0
        journal, masks = int32s(relations[relation, at.R_JOURNAL]), uint16s(relations[relation, at.R_MASKS])
        facts, arity = int32s(relations[relation, at.R_FACTS]), relations[relation, at.R_ARITY]
        weights = int64s(relations[relation, at.R_WEIGHTS])
        for entry in range(relations[relation, at.R_JOURNAL_SIZE]):
            row = journal[entry]
            for number in range(len(begins)):
                counted = begins[number, 4]  # 0: weights do not matter, 1: above zero, 2: zero
                if (masks[row] & begins[number, 0]) == begins[number, 1] and (
                    counted == 0 or (weights[row] > 0) == (counted == 1)
                ):
                    if is_own(facts, arity, row, code, owners[place]):
                        masks[row] = relabelled(masks[row], begins[number, 2], begins[number, 3])
                        enqueue(relations, relation, row)
                    break


@kernel
def take_frontier(relations, own, labels):
    """The queue becomes the frontier, all of it or its facts of lowest rank; returns how many there are."""
    lowest = NO_RANK
    if labels[at.L_BY_RANK]:
        for relation in own:
            queue, ranks = int32s(relations[relation, at.R_QUEUE]), int32s(relations[relation, at.R_RANKS])
            for place in range(relations[relation, at.R_QUEUE_SIZE]):
                lowest = min(lowest, ranks[queue[place]])
    taken = np.int64(0)
    for relation in own:
        queue, frontier = int32s(relations[relation, at.R_QUEUE]), int32s(relations[relation, at.R_FRONTIER])
        ranks, masks = int32s(relations[relation, at.R_RANKS]), uint16s(relations[relation, at.R_MASKS])
        size, left = np.int64(0), np.int64(0)
        for place in range(relations[relation, at.R_QUEUE_SIZE]):
            row = queue[place]
            if labels[at.L_BY_RANK] and ranks[row] != lowest:
                queue[left] = row
                left += 1
                continue
            masks[row] = relabelled(masks[row], labels[at.L_ENTER_SET], labels[at.L_ENTER_CLEAR])
            frontier[size] = row
            size += 1
        relations[relation, at.R_QUEUE_SIZE] = left
        relations[relation, at.R_FRONTIER_SIZE] = size
        taken += size
    return taken


@kernel
def sift_frontier(relations, own, labels):
    """Facts that a check has spared leave the frontier; the others stay in it."""
    for relation in own:
        frontier, masks = int32s(relations[relation, at.R_FRONTIER]), uint16s(relations[relation, at.R_MASKS])
        left = np.int64(0)
        for place in range(relations[relation, at.R_FRONTIER_SIZE]):
            row = frontier[place]
            if (masks[row] & labels[at.L_SURVIVES_CARE]) == labels[at.L_SURVIVES_WANT]:
                masks[row] = relabelled(masks[row], labels[at.L_SURVIVORS_SET], labels[at.L_SURVIVORS_CLEAR])
            else:
                masks[row] = relabelled(masks[row], labels[at.L_OTHERS_SET], labels[at.L_OTHERS_CLEAR])
                frontier[left] = row
                left += 1
        relations[relation, at.R_FRONTIER_SIZE] = left


@kernel
def leave_frontier(relations, own, labels):
    """The round is over."""
    for relation in own:
        frontier, masks = int32s(relations[relation, at.R_FRONTIER]), uint16s(relations[relation, at.R_MASKS])
        for place in range(relations[relation, at.R_FRONTIER_SIZE]):
            row = frontier[place]
            masks[row] = relabelled(masks[row], labels[at.L_DONE_SET], labels[at.L_DONE_CLEAR])
        relations[relation, at.R_FRONTIER_SIZE] = 0
