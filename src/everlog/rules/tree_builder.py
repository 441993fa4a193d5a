"""How does the parse tree of a statement become rules, facts and literals?

One method for each rule or alias of grammar.lark. Problems are collected, not raised, so that one statement may show
several. A call `name(…)` is kept as written (`Named`) until it is known whether it is an atom or a function.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from everlog.facts.missing import NULLS
from everlog.facts.terms import IRI, RDF_TYPE
from everlog.rules import term_reader
from everlog.rules.constraints import constraint
from everlog.rules.diagnostics import SourceText, Span
from everlog.rules.equations import bare_condition, resolve_equations
from everlog.rules.expression_builder import SAME_SYMBOL, ExpressionBuilder, Named, short, span_of
from everlog.rules.statements import MAX_DEPTH
from everlog.rules.syntax import (
    AGGREGATES,
    COMPUTED_PREFIX,
    TRIPLE,
    Aggregate,
    AggregateBinding,
    Argument,
    Atom,
    Bind,
    Call,
    Constant,
    Declaration,
    Export,
    Expression,
    Filter,
    Import,
    Literal,
    Negation,
    Rule,
    Variable,
)
from everlog.rules.term_reader import TermReader

COLUMN_TYPES = (
    "string", "integer", "decimal", "double", "boolean", "date", "dateTime", "time", "iri", "any",
)  # fmt: skip
_CONDITIONS = frozenset(("=", "!=", "<", "<=", ">", ">=", "&&", "||", "!", "in", "not in"))


@dataclass(frozen=True)
class MoreWith:
    """`, sum(?t) AS ?s` after AGGREGATE(…) WITH …: one more binding of it."""

    binding: AggregateBinding
    span: Span


class TreeBuilder(ExpressionBuilder):
    """Builds one statement."""

    def __init__(self, source: SourceText, terms: TermReader, used_names: Iterable[str]) -> None:
        super().__init__(source, terms, used_names)
        self._computed: dict[str, Bind] = {}  # arguments of atoms that are expressions, by the variable in their place

    # statements

    def rule(self, children: list[Any]) -> Rule | None:
        name, heads, arrow, body = children
        computed = tuple(literal for literal in heads[0] if self._is_computed(literal))
        atoms = tuple(self._head(literal) for literal in heads[0] if not self._is_computed(literal))
        if any(atom is None for atom in atoms):
            return None
        if name is not None and arrow is None:
            self.report("R110", "a fact has no name", self.span([name]), help="remove the name; only rules have one")
        label = name[:-1] if name is not None else None
        found = tuple(atom for atom in atoms if atom is not None)
        literals = (*body[0], *computed) if body else ()
        if not body:
            self._no_computed_facts(computed)
        return Rule(found, resolve_equations(literals), label, span=self.span([name, heads, arrow, body]))

    def _no_computed_facts(self, computed: Iterable[Bind]) -> None:
        for bind in computed:
            span = span_of(bind.expression)
            shown = short(self.source.text[span.start : span.end])
            self.report(
                "R110",
                "an argument of a fact is a term, not an expression",
                span,
                help=f"write its value, or a rule: … :- BIND({shown} AS ?v), with ?v as the argument",
            )

    def _head(self, literal: Literal) -> Atom | None:
        if isinstance(literal, Atom):
            return literal
        kind = {Negation: "a negation", Bind: "BIND", Filter: "a condition", Aggregate: "AGGREGATE"}[type(literal)]
        assert literal.span is not None
        self.report(
            "R110",
            f"{kind} cannot be the head of a rule",
            literal.span,
            "a head is one or more atoms",
            help="put it after `:-`",
        )
        return None

    def constraint(self, children: list[Any]) -> Rule:
        _, name, body = children
        return constraint(name[:-1].rstrip(), resolve_equations(body[0]), self.span(children))

    def prefix(self, children: list[Any]) -> None:
        _, namespace, reference = children
        self.guarded(lambda: self.terms.declare(namespace[:-1], self.terms.iri_reference(reference)), children, None)

    def base(self, children: list[Any]) -> None:
        self.guarded(lambda: self.terms.declare_base(self.terms.iri_reference(children[1])), children, None)

    def import_(self, children: list[Any]) -> Import:
        *_, path, header, nulls, types = children
        relation = str(children[1]) if len(children) == 6 and children[1] is not None else None
        text = self.guarded(lambda: term_reader.string(path), [path], "")
        span = self.span(children)
        if types is not None and relation is None:
            self.report("R112", "column types need a relation", types[1], help=f'@import rel "{text}" (…) .')
        return Import(
            text, relation, types[0] if types else None, header is not None, nulls[0] if nulls else None, span=span
        )

    def nulls(self, children: list[Any]) -> tuple[str, Span]:
        rule = str(children[1])
        if rule not in NULLS:
            there = ", ".join(NULLS)
            self.report("R112", f"`{rule}` is no way to treat nulls", self.span(children), f"there are {there}")
        return rule, self.span(children)

    def declaration(self, children: list[Any]) -> Declaration:
        columns = children[3:-1:2]
        names = [name for name, _, _ in columns]
        for place, (name, _, span) in enumerate(columns):
            if name in names[:place]:
                self.report("R112", f"two columns are called {name}", span, help="give one of them another name")
        types = tuple(type_ for _, type_, _ in columns)
        return Declaration(str(children[1]), tuple(names), types, span=self.span(children))

    def column(self, children: list[Any]) -> tuple[str, str | None, Span]:
        name, *typed = children
        for token in typed:
            self._check_type(token)
        return str(name).lstrip("?$"), str(typed[0]) if typed else None, self.span(children)

    def types(self, children: list[Any]) -> tuple[tuple[str, ...], Span]:
        tokens = children[1:-1:2]
        for token in tokens:
            self._check_type(token)
        return tuple(str(token) for token in tokens), self.span(children)

    def _check_type(self, token: Any) -> None:
        if str(token) not in COLUMN_TYPES:
            close = get_close_matches(str(token), COLUMN_TYPES, n=1)
            self.report(
                "R112",
                f"`{token}` is not a column type",
                self.span([token]),
                f"column types are {', '.join(COLUMN_TYPES)}",
                help=f"did you mean {close[0]}?" if close else None,
            )

    def export(self, children: list[Any]) -> Export:
        _, relation, path = children
        text = None if path is None else self.guarded(lambda: term_reader.string(path), [path], "")
        return Export(str(relation), text, span=self.span(children))

    def query(self, children: list[Any]) -> tuple[Literal, ...]:
        return resolve_equations(children[0][0])

    # literals

    def body(self, children: list[Any]) -> tuple[tuple[Literal, ...], Span]:
        literals: list[Literal] = []
        for child in children[::2]:
            if isinstance(child, Atom):
                literals += self._with_computed(child)
            elif not isinstance(child, MoreWith):
                literals.append(child)
            elif literals and isinstance(last := literals[-1], Aggregate):
                literals[-1] = Aggregate(last.body, last.group, (*last.bindings, child.binding), span=last.span)
            else:
                self.report(
                    "R104",
                    "`AS` after an atom that belongs to no AGGREGATE",
                    child.span,
                    help="BIND(expression AS ?v), or AGGREGATE(… ON ?x BIND COUNT(?y) AS ?n)",
                )
        return tuple(literals), self.span([children[0], children[-1]])

    def negated_atom(self, children: list[Any]) -> Negation:
        return Negation(self._with_computed(self._atom(children[1])), span=self.span(children))

    def negated_group(self, children: list[Any]) -> Negation:
        return Negation(children[2][0], span=self.span(children))

    def negated_exists(self, children: list[Any]) -> Negation:
        body = children[5][0] if len(children) > 5 else self._with_computed(self._atom(children[4]))
        return Negation(body, children[2][0], span=self.span(children))

    def bind(self, children: list[Any]) -> Bind:
        return Bind(self.value(children[2]), children[4], span=self.span(children))

    def filter(self, children: list[Any]) -> Filter:
        return Filter(self.value(children[1]), span=self.span(children))

    def comp(self, children: list[Any]) -> Filter:
        _, _, left, _, symbol, _, right, _ = children
        args = (self.value(left), self.value(right))
        call = Call(SAME_SYMBOL.get(symbol, str(symbol)), args, span=self.span(children[2:-1]))
        return Filter(call, span=self.span(children))

    def aggregate(self, children: list[Any]) -> Aggregate:
        _, _, body, on, *bindings, _ = children
        return Aggregate(body[0], on[0] if on else (), tuple(bindings), span=self.span(children))

    def aggregate_with(self, children: list[Any]) -> Aggregate:
        _, _, body, _, on, _, call, _, variable = children
        binding = self._binding(call, variable)
        return Aggregate(body[0], on[0] if on else (), (binding,), span=self.span(children))

    def more_with(self, children: list[Any]) -> MoreWith:
        return MoreWith(self._binding(children[0], children[2]), self.span(children))

    def on(self, children: list[Any]) -> tuple[tuple[Variable, ...], Span]:
        return children[1][0], self.span(children)

    def binding(self, children: list[Any]) -> AggregateBinding:
        return self._binding(children[2], children[4])

    def _binding(self, call: Named, variable: Variable) -> AggregateBinding:
        function = str(call.name).upper()
        function = "MEDIAN" if function == "MED" else function
        if function not in AGGREGATES:
            close = get_close_matches(function, AGGREGATES, n=1)
            self.report(
                "R114",
                f"`{call.name}` is not an aggregate function",
                call.span,
                f"aggregate functions are {', '.join(AGGREGATES)}",
                help=f"did you mean {close[0]}?" if close else None,
            )
        elif call.star and function != "COUNT":
            self.report("R114", f"{function}(*) means nothing", call.span, help="only COUNT takes a *")
        elif not call.star and len(call.args) != 1:
            self.report("R114", f"{function} takes one argument, not {len(call.args)}", call.span)
        argument = call.args[0] if call.args else None
        span = Span(self.source, call.span.start, span_of(variable).end)
        return AggregateBinding(function, argument, variable, call.distinct, span=span)

    def variables(self, children: list[Any]) -> tuple[tuple[Variable, ...], Span]:
        found = tuple(child for child in children if isinstance(child, Variable))
        return found, self.span([found[0], found[-1]])

    def literal_comparison(self, children: list[Any]) -> Filter:
        return bare_condition(children[0])

    def literal_value(self, children: list[Any]) -> Literal:
        value = children[0]
        if isinstance(value, Named):
            return self._atom(value)
        if isinstance(value, Call) and value.function in _CONDITIONS:
            return bare_condition(value)
        text = self.source.text[value.span.start : value.span.end]
        is_word = isinstance(value, Variable | Constant) and text.isidentifier()
        self.report(
            "R104",
            f"`{short(text)}` is neither an atom nor a condition",
            value.span,
            help=f"a relation without arguments is {short(text)}()" if is_word else "compare it, or BIND(… AS ?v)",
        )
        return Atom(text, (), span=value.span)

    def triple(self, children: list[Any]) -> Atom:
        span = self.span(children)
        subject, predicate, thing = (self._argument(child) for child in children[1::2])
        assert predicate.span is not None
        if self.source.text[predicate.span.start : predicate.span.end] == "a":
            predicate = Constant(IRI(RDF_TYPE), span=predicate.span)
        return Atom(TRIPLE, (subject, predicate, thing), span=span)

    def bracketed(self, children: list[Any]) -> Atom:
        iri, _, arguments, _ = children
        return self._atom(Named(iri.term, arguments[0] if arguments else (), self.span(children)), iri.span)

    def _atom(self, value: Named | Atom, name_span: Span | None = None) -> Atom:
        if isinstance(value, Atom):
            return value
        if value.distinct or value.star:
            self.report(
                "R104",
                f"`{'DISTINCT' if value.distinct else '*'}` stands in aggregate functions only",
                value.span,
                help="AGGREGATE(… ON ?x BIND COUNT(*) AS ?n)",
            )
        args = tuple(self._argument(arg) for arg in value.args)
        if isinstance(value.name, str):
            return Atom(value.name, args, span=value.span)
        predicate = Constant(value.name, span=name_span or value.span)
        if len(args) == 1:
            return Atom(TRIPLE, (args[0], Constant(IRI(RDF_TYPE)), predicate), span=value.span)
        if len(args) != 2:
            self.report(
                "R109",
                f"an IRI as a relation takes one or two arguments, not {len(args)}",
                value.span,
                "`:C[?x]` says that ?x has the type :C, `:p[?x, ?y]` is the triple ?x :p ?y",
                help="use a plain name for a relation of another arity",
            )
            args = (*args, Constant(""), Constant(""))
        return Atom(TRIPLE, (args[0], predicate, args[1]), span=value.span)

    def _argument(self, written: Named | Expression) -> Argument:
        """An argument of an atom; an expression is computed into a variable that takes its place."""
        value = self.value(written)
        if not isinstance(value, Call):
            return value
        variable = self.made_up(COMPUTED_PREFIX, value.span)
        self._computed[variable.name] = Bind(value, variable, span=value.span)
        return variable

    def _with_computed(self, atom: Atom) -> tuple[Literal, ...]:
        """An atom after the BINDs that compute its arguments."""
        return (*(self._computed[v.name] for v in atom.variables() if v.name in self._computed), atom)

    def _is_computed(self, literal: Literal) -> bool:
        return isinstance(literal, Bind) and literal.variable.name in self._computed


def too_deep(literals: Iterable[Literal]) -> Span | None:
    """The place of an expression with more than MAX_DEPTH operators above each other, if there is one."""
    stack: list[tuple[Any, int]] = [(literal, 0) for literal in literals]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            span: Span = node.span
            return span
        match node:
            case Call():
                stack += [(arg, depth + 1) for arg in node.args]
            case Filter() | Bind():
                stack.append((node.expression, 0))
            case Negation() | Aggregate():
                stack += [(inner, depth) for inner in node.body]
                if isinstance(node, Aggregate):
                    stack += [(binding.argument, 0) for binding in node.bindings if binding.argument is not None]
            case _:
                pass
    return None
