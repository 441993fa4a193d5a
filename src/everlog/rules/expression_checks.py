"""Do the called functions exist, is the number of arguments right, and do constants fit where they are used?

The functions themselves are in everlog.expressions; only their names and numbers of arguments matter here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Protocol

from everlog.facts.terms import IRI, BlankNode, Term
from everlog.rules import syntax
from everlog.rules.diagnostics import Diagnostic
from everlog.rules.printer import print_rule, print_term

# These differ from call to call, but derived facts must not depend on when or how often they are derived.
CHANCE = frozenset(("rand", "uuid", "struuid", "now", "bnode"))
_ARITHMETIC = frozenset(("+", "-", "*", "/", "neg"))


class Signature(Protocol):
    """How many arguments a function takes."""

    @property
    def least_args(self) -> int: ...

    @property
    def most_args(self) -> int | None: ...


def check_expressions(program: syntax.Program, arities: Mapping[str, int]) -> Iterator[Diagnostic]:
    """Every call in the rules."""
    functions = known_functions()
    for rule in program.rules:
        heads = {v.name for head in rule.heads for v in head.variables() if v.computed}
        for literal in rule.body:
            bind = literal if isinstance(literal, syntax.Bind) and literal.variable.name in heads else None
            if bind is not None and isinstance(bind.expression, syntax.Call) and _is_aggregate(bind.expression):
                yield _aggregate_in_head(rule, bind, bind.expression)
            else:
                yield from _literals((literal,), functions)


def _is_aggregate(call: syntax.Call) -> bool:
    return call.function.upper() in (*syntax.AGGREGATES, "MED") and len(call.args) == 1


def _aggregate_in_head(rule: syntax.Rule, bind: syntax.Bind, call: syntax.Call) -> Diagnostic:
    """`p(?x, count(?y)) :- …`, as other languages write it: the same rule as ours has it."""
    taken = {v.name for literal in rule.body for v in syntax.literal_variables(literal)}
    result = syntax.Variable(next(name for name in _result_names() if name not in taken))
    heads = tuple(
        replace(head, args=tuple(result if arg == bind.variable else arg for arg in head.args)) for head in rule.heads
    )
    shown = (v for head in heads for v in head.variables() if v != result and not v.computed)
    function = "MEDIAN" if call.function == "med" else call.function.upper()
    binding = syntax.AggregateBinding(function, call.args[0], result)
    body = tuple(literal for literal in rule.body if literal is not bind)
    group = syntax.Aggregate(body, tuple(dict.fromkeys(shown)), (binding,))
    return Diagnostic(
        "R214",
        f"{function} is not computed in a head",
        call.span,
        ("an aggregate has a body of its own, so that it is clear what it counts",),
        print_rule(syntax.Rule(heads, (group,), rule.name)),
    )


def _result_names() -> Iterator[str]:
    yield "n"
    yield from (f"n{number}" for number in itertools.count(1))


def known_functions() -> Mapping[str, Signature]:
    from everlog.expressions.functions import FUNCTIONS

    return FUNCTIONS


def _literals(body: Sequence[syntax.Literal], functions: Mapping[str, Signature]) -> Iterator[Diagnostic]:
    for literal in body:
        match literal:
            case syntax.Filter() | syntax.Bind():
                yield from _expression(literal.expression, functions)
            case syntax.Negation():
                yield from _literals(literal.body, functions)
            case syntax.Aggregate():
                yield from _literals(literal.body, functions)
                for binding in literal.bindings:
                    if binding.argument is None:
                        continue
                    yield from _expression(binding.argument, functions)
                    if binding.function in ("SUM", "AVG", "MEDIAN"):
                        yield from _needs_number(binding.function, binding.argument)
            case _:
                pass


def _expression(expression: syntax.Expression, functions: Mapping[str, Signature]) -> Iterator[Diagnostic]:
    if not isinstance(expression, syntax.Call):
        return
    name = expression.function
    if name in CHANCE:
        yield Diagnostic(
            "R218",
            f"{name.upper()} cannot be used in a rule",
            expression.span,
            ("what rules derive depends on the facts alone, not on when or how often they run",),
            "put the value into a fact",
        )
    elif name not in functions:
        yield _unknown(expression, functions)
    else:
        yield from _argument_count(expression, functions[name])
    if name in _ARITHMETIC:
        for arg in expression.args:
            yield from _needs_number(f"`{'-' if name == 'neg' else name}`", arg)
    for arg in expression.args:
        yield from _expression(arg, functions)


def _unknown(call: syntax.Call, functions: Mapping[str, Signature]) -> Diagnostic:
    name = call.function
    if _is_aggregate(call):
        hint = f"AGGREGATE(… ON ?x BIND {name.upper()}(?y) AS ?n) computes it over a group"
    else:
        close = get_close_matches(name, functions, n=1, cutoff=0.7)
        hint = f"did you mean {close[0]}?" if close else "a relation cannot stand in an expression; see the functions"
    return Diagnostic("R214", f"there is no function {name}", call.span, (), hint)


def _argument_count(call: syntax.Call, function: Signature) -> Iterator[Diagnostic]:
    least, most, found = function.least_args, function.most_args, len(call.args)
    if found >= least and (most is None or found <= most):
        return
    if most is None:
        takes = f"at least {least}"
    elif least == most:
        takes = str(least)
    else:
        takes = f"{least} to {most}"
    plural = "" if takes == "1" else "s"
    yield Diagnostic("R215", f"{call.function} takes {takes} argument{plural}, not {found}", call.span)


def _needs_number(what: str, expression: syntax.Expression) -> Iterator[Diagnostic]:
    if not isinstance(expression, syntax.Constant) or not isinstance(expression.term, str | bool | IRI | BlankNode):
        return
    shown = print_term(expression.term, bare=False)
    hint = f"a variable begins with ? or a capital: ?{expression.term}" if _is_word(expression) else None
    yield Diagnostic("R216", f"{what} needs a number, and {shown} is none", expression.span, (), hint)


def _is_word(constant: syntax.Constant) -> bool:
    """Whether a string was written without quotes."""
    span = constant.span
    return span is not None and isinstance(constant.term, str) and span.source.text[span.start].isalpha()


def check_triples(program: syntax.Program, arities: Mapping[str, int]) -> Iterator[Diagnostic]:
    """The subject of a triple is no literal, and its predicate is an IRI."""
    for fact in program.facts:
        yield from _triple(fact)
    for rule in program.rules:
        for head in rule.heads:
            yield from _triple(head)
        yield from _triples(rule.body)


def _triples(body: Sequence[syntax.Literal]) -> Iterator[Diagnostic]:
    for literal in body:
        if isinstance(literal, syntax.Atom):
            yield from _triple(literal)
        elif isinstance(literal, syntax.Negation | syntax.Aggregate):
            yield from _triples(literal.body)


def _triple(atom: syntax.Atom) -> Iterator[Diagnostic]:
    if atom.relation not in (syntax.TRIPLE, syntax.QUAD) or len(atom.args) != (
        3 if atom.relation == syntax.TRIPLE else 4
    ):
        return
    subject, predicate = atom.args[:2]
    if isinstance(predicate, syntax.Constant) and not isinstance(predicate.term, IRI):
        yield _misplaced("predicate", "an IRI", predicate, atom)
    if isinstance(subject, syntax.Constant) and not isinstance(subject.term, IRI | BlankNode):
        yield _misplaced("subject", "an IRI or a blank node", subject, atom)


def _misplaced(place: str, wanted: str, constant: syntax.Constant, atom: syntax.Atom) -> Diagnostic:
    term: Term = constant.term
    hint = f"write :{term} or <{term}> for an IRI" if isinstance(term, str) and term.isidentifier() else None
    shown = print_term(term, bare=False)
    message = f"the {place} of a triple is {wanted}, and {shown} is neither" if " or " in wanted else None
    message = message or f"the {place} of a triple is {wanted}, and {shown} is not"
    return Diagnostic("R217", message, constant.span or atom.span, (), hint)
