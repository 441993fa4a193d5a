"""How are expressions evaluated over a batch of ids?

Small integers, which are stored in their ids, are computed as arrays. Any other input is handled once per distinct
combination: decoded, evaluated by everlog.plans.expressions, and the outcome is remembered by id.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import (
    INLINE_LEAST,
    INLINE_MOST,
    INLINE_OFFSET,
    UNBOUND,
    Dictionary,
    Ids,
)
from everlog.engines.columnar.outcomes import MOST_OF_ONE, KnownOutcomes
from everlog.expressions.values import ExpressionError, effective_boolean
from everlog.plans.expressions import compile_expression
from everlog.plans.operators import Compute, Select
from everlog.rules.syntax import Constant, Expression, Variable

Booleans = npt.NDArray[np.bool_]
_FEW = 64  # rows; handling fewer one by one takes less time than sorting them
_FAILED, _TRUE = 1 << 40, 1 << 41  # outcomes that are not ids: no value, and a condition that holds


class PythonStep(Protocol):
    """A step that the kernel leaves to Python: it reads some slots, may fill one, and decides which bindings pass."""

    slots: list[int]
    output: int | None

    def apply(self, columns: Sequence[Ids], count: int) -> tuple[Ids | None, Booleans]:
        """The values of the output slot, if there is one, and which bindings pass."""


class ExpressionStep:
    """A FILTER or BIND of a plan, with the outcomes seen so far."""

    def __init__(
        self,
        step: Select | Compute,
        names: Sequence[str],
        slots: Sequence[int],
        output: int | None,
        dictionary: Dictionary,
        known: KnownOutcomes,
    ) -> None:
        self.slots, self.output = list(slots), output
        self._attempt = isinstance(step, Compute) and step.attempt
        self._dictionary = dictionary
        self._evaluate = compile_expression(step.expression, names)
        self._integers = integer_function(step.expression, names)
        self._outcomes = known.of(step.expression, names, condition=output is None)

    def apply(self, columns: Sequence[Ids], count: int) -> tuple[Ids | None, Booleans]:
        if self._integers is not None and columns and all((column < 0).all() for column in columns):
            values = self._integers[0]([column.astype(np.int64) + INLINE_OFFSET for column in columns])
            if self.output is None:
                keep = values if values.dtype == np.bool_ else values != 0
                return None, keep
            if values.dtype != np.bool_ and (INLINE_LEAST <= values).all() and (values <= INLINE_MOST).all():
                return (values - INLINE_OFFSET).astype(np.int32), np.ones(count, bool)
        return self._one_by_one(columns, count)

    def _one_by_one(self, columns: Sequence[Ids], count: int) -> tuple[Ids | None, Booleans]:
        """Evaluate each distinct input once and remember the outcome: an id, _FAILED or _TRUE."""
        distinct, places = _distinct_rows(columns, count)
        if len(self._outcomes) > MOST_OF_ONE:
            self._outcomes.clear()
        found = np.array([self._known_outcome(key) for key in distinct], np.int64)[places]
        if self.output is None:
            return None, found == _TRUE
        failed = found == _FAILED
        values = np.where(failed, UNBOUND, found).astype(np.int32)
        return values, np.ones(count, bool) if self._attempt else ~failed

    def _known_outcome(self, key: tuple[int, ...]) -> int:
        """What was found out before, by this query or another; several threads may be at it."""
        outcome = self._outcomes.get(key)
        if outcome is None:
            outcome = self._outcomes[key] = self._outcome(key)
        return outcome

    def _outcome(self, key: tuple[int, ...]) -> int:
        """Whether a condition holds (_TRUE), or the id of a value; _FAILED otherwise."""
        decode = self._dictionary.decode
        try:
            value = self._evaluate([None if id_ == UNBOUND else decode(id_) for id_ in key])
            if self.output is None:
                return _TRUE if effective_boolean(value) else _FAILED
            return self._dictionary.encode(value)
        except ExpressionError:
            return _FAILED


def _distinct_rows(columns: Sequence[Ids], count: int) -> tuple[list[tuple[int, ...]], npt.NDArray[np.int64]]:
    """The distinct rows of columns, and the index of each row among them; a few rows are all taken as distinct."""
    if not columns:
        return [()], np.zeros(count, np.int64)
    if count <= _FEW:
        return list(zip(*(column.tolist() for column in columns), strict=True)), np.arange(count)
    if len(columns) == 1:
        distinct, places = np.unique(columns[0], return_inverse=True)
        return [(id_,) for id_ in distinct.tolist()], places
    if len(columns) == 2:  # two ids in one number: far quicker to sort than rows
        packed = (columns[0].astype(np.int64) << 32) | columns[1].astype(np.uint32)
        _, first, places = np.unique(packed, return_index=True, return_inverse=True)
        return list(zip(*(column[first].tolist() for column in columns), strict=True)), places
    rows, places = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return list(map(tuple, rows.tolist())), places.ravel()


# --- integer arithmetic on whole arrays -----------------------------------------------------------------------------

Array = npt.NDArray[Any]
ArrayFunction = Callable[[Sequence[Array]], Array]

_ARITHMETIC: dict[str, tuple[Callable[..., Array], Callable[..., int]]] = {
    # an operation, and how many bits its result may need given those of its arguments
    "+": (np.add, lambda a, b: max(a, b) + 1),
    "-": (np.subtract, lambda a, b: max(a, b) + 1),
    "*": (np.multiply, lambda a, b: a + b),
    "neg": (np.negative, lambda a: a),
    "abs": (np.abs, lambda a: a),
}
_CONDITIONS: dict[str, Callable[..., Array]] = {
    "=": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip
_MOST_BITS = 62


def integer_function(expression: Expression, names: Sequence[str]) -> tuple[ArrayFunction, int] | None:
    """An expression as a function of integer arrays, and the bits its result may need; None where it is not one."""
    if isinstance(expression, Variable):
        position = names.index(expression.name)
        return (lambda columns: columns[position]), 31
    if isinstance(expression, Constant):
        value = expression.term
        if type(value) is not int or not INLINE_LEAST <= value <= INLINE_MOST:
            return None
        return (lambda columns: np.full(len(columns[0]), value, np.int64)), 31
    arguments = [integer_function(argument, names) for argument in expression.args]
    functions = [argument[0] for argument in arguments if argument is not None]
    bits = [argument[1] for argument in arguments if argument is not None]
    if len(functions) < len(arguments) or 0 in bits:
        return None
    if expression.function in _ARITHMETIC:
        operation, needs = _ARITHMETIC[expression.function]
        needed = needs(*bits)
        if needed > _MOST_BITS:
            return None
        return (lambda columns: operation(*(function(columns) for function in functions))), needed
    if expression.function in _CONDITIONS:
        condition = _CONDITIONS[expression.function]
        return (lambda columns: condition(*(function(columns) for function in functions))), 0  # a truth value: no bits
    return None
