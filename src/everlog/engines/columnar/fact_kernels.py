"""How are facts found, added and indexed, a batch at a time?

Every loop over a batch comes in two or three passes: the first works out where to look and asks for those cache
lines, the next looks. So the misses of a batch overlap instead of queueing up.

Threads that read an older state look at the same tables meanwhile (version_kernels.py): a key is written after what it
leads to.
"""
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False

from __future__ import annotations

import numpy as np

from everlog.engines.columnar import layout as at
from everlog.engines.columnar.hash_tables import (
    EMPTY,
    add_to_key,
    entry_row,
    entry_tag,
    slot_of,
    slot_of_tag,
    tag_of,
    wide_entry,
)
from everlog.engines.columnar.kernel_language import kernel
from everlog.engines.columnar.memory import allocate, free, int32s, int64s, prefetch, publish, uint16s, uint64s
from everlog.engines.columnar.version_kernels import NEVER, newest_rows, see_version

# --- keys -----------------------------------------------------------------------------------------------------------


@kernel
def operand_keys(code, operands, width, batch, count, keys):
    """A key per binding from a list of operands."""
    for position in range(width):
        kind, value = code[operands + 2 * position], code[operands + 2 * position + 1]
        if kind == at.SLOT:
            column = batch[value]
            for i in range(count):
                keys[i] = add_to_key(keys[i], position, width, column[i])
        else:
            id_ = np.int32(value)
            for i in range(count):
                keys[i] = add_to_key(keys[i], position, width, id_)


@kernel
def gather_facts(code, operands, width, batch, count, keys, facts):
    """The facts that the operands make, side by side, and their hashes: for facts of three ids or more."""
    for position in range(width):
        kind, value = code[operands + 2 * position], code[operands + 2 * position + 1]
        if kind == at.SLOT:
            column = batch[value]
            for i in range(count):
                facts[i * width + position] = column[i]
        else:
            for i in range(count):
                facts[i * width + position] = np.int32(value)
    for i in range(count):
        key = np.uint64(0)
        for position in range(width):
            key = add_to_key(key, position, width, facts[i * width + position])
        keys[i] = key


@kernel
def same_fact(facts, row, others, i, width):
    """Are the fact of a row and the i-th of others the same? Asked when a tag was found."""
    for position in range(width):
        if facts[row * width + position] != others[i * width + position]:
            return False
    return True


@kernel
def same_key(relations, indexes, index, row, code, operands, batch, i):
    """Do the key columns of a row hold exactly these operands?"""
    relation = indexes[index, at.I_RELATION]
    arity = relations[relation, at.R_ARITY]
    facts = int32s(relations[relation, at.R_FACTS])
    for position in range(indexes[index, at.I_WIDTH]):
        column = indexes[index, at.I_COLUMNS + position]
        kind, value = code[operands + 2 * position], code[operands + 2 * position + 1]
        id_ = batch[value, i] if kind == at.SLOT else np.int32(value)
        if facts[row * arity + column] != id_:
            return False
    return True


# --- indexes --------------------------------------------------------------------------------------------------------


@kernel
def index_rows(relations, indexes, relation, index, first, last, keys):
    """Put rows [first, last) of a relation at the heads of their chains, a batch at a time."""
    while first < last:
        count = min(last - first, at.BATCH)
        index_batch(relations, indexes, relation, index, first, count, keys)
        first += count


@kernel
def index_batch(relations, indexes, relation, index, first, count, keys):
    width, arity = indexes[index, at.I_WIDTH], relations[relation, at.R_ARITY]
    facts = int32s(relations[relation, at.R_FACTS])
    for position in range(width):
        column = indexes[index, at.I_COLUMNS + position]
        for k in range(count):
            keys[k] = add_to_key(keys[k], position, width, facts[(first + k) * arity + column])
    slots = indexes[index, at.I_SLOTS]
    address = indexes[index, at.I_KEYS]
    table, heads = uint64s(address), int32s(indexes[index, at.I_HEADS])
    following = int32s(indexes[index, at.I_NEXT])
    used = indexes[index, at.I_USED]
    for k in range(count):
        prefetch(address + 8 * slot_of(keys[k], slots))
    for k in range(count):
        row, key = first + k, keys[k]
        slot = slot_of(key, slots)
        while True:
            there = table[slot]
            if there == key and (width <= 2 or _same_columns(relations, indexes, index, relation, heads[slot], row)):
                following[row] = heads[slot]
                publish()
                heads[slot] = row
                break
            if there == EMPTY:
                following[row] = -1
                heads[slot] = row
                publish()
                table[slot] = key
                used += 1
                break
            slot = slot + 1 if slot + 1 < slots else 0
    indexes[index, at.I_USED] = used


@kernel
def _same_columns(relations, indexes, index, relation, one, other):
    arity = relations[relation, at.R_ARITY]
    facts = int32s(relations[relation, at.R_FACTS])
    for position in range(indexes[index, at.I_WIDTH]):
        column = indexes[index, at.I_COLUMNS + position]
        if facts[one * arity + column] != facts[other * arity + column]:
            return False
    return True


@kernel
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


@kernel
def find_facts(relations, relation, code, operands, batch, count, keys, places, found):
    """The row of each binding's fact, or -1."""
    width = relations[relation, at.R_ARITY]
    if width > 2:
        scratch = allocate(4 * count * width)
        wanted = int32s(scratch)
        gather_facts(code, operands, width, batch, count, keys, wanted)
        find_candidates(relations, relation, count, keys, places)
        _find_wide(relations, relation, wanted, count, keys, places, found)
        free(scratch)
        _find_right_version(relations, relation, count, found)
        return
    operand_keys(code, operands, width, batch, count, keys)
    slots = relations[relation, at.R_SLOTS]
    address = relations[relation, at.R_KEYS]
    table, rows = uint64s(address), int32s(relations[relation, at.R_ROWS])
    for i in range(count):
        prefetch(address + 8 * slot_of(keys[i], slots))
    for i in range(count):
        key = keys[i]
        slot = slot_of(key, slots)
        while table[slot] != key and table[slot] != EMPTY:
            slot = slot + 1 if slot + 1 < slots else 0
        found[i] = rows[slot] if table[slot] == key else -1
    _find_right_version(relations, relation, count, found)


@kernel
def _find_right_version(relations, relation, count, found):
    """A fact may have several rows: a reader wants the one of its time, an update the newest."""
    if relations[relation, at.R_TICK] != 0:
        see_version(relations, relation, count, found)
    elif relations[relation, at.R_NEWER] != 0:
        newest_rows(relations, relation, count, found)


@kernel
def find_candidates(relations, relation, count, keys, places):
    """For each hashed key: its tag and the first slot of a wide table that may hold it; prefetches the fact there."""
    slots, width = relations[relation, at.R_SLOTS], relations[relation, at.R_ARITY]
    address, facts = relations[relation, at.R_KEYS], relations[relation, at.R_FACTS]
    entries = uint64s(address)
    for i in range(count):
        keys[i] = tag_of(keys[i])
        places[i] = slot_of_tag(keys[i], slots)
        prefetch(address + 8 * places[i])
    for i in range(count):
        slot = places[i]
        while entries[slot] != EMPTY and entry_tag(entries[slot]) != keys[i]:
            slot = slot + 1 if slot + 1 < slots else 0
        places[i] = slot
        if entries[slot] != EMPTY:
            prefetch(facts + 4 * width * entry_row(entries[slot]))


@kernel
def _find_wide(relations, relation, wanted, count, keys, places, found):
    slots, width = relations[relation, at.R_SLOTS], relations[relation, at.R_ARITY]
    entries, facts = uint64s(relations[relation, at.R_KEYS]), int32s(relations[relation, at.R_FACTS])
    for i in range(count):
        slot = places[i]
        found[i] = -1
        while entries[slot] != EMPTY:
            if entry_tag(entries[slot]) == keys[i]:
                row = entry_row(entries[slot])
                if same_fact(facts, row, wanted, i, width):
                    found[i] = row
                    break
            slot = slot + 1 if slot + 1 < slots else 0


@kernel
def has_room(relations, indexes, relation, count):
    """Can so many facts be added without growing anything?"""
    if relations[relation, at.R_SIZE] + count > relations[relation, at.R_LIMIT]:
        return False
    index = relations[relation, at.R_FIRST_INDEX]
    while index >= 0:
        if indexes[index, at.I_USED] + count > indexes[index, at.I_LIMIT]:
            return False
        index = indexes[index, at.I_SIBLING]
    return True


@kernel
def add_facts(relations, indexes, relation, code, operands, batch, count, mask, keys, places, fresh):
    """Add a fact per binding; returns how many were new. The caller has seen to room."""
    width, before = relations[relation, at.R_ARITY], relations[relation, at.R_SIZE]
    if width > 2:
        scratch = allocate(4 * count * width)
        concluded = int32s(scratch)
        gather_facts(code, operands, width, batch, count, keys, concluded)
        added = _add_wide(relations, relation, concluded, count, mask, keys, places)
        free(scratch)
    else:
        operand_keys(code, operands, width, batch, count, keys)
        added = _add_packed(relations, relation, code, operands, batch, count, mask, keys, fresh)
    relations[relation, at.R_SIZE] = before + added
    index = relations[relation, at.R_FIRST_INDEX]
    while index >= 0:
        index_rows(relations, indexes, relation, index, before, before + added, keys)
        index = indexes[index, at.I_SIBLING]
    return added


@kernel
def _add_packed(relations, relation, code, operands, batch, count, mask, keys, fresh):
    slots = relations[relation, at.R_SLOTS]
    address = relations[relation, at.R_KEYS]
    table, rows = uint64s(address), int32s(relations[relation, at.R_ROWS])
    before = relations[relation, at.R_SIZE]
    size = before
    row_address = relations[relation, at.R_ROWS]
    for i in range(count):
        slot = slot_of(keys[i], slots)
        prefetch(address + 8 * slot)
        prefetch(row_address + 4 * slot)  # most conclusions are new, and then the row is written
    weighted = relations[relation, at.R_WEIGHTS] != 0
    for i in range(count):
        key = keys[i]
        slot = slot_of(key, slots)
        while table[slot] != key and table[slot] != EMPTY:
            slot = slot + 1 if slot + 1 < slots else 0
        if table[slot] == EMPTY:
            rows[slot] = size
            publish()
            table[slot] = key
            fresh[size - before] = i
            describe_new(relations, relation, size, mask)
            size += 1
        elif weighted or mask:
            _describe_again(relations, relation, rows[slot], mask)
    width = relations[relation, at.R_ARITY]
    facts = int32s(relations[relation, at.R_FACTS])
    for position in range(width):
        kind, value = code[operands + 2 * position], code[operands + 2 * position + 1]
        if kind == at.SLOT:
            values = batch[value]
            for k in range(size - before):
                facts[(before + k) * width + position] = values[fresh[k]]
        else:
            for k in range(size - before):
                facts[(before + k) * width + position] = np.int32(value)
    return size - before


@kernel
def _add_wide(relations, relation, concluded, count, mask, keys, places):
    find_candidates(relations, relation, count, keys, places)
    slots, width = relations[relation, at.R_SLOTS], relations[relation, at.R_ARITY]
    entries, facts = uint64s(relations[relation, at.R_KEYS]), int32s(relations[relation, at.R_FACTS])
    before = relations[relation, at.R_SIZE]
    size = before
    for i in range(count):
        slot = places[i]  # or, where an earlier binding took that one, the next free
        while True:
            entry = entries[slot]
            if entry == EMPTY:
                entries[slot] = wide_entry(keys[i], size)
                for position in range(width):
                    facts[size * width + position] = concluded[i * width + position]
                describe_new(relations, relation, size, mask)
                size += 1
                break
            if entry_tag(entry) == keys[i]:
                row = entry_row(entry)
                if same_fact(facts, row, concluded, i, width):
                    _describe_again(relations, relation, row, mask)
                    break
            slot = slot + 1 if slot + 1 < slots else 0
    return size - before


@kernel
def describe_new(relations, relation, row, mask):
    if mask & at.ABSENT:
        uint64s(relations[relation, at.R_LIVES])[row] = NEVER  # until commit brings its fact
    uint16s(relations[relation, at.R_MASKS])[row] = np.uint16(mask)
    if relations[relation, at.R_WEIGHTS] != 0:  # of derivations: what is explicit, or only has a row, has none
        int64s(relations[relation, at.R_WEIGHTS])[row] = 0 if mask else 1
    if relations[relation, at.R_RANKS] != 0:
        int32s(relations[relation, at.R_RANKS])[row] = 0
    if relations[relation, at.R_WITNESSES] != 0:
        int64s(relations[relation, at.R_WITNESSES])[row] = -1
        int64s(relations[relation, at.R_DERIVED])[row] = -1


@kernel
def _describe_again(relations, relation, row, mask):
    if mask & at.ABSENT:
        return  # a row was asked for, and it is there
    if mask:
        uint16s(relations[relation, at.R_MASKS])[row] |= np.uint16(mask)
    elif relations[relation, at.R_WEIGHTS] != 0:
        int64s(relations[relation, at.R_WEIGHTS])[row] += 1


# --- facts from and for Python --------------------------------------------------------------------------------------


@kernel
def load_batch(relations, indexes, relation, code, batch, count, mask, keys, places, fresh):
    """Add a batch of facts; -1 where the relation must grow first."""
    if not has_room(relations, indexes, relation, count):
        return np.int64(-1)
    return np.int64(add_facts(relations, indexes, relation, code, 0, batch, count, mask, keys, places, fresh))


@kernel
def rebuild(relations, indexes, relation, keys):
    """Fill the cleared hash table and indexes of a relation anew from its rows."""
    size, width = relations[relation, at.R_SIZE], relations[relation, at.R_ARITY]
    slots = relations[relation, at.R_SLOTS]
    facts, table = int32s(relations[relation, at.R_FACTS]), uint64s(relations[relation, at.R_KEYS])
    rows = int32s(relations[relation, at.R_ROWS])
    for row in range(size):
        key = np.uint64(0)
        for position in range(width):
            key = add_to_key(key, position, width, facts[row * width + position])
        if width > 2:
            key = tag_of(key)
        slot = slot_of_tag(key, slots) if width > 2 else slot_of(key, slots)
        while table[slot] != EMPTY:
            slot = slot + 1 if slot + 1 < slots else 0
        if width > 2:
            table[slot] = wide_entry(key, row)
        else:
            table[slot] = key
            rows[slot] = row
    index = relations[relation, at.R_FIRST_INDEX]
    while index >= 0:
        indexes[index, at.I_USED] = 0
        index_rows(relations, indexes, relation, index, 0, size, keys)
        index = indexes[index, at.I_SIBLING]
