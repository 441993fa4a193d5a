"""How are expressions evaluated over a batch of ids?

Integers that live in their ids are computed on as arrays. Everything else is looked at once per distinct input:
decoded, evaluated by everlog.plans.expressions, the outcome remembered by id.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import INLINE_LEAST, INLINE_MOST, INLINE_OFFSET, UNBOUND, Dictionary, Ids
from everlog.expressions.values import ExpressionError, effective_boolean
from everlog.plans.expressions import compile_expression
from everlog.plans.operators import Compute, Select
from everlog.rules.syntax import Constant, Expression, Variable

Booleans = npt.NDArray[np.bool_]
_FAILED = None  # the outcome of an expression that has no value


class PythonStep(Protocol):
    """A step that the kernel leaves to Python: it reads some slots, may fill one, and says which bindings go on."""

    slots: list[int]
    output: int | None

    def apply(self, columns: Sequence[Ids], count: int) -> tuple[Ids | None, Booleans]:
        """The values of the output slot, if there is one, and which bindings go on."""


class ExpressionStep:
    """A FILTER or BIND of a plan, with what is known about it by now."""

    def __init__(
        self,
        step: Select | Compute,
        names: Sequence[str],
        slots: Sequence[int],
        output: int | None,
        dictionary: Dictionary,
    ) -> None:
        self.slots, self.output = list(slots), output
        self._attempt = isinstance(step, Compute) and step.attempt
        self._dictionary = dictionary
        self._evaluate = compile_expression(step.expression, names)
        self._integers = integer_function(step.expression, names)
        self._outcomes: dict[tuple[int, ...], Any] = {}

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
        inputs = zip(*(column.tolist() for column in columns), strict=True) if columns else [()] * count
        outcomes = self._outcomes
        found = []
        for key in inputs:
            if key not in outcomes:
                outcomes[key] = self._outcome(key)
            found.append(outcomes[key])
        if self.output is None:
            return None, np.array([outcome is True for outcome in found], bool)
        if self._attempt:
            return np.array([UNBOUND if o is _FAILED else o for o in found], np.int32), np.ones(count, bool)
        keep = np.array([outcome is not _FAILED for outcome in found], bool)
        return np.array([0 if outcome is _FAILED else outcome for outcome in found], np.int32), keep

    def _outcome(self, key: tuple[int, ...]) -> Any:
        """True or False for a condition, the id of a value otherwise, or _FAILED."""
        decode = self._dictionary.decode
        try:
            value = self._evaluate([None if id_ == UNBOUND else decode(id_) for id_ in key])
            return effective_boolean(value) if self.output is None else self._dictionary.encode(value)
        except ExpressionError:
            return _FAILED


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
    """An expression as a function of integer arrays with the bits its result may need, or None where it is none."""
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
