"""Which of our expressions corresponds to one of SPARQL's?

Rules have SPARQL's functions and its rules for errors already (everlog.expressions), so this is a matter of names.
EXISTS is not an expression for us: the caller provides the expression that replaces it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from everlog.errors import SparqlError
from everlog.expressions.functions import FUNCTIONS, SPECIAL_FORMS
from everlog.rules.syntax import Call, Constant, Expression, Variable
from everlog.sparql.terms import argument_from

if TYPE_CHECKING:
    from everlog.sparql.patterns import Compilation

FAILS = Call("coalesce", ())
"""An expression without a value."""

# The names that rdflib gives to the arguments of functions, in order.
_ARGUMENTS = ("arg", "arg1", "arg2", "arg3", "text", "start", "length", "pattern", "replacement", "flags")
_BINARY = {"ConditionalOrExpression": "||", "ConditionalAndExpression": "&&"}
_UNARY = {"UnaryNot": "!", "UnaryMinus": "neg", "UnaryPlus": ""}
_LISTS = ("Builtin_CONCAT", "Builtin_COALESCE")  # an empty list of arguments is rdf:nil to rdflib
_NEVER_FAIL = ("bound", "sameterm", "isiri", "isblank")  # unless an argument fails
EXISTS = ("Builtin_EXISTS", "Builtin_NOTEXISTS")
_ANEW = ("rand", "uuid", "struuid", "bnode")  # functions with a different value for each solution

Exists = Callable[[Any, bool], Expression]  # a pattern, and whether it must have a solution or none


class Translator:
    """Translates expressions of one query."""

    def __init__(self, exists: Exists, compilation: Compilation) -> None:
        self._exists, self._compilation = exists, compilation

    def translate(self, expression: Any) -> Expression:
        from rdflib.plugins.sparql.parserutils import CompValue
        from rdflib.term import Identifier

        if isinstance(expression, CompValue):
            return self._compound(expression)
        assert isinstance(expression, Identifier), f"{expression!r} is no expression"
        return argument_from(expression)

    def _compound(self, node: Any) -> Expression:
        name: str = node.name
        if name == "TrueFilter":
            return Constant(True)
        if name in EXISTS:
            return self._exists(node.graph, name == EXISTS[0])
        if name in _BINARY:
            others = node.other if node.other is not None else []
            return self._chain([(_BINARY[name], other) for other in others], node.expr)
        if name in _UNARY:
            operand = self.translate(node.expr)
            if name == "UnaryPlus":  # the number itself, as it is written
                return Call("if", (Call("isnumeric", (operand,)), operand, FAILS))
            return Call(_UNARY[name], (operand,))
        if name in ("AdditiveExpression", "MultiplicativeExpression"):
            return self._chain(list(zip(node.op or [], node.other or [], strict=True)), node.expr)
        if name == "RelationalExpression":
            return self._comparison(node)
        if name == "Function":
            return self._function(node)
        if name.startswith("Builtin_"):
            return self._builtin(name.removeprefix("Builtin_").lower(), list(_arguments(node)))
        raise SparqlError(f"an expression of the kind {name} is not known")

    def _chain(self, steps: list[tuple[Any, Any]], first: Any) -> Expression:
        found = self.translate(first)
        for operator, operand in steps:
            found = Call(str(operator), (found, self.translate(operand)))
        return found

    def _comparison(self, node: Any) -> Expression:
        left, operator = self.translate(node.expr), node.op
        if operator is None:
            return left
        if operator in ("IN", "NOT IN"):
            members = [] if not isinstance(node.other, list) else [self.translate(other) for other in node.other]
            return Call(operator.lower(), (left, *members))
        return Call(str(operator), (left, self.translate(node.other)))

    def _function(self, node: Any) -> Expression:
        iri = str(node.iri)
        arguments = tuple(self.translate(each) for each in (node.expr or []))
        function = FUNCTIONS.get(iri)
        if function is None:
            return FAILS  # SPARQL 1.1, 17.6: calling a function that is not known is an error of the expression
        _check_count(f"<{iri}>", function.least_args, function.most_args, len(arguments))
        return Call(iri, arguments)

    def _builtin(self, name: str, arguments: list[Any]) -> Expression:
        translated = tuple(self.translate(argument) for argument in arguments)
        if name in ("iri", "uri") and len(translated) == 1 and self._compilation.base is not None:
            return Call(name, (*translated, Constant(self._compilation.base)))
        if name == "now":  # one time for the whole query
            return Call(name, (Constant(self._compilation.moment),))
        if name == "bnode":  # BNODE("a") is one node per solution, BNODE() a different one at each place
            own = (Constant(self._compilation.variable()),) if not translated else translated
            return Call(name, (*own, Constant(self._compilation.salt)))
        return Call(name, translated)


def _arguments(node: Any) -> Iterator[Any]:
    for name in _ARGUMENTS:
        value = getattr(node, name)
        if value is None or (node.name in _LISTS and not isinstance(value, list)):
            continue
        if isinstance(value, list):
            yield from value
        else:
            yield value


def _check_count(name: str, least: int, most: int | None, given: int) -> None:
    if given < least or (most is not None and given > most):
        raise SparqlError(f"{name} takes {least if most == least else f'{least} to {most}'} arguments, not {given}")


def resolved(expression: Expression, bound: frozenset[str]) -> Expression:
    """The expression, given that only some variables are bound and the others have no value."""
    if isinstance(expression, Variable):
        return expression if expression.name in bound else FAILS
    if isinstance(expression, Constant):
        return expression
    if expression.function == "bound":
        (argument,) = expression.args
        return Constant(isinstance(argument, Variable) and argument.name in bound)
    return Call(expression.function, tuple(resolved(argument, bound) for argument in expression.args))


def told_apart(expression: Expression, solution: tuple[Variable, ...]) -> Expression:
    """The expression with the solution as further arguments of calls whose value differs between solutions.

    Functions are evaluated once for equal arguments.
    """
    if not isinstance(expression, Call):
        return expression
    arguments = tuple(told_apart(argument, solution) for argument in expression.args)
    return Call(expression.function, (*arguments, *solution) if expression.function in _ANEW else arguments)


def always_fails(expression: Expression) -> bool:
    """Does an expression certainly fail, because it needs the value of an unbound variable?"""
    if not isinstance(expression, Call):
        return False
    needs_all = expression.function not in SPECIAL_FORMS or expression.function == "!"
    return expression == FAILS or (needs_all and any(map(always_fails, expression.args)))


def may_fail(expression: Expression) -> bool:
    """Can an expression over bound variables fail?"""
    if not isinstance(expression, Call):
        return False
    return expression.function not in _NEVER_FAIL or any(may_fail(argument) for argument in expression.args)
