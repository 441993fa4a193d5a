"""Does any text at all lead to a program or to diagnostics, and never to another error?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from everlog.errors import ProgramError
from everlog.rules.checks import check_program
from everlog.rules.parser import parse_body, parse_program

PIECES = (
    "p", "q", "X", "?y", "_", "a", "on", "in", "and", "3", "1.5", "-", "+", "*", "/", "(", ")", "[", "]", ",", ".",
    ". ", ":-", "<-", ":=", "<", ">", "=", "!=", "!", "&&", "||", "&", "NOT", "EXISTS", "IN", "BIND", "FILTER", "AS",
    "ON", "WITH", "AGGREGATE", "COUNT", "COMP", "DISTINCT", '"s"', "'", '"', '"""', "@en", "^^", "xsd:date", "r1: ",
    ":", "ex:c", "<http://e.org/>", "PREFIX", "BASE", "@import", "@export", "@prefix", "header", "\n", " ", " ", "%",
    "\\", ";", "é", "p(X)", "q(X, ?y)", "[X, rdf:type, ?y]", "NOT q(X, Z)", "BIND(X + 1 AS Z)", "X > 3", "\ufeff",
    "_:b", "true",
)  # fmt: skip
soups = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
spaced = st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join)
bodies = st.lists(st.sampled_from(PIECES[-9:-3]), max_size=5).map(", ".join).map("p(X, Z) :- {}.".format)


@given(st.one_of(soups, spaced, bodies, st.text(max_size=40)))
def test_programs(text: str) -> None:
    try:
        found = check_program(parse_program(text))
    except ProgramError as error:
        found = list(error.diagnostics)
        assert found
    for problem in found:
        assert problem.render()
        assert problem.as_data()


@given(st.one_of(soups, spaced, st.text(max_size=40)))
def test_queries(text: str) -> None:
    try:
        assert parse_body(text)
    except ProgramError as error:
        assert str(error)
