"""What is the value of an expression (SPARQL 1.1, section 17)? An error is `Failed`; only some operators survive it.

Literals of two kinds, such as 1 and "1", are not equal: SPARQL lets `=` fail there, and lets engines know better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from operator import ge, gt, le, lt
from typing import Any

import rdflib
from rdflib.plugins.sparql.parserutils import CompValue
from tests.sparql_oracle.terms import Beyond, Term, boolean, is_number, number, string, term_from

Exists = Callable[[Any], bool]  # has this pattern a solution, given the mapping at hand?


class Failed(Exception):
    """An expression has no value."""


class Expressions:
    """The values of expressions under one mapping."""

    def __init__(self, mapping: Mapping[str, Term], exists: Exists) -> None:
        self.mapping, self.exists = mapping, exists

    def holds(self, expression: Any) -> bool:
        """Does a filter let the mapping pass?"""
        return self.truth(expression) is True

    def truth(self, expression: Any) -> bool | None:
        """The effective boolean value; None for an error."""
        try:
            term = self.value(expression)
        except Failed:
            return None
        return None if term.kind in ("iri", "blank") else bool(term.value)

    def value(self, expression: Any) -> Term:
        if isinstance(expression, rdflib.Variable):
            if str(expression) not in self.mapping:
                raise Failed
            return self.mapping[str(expression)]
        if not isinstance(expression, CompValue):
            return term_from(expression)
        return getattr(self, "_" + expression.name.removeprefix("Builtin_").lower())(expression)

    # Truth values

    def _decided(self, outcomes: list[bool | None], decisive: bool) -> Term:
        if decisive in outcomes:
            return boolean(decisive)
        if None in outcomes:
            raise Failed
        return boolean(not decisive)

    def _conditionalandexpression(self, node: Any) -> Term:
        return self._decided([self.truth(each) for each in (node.expr, *node.other)], False)

    def _conditionalorexpression(self, node: Any) -> Term:
        return self._decided([self.truth(each) for each in (node.expr, *node.other)], True)

    def _unarynot(self, node: Any) -> Term:
        return self._not(self.truth(node.expr))

    def _not(self, outcome: bool | None) -> Term:
        if outcome is None:
            raise Failed
        return boolean(not outcome)

    def _truefilter(self, node: Any) -> Term:
        return boolean(True)

    def _exists(self, node: Any) -> Term:
        return boolean(self.exists(node.graph))

    def _notexists(self, node: Any) -> Term:
        return boolean(not self.exists(node.graph))

    # Comparisons

    def _relationalexpression(self, node: Any) -> Term:
        left = self.value(node.expr)
        if node.op in ("IN", "NOT IN"):
            members = node.other if isinstance(node.other, list) else []  # rdflib has rdf:nil for ()
            found = self._decided([self._equals(left, each) for each in members], True)
            return found if node.op == "IN" else boolean(not found.value)
        right = self.value(node.other)
        if node.op in ("=", "!="):
            return boolean(equal(left, right) == (node.op == "="))
        comparable = left.kind == right.kind and left.kind not in ("iri", "blank")
        if not comparable and not (is_number(left) and is_number(right)):
            raise Failed
        return boolean({"<": lt, "<=": le, ">": gt, ">=": ge}[node.op](left.value, right.value))

    def _equals(self, left: Term, other: Any) -> bool | None:
        try:
            return equal(left, self.value(other))
        except Failed:
            return None

    # Numbers

    def _additiveexpression(self, node: Any) -> Term:
        return self._chain(node)

    def _multiplicativeexpression(self, node: Any) -> Term:
        return self._chain(node)

    def _chain(self, node: Any) -> Term:
        found = self.value(node.expr)
        for operator, operand in zip(node.op, node.other, strict=True):
            found = compute(str(operator), found, self.value(operand))
        return found

    def _unaryminus(self, node: Any) -> Term:
        return compute("-", Term("integer", 0), self.value(node.expr))

    # Functions

    def _bound(self, node: Any) -> Term:
        return boolean(str(node.arg) in self.mapping)

    def _isiri(self, node: Any) -> Term:
        return boolean(self.value(node.arg).kind == "iri")

    def _isliteral(self, node: Any) -> Term:
        return boolean(self.value(node.arg).kind not in ("iri", "blank"))

    def _isnumeric(self, node: Any) -> Term:
        return boolean(is_number(self.value(node.arg)))

    def _str(self, node: Any) -> Term:
        term = self.value(node.arg)
        if term.kind == "decimal":
            raise Beyond  # how many digits has a third?
        if term.kind == "blank":
            raise Failed
        return string(str(term.value).lower() if term.kind == "boolean" else str(term.value))

    def _coalesce(self, node: Any) -> Term:
        for each in node.arg:
            try:
                return self.value(each)
            except Failed:
                continue
        raise Failed

    def _if(self, node: Any) -> Term:
        chosen = self.truth(node.arg1)
        if chosen is None:
            raise Failed
        return self.value(node.arg2 if chosen else node.arg3)


def equal(left: Term, right: Term) -> bool:
    """SPARQL's `=`."""
    return left == right or (is_number(left) and is_number(right) and left.value == right.value)


def compute(operator: str, left: Term, right: Term) -> Term:
    """Arithmetic; of integers it is exact, and so is their division, which gives a decimal."""
    if not is_number(left) or not is_number(right):
        raise Failed
    match operator:
        case "+":
            return number(left.value + right.value)
        case "-":
            return number(left.value - right.value)
        case "*":
            return number(left.value * right.value)
    if right.value == 0:
        raise Failed
    return number(Fraction(left.value) / right.value)
