"""What does an aggregate give for a bag of terms?

The bag comes as terms with multiplicities; None stands for rows whose expression failed.

    COUNT     how many there are without the failed ones
    SUM       the sum, of the widest type that occurs; 0 for nothing
    AVG       SUM / COUNT, a decimal for integers
    MEDIAN    the middle one; of an even number, half the sum of the two in the middle
    MIN, MAX  by the order of `ordering.py`, so of any terms
    SAMPLE    the least that has not failed, so always the same one
    GROUP_CONCAT  the texts of all in order, with a separator between them; empty for nothing

SUM, AVG, MEDIAN, MIN and MAX of a failed row, and SUM, AVG and MEDIAN of anything but a number, are errors, as is
everything but COUNT and SUM of nothing. With DISTINCT each term counts once (1 and 1.0 are two terms).

A sum must not depend on the order of its terms, so nothing is rounded on the way: integers, decimals, floats and
doubles are added up exactly, and the result is rounded once to its type.

>>> aggregate("SUM", False, [(0.1, 10)]), aggregate("AVG", False, [(1, 1), (2, 1)])
(1.0, Decimal('1.5'))
>>> aggregate("COUNT", True, [("a", 3)])
1
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from itertools import chain, repeat

from everlog.expressions.nodes import text
from everlog.expressions.numbers import DECIMALS, EXACT, add, bounded, divide, number_of
from everlog.expressions.numerals import Number, Single, number_term, to_single
from everlog.expressions.ordering import order_key
from everlog.expressions.values import ExpressionError
from everlog.facts.terms import Term, key_of

Weighted = tuple[Term, int]

_SCALE = 1074  # every double is a whole number of 2**-1074


class Total:
    """A sum to which numbers are added, and from which they are removed, in any order and without rounding.

    >>> total = Total()
    >>> for value, multiplicity in [(1e100, 1), (1.0, 1), (1e100, -1)]:
    ...     total.add(value, multiplicity)
    >>> total.result()
    1.0
    """

    def __init__(self) -> None:
        self._integers = 0
        self._decimals = Decimal(0)
        self._binary = 0  # the doubles and floats, as a multiple of 2**-_SCALE
        self._counts = {int: 0, Decimal: 0, Single: 0, float: 0}  # how many of each type: the result has the widest
        self._infinite = {math.inf: 0, -math.inf: 0}
        self._nans = 0

    def add(self, value: Number, multiplicity: int = 1) -> None:
        """Add a number so many times; a negative multiplicity removes it again."""
        if isinstance(value, int):
            self._integers += value * multiplicity
            self._counts[int] += multiplicity
        elif isinstance(value, Decimal):
            try:
                self._decimals = EXACT.fma(value, multiplicity, self._decimals)
            except decimal.DecimalException:
                raise ExpressionError("a sum of decimals has too many digits") from None
            self._counts[Decimal] += multiplicity
        else:
            self._counts[Single if isinstance(value, Single) else float] += multiplicity
            if math.isnan(value):
                self._nans += multiplicity
            elif math.isinf(value):
                self._infinite[float(value)] += multiplicity
            else:
                numerator, denominator = value.as_integer_ratio()
                self._binary += (numerator << (_SCALE + 1 - denominator.bit_length())) * multiplicity

    def result(self) -> Term:
        """The sum, rounded to the widest type among the numbers; the integer 0 for none."""
        if self._counts[float]:
            return self._double()
        if self._counts[Single]:
            return number_term(to_single(self._double()))
        if self._counts[Decimal]:
            try:
                return DECIMALS.plus(EXACT.add(self._decimals, self._integers))
            except decimal.DecimalException:
                raise ExpressionError("a sum of decimals has too many digits") from None
        return bounded(self._integers)

    def _double(self) -> float:
        up, down = self._infinite[math.inf] > 0, self._infinite[-math.inf] > 0
        if self._nans or (up and down):
            return math.nan
        if up or down:
            return math.inf if up else -math.inf
        exact = Fraction(self._binary, 1 << _SCALE) + self._integers + Fraction(self._decimals)
        try:
            return float(exact)
        except OverflowError:
            return math.inf if exact > 0 else -math.inf


def aggregate(function: str, distinct: bool, values: Iterable[tuple[Term | None, int]], separator: str = " ") -> Term:
    """The value of COUNT, SUM, AVG, MIN, MAX, MEDIAN, SAMPLE or GROUP_CONCAT; multiplicities are at least 1."""
    bag: list[Weighted] = []
    failed = False
    for term, multiplicity in values:
        if term is None:
            failed = True
        else:
            bag.append((term, multiplicity))
    if distinct:
        bag = [(term, 1) for term in {key_of(term): term for term, _ in bag}.values()]
    if function == "COUNT":
        return sum(multiplicity for _, multiplicity in bag)
    if failed and function != "SAMPLE":
        raise ExpressionError(f"{function} of an expression that failed for a row")
    if function == "SUM":
        return _sum(bag)
    if function == "GROUP_CONCAT":
        return concatenated(sorted(bag, key=lambda weighted: order_key(weighted[0])), separator)
    if not bag:
        raise ExpressionError(f"{function} of nothing")
    match function:
        case "AVG":
            return divide(_sum(bag), sum(multiplicity for _, multiplicity in bag))
        case "MEDIAN":
            return _median(bag)
        case "MAX":
            return max((term for term, _ in bag), key=order_key)
        case "MIN" | "SAMPLE":
            return min((term for term, _ in bag), key=order_key)
    raise AssertionError(f"{function} is not an aggregate")


def concatenated(ordered: Iterable[Weighted], separator: str) -> Term:
    """The texts of terms, each as often as it occurs; an error where a term has none."""
    texts = [text(term) for term, multiplicity in ordered for _ in range(multiplicity)]
    return separator.join(str(each) for each in texts)


def _sum(bag: list[Weighted]) -> Term:
    if bag and all(type(term) is float for term, _ in bag):
        # Doubles alone are the usual case, and fsum adds them up exactly in a fraction of the time (+ 0.0: never -0.0).
        try:
            return math.fsum(chain.from_iterable(repeat(term, times) for term, times in bag)) + 0.0  # type: ignore[arg-type]
        except (OverflowError, ValueError):  # beyond what a double can hold on the way, or infinities of both signs
            pass
    total = Total()
    for term, multiplicity in bag:
        total.add(number_of(term), multiplicity)
    return total.result()


def _median(bag: list[Weighted]) -> Term:
    for term, _ in bag:
        number_of(term)
    ordered = sorted(bag, key=lambda weighted: order_key(weighted[0]))
    size = sum(multiplicity for _, multiplicity in bag)
    upper = _at(ordered, size // 2)
    if size % 2:
        return _least_equal(ordered, upper)
    return divide(add(_at(ordered, size // 2 - 1), upper), 2)


def _at(ordered: list[Weighted], position: int) -> Term:
    """The term at a position, counted from 0, of the bag written out."""
    for term, multiplicity in ordered:
        position -= multiplicity
        if position < 0:
            return term
    raise AssertionError("the position is beyond the bag")


def _least_equal(ordered: list[Weighted], middle: Term) -> Term:
    """The first of the terms with the same value: of 1, 1 and 1.0 the median is the same whichever is in the middle."""
    value = order_key(middle)[:2]
    return next(term for term, _ in ordered if order_key(term)[:2] == value)
