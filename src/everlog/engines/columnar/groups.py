"""How are aggregates computed over a bag of columns?

Rows are sorted by group. Counts, and sums, extremes and medians of integers that are stored in their ids, are array
operations; sums of doubles need no terms; for any other value everlog.expressions.aggregates evaluates the function
group by group.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import INLINE_LEAST, INLINE_MOST, INLINE_OFFSET, UNBOUND, Dictionary, Ids
from everlog.dictionary.kinds import KIND_DOUBLE, KIND_FLOAT
from everlog.expressions.aggregates import aggregate
from everlog.expressions.numbers import divide
from everlog.expressions.numerals import number_term, to_single
from everlog.expressions.values import ExpressionError
from everlog.facts.terms import Term
from everlog.plans.flat_rules import GroupFunction, GroupRule

Weights = npt.NDArray[np.int64]
_FAILED = UNBOUND  # a group whose function has no value


def group_columns(rule: GroupRule, columns: Sequence[Ids], weights: Weights, dictionary: Dictionary) -> list[Ids]:
    """The columns of the aggregate's facts: group, then results.

    Groups in which a function fails are left out, unless the rule says `keep_failed`.
    """
    rows = len(weights)
    if rows == 0:
        return _over_nothing(rule, dictionary)
    keys = [np.asarray(column[:rows]) for column in columns[: rule.group]]
    order = np.lexsort(keys[::-1]) if keys else np.arange(rows)
    keys = [key[order] for key in keys]
    starts = _group_starts(keys, rows)
    ends = np.append(starts[1:], rows)
    results = [key[starts] for key in keys]
    alive = np.ones(len(starts), bool)
    for function in rule.functions:
        values = None if function.column is None else np.asarray(columns[function.column][:rows])[order]
        ids = _aggregate(function, values, weights[order], starts, ends, dictionary)
        if not rule.keep_failed:
            alive &= ids != _FAILED
        results.append(ids)
    return [column[alive] for column in results]


def _over_nothing(rule: GroupRule, dictionary: Dictionary) -> list[Ids]:
    nothing = [np.empty(0, np.int32)] * (rule.group + len(rule.functions))
    if rule.group:
        return nothing
    ids = []
    for function in rule.functions:
        try:
            ids.append(dictionary.encode(aggregate(function.function, function.distinct, (), function.separator)))
        except ExpressionError:  # MIN, MAX, AVG, MEDIAN, SAMPLE of nothing
            if not rule.keep_failed:
                return nothing
            ids.append(_FAILED)
    return [np.array([id_], np.int32) for id_ in ids]


def _group_starts(keys: Sequence[Ids], rows: int) -> npt.NDArray[np.int64]:
    changes = np.zeros(rows, bool)
    changes[0] = True
    for key in keys:
        changes[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(changes)


def _aggregate(
    function: GroupFunction,
    values: Ids | None,
    weights: Weights,
    starts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    dictionary: Dictionary,
) -> Ids:
    if function.function == "COUNT" and not function.distinct:
        counted = weights if values is None else np.where(values == UNBOUND, 0, weights)
        return _encode_integers(np.add.reduceat(counted, starts), dictionary)
    if values is not None and (values < 0).all():
        integers = values.astype(np.int64) + INLINE_OFFSET
        fast = _over_integers(function, integers, weights, starts, ends, dictionary)
        if fast is not None:
            return fast
    if values is not None and function.function in ("SUM", "AVG") and not function.distinct:
        sums = _over_doubles(function, values, weights, starts, ends, dictionary)
        if sums is not None:
            return sums
    return _group_by_group(function, values, weights, starts, ends, dictionary)


def _over_integers(
    function: GroupFunction,
    integers: npt.NDArray[np.int64],
    weights: Weights,
    starts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    dictionary: Dictionary,
) -> Ids | None:
    if function.function in ("MIN", "SAMPLE"):
        return _encode_integers(np.minimum.reduceat(integers, starts), dictionary)
    if function.function == "MAX":
        return _encode_integers(np.maximum.reduceat(integers, starts), dictionary)
    if function.distinct or float(np.abs(integers).max()) * float(weights.sum()) >= 2.0**62:
        return None
    if function.function == "SUM":
        return _encode_integers(np.add.reduceat(integers * weights, starts), dictionary)
    if function.function == "MEDIAN":
        return _medians(integers, weights, starts, ends, dictionary)
    return None


def _over_doubles(
    function: GroupFunction,
    values: Ids,
    weights: Weights,
    starts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    dictionary: Dictionary,
) -> Ids | None:
    """Sums and averages of doubles alone, or of floats alone."""
    if (values < 0).any():  # integers among them
        return None
    kinds, numbers = dictionary.described()
    kind = kinds[values[0]]
    if kind not in (KIND_DOUBLE, KIND_FLOAT) or (kinds[values] != kind).any():
        return None
    counts = np.add.reduceat(weights, starts).tolist()
    doubles = numbers[values]
    terms = []
    for start, end, count in zip(starts.tolist(), ends.tolist(), counts, strict=True):
        members = np.repeat(doubles[start:end], weights[start:end]).tolist()
        try:
            total = math.fsum(members) + 0.0  # never -0.0, as in everlog.expressions.aggregates
        except OverflowError:  # on the way to a sum that a double may hold
            return None
        term = number_term(to_single(total) if kind == KIND_FLOAT else total)
        terms.append(divide(term, count) if function.function == "AVG" else term)
    return _encode_terms(terms, dictionary)


def _medians(
    integers: npt.NDArray[np.int64],
    weights: Weights,
    starts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    dictionary: Dictionary,
) -> Ids:
    group_of = np.repeat(np.arange(len(starts)), ends - starts)
    order = np.lexsort((integers, group_of))
    integers, running = integers[order], np.cumsum(weights[order])
    before = np.concatenate([[0], running])[starts]
    total = running[ends - 1] - before
    # The positions of the lower and the upper middle among all values of a group, counted from its first.
    lower = integers[np.searchsorted(running, before + (total - 1) // 2, side="right")]
    upper = integers[np.searchsorted(running, before + total // 2, side="right")]
    even = total % 2 == 0
    if not even.any():
        return _encode_integers(upper, dictionary)
    terms: list[Term] = [
        Decimal(low + high) / 2 if is_even else high
        for low, high, is_even in zip(lower.tolist(), upper.tolist(), even.tolist(), strict=True)
    ]
    return _encode_terms(terms, dictionary)


def _group_by_group(
    function: GroupFunction,
    values: Ids | None,
    weights: Weights,
    starts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    dictionary: Dictionary,
) -> Ids:
    ids = np.full(len(starts), _FAILED, np.int32)
    for group, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        counts = weights[start:end].tolist()
        terms: list[Term | None]
        if values is None:
            terms = [True] * len(counts)
        else:
            terms = [None if id_ == UNBOUND else dictionary.decode(id_) for id_ in values[start:end].tolist()]
        try:
            members = zip(terms, counts, strict=True)
            result = aggregate(function.function, function.distinct, members, function.separator)
            ids[group] = dictionary.encode(result)
        except ExpressionError:
            continue
    return ids


def _encode_integers(values: npt.NDArray[np.int64], dictionary: Dictionary) -> Ids:
    if (values >= INLINE_LEAST).all() and (values <= INLINE_MOST).all():
        return (values - INLINE_OFFSET).astype(np.int32)
    return _encode_terms(values.tolist(), dictionary)


def _encode_terms(terms: Sequence[Term], dictionary: Dictionary) -> Ids:
    return np.fromiter((dictionary.encode(term) for term in terms), np.int32, len(terms))
