"""What does each step of a plan do to a batch of bindings?

A step that may give more than fits a batch (`scan`, `probe`) gives pairs of a binding and a row, keeps a cursor, and
goes on when it is called again; `fill` makes the next batch of them. The others keep some of the bindings.
"""
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False

from __future__ import annotations

import numpy as np

from everlog.engines.columnar import layout as at
from everlog.engines.columnar.fact_kernels import find_chains, find_facts
from everlog.engines.columnar.kernel_language import kernel
from everlog.engines.columnar.memory import acquire, int32s, uint16s, uint64s
from everlog.engines.columnar.version_kernels import is_visible

FIRST_ROWS = 8  # rows per binding that are looked at first, where one may be enough
START = -2  # a cursor that has not looked at its binding yet


@kernel
def row_range(relations, relation, which):
    """The rows of a range."""
    if which == at.RANGE_NEW:
        return relations[relation, at.R_LOW], relations[relation, at.R_HIGH]
    if which == at.RANGE_OLD:
        return np.int64(0), relations[relation, at.R_LOW]
    if which == at.RANGE_ROWS or which == at.RANGE_VERSION:
        return np.int64(0), relations[relation, at.R_SIZE]
    if which == at.RANGE_FRONTIER:
        return np.int64(0), relations[relation, at.R_FRONTIER_SIZE]
    if which == at.RANGE_JOURNAL:
        return np.int64(0), relations[relation, at.R_JOURNAL_SEEN]
    return np.int64(0), relations[relation, at.R_HIGH]


@kernel
def scan_list(relations, code, step, count, cursor, parents, rows):
    """Pairs of a binding and a row of a list, the frontier or the journal, as many as fit a batch."""
    relation, which = code[step + at.S_RELATION], code[step + at.S_RANGE]
    listed = int32s(relations[relation, at.R_FRONTIER if which == at.RANGE_FRONTIER else at.R_JOURNAL])
    _, last = row_range(relations, relation, which)
    care, want = np.uint16(code[step + at.S_CARE]), np.uint16(code[step + at.S_WANT])
    masks = uint16s(relations[relation, at.R_MASKS])
    i = cursor[0]
    place = np.int64(0) if cursor[1] == START else cursor[1]
    made = 0
    while i < count:
        while place < last and made < at.BATCH:
            row = listed[place]
            if (masks[row] & care) == want:
                parents[made] = i
                rows[made] = row
                made += 1
            place += 1
        if place < last:
            break
        i += 1
        place = np.int64(0)
    cursor[0] = i
    cursor[1] = place
    return made


@kernel
def scan(relations, code, step, count, cursor, parents, rows):
    """Pairs of a binding and a row of the range, as many as fit a batch."""
    relation = code[step + at.S_RELATION]
    low, high = row_range(relations, relation, code[step + at.S_RANGE])
    care, want = np.uint16(code[step + at.S_CARE]), np.uint16(code[step + at.S_WANT])
    masks = uint16s(relations[relation, at.R_MASKS])
    i = cursor[0]
    row = low if cursor[1] == START else cursor[1]
    made = 0
    while i < count:
        while row < high and made < at.BATCH:
            if care == 0 or (masks[row] & care) == want:
                parents[made] = i
                rows[made] = row
                made += 1
            row += 1
        if row < high:
            break
        i += 1
        row = low
    cursor[0] = i
    cursor[1] = row
    return made


@kernel
def probe(relations, indexes, code, step, count, cursor, heads, parents, rows):
    """Pairs of a binding and a row of its chain, as many as fit a batch; counts the rows that it passes over."""
    relation = code[step + at.S_RELATION]
    low, high = row_range(relations, relation, code[step + at.S_RANGE])
    care, want = np.uint16(code[step + at.S_CARE]), np.uint16(code[step + at.S_WANT])
    masks = uint16s(relations[relation, at.R_MASKS])
    following = int32s(indexes[code[step + at.S_INDEX], at.I_NEXT])
    i = cursor[0]
    row = heads[i] if cursor[1] == START and i < count else cursor[1]
    made = 0
    passed = 0
    while i < count:
        while row >= low:
            if row < high and (care == 0 or (masks[row] & care) == want):
                if made == at.BATCH:
                    cursor[0] = i
                    cursor[1] = row
                    cursor[2] = passed
                    return made
                parents[made] = i
                rows[made] = row
                made += 1
            else:
                passed += 1
            row = following[row]
        i += 1
        row = heads[i] if i < count else -1
    cursor[0] = i
    cursor[1] = -1
    cursor[2] = passed
    return made


@kernel
def scan_version(relations, code, step, count, cursor, parents, rows):
    """Pairs of a binding and a row that is there at the tick that is read, as many as fit a batch."""
    relation = code[step + at.S_RELATION]
    high = relations[relation, at.R_SIZE]
    tick, lives = np.uint64(relations[relation, at.R_TICK] - 1), uint64s(relations[relation, at.R_LIVES])
    i = cursor[0]
    row = np.int64(0) if cursor[1] == START else cursor[1]
    made = 0
    while i < count:
        while row < high and made < at.BATCH:
            if is_visible(lives[row], tick):
                parents[made] = i
                rows[made] = row
                made += 1
            row += 1
        if row < high:
            break
        i += 1
        row = np.int64(0)
    cursor[0] = i
    cursor[1] = row
    return made


@kernel
def probe_version(relations, indexes, code, step, count, cursor, heads, parents, rows):
    """Pairs of a binding and a row of its chain that is there at the tick that is read, as many as fit a batch."""
    relation = code[step + at.S_RELATION]
    high = relations[relation, at.R_SIZE]
    tick, lives = np.uint64(relations[relation, at.R_TICK] - 1), uint64s(relations[relation, at.R_LIVES])
    following = int32s(indexes[code[step + at.S_INDEX], at.I_NEXT])
    acquire()
    i = cursor[0]
    row = heads[i] if cursor[1] == START and i < count else cursor[1]
    made = 0
    while i < count:
        while row >= 0:
            if row < high and is_visible(lives[row], tick):
                if made == at.BATCH:
                    cursor[0] = i
                    cursor[1] = row
                    return made
                parents[made] = i
                rows[made] = row
                made += 1
            row = following[row]
        i += 1
        row = heads[i] if i < count else -1
    cursor[0] = i
    cursor[1] = -1
    return made


@kernel
def probe_widening(relations, indexes, code, step, batch, count, cursor, heads, parents, rows):
    """The same where one instance per seed may be enough: a few rows per binding first, and more each time round.

    A seed that is satisfied by its first rows then costs no more than these, however long its chains are. What is left
    of each chain is stored in `heads`.
    """
    relation = code[step + at.S_RELATION]
    low, high = row_range(relations, relation, code[step + at.S_RANGE])
    care, want = np.uint16(code[step + at.S_CARE]), np.uint16(code[step + at.S_WANT])
    masks = uint16s(relations[relation, at.R_MASKS])
    following = int32s(indexes[code[step + at.S_INDEX], at.I_NEXT])
    enough = np.uint16(code[step + at.S_ENOUGH])
    origins = batch[code[step + at.S_ORIGIN]]
    origin_masks = uint16s(relations[code[step + at.S_ORIGIN_RELATION], at.R_MASKS])
    i = cursor[0]
    width = np.int64(FIRST_ROWS) if cursor[1] == START else cursor[1]
    made = 0
    while True:
        while i < count:
            row = heads[i]
            if row >= low and (origin_masks[origins[i]] & enough) != 0:
                row = -1
            given = 0
            while row >= low and given < width and made < at.BATCH:
                if row < high and (masks[row] & care) == want:
                    parents[made] = i
                    rows[made] = row
                    made += 1
                    given += 1
                row = following[row]
            heads[i] = row
            if made == at.BATCH:
                cursor[0] = i
                cursor[1] = width
                return made
            i += 1
        left = False
        for k in range(count):
            if heads[k] >= low and (origin_masks[origins[k]] & enough) == 0:
                left = True
                break
        i = np.int64(0)
        width *= 4
        if made > 0 or not left:
            cursor[0] = np.int64(0) if left else count
            cursor[1] = width
            return made


@kernel
def check_rows(relations, code, step, made, parents, rows, batch):
    """Keep the rows whose columns equal a constant or each other, as the step says."""
    relation = code[step + at.S_RELATION]
    arity = relations[relation, at.R_ARITY]
    facts = int32s(relations[relation, at.R_FACTS])
    operands, outputs, copies = code[step + at.S_OPERANDS], code[step + at.S_OUTPUTS], code[step + at.S_COPIES]
    checks = step + at.S_LISTS + 2 * operands + 2 * outputs + copies
    for number in range(code[step + at.S_CHECKS]):
        kind, left, right = code[checks + 3 * number], code[checks + 3 * number + 1], code[checks + 3 * number + 2]
        kept = 0
        for k in range(made):
            row = rows[k]
            wanted = np.int32(right) if kind == at.CHECK_CONSTANT else facts[row * arity + right]
            if facts[row * arity + left] == wanted:
                parents[kept] = parents[k]
                rows[kept] = row
                kept += 1
        made = kept
    if code[step + at.S_RANK_USE] == at.RANK_BELOW:
        made = check_ranks(relations, code, step, made, parents, rows, batch)
    return made


@kernel
def is_own(facts, arity, row, code, owners):
    """Does a fact match one of the heads that the current component has in this relation?"""
    if owners == 0:
        return True
    place = owners + 1
    for _ in range(code[owners]):
        matches = True
        for column in range(arity):
            kind, value = code[place + 2 * column], code[place + 2 * column + 1]
            id_ = facts[row * arity + column]
            if kind == at.PATTERN_CONSTANT and id_ != np.int32(value):
                matches = False
            elif kind == at.PATTERN_COLUMN and id_ != facts[row * arity + value]:
                matches = False
        if matches:
            return True
        place += 2 * arity
    return False


@kernel
def rank_of(relations, relation, row, code, owners):
    """A fact's rank as the current component sees it: facts of others count as -1."""
    if owners != 0:
        facts, arity = int32s(relations[relation, at.R_FACTS]), relations[relation, at.R_ARITY]
        if not is_own(facts, arity, row, code, owners):
            return np.int32(-1)
    return int32s(relations[relation, at.R_RANKS])[row]


@kernel
def check_ranks(relations, code, step, made, parents, rows, batch):
    """Keep the rows whose rank is below the one that the binding carries."""
    relation, owners = code[step + at.S_RELATION], code[step + at.S_OWNERS]
    limits = batch[code[step + at.S_RANK]]
    kept = 0
    for k in range(made):
        if rank_of(relations, relation, rows[k], code, owners) < limits[parents[k]]:
            parents[kept] = parents[k]
            rows[kept] = rows[k]
            kept += 1
    return kept


@kernel
def carry_ranks(relations, code, step, made, parents, rows, batch, following):
    """The rank that each binding carries from here on; `rows` are those that the step has read."""
    use = code[step + at.S_RANK_USE]
    if use == at.RANK_UNUSED or use == at.RANK_BELOW:
        return
    relation, owners, slot = code[step + at.S_RELATION], code[step + at.S_OWNERS], code[step + at.S_RANK]
    target = following[slot]
    for k in range(made):
        rank = np.int32(-1)
        if use != at.RANK_OUTSIDE:
            rank = rank_of(relations, relation, rows[k], code, owners)
            if use == at.RANK_CARRY:
                rank = max(rank, batch[slot][parents[k]])
        target[k] = rank


@kernel
def carry_witnesses(relations, code, step, made, parents, rows, batch, following):
    """The witness that each binding carries from here on: a fact that may pass its mark on, at best a marked one."""
    use = code[step + at.S_WITNESS_USE]
    if use == at.WITNESS_UNUSED:
        return
    relation, slot = code[step + at.S_RELATION], code[step + at.S_WITNESS]
    masks = uint16s(relations[relation, at.R_MASKS])
    passing = at.EXPLICIT | (at.MARKED if code[step + at.S_FLAGS] & at.FLAG_MARKS_ANY else 0)
    for k in range(made):
        row = rows[k]
        from_relation, from_row = np.int32(-1), np.int32(-1)
        if use == at.WITNESS_CARRY:
            from_relation, from_row = batch[slot][parents[k]], batch[slot + 1][parents[k]]
        if masks[row] & passing:
            better = from_relation < 0
            if not better and masks[row] & at.MARKED:
                better = (uint16s(relations[from_relation, at.R_MASKS])[from_row] & at.MARKED) == 0
            if better:
                from_relation, from_row = np.int32(relation), np.int32(row)
        following[slot][k] = from_relation
        following[slot + 1][k] = from_row


@kernel
def fill(relations, code, step, made, parents, rows, batch, following):
    """The next batch: columns of the rows, and slots carried over from the bindings they belong to."""
    outputs = step + at.S_LISTS + 2 * code[step + at.S_OPERANDS]
    relation = code[step + at.S_RELATION]
    arity = relations[relation, at.R_ARITY]
    facts = int32s(relations[relation, at.R_FACTS])
    for number in range(code[step + at.S_OUTPUTS]):
        column = code[outputs + 2 * number]
        target = following[code[outputs + 2 * number + 1]]
        for k in range(made):
            target[k] = facts[rows[k] * arity + column]
    if code[step + at.S_FLAGS] & at.FLAG_ORIGIN:
        target = following[code[step + at.S_ORIGIN]]
        for k in range(made):
            target[k] = rows[k]
    carry(code, step, made, parents, batch, following)
    carry_ranks(relations, code, step, made, parents, rows, batch, following)
    carry_witnesses(relations, code, step, made, parents, rows, batch, following)


@kernel
def carry(code, step, made, parents, batch, following):
    copies = step + at.S_LISTS + 2 * code[step + at.S_OPERANDS] + 2 * code[step + at.S_OUTPUTS]
    for number in range(code[step + at.S_COPIES]):
        source = batch[code[copies + number]]
        target = following[code[copies + number]]
        for k in range(made):
            target[k] = source[parents[k]]


@kernel
def select_facts(relations, code, step, batch, count, keys, places, found, parents):
    """Bindings whose fact is there with the label's bits (LOOKUP), or is not there (ABSENT)."""
    relation = code[step + at.S_RELATION]
    find_facts(relations, relation, code, step + at.S_LISTS, batch, count, keys, places, found)
    low, high = row_range(relations, relation, code[step + at.S_RANGE])
    care, want = np.uint16(code[step + at.S_CARE]), np.uint16(code[step + at.S_WANT])
    masks = uint16s(relations[relation, at.R_MASKS])
    kept = 0
    if code[step] == at.OP_ABSENT:
        for i in range(count):
            row = found[i]
            if row < 0 or (masks[row] & care) == want:
                parents[kept] = i
                kept += 1
        return kept
    for i in range(count):
        row = found[i]
        if row >= 0 and low <= row < high and (care == 0 or (masks[row] & care) == want):
            parents[kept] = i
            found[kept] = row
            kept += 1
    if code[step + at.S_RANK_USE] == at.RANK_BELOW:
        kept = check_ranks(relations, code, step, kept, parents, found, batch)
    return kept


@kernel
def select_shorter(relations, indexes, code, step, batch, count, keys, heads, others, parents):
    """Bindings whose chain in one index is shorter than that in the other; both are walked until one ends."""
    index, other = code[step + at.S_INDEX], code[step + at.S_EXTRA]
    operands = step + at.S_LISTS
    find_chains(relations, indexes, index, code, operands, batch, count, keys, heads)
    operands += 2 * indexes[index, at.I_WIDTH]
    find_chains(relations, indexes, other, code, operands, batch, count, keys, others)
    following, other_following = int32s(indexes[index, at.I_NEXT]), int32s(indexes[other, at.I_NEXT])
    ties = code[step + at.S_WANT] == 1
    kept = 0
    for i in range(count):
        row, other_row = heads[i], others[i]
        while row >= 0 and other_row >= 0:
            row, other_row = following[row], other_following[other_row]
        if row < 0 and (other_row >= 0 or ties):
            parents[kept] = i
            kept += 1
    return kept
