"""Do the checks find what is wrong with a program, and nothing else?"""

from __future__ import annotations

import pytest

from everlog.rules.checks import OF_ALL_RULES, OF_ONE_RULE, check_program
from everlog.rules.diagnostics import Diagnostic
from everlog.rules.parser import parse_program
from everlog.rules.syntax import Atom, Program, Rule, Variable


def problems(text: str, arities: dict[str, int] | None = None) -> list[Diagnostic]:
    return check_program(parse_program("PREFIX : <http://example.org/>\n" + text), arities)


@pytest.mark.parametrize(
    "text",
    [
        "p(X) :- q(X, Y), NOT r(X, Z), NOT s(Z).",  # each NOT has its own Z
        "p(X) :- q(X), NOT (r(X, Z), NOT s(Z), Z > X).",
        "p(X) :- q(X), NOT EXISTS Z IN (r(X, Z), Z > X), NOT EXISTS Z IN s(Z).",
        "p(Z) :- BIND(Y + 1 AS Z), q(X), BIND(X + 1 AS Y).",  # in any order
        "p(X, N) :- AGGREGATE(e(X, Y) ON X BIND COUNT(Y) AS N), AGGREGATE(e(Y, X) ON X BIND COUNT(Y) AS M), N > M.",
        "p(N) :- AGGREGATE(e(X, Y), NOT e(Y, X), BIND(Y + 1 AS Z), Z > 3 BIND SUM(Z) AS N), BIND(N + 1 AS M), M > 2.",
        "p(X, N) :- e(X, N), AGGREGATE(e(X, Y) ON X BIND COUNT(*) AS N).",  # joins on a result
        "p(X) :- q(X), NOT p2(X). p2(X) :- q(X), NOT p3(X). p3(X) :- p3(X), q(X).",
        "p(X) :- p(X), NOT q(X). q(X) :- r(X).",
        ":C[X] :- :D[X], NOT :E[X]. :E[X] :- :D[X], NOT :F[X].",
        "p(a). p(X) :- q(X, Y), X = Y, X != 'a', strlen(X) IN (1, 2).",
        "p(1) :- q().",
        "_p(X) :- q(X, _, _).",
        "",
    ],
)
def test_good(text: str) -> None:
    assert problems(text) == []


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("p(X, a).", ["R201"]),
        ("p(X, Y) :- q(X).", ["R202"]),
        ("p(_) :- q(X).", ["R202"]),
        ("p(X, Y, Y) :- q(X), NOT r(X, Y).", ["R202"]),
        ("p(X) :- q(X), Y > X, Y < X.", ["R203", "R203"]),
        ("p(X) :- q(X), FILTER(X > Y + Y).", ["R203"]),
        ("p(X) :- q(X), BIND(Y + Y AS Z), BIND(Z + 1 AS W), W > 1.", ["R203"]),
        ("p(X) :- q(X), NOT (r(X), Y > 3).", ["R203"]),
        ("p(X) :- q(X, Z), AGGREGATE(r(X, Y), Y > Z ON X BIND COUNT(*) AS N).", ["R203"]),
        ("p(X) :- q(X), r(Y + 1, X).", ["R203"]),
        ("p(X) :- q(X), Y + 1 = X.", ["R203"]),
        ("p(X) :- q(X), FILTER(Y = X).", ["R203"]),
        ("p(X + Y) :- q(X).", ["R203"]),
        ("p(X) :- q(X), X = Y + 1, Y = Z + 1, Z = Y - 1.", ["R205"]),
        ("p(X) :- q(X), BIND(Y AS Z), BIND(Z AS Y).", ["R205"]),
        ("p(X) :- q(X), BIND(Y + 1 AS Y).", ["R205"]),
        ("p(X) :- q(X), BIND(A AS B), BIND(B AS C), BIND(C AS A), BIND(C + X AS D).", ["R205"]),
        ("p(X) :- q(X), NOT (X > 3).", ["R207"]),
        ("p(X) :- q(X), NOT EXISTS X IN r(X).", ["R208"]),
        ("p(X) :- q(X), NOT EXISTS Y IN r(X).", ["R208"]),
        ("p(X) :- AGGREGATE(q(X) ON X, Y BIND COUNT(*) AS N).", ["R209"]),
        ("p(X) :- AGGREGATE(q(X) ON X, X BIND COUNT(*) AS N).", ["R210"]),
        ("p(X) :- AGGREGATE(q(X, Y) ON X BIND COUNT(*) AS Y).", ["R210"]),
        ("p(X) :- AGGREGATE(q(X, Y) ON X BIND COUNT(*) AS X).", ["R210"]),
        ("p(X) :- AGGREGATE(q(X, Y) ON X BIND COUNT(*) AS N BIND SUM(Y) AS N).", ["R210"]),
        ("p(X) :- AGGREGATE(q(X) ON X BIND SUM(Y) AS N).", ["R211"]),
        ("p(X) :- AGGREGATE(q(X), NOT r(X, Y) ON X BIND SUM(Y) AS N).", ["R211"]),
        ("p(X) :- s(Y), AGGREGATE(q(X, Y) ON X BIND COUNT(*) AS N).", ["R212"]),
        ("p(X, Y) :- AGGREGATE(q(X, Y) ON X BIND COUNT(*) AS N).", ["R202"]),
        ("p(N) :- AGGREGATE(1 > 2 BIND COUNT(*) AS N).", ["R213"]),
        ("p(X) :- q(X), foo(X) > 1.", ["R214"]),
        ("p(X) :- q(X), :f(X) > 1.", ["R214"]),
        ("p(X) :- q(X), abs(X, X) > abs().", ["R215", "R215"]),
        ("p(X) :- q(X), X > 1 + one.", ["R216"]),
        ("p(X) :- q(X), X > -true.", ["R216"]),
        ("p(N) :- AGGREGATE(q(X) BIND SUM('a') AS N).", ["R216"]),
        ("[a, :p, :b].", ["R217"]),
        ("[:a, p, :b].", ["R217"]),
        ("p(X) :- q(X), NOT [3, 'p', X].", ["R217", "R217"]),
        ("quad(:s, p, :o, :g).", ["R217"]),
        *((f"p(X) :- q(X), BIND({name}() AS Y).", ["R218"]) for name in ("RAND", "uuid", "STRUUID", "now", "bnode")),
        ("p(a). p(a, b). p(a, b). p(c).", ["R301"]),
        ("p(X) :- q(X), NOT p(X, X).", ["R301", "R303"][:1]),
        ("triple(a, b). quad(a).", ["R301", "R301"]),
        ("p(X) :- q(X), known(X).", ["R301"]),
        ('@import p "a.csv" (string) . p(a, b).', ["R301"]),
        ("r: p(X) :- q(X). r: p(X) :- s(X). r: p(X) :- t(X).", ["R302", "R302"]),
        ("p(X) :- q(X), NOT p(X).", ["R303"]),
        ("p(X) :- q(X), NOT r(X). r(X) :- p(X).", ["R303"]),
        ("p(N) :- AGGREGATE(p(X) BIND COUNT(*) AS N).", ["R303"]),
        ("p(X) :- q(X), NOT r(X). r(X) :- q(X), NOT p(X). s(X) :- q(X), NOT s(X).", ["R303", "R303"]),
        (":C[X] :- [X, Y, :D], NOT [X, Y, :C].", ["R303"]),
    ],
)
def test_bad(text: str, codes: list[str]) -> None:
    assert [problem.code for problem in problems(text, {"known": 2})] == codes


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?w).", "did you mean ?w?"),
        ("p(Name) :- q(Nmae, X), r(X).", "did you mean Nmae?"),
        ("p(X) :- q(X), strln(X) > 1.", "did you mean strlen?"),
        ("p(X) :- q(X), count(X) > 1.", "AGGREGATE(… ON ?x BIND COUNT(?y) AS ?n) computes it over a group"),
        ("p(X, count(Y)) :- q(X, Y).", "p(?X, ?n) :- AGGREGATE(q(?X, ?Y) ON ?X BIND COUNT(?Y) AS ?n)."),
        ("r: p(sum(N)) :- q(N, _).", "r: p(?n) :- AGGREGATE(q(?N, ?_1) BIND SUM(?N) AS ?n)."),
        (
            "p(Y) :- q(X), FILTER(Y = X + 1), r(X).",
            "Y = … without FILTER gives it a value; inside FILTER, = only compares",
        ),
        ("p(X, Y) :- AGGREGATE(q(X, Y) ON X BIND COUNT(*) AS N).", "add it to ON"),
    ],
)
def test_hints(text: str, help: str) -> None:
    assert problems(text)[0].help == help


def test_the_cycle_is_told_rule_by_rule() -> None:
    (found,) = problems("r1: p(X) :- s(X), NOT q(X).\nr2: q(X) :- t(X).\nr3: t(X) :- p(X), s(X).")
    assert found.message == "negation goes round a cycle: p -> not q -> t -> p"
    assert [label for _, label in found.related] == ["q needs t in rule r2", "t needs p in rule r3"]


def test_cycles_of_triples_name_predicates_and_classes() -> None:
    (found,) = problems(":C[X] :- :p[X, Y], NOT :q[X, Y]. :q[X, Y] :- :p[X, Y], :C[Y].")
    assert found.message == "negation goes round a cycle: :C -> not :q -> :C"


def test_trees_without_places() -> None:
    x, y = Variable("x"), Variable("y")
    rules = (Rule((Atom("p", (x, y)),), (Atom("p", (x,)),), "r"), Rule((Atom("p", (x,)),), (Atom("q", (x,)),), "r"))
    found = check_program(Program(rules))
    assert sorted(problem.code for problem in found) == ["R202", "R301", "R302"]
    assert all(problem.render() for problem in found)


def test_checks_are_a_list() -> None:
    program = parse_program("p(X) :- q(Y).")
    listed = (*OF_ONE_RULE, *OF_ALL_RULES)
    assert check_program(program) == [problem for check in listed for problem in check(program, {})]


def test_deep_nesting() -> None:
    text = "p(X) :- q(X), " + "NOT (q(X), " * 150 + "q(X)" + ")" * 150 + "."
    assert problems(text) == []
    assert problems("p(X) :- q(X), " + "abs(" * 190 + "X" + ")" * 190 + " > 1.") == []
