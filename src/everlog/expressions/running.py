"""How does an aggregate follow its bag, row by row?

COUNT, SUM and AVG are updated by differences, exactly (aggregates.Total); MIN, MAX, MEDIAN, SAMPLE and GROUP_CONCAT
use an ordered bag of the values. Rows whose expression failed and values that are not numbers are counted, so that an
aggregate is an error while there are any, and has a value again when the last is gone. The results are those of
`aggregate` over the whole bag.

>>> middle = running("MEDIAN", False)
>>> for value in (3, 1, 2):
...     middle.change(value, 1)
>>> middle.result()
2
>>> middle.change(3, -1)
>>> middle.result()
Decimal('1.5')
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from typing import Any

from everlog.expressions.aggregates import Total, concatenated
from everlog.expressions.numbers import add, divide, number_of
from everlog.expressions.ordering import order_key
from everlog.expressions.values import ExpressionError
from everlog.facts.terms import Term, key_of


def running(function: str, distinct: bool, separator: str = " ") -> Running:
    """An aggregate over a bag that is empty so far."""
    state: Running
    match function:
        case "COUNT":
            state = RunningCount()
        case "SUM" | "AVG":
            state = RunningTotal(function)
        case _:
            state = RunningOrder(function, separator)
    return Distinct(state) if distinct else state


class Running(ABC):
    """The value of an aggregate over a bag that changes."""

    @abstractmethod
    def change(self, term: Term | None, multiplicity: int) -> None:
        """Add a term so many times, or remove it if negative; None stands for a failed expression."""

    @abstractmethod
    def result(self) -> Term:
        """The value for the bag as it is, or an ExpressionError."""


class RunningCount(Running):
    """COUNT."""

    def __init__(self) -> None:
        self._count = 0

    def change(self, term: Term | None, multiplicity: int) -> None:
        if term is not None:
            self._count += multiplicity

    def result(self) -> Term:
        return self._count


class RunningTotal(Running):
    """SUM and AVG."""

    def __init__(self, function: str) -> None:
        self._function = function
        self._total, self._count, self._bad = Total(), 0, 0

    def change(self, term: Term | None, multiplicity: int) -> None:
        number = None if term is None else _number(term)
        if number is None:
            self._bad += multiplicity
        else:
            self._total.add(number, multiplicity)
            self._count += multiplicity

    def result(self) -> Term:
        if self._bad:
            raise ExpressionError(f"{self._function} of something that is no number")
        if self._function == "SUM":
            return self._total.result()
        if not self._count:
            raise ExpressionError("AVG of nothing")
        return divide(self._total.result(), self._count)


class RunningOrder(Running):
    """MIN, MAX, MEDIAN, SAMPLE and GROUP_CONCAT: the distinct values in order, with their multiplicities."""

    def __init__(self, function: str, separator: str) -> None:
        self._function, self._separator = function, separator
        self._order: list[Any] = []
        self._terms: list[Term] = []
        self._weights: list[int] = []
        self._size = 0
        self._failed = self._not_numbers = 0
        self._middle = self._before_middle = 0  # a position near the middle, and how many values lie before it

    def change(self, term: Term | None, multiplicity: int) -> None:
        if term is None:
            self._failed += multiplicity
            return
        if self._function == "MEDIAN" and _number(term) is None:
            self._not_numbers += multiplicity
        key = order_key(term)
        position = bisect_left(self._order, key)
        if position == len(self._order) or self._order[position] != key:
            self._order.insert(position, key)
            self._terms.insert(position, term)
            self._weights.insert(position, 0)
            self._middle += position <= self._middle and len(self._order) > 1
        self._weights[position] += multiplicity
        self._size += multiplicity
        if position < self._middle:
            self._before_middle += multiplicity
        if not self._weights[position]:
            del self._order[position], self._terms[position], self._weights[position]
            self._middle -= position < self._middle

    def result(self) -> Term:
        if self._failed and self._function != "SAMPLE":
            raise ExpressionError(f"{self._function} of an expression that failed for a row")
        if self._function == "GROUP_CONCAT":
            return concatenated(zip(self._terms, self._weights, strict=True), self._separator)
        if not self._size:
            raise ExpressionError(f"{self._function} of nothing")
        if self._function == "MAX":
            return self._terms[-1]
        if self._function != "MEDIAN":
            return self._terms[0]
        if self._not_numbers:
            raise ExpressionError("MEDIAN of something that is no number")
        upper = self._at(self._size // 2)
        if self._size % 2:
            return self._least_equal(upper)
        return divide(add(self._terms[self._at(self._size // 2 - 1)], self._terms[upper]), 2)

    def _at(self, wanted: int) -> int:
        """The position of the value that has so many before it; the middle moves there."""
        while self._middle >= len(self._order):
            self._middle -= 1
            self._before_middle -= self._weights[self._middle]
        while self._before_middle > wanted:
            self._middle -= 1
            self._before_middle -= self._weights[self._middle]
        while self._before_middle + self._weights[self._middle] <= wanted:
            self._before_middle += self._weights[self._middle]
            self._middle += 1
        return self._middle

    def _least_equal(self, position: int) -> Term:
        """The first of the terms with the same value, as in `aggregate`."""
        value = self._order[position][:2]
        while position and self._order[position - 1][:2] == value:
            position -= 1
        return self._terms[position]


class Distinct(Running):
    """Each term counts once, however often it occurs."""

    def __init__(self, distinct: Running) -> None:
        self._distinct = distinct
        self._counts: dict[str | None, int] = {}

    def change(self, term: Term | None, multiplicity: int) -> None:
        key = None if term is None else key_of(term)
        before = self._counts.get(key, 0)
        after = before + multiplicity
        if after:
            self._counts[key] = after
        else:
            self._counts.pop(key, None)
        if (before > 0) != (after > 0):
            self._distinct.change(term, 1 if after > 0 else -1)

    def result(self) -> Term:
        return self._distinct.result()


def _number(term: Term) -> Any:
    try:
        return number_of(term)
    except ExpressionError:
        return None
