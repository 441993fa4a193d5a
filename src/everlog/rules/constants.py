"""Which terms does a program mention?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from everlog.facts.terms import Term, key_of
from everlog.rules.syntax import Aggregate, Atom, Bind, Call, Constant, Expression, Filter, Literal, Negation, Program


def program_constants(program: Program) -> list[Term]:
    """The constants of a program's rules, each once."""
    found: dict[str, Term] = {}
    for rule in program.rules:
        for literal in (*rule.heads, *rule.body):
            for term in _in_literal(literal):
                found.setdefault(key_of(term), term)
    return list(found.values())


def _in_literal(literal: Literal) -> Iterator[Term]:
    match literal:
        case Atom():
            yield from (arg.term for arg in literal.args if isinstance(arg, Constant))
        case Filter() | Bind():
            yield from expression_constants(literal.expression)
        case Negation():
            yield from _in_all(literal.body)
        case Aggregate():
            yield from _in_all(literal.body)
            for binding in literal.bindings:
                yield from expression_constants(binding.argument)


def _in_all(body: Iterable[Literal]) -> Iterator[Term]:
    for literal in body:
        yield from _in_literal(literal)


def expression_constants(expression: Expression | None) -> Iterator[Term]:
    """The constants of an expression; one may come more than once."""
    if isinstance(expression, Constant):
        yield expression.term
    elif isinstance(expression, Call):
        for arg in expression.args:
            yield from expression_constants(arg)
