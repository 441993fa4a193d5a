"""Does each function give what SPARQL 1.1 says? One line per call; ERROR where it has no value."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal, localcontext

import pytest

from everlog.expressions.functions import FUNCTIONS
from everlog.expressions.values import ExpressionError
from everlog.facts.terms import IRI, LANG_STRING, RDF, XSD, BlankNode, Literal, Term, key_of, term_of

ERROR = None
NAN, INF = math.nan, math.inf
A = IRI("http://ex.org/a")
BLANK = BlankNode("b")


def en(text: str) -> Literal:
    return Literal(text, LANG_STRING, "en")


def fr(text: str) -> Literal:
    return Literal(text, LANG_STRING, "fr")


def xsd(text: str, local: str) -> Term:
    return term_of(f"^{local} {text}")


def date_time(text: str) -> Term:
    return xsd(text, "dateTime")


def D(text: str) -> Decimal:
    return Decimal(text)


CASES: dict[str, list[tuple[tuple[Term, ...], Term | None]]] = {
    "+": [
        ((1, 2), 3),
        ((10**50, 1), 10**50 + 1),
        ((1, D("0.5")), D("1.5")),
        ((D("0.1"), D("0.2")), D("0.3")),
        ((1, 0.5), 1.5),
        ((D("0.5"), 1.0), 1.5),
        ((xsd("0.1", "float"), xsd("0.2", "float")), xsd("3.0E-1", "float")),
        ((xsd("0.5", "float"), 1), xsd("1.5E0", "float")),
        ((xsd("0.5", "float"), D("1")), xsd("1.5E0", "float")),
        ((xsd("0.5", "float"), 1.0), 1.5),
        ((xsd("7", "short"), xsd("1", "byte")), 8),
        ((xsd("300", "byte"), 1), ERROR),
        ((1e308, 1e308), INF),
        ((INF, -INF), NAN),
        (("1", 2), ERROR),
        ((True, 1), ERROR),
        ((A, 1), ERROR),
        ((10**5000, 1), ERROR),  # too many digits to be written
        ((10**400, 1.0), INF),
    ],
    "-": [((1, 2), -1), ((D("1.5"), 1), D("0.5")), ((1, BLANK), ERROR)],
    "*": [
        ((3, 4), 12),
        ((D("1.5"), 2), D("3.0")),
        ((2, 0.25), 0.5),
        ((10**3000, 10**3000), ERROR),
        ((D("1e3000"), D("1e3000")), ERROR),
        ((xsd("3e38", "float"), 10), xsd("INF", "float")),
    ],
    "/": [
        ((6, 3), D("2")),
        ((1, 4), D("0.25")),
        ((1, 3), D("0." + "3" * 38)),
        ((1, 0), ERROR),
        ((0, 0), ERROR),
        ((D("1"), D("0")), ERROR),
        ((1.0, 0), INF),
        ((-1.0, 0), -INF),
        ((1.0, -0.0), -INF),
        ((0.0, 0), NAN),
        ((1, xsd("0", "float")), xsd("INF", "float")),
    ],
    "neg": [((5,), -5), ((D("2.5"),), D("-2.5")), ((0.0,), -0.0), ((xsd("1", "float"),), xsd("-1.0E0", "float"))],
    "=": [((1, 1.0), True), (("a", "b"), False)],
    "!=": [((1, 2), True), ((A, 1), True), ((xsd("x", "unknown"), "x"), ERROR)],
    "<": [((1, 2), True), (("a", "b"), True), ((A, A), ERROR), ((NAN, 1), False)],
    "<=": [((1, 1.0), True), ((2, 1), False), ((NAN, NAN), False), ((True, True), True)],
    ">": [((2, D("1.5")), True), (("a", 1), ERROR)],
    ">=": [((2, 2), True), ((NAN, 1), False)],
    "str": [((A,), "http://ex.org/a"), ((5,), "5"), ((en("x"),), "x"), ((BLANK,), ERROR), ((1.5,), "1.5E0")],
    "lang": [((en("x"),), "en"), ((Literal("x", LANG_STRING, "EN-gb"),), "en-gb"), (("x",), ""), ((A,), ERROR)],
    "langmatches": [
        (("fr", "FR"), True),
        (("fr-be", "fr"), True),
        (("frc", "fr"), False),
        (("", "*"), False),
        (("en", "*"), True),
        (("en", ""), False),
        ((en("en"), "en"), ERROR),
    ],
    "datatype": [
        (("x",), IRI(XSD + "string")),
        ((en("x"),), IRI(RDF + "langString")),
        ((True,), IRI(XSD + "boolean")),
        ((xsd("1", "short"),), IRI(XSD + "short")),
        ((A,), ERROR),
    ],
    "iri": [
        (("http://ex.org/a",), A),
        ((A,), A),
        (("a b",), ERROR),
        ((1,), ERROR),
        ((en("x"),), ERROR),
        (("a", "http://ex.org/"), A),
        (("urn:x:y", "http://ex.org/"), IRI("urn:x:y")),
    ],
    "uri": [(("http://ex.org/a",), A)],
    "isiri": [((A,), True), (("x",), False)],
    "isuri": [((A,), True)],
    "isblank": [((BLANK,), True), ((A,), False)],
    "isliteral": [((1,), True), ((A,), False), ((BLANK,), False)],
    "isnumeric": [
        ((12,), True),
        (("12",), False),
        ((xsd("1200", "byte"),), False),
        ((xsd("12", "nonNegativeInteger"),), True),
        ((A,), False),
        ((True,), False),
    ],
    "sameterm": [((1, 1), True), ((1, 1.0), False), ((1, xsd("01", "integer")), False), ((NAN, NAN), True)],
    "strlang": [
        (("chat", "en"), en("chat")),
        (("chat", "EN"), en("chat")),
        ((en("chat"), "en"), ERROR),
        (("chat", ""), ERROR),
        (("chat", "e n"), ERROR),
    ],
    "strdt": [
        (("123", IRI(XSD + "integer")), 123),
        (("iiii", IRI("http://example/romanNumeral")), Literal("iiii", "http://example/romanNumeral")),
        ((en("x"), IRI(XSD + "string")), ERROR),
        (("x", IRI(LANG_STRING)), ERROR),
        (("x", "http://ex.org/a"), ERROR),
    ],
    "abs": [((1,), 1), ((-1,), 1), ((D("-1.5"),), D("1.5")), ((-0.0,), 0.0), (("1",), ERROR)],
    "ceil": [((D("10.5"),), D("11")), ((D("-10.5"),), D("-10")), ((1.2,), 2.0), ((-0.5,), -0.0), ((INF,), INF)],
    "floor": [((D("10.5"),), D("10")), ((D("-10.5"),), D("-11")), ((-1.2,), -2.0), ((3,), 3)],
    "round": [
        ((D("2.4999"),), D("2")),
        ((D("2.5"),), D("3")),
        ((D("-2.5"),), D("-2")),
        ((0.49999999999999994,), 0.0),
        ((-2.5,), -2.0),
        ((-0.2,), -0.0),
        ((NAN,), NAN),
        ((xsd("2.5", "float"),), xsd("3.0E0", "float")),
    ],
    "idiv": [
        ((10, 3), 3),
        ((3, -2), -1),
        ((-3, 2), -1),
        ((-3, -2), 1),
        ((D("9.0"), 3), 3),
        ((D("-3.5"), 3), -1),
        ((3.0, 4), 0),
        ((3.0, INF), 0),
        ((10**30, D("0.1")), 10**31),
        ((1, 0), ERROR),
        ((1.0, 0), ERROR),
        ((NAN, 1), ERROR),
        ((INF, 1), ERROR),
    ],
    "mod": [
        ((10, 3), 1),
        ((6, -2), 0),
        ((-7, 2), -1),
        ((7, -2), 1),
        ((D("4.5"), D("1.2")), D("0.9")),
        ((10**60, D("0.7")), D(10**61 % 7) / 10),
        ((1.23e2, 0.6e1), 3.0),
        ((1, 0), ERROR),
        ((1.0, 0), NAN),
        ((INF, 2), NAN),
        ((5.0, INF), 5.0),
    ],
    "pow": [
        ((2, 10), 1024),
        ((0, 0), 1),
        ((-1, 10**9 + 1), -1),
        ((2, -1), 0.5),
        ((D("2.25"), D("0.5")), 1.5),
        ((10, 100_000), ERROR),
        ((3, 10**15), ERROR),
        ((-8, D("0.5")), NAN),
        ((10.0, 400), INF),
        ((-10.0, 401), -INF),
        ((0, -1), INF),
        ((0.0, -2), INF),
    ],
    "least": [((3, 1.5, D("2")), 1.5), (("b", "a"), "a"), ((1, "a"), ERROR), ((A,), ERROR)],
    "greatest": [((3, 1.5, D("2")), 3), ((dt.date(2020, 1, 1), dt.date(2021, 1, 1)), dt.date(2021, 1, 1))],
    "strlen": [(("chat",), 4), ((en("chat"),), 4), (("👪",), 1), ((12,), ERROR)],
    "substr": [
        (("foobar", 4), "bar"),
        ((en("foobar"), 4), en("bar")),
        (("foobar", 4, 1), "b"),
        (("motor car", 6), " car"),
        (("metadata", 4, 3), "ada"),
        (("12345", D("1.5"), D("2.6")), "234"),
        (("12345", 0, 3), "12"),
        (("12345", 5, -3), ""),
        (("12345", -3, 5), "1"),
        (("12345", NAN, 3), ""),
        (("12345", 1, NAN), ""),
        (("12345", -42, INF), "12345"),
        (("12345", -INF, INF), ""),
        (("12345", 99), ""),
        ((12345, 1), ERROR),
        (("12345", "1"), ERROR),
    ],
    "ucase": [(("foo",), "FOO"), ((en("foo"),), en("FOO")), ((1,), ERROR)],
    "lcase": [(("BAR",), "bar"), ((en("BAR"),), en("bar"))],
    "encode_for_uri": [(("Los Angeles",), "Los%20Angeles"), ((en("é/~"),), "%C3%A9%2F~"), (("\ud800",), ERROR)],
    "contains": [
        (("foobar", "bar"), True),
        ((en("foobar"), en("foo")), True),
        ((en("foobar"), "foo"), True),
        (("foobar", en("foo")), ERROR),
        ((en("foobar"), fr("foo")), ERROR),
    ],
    "strstarts": [(("foobar", "foo"), True), ((en("foobar"), "bar"), False), ((1, "1"), ERROR)],
    "strends": [(("foobar", "bar"), True), ((en("foobar"), en("foo")), False)],
    "strbefore": [
        (("abc", "b"), "a"),
        ((en("abc"), "bc"), en("a")),
        ((en("abc"), fr("b")), ERROR),
        (("abc", ""), ""),
        ((en("abc"), ""), en("")),
        ((en("abc"), "z"), ""),
        ((en("abc"), en("z")), ""),
    ],
    "strafter": [
        (("abc", "b"), "c"),
        ((en("abc"), "ab"), en("c")),
        ((en("abc"), fr("b")), ERROR),
        (("abc", ""), "abc"),
        ((en("abc"), en("")), en("abc")),
        ((en("abc"), "z"), ""),
    ],
    "concat": [
        ((), ""),
        (("foo", "bar"), "foobar"),
        ((en("foo"), en("bar")), en("foobar")),
        ((en("foo"), "bar"), "foobar"),
        ((en("foo"), fr("bar")), "foobar"),
        (("foo", 1), ERROR),
    ],
    "md5": [(("abc",), "900150983cd24fb0d6963f7d28e17f72"), ((en("abc"),), ERROR), ((1,), ERROR)],
    "sha1": [(("abc",), "a9993e364706816aba3e25717850c26c9cd0d89d")],
    "sha256": [(("abc",), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")],
    "year": [
        ((date_time("2011-01-10T14:45:13.815-05:00"),), 2011),
        ((date_time("12011-01-10T14:45:13Z"),), 12011),
        ((date_time("-0044-03-15T00:00:00Z"),), -44),
        ((date_time("1999-12-31T24:00:00"),), 2000),
        ((dt.date(2011, 1, 10),), 2011),
        ((xsd("2011-01-10Z", "date"),), 2011),
        (("2011-01-10T14:45:13",), ERROR),
        ((date_time("2011-13-10T14:45:13"),), ERROR),
    ],
    "month": [((date_time("2011-01-10T14:45:13.815-05:00"),), 1), ((dt.time(1, 2),), ERROR)],
    "day": [((date_time("2011-01-10T14:45:13.815-05:00"),), 10), ((date_time("1999-12-31T24:00:00"),), 1)],
    "hours": [((date_time("2011-01-10T14:45:13.815-05:00"),), 14), ((dt.time(1, 2),), 1)],
    "minutes": [((date_time("2011-01-10T14:45:13.815-05:00"),), 45), ((dt.date(2011, 1, 1),), ERROR)],
    "seconds": [
        ((date_time("2011-01-10T14:45:13.815-05:00"),), D("13.815")),
        ((date_time("2011-01-10T14:45:13"),), D("13")),
        ((date_time("2011-01-10T14:45:13.1234567890123"),), D("13.1234567890123")),
    ],
    "timezone": [
        ((date_time("2011-01-10T14:45:13.815-05:00"),), xsd("-PT5H", "dayTimeDuration")),
        ((date_time("2011-01-10T14:45:13.815+05:30"),), xsd("PT5H30M", "dayTimeDuration")),
        ((date_time("2011-01-10T14:45:13.815Z"),), xsd("PT0S", "dayTimeDuration")),
        ((date_time("2011-01-10T14:45:13.815"),), ERROR),
    ],
    "tz": [
        ((date_time("2011-01-10T14:45:13.815-05:00"),), "-05:00"),
        ((date_time("2011-01-10T14:45:13.815Z"),), "Z"),
        ((date_time("2011-01-10T14:45:13.815+00:00"),), "+00:00"),
        ((date_time("2011-01-10T14:45:13.815"),), ""),
    ],
}
TABLE = [(name, args, expected) for name, cases in CASES.items() for args, expected in cases]


@pytest.mark.parametrize(("name", "args", "expected"), TABLE)
def test_function(name: str, args: tuple[Term, ...], expected: Term | None) -> None:
    function = FUNCTIONS[name]
    if expected is ERROR:
        with pytest.raises(ExpressionError):
            function.implementation(*args)
    else:
        assert key_of(function.implementation(*args)) == key_of(expected)
    assert function.least_args <= len(args) and (function.most_args is None or len(args) <= function.most_args)


def test_new_things_are_new() -> None:
    for name in ("uuid", "struuid", "bnode", "rand"):
        make = FUNCTIONS[name].implementation
        assert not FUNCTIONS[name].deterministic
        assert key_of(make()) != key_of(make())
    assert isinstance(FUNCTIONS["now"].implementation(), dt.datetime)
    assert str(FUNCTIONS["uuid"].implementation()).startswith("urn:uuid:")


def test_blank_nodes_depend_on_their_arguments() -> None:
    make = FUNCTIONS["bnode"].implementation
    assert make("a", 1) == make("a", 1) != make("a", 2)
    with pytest.raises(ExpressionError):
        make(1)


def test_decimals_do_not_depend_on_the_callers_context() -> None:
    with localcontext(prec=3):
        assert FUNCTIONS["/"].implementation(1, 3) == D("0." + "3" * 38)
        assert FUNCTIONS["neg"].implementation(D("1.23456789")) == D("-1.23456789")
        assert FUNCTIONS["round"].implementation(D("12345.6")) == D("12346")


def test_every_name_is_known_by_itself() -> None:
    assert all(name == function.name for name, function in FUNCTIONS.items())
    assert all(name == name.lower() for name in FUNCTIONS if not name.startswith(XSD))
