"""Does printed text say the same as the tree it was printed from?"""

from __future__ import annotations

import datetime as dt
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog.facts.terms import IRI, RDF, XSD, BlankNode, Literal, Term, key_of
from everlog.rules.parser import parse_body, parse_program
from everlog.rules.printer import print_atom, print_expression, print_program, print_rule, print_term
from everlog.rules.syntax import (
    AGGREGATES,
    Aggregate,
    AggregateBinding,
    Atom,
    Bind,
    Call,
    Constant,
    Export,
    Expression,
    Filter,
    Import,
    Negation,
    Program,
    Rule,
    Variable,
)
from everlog.rules.tree_builder import COLUMN_TYPES

EX = "http://example.org/"

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
words = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True)
RESERVED = ("not", "bind", "filter", "aggregate", "comp")  # these begin a literal
relations = st.one_of(
    words.filter(lambda name: name.lower() not in RESERVED), st.sampled_from(["on", "in", "and", "with", "triple", "a"])
)
iris = st.one_of(
    st.builds(lambda local: IRI(EX + local), texts), st.sampled_from([IRI(XSD + "date"), IRI(RDF + "type"), IRI("x:")])
)
numbers = st.one_of(st.integers(), st.decimals(allow_nan=False, allow_infinity=False), st.floats(), st.integers(-3, 3))
zones = st.sampled_from([None, dt.UTC])
times = st.one_of(st.datetimes(timezones=zones), st.dates(), st.times(timezones=zones))
datatypes = st.sampled_from([XSD + "integer", XSD + "date", XSD + "byte", EX + "t", XSD + "string"])
terms: st.SearchStrategy[Term] = st.one_of(
    texts, words, st.sampled_from(["a", "on", "true", "not"]), numbers, st.booleans(), times, iris,
    st.builds(BlankNode, st.from_regex(r"[A-Za-z0-9]{1,4}", fullmatch=True)),
    st.builds(Literal, texts, datatypes),
    st.builds(lambda text: Literal(text, RDF + "langString", "en-gb"), texts),
)  # fmt: skip
variables = st.builds(Variable, st.from_regex(r"[A-Za-z0-9_]{1,3}", fullmatch=True))
constants = st.builds(Constant, terms)
arguments = st.one_of(variables, constants)
atoms = st.builds(Atom, relations, st.lists(arguments, max_size=4).map(tuple))

binary = st.sampled_from(["+", "-", "*", "/", "=", "!=", "<", "<=", ">", ">=", "&&", "||"])
functions = st.sampled_from(["abs", "strlen", "if", XSD + "integer", EX + "f"])


def calls(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.one_of(
        st.builds(lambda name, left, right: Call(name, (left, right)), binary, inner, inner),
        st.builds(lambda name, arg: Call(name, (arg,)), st.sampled_from(["!", "neg"]), inner),
        st.builds(lambda name, args: Call(name, tuple(args)), functions, st.lists(inner, max_size=3)),
        st.builds(
            lambda name, first, rest: Call(name, (first, *rest)),
            st.sampled_from(["in", "not in"]), inner, st.lists(inner, max_size=3),
        ),
    )  # fmt: skip


expressions: st.SearchStrategy[Expression] = st.recursive(arguments, calls, max_leaves=12)
bindings = st.one_of(
    st.builds(AggregateBinding, st.sampled_from(AGGREGATES), expressions, variables, st.booleans()),
    st.builds(lambda variable: AggregateBinding("COUNT", None, variable), variables),
)
simple = st.one_of(atoms, st.builds(Filter, expressions), st.builds(Bind, expressions, variables))


def nested(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    body = st.lists(inner, min_size=1, max_size=3).map(tuple)
    some = st.lists(variables, max_size=2).map(tuple)
    return st.one_of(
        st.builds(Negation, body, some),  # type: ignore[arg-type]
        st.builds(Aggregate, body, some, st.lists(bindings, min_size=1, max_size=2).map(tuple)),  # type: ignore[arg-type]
    )


literals = st.recursive(simple, nested, max_leaves=4)
bodies = st.lists(literals, min_size=1, max_size=3).map(tuple)
names = st.one_of(st.none(), st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,4}", fullmatch=True))
rules = st.builds(Rule, st.lists(atoms, min_size=1, max_size=2).map(tuple), bodies, names)  # type: ignore[arg-type]
prefixes = st.dictionaries(
    st.one_of(st.just(""), st.from_regex(r"[a-z][a-z0-9]{0,2}", fullmatch=True)),
    st.sampled_from([EX, XSD, EX + "a", "http://o.org/#"]), max_size=3,
)  # fmt: skip
imports = st.one_of(
    st.builds(Import, texts),
    st.builds(
        Import, texts, words,
        st.one_of(st.none(), st.lists(st.sampled_from(COLUMN_TYPES), min_size=1, max_size=3).map(tuple)),
        st.booleans(),
    ),
)  # fmt: skip
exports = st.builds(Export, words, st.one_of(st.none(), texts))


@given(terms)
def test_terms_come_back(term: Term) -> None:
    (fact,) = parse_program(f"p({print_term(term)}).").facts
    (constant,) = fact.args
    assert isinstance(constant, Constant)
    assert key_of(constant.term) == key_of(term)


@given(expressions)
def test_expressions_come_back(expression: Expression) -> None:
    assert parse_body(f"FILTER({print_expression(expression)})") == (Filter(expression),)


@given(rules, prefixes)
def test_rules_come_back(rule: Rule, known: dict[str, str]) -> None:
    program = parse_program(print_rule(rule, known), prefixes=known)
    assert program.rules == (rule,)


@given(
    st.builds(
        Program, st.lists(rules, max_size=2).map(tuple), st.lists(atoms, max_size=3).map(tuple), prefixes,
        st.lists(imports, max_size=2).map(tuple), st.lists(exports, max_size=2).map(tuple),
    )
)  # fmt: skip
def test_programs_come_back(program: Program) -> None:
    assert parse_program(print_program(program)) == program


@pytest.mark.parametrize(
    "text",
    [
        "p(?x) :- q(?x), ?x > 3.",
        "r1: p(?x), q(a) :- NOT EXISTS ?y IN (q(?y), r(?x, ?y)), [?x, a, ?z].",
        "p(?n) :- AGGREGATE(q(?x), NOT r(?x) ON ?x BIND COUNT(*) AS ?n BIND SUM(DISTINCT ?x) AS ?s).",
        'p(?y) :- q(?x), BIND(-?x * (1 + 2) / -3 AS ?y), FILTER(!(?x = "on") || bound(?y) && ?x IN (1, 2.5)).',
        'p(on_time, "on", "Ann", "New York", 1.0E0, true, "2024-02-29"^^xsd:date, "chat"@fr).',
    ],
)
def test_looks(text: str) -> None:
    """Text as a person would write it is printed as it was."""
    program = parse_program(text)
    assert "".join([*map(print_rule, program.rules), *(print_atom(fact) + "." for fact in program.facts)]) == text


def test_iris_use_the_longest_prefix() -> None:
    known = {"": EX, "a": EX + "a/"}
    assert print_term(IRI(EX + "a/b"), known) == "a:b"
    assert print_term(IRI(EX + "a b"), known) == r"<http://example.org/a\u0020b>"
    assert re.fullmatch(r"<.*>", print_term(IRI("http://other.org/"), known))
