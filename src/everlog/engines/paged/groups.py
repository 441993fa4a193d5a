"""What are the facts of an aggregate, for the groups that an update has touched?

The rows of those groups are fetched by the group's key, and each group is aggregated anew: work follows the size of the
touched groups. An aggregate without ON has one group, all rows, and so is left to others where those are many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.engines.paged.bindings import Evaluation
from everlog.engines.paged.relation import Found, PagedRelation
from everlog.engines.paged.stored_facts import distinct
from everlog.expressions.aggregates import aggregate
from everlog.expressions.values import ExpressionError
from everlog.plans.flat_rules import GroupFunction, GroupRule, WholeRule, WindowRule
from everlog.plans.labels import Label
from everlog.plans.windows import window_over

Array = npt.NDArray[Any]
Fact = tuple[int, ...]
Members = list[tuple[Fact, int]]
_NOW = Label.NOW.condition


def whole_facts(rule: WholeRule, source: PagedRelation, evaluation: Evaluation, dictionary: Dictionary) -> list[Fact]:
    """All facts of an aggregate, or of a window."""
    rows = source.scan(_NOW)
    if isinstance(rule, WindowRule):
        return window_over(rule.ordering, _members(source, rows, weighted=rule.bag), dictionary).facts()
    groups: dict[Fact, Members] = defaultdict(list)
    if rule.group == 0:
        groups[()] = []
    for fact, weight in _members(source, rows):
        groups[fact[: rule.group]].append((fact, weight))
    return _aggregated(rule, groups, evaluation, dictionary)


def touched_keys(rule: GroupRule, source: PagedRelation) -> list[Ids]:
    """The keys of the groups whose rows the update has changed."""
    columns = source.held.columns(source.journal)[: rule.group]
    first, _ = distinct(columns)
    return [column[first] for column in columns]


def facts_of_groups(
    rule: GroupRule, keys: Sequence[Ids], source: PagedRelation, evaluation: Evaluation, dictionary: Dictionary
) -> list[Fact]:
    """The facts of the groups with these keys."""
    groups: dict[Fact, Members] = defaultdict(list)
    _, rows = source.read(tuple(range(rule.group)), keys, _NOW)
    for fact, weight in _members(source, rows):
        groups[fact[: rule.group]].append((fact, weight))
    return _aggregated(rule, groups, evaluation, dictionary)


def _members(source: PagedRelation, rows: Found, *, weighted: bool = True) -> Iterable[tuple[Fact, int]]:
    arity = source.shape.arity
    facts = zip(*(column.tolist() for column in rows.columns[:arity]), strict=True) if arity else [()] * rows.size
    return zip(facts, rows.weights.tolist() if weighted else [1] * rows.size, strict=True)


def _aggregated(
    rule: GroupRule, groups: dict[Fact, Members], evaluation: Evaluation, dictionary: Dictionary
) -> list[Fact]:
    found = []
    for key, members in groups.items():
        values = [_value(function, members, evaluation, dictionary) for function in rule.functions]
        if rule.keep_failed or dictionary.unbound not in values:
            found.append((*key, *values))
    return found


def _value(function: GroupFunction, members: Members, evaluation: Evaluation, dictionary: Dictionary) -> int:
    column = function.column
    values = [(True if column is None else evaluation.term(fact[column]), weight) for fact, weight in members]
    try:
        return dictionary.encode(aggregate(function.function, function.distinct, values, function.separator))
    except ExpressionError:
        return dictionary.unbound


def as_columns(facts: Sequence[Fact], width: int, dtype: type[np.signedinteger[Any]]) -> list[Ids]:
    """Facts as columns; one column of zeros where they have no arguments."""
    if not facts or not facts[0]:
        return [np.zeros(len(facts), dtype) for _ in range(width)]
    return [np.array(column, dtype) for column in zip(*facts, strict=True)]
