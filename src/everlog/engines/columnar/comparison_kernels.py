"""What can the kernel do with values without Python: compare them, test whether one is bound, copy them?

Numbers and points in time are compared by what the dictionary knows of them (everlog.dictionary.kinds); where that does
not decide, the batch is left to Python.
"""
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False

from __future__ import annotations

import numpy as np

from everlog.dictionary.dictionary import INLINE_OFFSET, UNBOUND
from everlog.dictionary.kinds import KIND_DATE, KIND_DOUBLE, KIND_EXACT, KIND_FLOAT, KIND_OTHER, KIND_ROUNDED
from everlog.engines.columnar import layout as at
from everlog.engines.columnar.kernel_language import kernel

UNDECIDED = -1  # a comparison that needs Python
FLOAT_MARGIN = 1e-6  # numbers whose relative difference is larger also differ as floats …
LEAST_FLOAT = 1.2e-38  # … except below this, where floats have fewer digits


@kernel
def compare_ids(comparison, a, b, kinds, numbers):
    """Does a comparison of two terms hold: 1, 0, or UNDECIDED where their values must be looked at in Python."""
    if a == UNBOUND or b == UNBOUND:
        return 0
    kind_a = KIND_EXACT if a < 0 else kinds[a]
    kind_b = KIND_EXACT if b < 0 else kinds[b]
    if kind_a >= KIND_EXACT and kind_b >= KIND_EXACT and kind_a != KIND_OTHER and kind_b != KIND_OTHER:
        x = np.float64(a + INLINE_OFFSET) if a < 0 else numbers[a]
        y = np.float64(b + INLINE_OFFSET) if b < 0 else numbers[b]
        if kind_a >= KIND_DATE or kind_b >= KIND_DATE:
            if kind_a != kind_b:
                return UNDECIDED
        elif a != b and not numbers_tell(kind_a, kind_b, x, y):
            return UNDECIDED
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
        return UNDECIDED
    if kind_a == KIND_OTHER or kind_b == KIND_OTHER:
        return UNDECIDED
    # IRIs, blank nodes, strings with and without a language, and one number or date at most: equal only when the same.
    return 1 if (a == b) == (comparison == at.EQ) else 0


@kernel
def numbers_tell(kind_a, kind_b, x, y):
    """Do these doubles decide how two numbers compare?"""
    if kind_a == KIND_DOUBLE or kind_b == KIND_DOUBLE:
        return True  # the other is rounded to a double, too
    if (kind_a == KIND_FLOAT) != (kind_b == KIND_FLOAT):
        largest = max(abs(x), abs(y))  # the other is rounded to a float
        return largest > LEAST_FLOAT and abs(x - y) > FLOAT_MARGIN * largest
    return x != y or (kind_a != KIND_ROUNDED and kind_b != KIND_ROUNDED)


@kernel
def select_compared(code, step, batch, count, kinds, numbers, parents):
    """Bindings for which a comparison holds; UNDECIDED if one of them needs Python."""
    comparison = code[step + at.S_EXTRA]
    left_kind, left = code[step + at.S_LISTS], code[step + at.S_LISTS + 1]
    right_kind, right = code[step + at.S_LISTS + 2], code[step + at.S_LISTS + 3]
    kept = 0
    for i in range(count):
        a = batch[left, i] if left_kind == at.SLOT else np.int32(left)
        b = batch[right, i] if right_kind == at.SLOT else np.int32(right)
        if comparison >= at.SAME:
            holds = compare_presence(comparison, a, b)
        else:
            holds = compare_ids(comparison, a, b, kinds, numbers)
        if holds == UNDECIDED:
            return np.int64(UNDECIDED)
        if holds:
            parents[kept] = i
            kept += 1
    return np.int64(kept)


@kernel
def compare_presence(comparison, a, b):
    """Is a variable bound, unbound, or bound to the same term as another?"""
    if comparison == at.IS_UNBOUND:
        return 1 if a == UNBOUND else 0
    return 1 if a != UNBOUND and a == b else 0


@kernel
def copy_operand(code, step, batch, count, following, parents):
    """Fill a slot from an operand; bindings for which it is UNBOUND pass only if the step says so."""
    kind, value = code[step + at.S_LISTS], code[step + at.S_LISTS + 1]
    outputs = step + at.S_LISTS + 2 * code[step + at.S_OPERANDS]
    slot = code[outputs + 1]
    kept = 0
    for i in range(count):
        id_ = batch[value, i] if kind == at.SLOT else np.int32(value)
        if id_ != UNBOUND or code[step + at.S_EXTRA]:
            following[slot, kept] = id_
            parents[kept] = i
            kept += 1
    return np.int64(kept)
