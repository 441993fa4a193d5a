"""What was the outcome of an expression for inputs seen before?

An id always stands for the same term, so an outcome stays valid: steps with the same expression share their outcomes,
within a query and with later ones.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from everlog.plans.expressions import is_deterministic
from everlog.rules.syntax import Call, Expression, Variable

Outcomes = dict[tuple[int, ...], int]
_MOST_EXPRESSIONS = 256
_MOST_OUTCOMES = 1 << 20  # in all, about 180 bytes each
MOST_OF_ONE = 1 << 18  # of one expression: more are seldom asked for again


class KnownOutcomes:
    """The outcomes of the expressions that were evaluated last."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[Expression, bool], Outcomes] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, expression: Expression, names: Sequence[str], *, condition: bool) -> Outcomes:
        """The outcomes of an expression, by its inputs in the order of `names`; the caller adds new ones."""
        if not is_deterministic(expression):
            return {}
        key = _numbered(expression, names), condition
        with self._lock:
            found = self._known.pop(key, {})
            self._known[key] = found
            if len(self._known) > _MOST_EXPRESSIONS:
                self._known.popitem(last=False)
            while len(self._known) > 1 and sum(map(len, self._known.values())) > _MOST_OUTCOMES:
                self._known.popitem(last=False)
        return found


def _numbered(expression: Expression, names: Sequence[str]) -> Expression:
    """The expression with numbers for its variables, so that others with the same form are equal."""
    if isinstance(expression, Variable):
        return Variable(str(names.index(expression.name)))
    if isinstance(expression, Call):
        return Call(expression.function, tuple(_numbered(argument, names) for argument in expression.args))
    return expression
