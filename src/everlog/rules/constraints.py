"""What does a constraint look like among rules?

`@constraint name : body.` says that the body must stay without a match. It is a rule like others, whose head is a
relation of its own with the variables of the body. The relation is named after the rule, like the other relations that
only evaluation knows of (plans/flat_rules.py), with a `~` that no user's name has: nobody else can read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from everlog.rules.diagnostics import Span
from everlog.rules.syntax import Aggregate, Atom, Bind, Literal, Rule, Variable, literal_variables

_SUFFIX = "~constraint"


def constraint_relation(name: str) -> str:
    """The relation of the matches of a constraint."""
    return name + _SUFFIX


def is_constraint_relation(relation: str) -> bool:
    return relation.endswith(_SUFFIX)


def constraint_name(relation: str) -> str:
    """The name of the constraint whose matches a relation has."""
    return relation.removesuffix(_SUFFIX)


def is_constraint(rule: Rule) -> bool:
    return len(rule.heads) == 1 and is_constraint_relation(rule.heads[0].relation)


def constraint(name: str, body: Sequence[Literal], span: Span | None = None) -> Rule:
    """The rule of a constraint. Its matches are told apart by the variables that the body binds, `_` not among them.

    >>> from everlog.rules.parser import parse_body
    >>> constraint("c", parse_body("p(?x, _), NOT q(?x, ?y)")).heads
    (Atom(relation='c~constraint', args=(Variable(name='x'),)),)
    """
    bound = {variable.name for literal in body for variable in _bound(literal) if not variable.anonymous}
    used = (variable for literal in body for variable in literal_variables(literal))
    shown = dict.fromkeys(variable.name for variable in used if variable.name in bound)
    head = Atom(constraint_relation(name), tuple(map(Variable, shown)), span=span)
    return Rule((head,), tuple(body), name, span=span)


def _bound(literal: Literal) -> Iterator[Variable]:
    if isinstance(literal, Atom | Aggregate):
        yield from literal_variables(literal)
    elif isinstance(literal, Bind):
        yield literal.variable
