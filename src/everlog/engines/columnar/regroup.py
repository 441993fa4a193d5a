"""How do the facts of an aggregate follow the rows of its bag, working on touched groups only?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Ids
from everlog.engines.columnar import layout as at
from everlog.engines.columnar.batches import slot_operands, stack
from everlog.engines.columnar.fact_kernels import find_chains
from everlog.engines.columnar.groups import group_columns
from everlog.engines.columnar.journal_kernels import chain_rows, decide_batch
from everlog.engines.columnar.relations import Relation
from everlog.engines.interface import Flow
from everlog.plans.flat_rules import GroupRule

if TYPE_CHECKING:
    from everlog.engines.columnar.engine import ColumnarEngine

_BATCH = at.BATCH


def regroup(engine: ColumnarEngine, rule: GroupRule) -> Flow:
    """Bring the facts of an aggregate in line with the touched rows of its bag."""
    source, target = engine.relation(rule.source.relation), engine.relation(rule.head.relation)
    touched = int(engine.tables.relations[source.number, at.R_JOURNAL_SIZE])
    if not touched:
        return Flow(0, 0)
    rows = source.journal.rows[:touched]
    groups = np.unique(source.facts[rows, : rule.group], axis=0)
    members, before = (_rows_of(engine, relation, groups, rule.group) for relation in (source, target))
    if len(members) or rule.group == 0:
        columns = [source.facts[members, position] for position in range(source.arity)]
        after = group_columns(rule, columns, source.weights[members], engine.dictionary)
    else:
        after = [np.empty(0, np.int32)] * target.arity
    old = [target.facts[before, position] for position in range(target.arity)]
    staying = _row_set(after)
    leaving = np.array([row not in staying for row in zip(*(c.tolist() for c in old), strict=True)], bool)
    lost = _decide(engine, target, [column[leaving] for column in old], present=False)
    gained = _decide(engine, target, after, present=True)
    return Flow(gained.gained + lost.gained, gained.lost + lost.lost)


def _row_set(columns: Sequence[Ids]) -> set[tuple[int, ...]]:
    return set(zip(*(column.tolist() for column in columns), strict=True))


def _rows_of(engine: ColumnarEngine, relation: Relation, groups: Ids, width: int) -> Ids:
    """The rows, of facts that are there, whose first columns are one of the groups."""
    if width == 0:
        size = engine.size(relation)
        return np.flatnonzero((relation.masks[:size] & at.ABSENT) == 0).astype(np.int32)
    index = relation.index_on(tuple(range(width)), engine.tables)
    found: npt.NDArray[np.int32] = np.empty(max(64, 2 * len(groups)), np.int32)
    used = 0
    heads, keys = np.empty(_BATCH, np.int32), np.empty(_BATCH, np.uint64)
    for start in range(0, len(groups), _BATCH):
        batch = np.ascontiguousarray(groups[start : start + _BATCH].T)
        tables, count = engine.tables, batch.shape[1]
        find_chains(tables.relations, tables.indexes, index.number, slot_operands(width), 0, batch, count, keys, heads)
        for head in heads[:count].tolist():
            while (longer := chain_rows(tables.relations, tables.indexes, index.number, head, found, used)) < 0:
                found = np.concatenate([found, np.empty(len(found), np.int32)])
            used = int(longer)
    return found[:used]


def _decide(engine: ColumnarEngine, relation: Relation, columns: Sequence[Ids], *, present: bool) -> Flow:
    rows, gained, lost = len(columns[0]), 0, 0
    code = slot_operands(relation.width)
    for start in range(0, rows, _BATCH):
        batch = stack(columns, start, min(rows, start + _BATCH))
        count = batch.shape[1]
        keys, places = np.empty(count, np.uint64), np.empty(count, np.int64)
        fresh, found = np.empty(count, np.int32), np.empty(count, np.int32)
        while True:
            tables = engine.tables
            more, less, room = decide_batch(
                tables.relations, tables.indexes, relation.number, code, batch, count, present, keys, places, fresh,
                found,
            )  # fmt: skip
            if room:
                break
            engine.reserve(relation, count)
        gained, lost = gained + int(more), lost + int(less)
    return Flow(gained, lost)
