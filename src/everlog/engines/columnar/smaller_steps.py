"""Which steps of a plan become several, so that the kernel does more of them itself?

A conjunction is one condition after another. A comparison of two expressions, each of one variable, becomes two values
and a comparison of these: an expression is then evaluated once for each distinct value of its variable, not for each
pair of values, and the kernel compares numbers and dates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from everlog.plans.operators import Compute, Select, Step
from everlog.rules.syntax import Argument, Call, Expression, Variable, expression_variables

_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")


def smaller_steps(steps: Iterable[Step]) -> list[Step]:
    """Equivalent steps, split where that helps."""
    numbers = count()
    found: list[Step] = []
    for step in steps:
        found.extend(_conditions(step.expression, numbers) if isinstance(step, Select) else [step])
    return found


def _conditions(expression: Expression, numbers: Iterator[int]) -> Iterator[Step]:
    if isinstance(expression, Call) and expression.function == "&&":
        for part in expression.args:
            yield from _conditions(part, numbers)
    elif isinstance(expression, Call) and expression.function in _COMPARISONS and _is_of_two(expression):
        sides: list[Argument] = []
        for side in expression.args:
            if isinstance(side, Call):
                value = f"~side{next(numbers)}"  # no rule has such a variable
                yield Compute(side, value, attempt=True)  # no value: the comparison fails, and so does the condition
                side = Variable(value)
            sides.append(side)
        yield Select(Call(expression.function, tuple(sides)))
    else:
        yield Select(expression)


def _is_of_two(comparison: Call) -> bool:
    """Does each side depend on one variable, and on different ones?"""
    names = [{variable.name for variable in expression_variables(side)} for side in comparison.args]
    return all(len(own) == 1 for own in names) and names[0] != names[1]
