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

from everlog.engines.columnar import layout as at
from everlog.engines.columnar.compiled import kernel
from everlog.engines.columnar.fact_kernels import add_facts, find_chains, has_room
from everlog.engines.columnar.memory import cycles
from everlog.engines.columnar.step_kernels import (
    START,
    UNDECIDED,
    carry,
    check_rows,
    fill,
    probe,
    row_range,
    scan,
    select_compared,
    select_facts,
)


@kernel
def emit(relations, indexes, code, starts, first, last, batch, count, keys, places, fresh):
    """Conclude the heads [first, last) of a rule; returns the relation that must grow first, or -1."""
    for number in range(first, last):
        relation = code[starts[number] + at.S_RELATION]
        if not has_room(relations, indexes, relation, count * (last - first)):
            return relation
    for number in range(first, last):
        step = starts[number]
        relation = code[step + at.S_RELATION]
        add_facts(relations, indexes, relation, code, step + at.S_LISTS, batch, count, 0, keys, places, fresh)
    return np.int64(-1)


@kernel
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


@kernel
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


@kernel
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
    places,
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
            cursors[0, 1] = START
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
                    if cursor[1] == START and cursor[0] == 0:
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
                short = emit(relations, indexes, code, starts, first + level, last, batch, count, keys, places, parents)
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
                    made = np.int64(UNDECIDED)
                else:
                    made = select_facts(relations, code, step, batch, count, keys, places, rows, parents)
                if made == UNDECIDED:
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
                cursors[level, 1] = START
        state[at.T_VARIANT] += 1
        state[at.T_LEVEL] = -1
