"""Are two rules the same up to the names of their variables?

A rule is brought into a form in which variables are numbered by where they first stand. Names count within their scope:
what stands under NOT or inside AGGREGATE alone is local there, so two NOTs may use one local name or two. `_` is a
variable like any other. Names of rules and places in texts do not count; the order of literals does.

>>> from everlog.rules.parser import parse_program
>>> one, other = parse_program("p(X) :- q(X, Y), NOT r(X, _).   a: p(?x) :- q(?x, _), NOT r(?x, ?none).").rules
>>> renamed(one) == renamed(other)
True
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from everlog.rules import syntax


def renamed(rule: syntax.Rule) -> syntax.Rule:
    """The rule without its name, and with numbers for the names of its variables."""
    scope = _Numbering(rule.body, count(1), in_heads=rule.heads)
    heads = tuple(scope.atom(head) for head in rule.heads)
    return syntax.Rule(heads, scope.literals(rule.body))


class _Numbering:
    """The numbers of the variables that a body has to itself."""

    def __init__(
        self,
        body: Sequence[syntax.Literal],
        numbers: Iterator[int],
        *,
        in_heads: Sequence[syntax.Atom] = (),
        around: _Numbering | None = None,
        shared: frozenset[str] = frozenset(),
    ) -> None:
        self._numbers, self._around, self._shared = numbers, around, shared
        self._own: dict[str, syntax.Variable] = {}
        shown = {variable.name for head in in_heads for variable in head.variables()}
        for literal in body:
            if not isinstance(literal, syntax.Negation):  # which shows nothing to its neighbours
                shown.update(variable.name for variable in syntax.literal_variables(literal))
        self._shown = shared | shown

    def literals(self, body: Sequence[syntax.Literal]) -> tuple[syntax.Literal, ...]:
        return tuple(self._literal(literal) for literal in body)

    def atom(self, atom: syntax.Atom) -> syntax.Atom:
        return syntax.Atom(
            atom.relation, tuple(arg if isinstance(arg, syntax.Constant) else self._variable(arg) for arg in atom.args)
        )

    def _literal(self, literal: syntax.Literal) -> syntax.Literal:
        match literal:
            case syntax.Atom():
                return self.atom(literal)
            case syntax.Filter():
                return syntax.Filter(self._expression(literal.expression))
            case syntax.Bind():
                return syntax.Bind(self._expression(literal.expression), self._variable(literal.variable))
            case syntax.Negation():
                local = {variable.name for variable in literal.exists}
                inside = self._inside(literal.body, self._shown - local)
                body = inside.literals(literal.body)
                return syntax.Negation(body, tuple(inside._variable(variable) for variable in literal.exists))
            case syntax.Aggregate():
                inside = self._inside(literal.body, frozenset(variable.name for variable in literal.group))
                body = inside.literals(literal.body)
                group = tuple(self._variable(variable) for variable in literal.group)
                return syntax.Aggregate(
                    body, group, tuple(self._binding(binding, inside) for binding in literal.bindings)
                )

    def _inside(self, body: Sequence[syntax.Literal], shared: frozenset[str]) -> _Numbering:
        return _Numbering(body, self._numbers, around=self, shared=shared)

    def _binding(self, binding: syntax.AggregateBinding, inside: _Numbering) -> syntax.AggregateBinding:
        argument = None if binding.argument is None else inside._expression(binding.argument)
        return syntax.AggregateBinding(binding.function, argument, self._variable(binding.variable), binding.distinct)

    def _expression(self, expression: syntax.Expression) -> syntax.Expression:
        if isinstance(expression, syntax.Variable):
            return self._variable(expression)
        if isinstance(expression, syntax.Call):
            return replace(expression, args=tuple(self._expression(arg) for arg in expression.args))
        return expression

    def _variable(self, variable: syntax.Variable) -> syntax.Variable:
        if self._around is not None and variable.name in self._shared:
            return self._around._variable(variable)
        if variable.name not in self._own:
            self._own[variable.name] = syntax.Variable(str(next(self._numbers)))
        return self._own[variable.name]
