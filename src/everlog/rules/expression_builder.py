"""How does the parse tree of an expression become terms, variables and calls?

One method for each rule or alias of grammar.lark below `call`; tree_builder.py has those above it. Problems are
collected, not raised, so that one statement may show several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import count
from typing import Any

from everlog.facts.terms import IRI, BlankNode, Term
from everlog.rules import term_reader
from everlog.rules.diagnostics import Diagnostic, SourceText, Span
from everlog.rules.syntax import Call, Constant, Expression, Variable
from everlog.rules.term_reader import TermProblem, TermReader

SAME_SYMBOL = {"==": "=", "<>": "!="}


@dataclass(frozen=True)
class Named:
    """`name(a, b)` or `<iri>(a, b)`, before it is known whether it is an atom or a function."""

    name: str | IRI
    args: tuple[Expression, ...]
    span: Span
    distinct: bool = False
    star: bool = False


class ExpressionBuilder:
    """Builds the terms and expressions of one statement."""

    def __init__(self, source: SourceText, terms: TermReader, used_names: Iterable[str]) -> None:
        self.source = source
        self.terms = terms
        self.problems: list[Diagnostic] = []
        self._used = set(used_names)
        self._numbers: dict[str, Iterator[int]] = {}

    def build(self, tree: Any) -> Any:
        """Bottom up and without recursion, so that long texts need no deep stack."""
        stack: list[tuple[Any, int, list[Any]]] = [(tree, 0, [])]
        while True:
            node, index, done = stack.pop()
            if index == len(node.children):
                value = getattr(self, node.data)(done)
                if not stack:
                    return value
                stack[-1][2].append(value)
                continue
            stack.append((node, index + 1, done))
            child = node.children[index]
            if hasattr(child, "children"):
                stack.append((child, 0, []))
            else:
                done.append(child)

    def report(self, code: str, message: str, span: Span, *notes: str, help: str | None = None) -> None:
        self.problems.append(Diagnostic(code, message, span, notes, help))

    def span(self, children: Sequence[Any]) -> Span:
        """From the first to the last of these, tokens or nodes."""
        present = [child for child in children if child is not None]
        first, last = present[0], present[-1]
        start = first.start_pos if hasattr(first, "start_pos") else span_of(first).start
        end = last.end_pos if hasattr(last, "end_pos") else span_of(last).end
        return Span(self.source, start, end)

    def call(self, children: list[Any]) -> Named:
        head, _, arguments, _ = children
        name: Any = head.term if isinstance(head, Constant) else str(head)
        return Named(name, arguments[0] if arguments else (), self.span(children))

    def call_distinct(self, children: list[Any]) -> Named:
        return Named(str(children[0]), (self.value(children[3]),), self.span(children), distinct=True)

    def call_star(self, children: list[Any]) -> Named:
        return Named(str(children[0]), (), self.span(children), star=True)

    def arguments(self, children: list[Any]) -> tuple[tuple[Expression, ...], Span]:
        return tuple(self.value(child) for child in children[::2]), self.span(children)

    def value(self, value: Named | Expression) -> Expression:
        if not isinstance(value, Named):
            return value
        if value.distinct or value.star:
            self.report(
                "R104",
                f"`{value.name}` with {'DISTINCT' if value.distinct else '*'} is an aggregate",
                value.span,
                help="AGGREGATE(… ON ?x BIND COUNT(*) AS ?n)",
            )
        name = value.name.value if isinstance(value.name, IRI) else value.name.lower()
        return Call(name, value.args, span=value.span)

    def binary(self, children: list[Any]) -> Call:
        left, symbol, right = children
        function = SAME_SYMBOL.get(symbol, str(symbol))
        return Call(function, (self.value(left), self.value(right)), span=self.span(children))

    def membership(self, children: list[Any]) -> Call:
        function = "not in" if children[1].type == "NOT" else "in"
        *_, options, _ = children
        args = (self.value(children[0]), *(options[0] if options else ()))
        return Call(function, args, span=self.span(children))

    def negated(self, children: list[Any]) -> Call:
        return Call("!", (self.value(children[1]),), span=self.span(children))

    def unary(self, children: list[Any]) -> Expression:
        sign, value = children
        span = self.span(children)
        bare = "(" not in self.source.text[sign.end_pos : span_of(value).start]
        if isinstance(value, Constant) and bare and type(value.term) in (int, float, Decimal):
            return Constant(value.term if sign == "+" else _negative(value.term), span=span)
        return Call("neg", (self.value(value),), span=span) if sign == "-" else self.value(value)

    def parenthesised(self, children: list[Any]) -> Expression:
        return self.value(children[1])

    def variable(self, children: list[Any]) -> Variable:
        token = children[0]
        if token != "_":
            return Variable(token.lstrip("?$"), span=self.span([token]))
        return self.made_up("_", self.span([token]))

    def made_up(self, prefix: str, span: Span | None) -> Variable:
        """A variable with a name that does not stand in the statement."""
        numbers = self._numbers.setdefault(prefix, count(1))
        name = next(name for number in numbers if (name := f"{prefix}{number}") not in self._used)
        return Variable(name, span=span)

    def word(self, children: list[Any]) -> Constant:
        return self._constant(lambda: term_reader.word(str(children[0])), children)

    def number(self, children: list[Any]) -> Constant:
        return self._constant(lambda: term_reader.number(str(children[0])), children)

    def blank(self, children: list[Any]) -> Constant:
        return self._constant(lambda: BlankNode(str(children[0][2:])), children)

    def string(self, children: list[Any]) -> Constant:
        return self._constant(lambda: term_reader.string(str(children[0])), children)

    def language_string(self, children: list[Any]) -> Constant:
        text, tag = children
        return self._constant(lambda: term_reader.tagged(term_reader.string(str(text)), tag[1:]), children)

    def typed_string(self, children: list[Any]) -> Constant:
        text, _, datatype = children
        return self._constant(lambda: term_reader.typed(term_reader.string(str(text)), str(datatype.term)), children)

    def iri(self, children: list[Any]) -> Constant:
        text = str(children[0])
        read = self.terms.iri_reference if children[0].type == "IRIREF" else self.terms.prefixed_name
        return self._constant(lambda: IRI(read(text)), children, IRI(text))

    def _constant(self, read: Callable[[], Term], children: list[Any], otherwise: Term = "") -> Constant:
        return Constant(self.guarded(read, children, otherwise), span=self.span(children))

    def guarded(self, read: Callable[[], Any], children: Sequence[Any], otherwise: Any) -> Any:
        try:
            return read()
        except TermProblem as problem:
            self.report(problem.code, problem.message, self.span(children), help=problem.hint)
            return otherwise


def span_of(value: Any) -> Span:
    if isinstance(value, tuple):  # a list of things comes with its span
        return value[1]  # type: ignore[no-any-return]
    span: Span = value.span
    return span


def _negative(number: Any) -> Term:
    return number.copy_negate() if isinstance(number, Decimal) else -number


def short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "…"
