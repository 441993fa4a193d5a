"""How is a phase run: every plan, round after round, without leaving compiled code?

`run` interprets plans (layout.py) over batches of bindings. A step takes a batch of at most BATCH bindings, kept
column by column, and gives the next batch; a step that yields more than fits keeps a cursor and goes on when the
steps after it have used up what it gave. So memory is bounded, loops are tight, and the cost of interpreting is
spread over a batch.

The kernel comes back to Python when a relation must grow, when an expression needs Python, when new plans are due, and
now and then for limits and Ctrl-C. All its state is in arrays, so that it goes on where it was.
"""
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False

from __future__ import annotations

import numpy as np
from numba import njit

from everlog.dictionary.dictionary import INLINE_OFFSET, KIND_EXACT_NUMBER, KIND_OTHER
from everlog.engines.columnar import layout as at
from everlog.engines.columnar.memory import cycles, int32s, int64s, prefetch, uint16s, uint64s
from everlog.engines.columnar.tables import EMPTY, add_to_key, slot_of

_START = -2  # a cursor that has not looked at its binding yet
_UNDECIDED = -1  # a comparison that needs Python


# --- keys -----------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def operand_keys(code, operands, width, batch, count, keys):
    """A key per binding from a list of operands."""
    for position in range(width):
        kind, value = code[operands + 2 * position], code[operands + 2 * position + 1]
        if kind == at.SLOT:
            column = batch[value]
            if width == 1:
                for i in range(count):
                    keys[i] = np.uint64(np.uint32(column[i]))
            else:
                for i in range(count):
                    keys[i] = add_to_key(keys[i], position, width, column[i])
        else:
            id_ = np.int32(value)
            for i in range(count):
                keys[i] = add_to_key(keys[i], position, width, id_)


@njit(cache=True, nogil=True)
def same_fact(relations, relation, row, code, operands, width, batch, i):
    """Does a row hold exactly these operands? Asked when a hashed key was found."""
    for position in range(width):
        kind, value = code[operands + 2 * position], code[operands + 2 * position + 1]
        id_ = batch[value, i] if kind == at.SLOT else np.int32(value)
        if int32s(relations[relation, at.R_COLUMNS + position])[row] != id_:
            return False
    return True


@njit(cache=True, nogil=True)
def same_key(relations, indexes, index, row, code, operands, batch, i):
    """Do the key columns of a row hold exactly these operands?"""
    relation = indexes[index, at.I_RELATION]
    for position in range(indexes[index, at.I_WIDTH]):
        column = indexes[index, at.I_COLUMNS + position]
        kind, value = code[operands + 2 * position], code[operands + 2 * position + 1]
        id_ = batch[value, i] if kind == at.SLOT else np.int32(value)
        if int32s(relations[relation, at.R_COLUMNS + column])[row] != id_:
            return False
    return True


# --- indexes --------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def index_rows(relations, indexes, relation, index, first, last):
    """Put rows [first, last) of a relation at the heads of their chains."""
    width = indexes[index, at.I_WIDTH]
    slots = indexes[index, at.I_SLOTS]
    keys = uint64s(indexes[index, at.I_KEYS])
    heads = int32s(indexes[index, at.I_HEADS])
    following = int32s(indexes[index, at.I_NEXT])
    used = indexes[index, at.I_USED]
    for row in range(first, last):
        key = np.uint64(0)
        for position in range(width):
            column = int32s(relations[relation, at.R_COLUMNS + indexes[index, at.I_COLUMNS + position]])
            key = add_to_key(key, position, width, column[row])
        slot = slot_of(key, slots)
        while True:
            there = keys[slot]
            if there == key and (width <= 2 or _same_columns(relations, indexes, index, relation, heads[slot], row)):
                following[row] = heads[slot]
                heads[slot] = row
                break
            if there == EMPTY:
                keys[slot] = key
                heads[slot] = row
                following[row] = -1
                used += 1
                break
            slot = slot + 1 if slot + 1 < slots else 0
    indexes[index, at.I_USED] = used


@njit(cache=True, nogil=True)
def _same_columns(relations, indexes, index, relation, one, other):
    for position in range(indexes[index, at.I_WIDTH]):
        column = int32s(relations[relation, at.R_COLUMNS + indexes[index, at.I_COLUMNS + position]])
        if column[one] != column[other]:
            return False
    return True


@njit(cache=True, nogil=True)
def find_chains(relations, indexes, index, code, operands, batch, count, keys, heads):
    """The newest row for each binding's key, or -1."""
    width = indexes[index, at.I_WIDTH]
    operand_keys(code, operands, width, batch, count, keys)
    slots = indexes[index, at.I_SLOTS]
    address = indexes[index, at.I_KEYS]
    table, rows = uint64s(address), int32s(indexes[index, at.I_HEADS])
    for i in range(count):
        prefetch(address + 8 * slot_of(keys[i], slots))
    for i in range(count):
        key = keys[i]
        slot = slot_of(key, slots)
        head = -1
        while True:
            there = table[slot]
            if there == key and (
                width <= 2 or same_key(relations, indexes, index, rows[slot], code, operands, batch, i)
            ):
                head = rows[slot]
                break
            if there == EMPTY:
                break
            slot = slot + 1 if slot + 1 < slots else 0
        heads[i] = head


# --- whole facts ----------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def find_facts(relations, relation, code, operands, batch, count, keys, found):
    """The row of each binding's fact, or -1."""
    width = relations[relation, at.R_ARITY]
    operand_keys(code, operands, width, batch, count, keys)
    slots = relations[relation, at.R_SLOTS]
    address = relations[relation, at.R_KEYS]
    table, rows = uint64s(address), int32s(relations[relation, at.R_ROWS])
    for i in range(count):
        prefetch(address + 8 * slot_of(keys[i], slots))
    for i in range(count):
        key = keys[i]
        slot = slot_of(key, slots)
        row = -1
        while True:
            there = table[slot]
            if there == key and (
                width <= 2 or same_fact(relations, relation, rows[slot], code, operands, width, batch, i)
            ):
                row = rows[slot]
                break
            if there == EMPTY:
                break
            slot = slot + 1 if slot + 1 < slots else 0
        found[i] = row


@njit(cache=True, nogil=True)
def has_room(relations, indexes, relation, count):
    """Can so many facts be added without growing anything?"""
    size = relations[relation, at.R_SIZE] + count
    if size > relations[relation, at.R_CAPACITY] or 10 * size > 7 * relations[relation, at.R_SLOTS]:
        return False
    index = relations[relation, at.R_FIRST_INDEX]
    while index >= 0:
        if 10 * (indexes[index, at.I_USED] + count) > 7 * indexes[index, at.I_SLOTS]:
            return False
        index = indexes[index, at.I_SIBLING]
    return True


@njit(cache=True, nogil=True)
def add_facts(relations, indexes, relation, code, operands, batch, count, mask, keys, fresh):
    """Add a fact per binding; returns how many were new. The caller has seen to room."""
    width = relations[relation, at.R_ARITY]
    operand_keys(code, operands, width, batch, count, keys)
    slots = relations[relation, at.R_SLOTS]
    address = relations[relation, at.R_KEYS]
    table, rows = uint64s(address), int32s(relations[relation, at.R_ROWS])
    weighted = relations[relation, at.R_WEIGHTS] != 0
    weights = int64s(relations[relation, at.R_WEIGHTS])
    masks = uint16s(relations[relation, at.R_MASKS])
    before = relations[relation, at.R_SIZE]
    size = before
    for i in range(count):
        prefetch(address + 8 * slot_of(keys[i], slots))
    for i in range(count):
        key = keys[i]
        slot = slot_of(key, slots)
        while True:
            there = table[slot]
            if there == key and (
                width <= 2 or same_fact(relations, relation, rows[slot], code, operands, width, batch, i)
            ):
                if weighted:
                    weights[rows[slot]] += 1
                if mask:
                    masks[rows[slot]] |= np.uint16(mask)
                break
            if there == EMPTY:
                table[slot] = key
                rows[slot] = size
                fresh[size - before] = i
                if weighted:
                    weights[size] = 1
                if width > 2:  # a later binding of this batch may have to compare with it
                    _write_row(relations, relation, size, code, operands, width, batch, i)
                size += 1
                break
            slot = slot + 1 if slot + 1 < slots else 0
    added = size - before
    if width <= 2:
        _write_rows(relations, relation, before, added, code, operands, width, batch, fresh)
    for k in range(added):
        masks[before + k] = np.uint16(mask)
    relations[relation, at.R_SIZE] = size
    index = relations[relation, at.R_FIRST_INDEX]
    while index >= 0:
        index_rows(relations, indexes, relation, index, before, size)
        index = indexes[index, at.I_SIBLING]
    return added


@njit(cache=True, nogil=True)
def _write_row(relations, relation, row, code, operands, width, batch, i):
    for position in range(width):
        kind, value = code[operands + 2 * position], code[operands + 2 * position + 1]
        column = int32s(relations[relation, at.R_COLUMNS + position])
        column[row] = batch[value, i] if kind == at.SLOT else np.int32(value)


@njit(cache=True, nogil=True)
def _write_rows(relations, relation, first, count, code, operands, width, batch, sources):
    for position in range(width):
        kind, value = code[operands + 2 * position], code[operands + 2 * position + 1]
        column = int32s(relations[relation, at.R_COLUMNS + position])
        if kind == at.SLOT:
            values = batch[value]
            for k in range(count):
                column[first + k] = values[sources[k]]
        else:
            for k in range(count):
                column[first + k] = np.int32(value)


# --- steps: one batch in, one batch out -----------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def row_range(relations, relation, which):
    """The rows that a label stands for."""
    if which == at.RANGE_NEW:
        return relations[relation, at.R_LOW], relations[relation, at.R_HIGH]
    if which == at.RANGE_OLD:
        return np.int64(0), relations[relation, at.R_LOW]
    return np.int64(0), relations[relation, at.R_HIGH]


@njit(cache=True, nogil=True)
def scan(relations, code, step, count, cursor, parents, rows):
    """Pairs of a binding and a row of the range, as many as fit a batch."""
    relation = code[step + at.S_RELATION]
    low, high = row_range(relations, relation, code[step + at.S_RANGE])
    care, want = np.uint16(code[step + at.S_CARE]), np.uint16(code[step + at.S_WANT])
    masks = uint16s(relations[relation, at.R_MASKS])
    i = cursor[0]
    row = low if cursor[1] == _START else cursor[1]
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


@njit(cache=True, nogil=True)
def probe(relations, indexes, code, step, count, cursor, heads, parents, rows):
    """Pairs of a binding and a row of its chain, as many as fit a batch."""
    relation = code[step + at.S_RELATION]
    low, high = row_range(relations, relation, code[step + at.S_RANGE])
    care, want = np.uint16(code[step + at.S_CARE]), np.uint16(code[step + at.S_WANT])
    masks = uint16s(relations[relation, at.R_MASKS])
    following = int32s(indexes[code[step + at.S_INDEX], at.I_NEXT])
    i = cursor[0]
    row = heads[i] if cursor[1] == _START and i < count else cursor[1]
    made = 0
    while i < count:
        while row >= low:
            if row < high and (care == 0 or (masks[row] & care) == want):
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


@njit(cache=True, nogil=True)
def check_rows(relations, code, step, made, parents, rows):
    """Keep the rows whose columns equal a constant or each other, as the step says."""
    relation = code[step + at.S_RELATION]
    checks = (
        step + at.S_LISTS + 2 * code[step + at.S_OPERANDS] + 2 * code[step + at.S_OUTPUTS] + code[step + at.S_COPIES]
    )
    for number in range(code[step + at.S_CHECKS]):
        kind, left, right = code[checks + 3 * number], code[checks + 3 * number + 1], code[checks + 3 * number + 2]
        column = int32s(relations[relation, at.R_COLUMNS + left])
        kept = 0
        if kind == at.CHECK_CONSTANT:
            wanted = np.int32(right)
            for k in range(made):
                if column[rows[k]] == wanted:
                    parents[kept] = parents[k]
                    rows[kept] = rows[k]
                    kept += 1
        else:
            other = int32s(relations[relation, at.R_COLUMNS + right])
            for k in range(made):
                if column[rows[k]] == other[rows[k]]:
                    parents[kept] = parents[k]
                    rows[kept] = rows[k]
                    kept += 1
        made = kept
    return made


@njit(cache=True, nogil=True)
def fill(relations, code, step, made, parents, rows, batch, following):
    """The next batch: columns of the rows, and slots carried over from the bindings they belong to."""
    outputs = step + at.S_LISTS + 2 * code[step + at.S_OPERANDS]
    relation = code[step + at.S_RELATION]
    for number in range(code[step + at.S_OUTPUTS]):
        column = int32s(relations[relation, at.R_COLUMNS + code[outputs + 2 * number]])
        target = following[code[outputs + 2 * number + 1]]
        for k in range(made):
            target[k] = column[rows[k]]
    carry(code, step, made, parents, batch, following)


@njit(cache=True, nogil=True)
def carry(code, step, made, parents, batch, following):
    copies = step + at.S_LISTS + 2 * code[step + at.S_OPERANDS] + 2 * code[step + at.S_OUTPUTS]
    for number in range(code[step + at.S_COPIES]):
        source = batch[code[copies + number]]
        target = following[code[copies + number]]
        for k in range(made):
            target[k] = source[parents[k]]


@njit(cache=True, nogil=True)
def select_facts(relations, code, step, batch, count, keys, found, parents):
    """Bindings whose fact is there with the label's bits (LOOKUP), or is not there (ABSENT)."""
    relation = code[step + at.S_RELATION]
    find_facts(relations, relation, code, step + at.S_LISTS, batch, count, keys, found)
    low, high = row_range(relations, relation, code[step + at.S_RANGE])
    care, want = np.uint16(code[step + at.S_CARE]), np.uint16(code[step + at.S_WANT])
    masks = uint16s(relations[relation, at.R_MASKS])
    wanted = code[step] == at.OP_LOOKUP
    kept = 0
    for i in range(count):
        row = found[i]
        there = row >= 0 and low <= row < high and (care == 0 or (masks[row] & care) == want)
        if there == wanted:
            parents[kept] = i
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def compare_ids(comparison, a, b, kinds, numbers):
    """Does a comparison of two terms hold: 1, 0, or _UNDECIDED where their values must be looked at in Python."""
    a_number = a < 0 or kinds[a] == KIND_EXACT_NUMBER
    b_number = b < 0 or kinds[b] == KIND_EXACT_NUMBER
    if a_number and b_number:
        x = np.float64(a + INLINE_OFFSET) if a < 0 else numbers[a]
        y = np.float64(b + INLINE_OFFSET) if b < 0 else numbers[b]
        if comparison == at.EQ:
            return 1 if x == y else 0
        if comparison == at.NE:
            return 1 if x != y else 0
        if comparison == at.LT:
            return 1 if x < y else 0
        if comparison == at.LE:
            return 1 if x <= y else 0
        if comparison == at.GT:
            return 1 if x > y else 0
        return 1 if x >= y else 0
    if comparison > at.NE:
        return _UNDECIDED
    if (a >= 0 and kinds[a] == KIND_OTHER) or (b >= 0 and kinds[b] == KIND_OTHER):
        return _UNDECIDED
    # IRIs, blank nodes, strings, and one number at most: equal only when the same.
    return 1 if (a == b) == (comparison == at.EQ) else 0


@njit(cache=True, nogil=True)
def select_compared(code, step, batch, count, kinds, numbers, parents):
    """Bindings for which a comparison holds; _UNDECIDED if one of them needs Python."""
    comparison = code[step + at.S_EXTRA]
    left_kind, left = code[step + at.S_LISTS], code[step + at.S_LISTS + 1]
    right_kind, right = code[step + at.S_LISTS + 2], code[step + at.S_LISTS + 3]
    kept = 0
    for i in range(count):
        a = batch[left, i] if left_kind == at.SLOT else np.int32(left)
        b = batch[right, i] if right_kind == at.SLOT else np.int32(right)
        holds = compare_ids(comparison, a, b, kinds, numbers)
        if holds == _UNDECIDED:
            return np.int64(_UNDECIDED)
        if holds:
            parents[kept] = i
            kept += 1
    return np.int64(kept)


# --- the run --------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def emit(relations, indexes, code, starts, first, last, batch, count, keys, fresh):
    """Conclude the heads [first, last) of a rule; returns the relation that must grow first, or -1."""
    for number in range(first, last):
        relation = code[starts[number] + at.S_RELATION]
        if not has_room(relations, indexes, relation, count * (last - first)):
            return relation
    for number in range(first, last):
        step = starts[number]
        add_facts(relations, indexes, code[step + at.S_RELATION], code, step + at.S_LISTS, batch, count, 0, keys, fresh)
    return np.int64(-1)


@njit(cache=True, nogil=True)
def end_round(relations, tracked):
    """Conclusions become NEW; returns how many there are and whether plans were made for far smaller relations."""
    gained = 0
    outgrown = False
    for relation in tracked:
        relations[relation, at.R_LOW] = relations[relation, at.R_HIGH]
        relations[relation, at.R_HIGH] = relations[relation, at.R_SIZE]
        gained += relations[relation, at.R_HIGH] - relations[relation, at.R_LOW]
        if relations[relation, at.R_SIZE] > relations[relation, at.R_PLANNED]:
            outgrown = True
    return gained, outgrown


@njit(cache=True, nogil=True)
def reads_nothing(relations, code, starts, variants, variant):
    """Is there an atom with no facts at all to read? Then the variant concludes nothing."""
    first = variants[variant, at.V_FIRST_STEP]
    for number in range(first, first + variants[variant, at.V_STEPS]):
        step = starts[number]
        if code[step] == at.OP_SCAN or code[step] == at.OP_PROBE or code[step] == at.OP_LOOKUP:
            low, high = row_range(relations, code[step + at.S_RELATION], code[step + at.S_RANGE])
            if low >= high:
                return True
    return False


@njit(cache=True, nogil=True)
def run(
    relations,
    indexes,
    tracked,
    code,
    starts,
    variants,
    work,
    state,
    batches,
    counts,
    cursors,
    chains,
    keys,
    parents,
    rows,
    kinds,
    numbers,
):
    """Run rounds until nothing is new, or until Python is needed; the answer says which (layout.DONE, …)."""
    while True:
        variant = state[at.T_VARIANT]
        last_variant = state[at.T_FIRST] if state[at.T_ROUND] == 0 else state[at.T_VARIANTS]
        if variant >= last_variant:
            gained, outgrown = end_round(relations, tracked)
            state[at.T_ROUND] += 1
            state[at.T_VARIANT] = state[at.T_FIRST]
            state[at.T_LEVEL] = -1
            if gained == 0 or state[at.T_FIRST] == state[at.T_VARIANTS]:
                return at.DONE
            if outgrown or state[at.T_ONE_ROUND]:
                return at.ROUND_OVER
            state[at.T_BUDGET] -= 1
            if state[at.T_BUDGET] <= 0:
                return at.PAUSE
            continue
        level = state[at.T_LEVEL]
        if level < 0:
            if reads_nothing(relations, code, starts, variants, variant):
                state[at.T_VARIANT] += 1
                continue
            level = 0
            counts[0] = 1  # one empty binding
            cursors[0, 0] = 0
            cursors[0, 1] = _START
        first = variants[variant, at.V_FIRST_STEP]
        last = first + variants[variant, at.V_STEPS]
        while level >= 0:
            step = starts[first + level]
            operation = code[step]
            batch, count, cursor = batches[level], counts[level], cursors[level]
            if cursor[0] >= count:  # used up: the step before goes on
                level -= 1
                continue
            made = np.int64(0)
            began = cycles()
            if operation == at.OP_PROBE or operation == at.OP_SCAN:
                if operation == at.OP_PROBE:
                    if cursor[1] == _START and cursor[0] == 0:
                        find_chains(
                            relations,
                            indexes,
                            code[step + at.S_INDEX],
                            code,
                            step + at.S_LISTS,
                            batch,
                            count,
                            keys,
                            chains[level],
                        )
                    made = probe(relations, indexes, code, step, count, cursor, chains[level], parents, rows)
                else:
                    made = scan(relations, code, step, count, cursor, parents, rows)
                made = check_rows(relations, code, step, made, parents, rows)
                fill(relations, code, step, made, parents, rows, batch, batches[level + 1])
            elif operation == at.OP_EMIT:
                short = emit(relations, indexes, code, starts, first + level, last, batch, count, keys, parents)
                if short >= 0:
                    state[at.T_LEVEL] = level
                    state[at.T_RELATION] = short
                    return at.GROW
                cursor[0] = count
                work[first + level, at.W_CYCLES] += cycles() - began
                variants[variant, at.V_APPLICATIONS] += count
                state[at.T_BUDGET] -= count
                if state[at.T_BUDGET] <= 0:
                    state[at.T_LEVEL] = level
                    return at.PAUSE
                level -= 1
                continue
            else:
                if operation == at.OP_COMPARE:
                    made = select_compared(code, step, batch, count, kinds, numbers, parents)
                elif operation == at.OP_PYTHON:
                    made = np.int64(_UNDECIDED)
                else:
                    made = select_facts(relations, code, step, batch, count, keys, rows, parents)
                if made == _UNDECIDED:
                    state[at.T_LEVEL] = level
                    return at.EVALUATE
                carry(code, step, made, parents, batch, batches[level + 1])
                cursor[0] = count
            work[first + level, at.W_CYCLES] += cycles() - began
            if made > 0:
                work[first + level, at.W_BINDINGS] += made
                level += 1
                counts[level] = made
                cursors[level, 0] = 0
                cursors[level, 1] = _START
        state[at.T_VARIANT] += 1
        state[at.T_LEVEL] = -1


# --- facts from and for Python --------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def load_batch(relations, indexes, relation, code, batch, count, mask, keys, fresh):
    """Add a batch of facts; -1 where the relation must grow first."""
    if not has_room(relations, indexes, relation, count):
        return np.int64(-1)
    return np.int64(add_facts(relations, indexes, relation, code, 0, batch, count, mask, keys, fresh))


@njit(cache=True, nogil=True)
def rebuild(relations, indexes, relation):
    """Fill the cleared hash table and indexes of a relation anew from its rows."""
    size = relations[relation, at.R_SIZE]
    width = relations[relation, at.R_ARITY]
    slots = relations[relation, at.R_SLOTS]
    table, rows = uint64s(relations[relation, at.R_KEYS]), int32s(relations[relation, at.R_ROWS])
    for row in range(size):
        key = np.uint64(0)
        for position in range(width):
            key = add_to_key(key, position, width, int32s(relations[relation, at.R_COLUMNS + position])[row])
        slot = slot_of(key, slots)
        while table[slot] != EMPTY:
            slot = slot + 1 if slot + 1 < slots else 0
        table[slot] = key
        rows[slot] = row
    index = relations[relation, at.R_FIRST_INDEX]
    while index >= 0:
        indexes[index, at.I_USED] = 0
        index_rows(relations, indexes, relation, index, 0, size)
        index = indexes[index, at.I_SIBLING]
