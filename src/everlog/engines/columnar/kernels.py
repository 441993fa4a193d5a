"""How is a phase run, plan by plan and round by round, without leaving compiled code?

`run` interprets plans (layout.py) over batches of bindings. A step takes a batch of at most BATCH bindings, stored
by column, and produces the next batch; a step that yields more than fits has a cursor and continues when the steps
after it have consumed what it produced. So memory is bounded, loops are tight, and the cost of interpreting is
spread over a batch.

`sweep` does the same for an update's passes over labelled facts (plans/sweeps.py).

The kernels come back to Python when a relation must grow, when an expression needs Python, when new plans are due, and
now and then for limits and Ctrl-C. All their state is in arrays, so they continue where they stopped.
"""
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False

from __future__ import annotations

import numpy as np

from everlog.engines.columnar import layout as at
from everlog.engines.columnar.comparison_kernels import UNDECIDED, copy_operand, select_compared
from everlog.engines.columnar.fact_kernels import add_facts, find_chains, has_room
from everlog.engines.columnar.kernel_language import kernel
from everlog.engines.columnar.memory import int32s
from everlog.engines.columnar.step_kernels import (
    START,
    carry,
    carry_ranks,
    carry_witnesses,
    check_rows,
    fill,
    probe,
    probe_version,
    probe_widening,
    row_range,
    scan,
    scan_list,
    scan_version,
    select_facts,
    select_shorter,
)
from everlog.engines.columnar.sweep_kernels import apply_effects, leave_frontier, sift_frontier, take_frontier


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
def end_round(relations, tracked, rank):
    """Conclusions become NEW; returns how many there are.

    A fact's rank is the round in which it was concluded: all facts of its instance come from earlier rounds. Explicit
    facts, which precede the first round, have rank 0.
    """
    gained = 0
    for relation in tracked:
        relations[relation, at.R_LOW] = relations[relation, at.R_HIGH]
        relations[relation, at.R_HIGH] = relations[relation, at.R_SIZE]
        gained += relations[relation, at.R_HIGH] - relations[relation, at.R_LOW]
        if relations[relation, at.R_RANKS] != 0:
            ranks = int32s(relations[relation, at.R_RANKS])
            for row in range(relations[relation, at.R_LOW], relations[relation, at.R_HIGH]):
                ranks[row] = rank
    return gained


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
def evaluate(
    relations,
    indexes,
    code,
    starts,
    variants,
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
    """Evaluate the current variant to its end (layout.DONE), or until Python is needed."""
    variant = state[at.T_VARIANT]
    level = state[at.T_LEVEL]
    if level < 0:
        if reads_nothing(relations, code, starts, variants, variant):
            return at.DONE
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
        if cursor[0] >= count:  # consumed: the step before continues
            level -= 1
            continue
        made = np.int64(0)
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
                if code[step + at.S_ENOUGH]:
                    made = probe_widening(
                        relations, indexes, code, step, batch, count, cursor, chains[level], parents, rows
                    )
                elif code[step + at.S_RANGE] == at.RANGE_VERSION:
                    made = probe_version(relations, indexes, code, step, count, cursor, chains[level], parents, rows)
                else:
                    made = probe(relations, indexes, code, step, count, cursor, chains[level], parents, rows)
                    state[at.T_PASSED] += cursor[2]
            elif code[step + at.S_RANGE] == at.RANGE_VERSION:
                made = scan_version(relations, code, step, count, cursor, parents, rows)
            elif code[step + at.S_RANGE] >= at.RANGE_FRONTIER:
                made = scan_list(relations, code, step, count, cursor, parents, rows)
            else:
                made = scan(relations, code, step, count, cursor, parents, rows)
            made = check_rows(relations, code, step, made, parents, rows, batch)
            fill(relations, code, step, made, parents, rows, batch, batches[level + 1])
        elif operation == at.OP_EMIT or operation == at.OP_EFFECT:
            if operation == at.OP_EMIT:
                short = emit(relations, indexes, code, starts, first + level, last, batch, count, keys, places, parents)
            else:
                effects = apply_effects(
                    relations,
                    indexes,
                    code,
                    starts,
                    first + level,
                    last,
                    batch,
                    count,
                    keys,
                    places,
                    parents,
                    rows,
                    state,
                    variants[variant, at.V_LIMIT],
                )
                short = -2 - effects
                if effects >= 0:
                    state[at.T_APPLICATIONS] += count
                    state[at.T_EFFECTS] += effects
                    short = np.int64(-1)
            if short >= 0:
                state[at.T_LEVEL] = level
                state[at.T_RELATION] = short
                return at.GROW
            cursor[0] = count
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
            elif operation == at.OP_SHORTER:
                made = select_shorter(relations, indexes, code, step, batch, count, keys, chains[level], rows, parents)
            elif operation == at.OP_COPY:
                made = copy_operand(code, step, batch, count, batches[level + 1], parents)
            elif operation == at.OP_PYTHON:
                made = np.int64(UNDECIDED)
            else:
                made = select_facts(relations, code, step, batch, count, keys, places, rows, parents)
            if made == UNDECIDED:
                state[at.T_LEVEL] = level
                return at.EVALUATE
            carry(code, step, made, parents, batch, batches[level + 1])
            carry_ranks(relations, code, step, made, parents, rows, batch, batches[level + 1])
            carry_witnesses(relations, code, step, made, parents, rows, batch, batches[level + 1])
            cursor[0] = count
        if made > 0:
            state[at.T_BINDINGS] += made
            level += 1
            counts[level] = made
            cursors[level, 0] = 0
            cursors[level, 1] = START
    return at.DONE


@kernel
def run(
    relations,
    indexes,
    tracked,
    code,
    starts,
    variants,
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
        last_variant = state[at.T_FIRST] if state[at.T_ROUND] == 0 else state[at.T_VARIANTS]
        if state[at.T_VARIANT] >= last_variant:
            gained = end_round(relations, tracked, state[at.T_ROUND] + 1)
            state[at.T_ROUND] += 1
            state[at.T_VARIANT] = state[at.T_FIRST]
            state[at.T_LEVEL] = -1
            if gained == 0 or state[at.T_FIRST] == state[at.T_VARIANTS]:
                return at.DONE
            state[at.T_WORKED_ON] += gained
            if state[at.T_WORKED_ON] >= state[at.T_LOOK]:
                return at.ROUND_OVER
            state[at.T_BUDGET] -= 1
            if state[at.T_BUDGET] <= 0:
                return at.PAUSE
            continue
        outcome = evaluate(
            relations, indexes, code, starts, variants, state, batches, counts, cursors, chains, keys, places,
            parents, rows, kinds, numbers,
        )  # fmt: skip
        if outcome != at.DONE:
            return outcome
        state[at.T_VARIANT] += 1
        state[at.T_LEVEL] = -1


@kernel
def sweep(
    relations,
    indexes,
    own,
    labels,
    code,
    starts,
    variants,
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
    """Run a sweep that has begun until its queue is empty, or until Python is needed (plans/sweeps.py)."""
    while True:
        stage = state[at.T_STAGE]
        if stage == at.STAGE_TAKE:
            taken = take_frontier(relations, own, labels)
            if taken == 0:
                return at.DONE
            state[at.T_ROUND] += 1
            state[at.T_WORKED_ON] += taken
            state[at.T_VARIANT] = state[at.T_FIRST]
            state[at.T_STAGE] = at.STAGE_CHECK
            if state[at.T_WORKED_ON] >= state[at.T_LOOK]:
                return at.ROUND_OVER  # new plans may be due for what the round has to do
        elif stage == at.STAGE_SIFT:
            if labels[at.L_SURVIVES_CARE] != 0:
                sift_frontier(relations, own, labels)
            state[at.T_VARIANT] = state[at.T_CHECKS]
            state[at.T_STAGE] = at.STAGE_LOOP
        elif stage == at.STAGE_DONE:
            leave_frontier(relations, own, labels)
            state[at.T_STAGE] = at.STAGE_TAKE
            if state[at.T_MOST] > 0 and state[at.T_WORKED_ON] > state[at.T_MOST]:
                return at.STOPPED
            if state[at.T_MOST_BINDINGS] > 0 and state[at.T_BINDINGS] > state[at.T_MOST_BINDINGS]:
                return at.STOPPED
            state[at.T_BUDGET] -= 1
            if state[at.T_BUDGET] <= 0:
                return at.PAUSE
        else:
            last = state[at.T_VARIANTS]
            if stage == at.STAGE_FIRST:
                last = state[at.T_FIRST]
            elif stage == at.STAGE_CHECK:
                last = state[at.T_CHECKS]
            if state[at.T_VARIANT] >= last:
                state[at.T_STAGE] = stage + 1  # first, take; check, sift; loop, done
                continue
            if state[at.T_LEVEL] < 0:
                state[at.T_ORIGIN] = -1
            outcome = evaluate(
                relations, indexes, code, starts, variants, state, batches, counts, cursors, chains, keys,
                places, parents, rows, kinds, numbers,
            )  # fmt: skip
            if outcome != at.DONE:
                return outcome
            state[at.T_VARIANT] += 1
            state[at.T_LEVEL] = -1
