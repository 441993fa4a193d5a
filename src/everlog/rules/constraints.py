"""What does a constraint look like among rules?

`@constraint name : body.` says that the body must stay without a match. It is a rule like others, whose head is a
relation of its own with the variables of the body.
"""

from __future__ import annotations

from everlog.rules.syntax import Rule

_PREFIX = "constraint~"


def constraint_relation(name: str) -> str:
    """The relation of the matches of a constraint."""
    return _PREFIX + name


def is_constraint_relation(relation: str) -> bool:
    return relation.startswith(_PREFIX)


def constraint_name(relation: str) -> str:
    """The name of the constraint whose matches a relation has."""
    return relation.removeprefix(_PREFIX)


def is_constraint(rule: Rule) -> bool:
    return len(rule.heads) == 1 and is_constraint_relation(rule.heads[0].relation)
