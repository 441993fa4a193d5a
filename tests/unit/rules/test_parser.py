"""Does the parser build the tree that a text means?"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pytest

from everlog.errors import NotFoundError, ProgramError
from everlog.facts.terms import IRI, RDF_TYPE, XSD, BlankNode, Literal, Term, key_of
from everlog.rules.parser import parse_body, parse_program, read_program
from everlog.rules.syntax import (
    Aggregate,
    AggregateBinding,
    Atom,
    Bind,
    Call,
    Constant,
    Export,
    Filter,
    Import,
    Negation,
    Rule,
    Variable,
)

EX = "http://example.org/"
X, Y, Z = Variable("X"), Variable("Y"), Variable("Z")


def rule(text: str) -> Rule:
    program = parse_program(f"PREFIX : <{EX}>\n" + text)
    assert len(program.rules) == 1, program
    return program.rules[0]


def body(text: str) -> tuple[object, ...]:
    return rule(f"h(X) :- {text}.").body


def condition(text: str) -> object:
    (found,) = body(f"FILTER({text})")
    assert isinstance(found, Filter)
    return found.expression


def codes(text: str) -> list[str]:
    with pytest.raises(ProgramError) as error:
        parse_program(text)
    return [problem.code for problem in error.value.diagnostics]


def triple(subject: object, predicate: str, thing: object) -> Atom:
    return Atom("triple", (subject, Constant(IRI(predicate)), thing))  # type: ignore[arg-type]


class TestTerms:
    @pytest.mark.parametrize(
        ("text", "term"),
        [
            ("word", "word"),
            ("wordWith_Caps1", "wordWith_Caps1"),
            ("on", "on"),
            ("true", True),
            ("FALSE", False),
            ("3", 3),
            ("-3", -3),
            ("+3", 3),
            ("007", 7),
            ("3.50", Decimal("3.5")),
            ("-.5", Decimal("-0.5")),
            ("1e3", 1000.0),
            ("-2.5E-1", -0.25),
            ('"New York"', "New York"),
            ("'it is \"it\"'", 'it is "it"'),
            ('"""two\nlines, "quoted"."""', 'two\nlines, "quoted".'),
            ("'''a'b'''", "a'b"),
            (r'"tab\t quote\" \u00e9 \U0001F600"', 'tab\t quote" é 😀'),
            ('""', ""),
            ('"a.b,c%d#e//f"', "a.b,c%d#e//f"),
            ('"chat"@fr', Literal("chat", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", "fr")),
            ('"42"^^xsd:integer', 42),
            ('"042"^^xsd:integer', Literal("042", XSD + "integer")),
            (f'"2024-02-29"^^<{XSD}date>', dt.date(2024, 2, 29)),
            ('"x"^^:t', Literal("x", EX + "t")),
            ("<http://ex.org/a#b>", IRI("http://ex.org/a#b")),
            (r"<http://ex.org/\u00e9>", IRI("http://ex.org/é")),
            (":a", IRI(EX + "a")),
            (":a.b-c", IRI(EX + "a.b-c")),
            (r":a\,b", IRI(EX + "a,b")),
            ("rdf:type", IRI(RDF_TYPE)),
            ("_:b0", BlankNode("b0")),
        ],
    )
    def test_term(self, text: str, term: Term) -> None:
        for shape in ("p({}, z).", "p( z,{} ) .", "p({0}, {0})."):
            (fact,) = parse_program(f"PREFIX : <{EX}>\n" + shape.format(text)).facts
            assert any(isinstance(arg, Constant) and key_of(arg.term) == key_of(term) for arg in fact.args)

    @pytest.mark.parametrize("text", ["?x", "$x"])
    def test_marked_variable(self, text: str) -> None:
        assert rule(f"p({text}) :- q({text}).").heads[0].args == (Variable("x"),)

    def test_capitals_are_variables_and_underscores_are_fresh(self) -> None:
        assert rule("p(X) :- q(X, _, _foo, _, _1).").body == (
            Atom("q", (X, Variable("_2"), Variable("_foo"), Variable("_3"), Variable("_1"))),
        )

    def test_base_and_prefixes(self) -> None:
        program = parse_program("BASE <http://ex.org/d/>\n@prefix e: <v#> .\np(<a>, e:b).", prefixes={"k": "http://k/"})
        assert program.facts == (Atom("p", (Constant(IRI("http://ex.org/d/a")), Constant(IRI("http://ex.org/d/v#b")))),)
        assert program.prefixes == {"k": "http://k/", "e": "http://ex.org/d/v#"}


class TestAtoms:
    def test_relations(self) -> None:
        assert body("p(), MoreThan3(X), on(X, on), and(X) and in(X), NOT in(X), NOT exists(X)") == (
            Atom("p", ()), Atom("MoreThan3", (X,)), Atom("on", (X, Constant("on"))), Atom("and", (X,)),
            Atom("in", (X,)), Negation((Atom("in", (X,)),)), Negation((Atom("exists", (X,)),)),
        )  # fmt: skip

    def test_triples(self) -> None:
        expected = (
            triple(X, EX + "p", Y), triple(X, EX + "p", Y), triple(X, EX + "p", Y),
            triple(X, RDF_TYPE, Constant(IRI(EX + "C"))), triple(X, RDF_TYPE, Constant(IRI(EX + "C"))),
            Atom("triple", (X, Constant("a"), Y)),
        )  # fmt: skip
        assert body('[X, :p, Y], :p[X, Y], :p(X, Y), :C[X], [X, a, :C], [X, "a", Y]') == expected

    def test_plain_names_of_triples_and_quads(self) -> None:
        assert body("triple(X, Y, Z), quad(X, Y, Z, g)") == (
            Atom("triple", (X, Y, Z)), Atom("quad", (X, Y, Z, Constant("g"))),
        )  # fmt: skip

    @pytest.mark.parametrize("arrow", [":-", "<-", "←", ":="])
    @pytest.mark.parametrize("between", [",", "&", " ∧ ", " and ", "AND ".join("  ")])
    def test_arrows_and_conjunctions(self, arrow: str, between: str) -> None:
        found = rule(f"p(X), q(X) {arrow} r(X){between}s(X).")
        assert found == Rule((Atom("p", (X,)), Atom("q", (X,))), (Atom("r", (X,)), Atom("s", (X,))))

    def test_names_and_facts_with_several_heads(self) -> None:
        program = parse_program("r7: p(X) :- q(X). r-8: p(X) :- q(X). p(a), q(b).")
        assert [found.name for found in program.rules] == ["r7", "r-8"]
        assert program.facts == (Atom("p", (Constant("a"),)), Atom("q", (Constant("b"),)))

    def test_comments_and_dots(self) -> None:
        text = 'p(a).p(b). % p(c).\n# p(d).\n// p(e).\np("x.y"). p(1.5).p(<http://a.b/c#d>).p(X):-q(X),X<1.5.p(z).'
        program = parse_program(text)
        assert (len(program.facts), len(program.rules)) == (6, 1)


class TestLiterals:
    def test_negation(self) -> None:
        q, r = Atom("q", (X,)), Atom("r", (X, Y))
        assert body("NOT q(X), not q(X), !q(X), ¬q(X)") == (Negation((q,)),) * 4
        assert body("NOT (q(X), r(X, Y)), !(q(X) and X > Y)") == (
            Negation((q, r)), Negation((q, Filter(Call(">", (X, Y))))),
        )  # fmt: skip
        assert body("NOT EXISTS Y IN r(X, Y), not exists Y, Z in (q(X), r(X, Y))") == (
            Negation((r,), (Y,)), Negation((q, r), (Y, Z)),
        )  # fmt: skip

    def test_conditions(self) -> None:
        greater = Filter(Call(">", (X, Constant(5))))
        assert body("FILTER(X > 5), filter X > 5, X > 5, COMP(X, >, 5), Comp(X,>,5)") == (greater,) * 5
        assert body("X<>Y, X==Y, X<-3, X<Y,Z>3") == (
            Filter(Call("!=", (X, Y))), Filter(Call("=", (X, Y))), Filter(Call("<", (X, Constant(-3)))),
            Filter(Call("<", (X, Y))), Filter(Call(">", (Z, Constant(3)))),
        )  # fmt: skip

    def test_bind(self) -> None:
        assert body("BIND(abs(X - 1) AS Y)") == (Bind(Call("abs", (Call("-", (X, Constant(1))),)), Y),)

    def test_aggregates(self) -> None:
        edge = Atom("edge", (X, Y))
        n, s = Variable("n"), Variable("s")
        count, total = AggregateBinding("COUNT", Y, n), AggregateBinding("SUM", Y, s)
        assert body("AGGREGATE(edge(X, Y) ON X BIND COUNT(Y) AS ?n BIND sum(Y) AS ?s)") == (
            Aggregate((edge,), (X,), (count, total)),
        )
        assert body("aggregate(edge(X, Y)) on X with count(Y) as ?n, sum(Y) as ?s, edge(X, Y)") == (
            Aggregate((edge,), (X,), (count, total)), edge,
        )  # fmt: skip
        assert body("AGGREGATE(edge(X, Y), Y > 1 ON X, Y BIND COUNT(*) AS ?n)") == (
            Aggregate((edge, Filter(Call(">", (Y, Constant(1))))), (X, Y), (AggregateBinding("COUNT", None, n),)),
        )
        assert body("AGGREGATE(edge(X, Y), BIND(Y + 1 AS Z) BIND MED(DISTINCT Y + Z) AS ?n)") == (
            Aggregate(
                (edge, Bind(Call("+", (Y, Constant(1))), Z)), (),
                (AggregateBinding("MEDIAN", Call("+", (Y, Z)), n, distinct=True),),
            ),
        )  # fmt: skip


class TestExpressions:
    def test_precedence(self) -> None:
        one = Constant(1)
        product, total = Call("*", (Y, Z)), Call("+", (X, Call("*", (Y, Z))))
        assert condition("X + Y * Z = 1 || !X && X < Y") == Call(
            "||", (Call("=", (total, one)), Call("&&", (Call("!", (X,)), Call("<", (X, Y)))))
        )
        assert condition("X - Y * Z - 1 > 0") == Call(
            ">", (Call("-", (Call("-", (X, product)), one)), Constant(0))
        )  # fmt: skip
        assert condition("!X = Y") == Call("=", (Call("!", (X,)), Y))
        assert condition("-X * -1 + +Y") == Call("+", (Call("*", (Call("neg", (X,)), Constant(-1))), Y))
        assert condition("X-1") == Call("-", (X, one))
        assert condition("-(1)") == Call("neg", (one,))

    def test_membership_and_calls(self) -> None:
        assert condition("X IN (1, Y)") == Call("in", (X, Constant(1), Y))
        assert condition("X not in ()") == Call("not in", (X,))
        assert condition("xsd:integer(STRLEN(X)) = 1") == Call(
            "=", (Call(XSD + "integer", (Call("strlen", (X,)),)), Constant(1))
        )
        assert body("abs(X) > 1, (X > 1 || X < Y)") == (
            Filter(Call(">", (Call("abs", (X,)), Constant(1)))),
            Filter(Call("||", (Call(">", (X, Constant(1))), Call("<", (X, Y))))),
        )


def test_directives() -> None:
    program = parse_program(
        """@import Rel "a.tsv.gz" (string, dateTime) . @import "data.ttl" . @import r "h.csv" header (any).
        @export r "out.csv" . @export r . @export triple "out.nt" ."""
    )
    assert program.imports == (
        Import("a.tsv.gz", "Rel", ("string", "dateTime")), Import("data.ttl"), Import("h.csv", "r", ("any",), True),
    )  # fmt: skip
    assert program.exports == (Export("r", "out.csv"), Export("r"), Export("triple", "out.nt"))


class TestQueries:
    def test_body(self) -> None:
        expected = (Atom("path", (Constant("a"), Variable("y"))), Filter(Call(">", (Variable("y"), Constant(3)))))
        assert parse_body("path(a, ?y), ?y > 3") == parse_body(" path(a, ?y) & ?y > 3 . % all") == expected

    def test_prefixes(self) -> None:
        assert parse_body("e:p(?x, ?y)", prefixes={"e": EX}) == (triple(Variable("x"), EX + "p", Variable("y")),)

    @pytest.mark.parametrize("text", ["", "p(X) :- q(X)", "p(X). q(X).", "p(X", "% nothing", "p(X) q(X)"])
    def test_mistakes(self, text: str) -> None:
        with pytest.raises(ProgramError):
            parse_body(text)


class TestMistakes:
    def test_every_statement_is_reported(self) -> None:
        text = 'p(a b). q("open). q(ok, ok). p(;). foo:x(a). p(X :- q(X). p(X) :- NOT X. fine(a).'.replace(". ", ".\n")
        assert codes(text) == ["R104", "R102", "R101", "R107", "R103", "R104"]

    def test_missing_dots(self) -> None:
        assert codes("p(X) :- q(X)\nr(X) :- s(X)\nr2: t(X) :- u(X)\n[X, X, X] :- v(X)") == ["R105"] * 4
        assert codes("p(a)\np(b). p(c)") == ["R105"] * 2
        assert codes("p(a)\nPREFIX e: <http://e/>\ne:p(a, b)\n@prefix f: <http://f/>\nf:p(a, b).") == ["R105"] * 2
        assert codes("p(X) :- q(X) :- r(X).") == ["R105"]

    def test_several_problems_in_one_statement(self) -> None:
        assert codes('x: p(foo:a, "\\z").') == ["R107", "R108", "R110"]

    @pytest.mark.parametrize("pair", ["()", "[]"])
    def test_deep_brackets(self, pair: str) -> None:
        assert codes("p(X) :- q(X), FILTER(" + pair[0] * 5000 + "1" + pair[1] * 5000 + ").") == ["R106"]

    def test_deep_expressions(self) -> None:
        assert codes("p(X) :- q(X), X = " + " + ".join(["1"] * 20000) + ".") == ["R106"]
        assert codes("p(X) :- q(X), FILTER(" + "!" * 5000 + "X).") == ["R106"]
        assert codes("p(X) :- q(X), BIND(" + "- " * 5000 + "X AS Y).") == ["R106"]

    def test_brackets_up_to_the_limit_are_read(self) -> None:
        depth = 198
        assert condition("(" * depth + "X" + ")" * depth) == X
        nested: Call | Variable = X
        for _ in range(150):
            nested = Call("abs", (nested,))
        assert condition("abs(" * 150 + "X" + ")" * 150) == nested

    def test_binary_data_stops_early(self) -> None:
        assert len(codes("\x00\x01.\x02 " * 100_000)) == 101

    def test_unprintable_character(self) -> None:
        with pytest.raises(ProgramError, match=r"U\+0000"):
            parse_program("p(a\x00).")


class TestFiles:
    def test_missing(self, tmp_path: Path) -> None:
        with pytest.raises(NotFoundError, match="there is no rule file"):
            read_program(tmp_path / "none.dl")
        with pytest.raises(NotFoundError, match="cannot be read"):
            read_program(tmp_path)

    @pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
    def test_not_utf8(self, tmp_path: Path, mark: bytes) -> None:
        file = tmp_path / "bad.dl"
        file.write_bytes(mark + b'p(a).\np("caf\xe9").\n')
        with pytest.raises(ProgramError, match=rf"byte 0xe9 in line 2 \(byte {12 + len(mark)} of the file\)"):
            read_program(file)

    def test_byte_order_mark_and_windows_lines(self, tmp_path: Path) -> None:
        file = tmp_path / "good.dl"
        file.write_bytes(b"\xef\xbb\xbfp(a).\r\np(X) :-\r\n  q(X). % end")
        program = read_program(file)
        assert (len(program.facts), len(program.rules)) == (1, 1)


@pytest.mark.slow
class TestSize:
    def test_many_facts(self) -> None:
        text = "".join(f"edge(n{number}, {number}).\n" for number in range(100_000))
        assert len(parse_program(text).facts) == 100_000

    def test_fast_way_and_grammar_agree(self) -> None:
        terms = ["a", "-3", '"x y"', "<http://e.org/é>", "rdf:type", "true", '"""x"""', "3.5", '"a"@en', "on", "+1"]
        for term in terms:
            plain = parse_program(f"p({term}, b).").facts
            parsed = parse_program(f"p({term}, b), p({term}, b).").facts
            assert plain == parsed[:1]

    @pytest.mark.parametrize(
        "text",
        [
            "p(" + ", ".join(["a"] * 200_000) + ").",
            'p("' + "x" * 1_000_000 + '").',
            "p(a) % " + "x" * 1_000_000 + "\n.",
            "p(" + "1" * 1_000_000 + ").",
            "p(X) :- " + ", ".join(["q(X)"] * 5_000) + ".",
        ],
    )
    def test_long_lines(self, text: str) -> None:
        parse_program(text)

    @pytest.mark.parametrize(
        "text",
        [
            "p(" + "a, " * 50_000 + "+).",
            'p("' + "x" * 200_000,
            "p(" + "(" * 200_000,
            "\\" * 200_000,
            "<" * 200_000,
            "a" * 200_000,
            "a:" * 50_000,
            "%" * 10 + "\n" + '"' * 500_001,
        ],
    )
    def test_long_bad_lines_are_reported_briefly(self, text: str) -> None:
        with pytest.raises(ProgramError) as error:
            parse_program(text)
        assert len(str(error.value)) < 5_000
