"""Which relations does a program speak of?"""

from __future__ import annotations

from collections.abc import Iterator

from everlog.rules.constraints import is_constraint
from everlog.rules.syntax import Aggregate, Atom, Literal, Negation, Program


def mentioned(program: Program) -> Iterator[str]:
    """Every relation in rules and facts."""

    def within(body: tuple[Literal, ...]) -> Iterator[str]:
        for literal in body:
            if isinstance(literal, Atom):
                yield literal.relation
            elif isinstance(literal, Negation | Aggregate):
                yield from within(literal.body)

    for rule in program.rules:
        yield from (head.relation for head in rule.heads if not is_constraint(rule))
        yield from within(rule.body)
    yield from (fact.relation for fact in program.facts)
