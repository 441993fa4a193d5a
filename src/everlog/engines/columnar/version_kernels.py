"""Which rows does a reader of an older state see, while updates go on?

Commits are counted in *ticks*. Each row has a word of 64 bits: the tick at which its fact came in the lower half, the
tick at which it went in the upper one, or zero there while it stays. A reader at tick t sees the rows whose word says
`came <= t` and `t < went`, among those that were there when it began. The word is written by commit alone, in one
store, so that a reader sees it as it was or as it is and never half of each. Rows that an update has made without
bringing their fact have NEVER.

A fact that comes back takes its old row again, unless some reader still sees the fact in that row. Then it gets a new
row, and the old row says which: the hash table leads to the oldest row of a fact, and from there on to newer ones, so
that a reader never needs a row from after its time.
"""
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False

from __future__ import annotations

import numpy as np

from everlog.engines.columnar import layout as at
from everlog.engines.columnar.kernel_language import inlined, kernel
from everlog.engines.columnar.memory import int32s, uint64s

NEVER = np.uint64(0xFFFFFFFF)  # came at the last tick of all
_HALF = np.uint64(32)
_LOWER = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)


@inlined
def is_visible(life, tick):
    """Is a fact there at a tick? One that has not gone went at "tick 0", which less one is the largest number."""
    return (life & _LOWER) <= tick and (((life >> _HALF) - _ONE) & _LOWER) >= tick


@inlined
def gone_at(life):
    return np.int64(life >> _HALF)


@kernel
def see_version(relations, relation, count, found):
    """For the oldest row of each fact, the one that a reader sees, or -1."""
    high = relations[relation, at.R_SIZE]
    if relations[relation, at.R_LIVES] == 0:
        for i in range(count):
            if found[i] >= high:
                found[i] = -1
        return
    tick, lives = np.uint64(relations[relation, at.R_TICK] - 1), uint64s(relations[relation, at.R_LIVES])
    linked, newer = relations[relation, at.R_NEWER] != 0, int32s(relations[relation, at.R_NEWER])
    for i in range(count):
        row = found[i]
        while 0 <= row < high and not is_visible(lives[row], tick):
            row = newer[row] - 1 if linked else -1
        found[i] = row if row < high else -1


@kernel
def newest_rows(relations, relation, count, found):
    """For the oldest row of each fact, the newest."""
    newer = int32s(relations[relation, at.R_NEWER])
    for i in range(count):
        if found[i] >= 0:
            while newer[found[i]] != 0:
                found[i] = newer[found[i]] - 1


@kernel
def count_visible(lives, size, tick):
    """How many of the first rows a reader sees."""
    seen = np.int64(0)
    for row in range(size):
        if is_visible(lives[row], tick):
            seen += 1
    return seen


@kernel
def visible_rows(lives, size, tick, rows):
    """List those of the first rows that a reader sees; returns how many."""
    seen = np.int64(0)
    for row in range(size):
        if is_visible(lives[row], tick):
            rows[seen] = row
            seen += 1
    return seen
