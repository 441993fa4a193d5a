"""How do the facts of an aggregate follow the rows of its bag, working on touched groups only?

A group that an update touches for the first time is computed from its rows; from then on its running aggregates
(expressions/running.py) follow the weights of the rows that change. Those of a group that a failed update touched are
dropped, and computed anew when next needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import UNBOUND, Ids
from everlog.engines.columnar import layout as at
from everlog.engines.columnar.batches import slot_operands, stack
from everlog.engines.columnar.entries import chain_rows, decide_batch, find_chains
from everlog.engines.columnar.relations import Relation
from everlog.engines.interface import Flow
from everlog.expressions.running import Running, running
from everlog.expressions.values import ExpressionError
from everlog.facts.terms import Term
from everlog.plans.flat_rules import GroupRule, WholeRule, WindowRule
from everlog.plans.windows import Window

if TYPE_CHECKING:
    from everlog.engines.columnar.engine import ColumnarEngine

_BATCH = at.BATCH
Fact = tuple[int, ...]


class Group:
    """A group of one aggregate: how many rows it has, its functions, and the fact they give."""

    def __init__(self, rule: GroupRule, fact: Fact | None) -> None:
        self.rows = 0
        self.functions: list[Running] = [running(f.function, f.distinct, f.separator) for f in rule.functions]
        self.fact = fact


class GroupBook:
    """The groups that updates have touched, by rule."""

    def __init__(self, engine: ColumnarEngine) -> None:
        self._engine = engine
        self._groups: dict[str, dict[Fact, Group]] = {}  # by the relation of the aggregate, and its group
        self._touched: list[tuple[str, Fact]] = []
        self._windows: dict[str, Window] = {}  # by the relation of the rows shown
        self._moved: list[str] = []  # those that the current update has changed

    def commit(self) -> None:
        self._touched.clear()
        self._moved.clear()

    def abort(self) -> None:
        for relation, key in self._touched:
            self._groups[relation].pop(key, None)
        self._touched.clear()
        for relation in self._moved:
            self._windows.pop(relation, None)
        self._moved.clear()

    def drop(self, relation: str) -> None:
        self._groups.pop(relation, None)
        self._windows.pop(relation, None)

    def regroup(self, rule: WholeRule, first: bool) -> Flow:
        """Bring the facts of an aggregate in line with the touched rows of its bag, or those of a window."""
        engine = self._engine
        source, target = engine.relation(rule.source.relation), engine.relation(rule.head.relation)
        if isinstance(rule, WindowRule):
            return self._move_window(rule, source, target)
        rows, changes = source.weight_changes(engine.tables)
        of_all = first and not rule.group  # a group that exists even without rows
        if not len(rows) and not of_all:
            return Flow(0, 0)
        groups = self._groups.setdefault(rule.head.relation, {})
        facts = source.facts[rows].tolist()
        keys = dict.fromkeys([tuple(fact[: rule.group]) for fact in facts] or [()])
        self._touched += [(rule.head.relation, key) for key in keys]  # first, since work may be interrupted
        new = set(keys).difference(groups)
        if new:
            self._make(rule, source, target, sorted(new), groups)
        for fact, change in zip(facts, changes.tolist(), strict=True):
            key = tuple(fact[: rule.group])
            if key not in new:
                self._change(rule, groups[key], fact, change)
        lost, gained = [], []
        for key in keys:
            group = groups[key]
            before, group.fact = group.fact, self._fact(rule, key, group)
            if before != group.fact:
                lost += [before] if before is not None else []
                gained += [group.fact] if group.fact is not None else []
            if not group.rows:
                del groups[key]
        flows = _decide(engine, target, lost, present=False), _decide(engine, target, gained, present=True)
        return Flow(sum(flow.gained for flow in flows), sum(flow.lost for flow in flows))

    def _move_window(self, rule: WindowRule, source: Relation, target: Relation) -> Flow:
        """Apply the changes to the window, and compare the rows it shows with those it showed before."""
        name = rule.head.relation
        window = self._windows.pop(name, None)  # if this fails, the next one begins with all rows
        if window is None:
            window = self._engine.window(rule)
        else:
            changes = source.weight_changes if rule.bag else source.presence_changes
            rows, times = changes(self._engine.tables)
            facts = map(tuple, source.facts[rows, : source.arity].tolist())
            window.change(zip(facts, times.tolist(), strict=True))
        self._windows[name] = window
        self._moved.append(name)
        there = np.flatnonzero((target.masks[: self._engine.size(target)] & at.ABSENT) == 0)
        before = dict.fromkeys(map(tuple, target.facts[there].tolist()))
        after = dict.fromkeys(window.facts())
        lost = _decide(self._engine, target, [fact for fact in before if fact not in after], present=False)
        gained = _decide(self._engine, target, [fact for fact in after if fact not in before], present=True)
        return Flow(gained.gained + lost.gained, gained.lost + lost.lost)

    def _make(
        self, rule: GroupRule, source: Relation, target: Relation, keys: Sequence[Fact], groups: dict[Fact, Group]
    ) -> None:
        """Make groups from their rows as they are now, with the fact that each had before."""
        wanted = np.array(keys, np.int32).reshape(len(keys), rule.group)
        before = target.facts[_rows_of(self._engine, target, wanted, rule.group)].tolist()
        known = {tuple(fact[: rule.group]): tuple(fact) for fact in before}
        for key in keys:
            groups[key] = Group(rule, known.get(key))
        members = _rows_of(self._engine, source, wanted, rule.group)
        for fact, weight in zip(source.facts[members].tolist(), source.weights[members].tolist(), strict=True):
            self._change(rule, groups[tuple(fact[: rule.group])], fact, weight)

    def _change(self, rule: GroupRule, group: Group, fact: Sequence[int], change: int) -> None:
        group.rows += change
        for function, state in zip(rule.functions, group.functions, strict=True):
            state.change(True if function.column is None else self._term(fact[function.column]), change)

    def _term(self, id_: int) -> Term | None:
        return None if id_ == UNBOUND else self._engine.dictionary.decode(id_)

    def _fact(self, rule: GroupRule, key: Fact, group: Group) -> Fact | None:
        """What a group gives: nothing if it has no rows, unless it is the group of all."""
        if not group.rows and rule.group:
            return None
        results = []
        for state in group.functions:
            try:
                results.append(self._engine.dictionary.encode(state.result()))
            except ExpressionError:
                if not rule.keep_failed:
                    return None
                results.append(UNBOUND)
        return (*key, *results)


def _rows_of(engine: ColumnarEngine, relation: Relation, groups: Ids, width: int) -> Ids:
    """The rows of present facts whose first columns are one of the groups."""
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


def _decide(engine: ColumnarEngine, relation: Relation, facts: Sequence[Fact], *, present: bool) -> Flow:
    """Set whether facts are present."""
    gained = lost = 0
    code = slot_operands(relation.width)
    columns = [np.array(column, np.int32) for column in zip(*facts, strict=True)]
    for start in range(0, len(facts), _BATCH):
        batch = stack(columns, start, min(len(facts), start + _BATCH))
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
