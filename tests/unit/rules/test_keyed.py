"""Is a rule with a key before its atoms the same rule for each key, in components of the same size?"""

from __future__ import annotations

from everlog.rules.checks import check_program
from everlog.rules.components import maintenance_components
from everlog.rules.dependencies import body_atoms
from everlog.rules.keyed import keyed_rules
from everlog.rules.names import name_rules
from everlog.rules.parser import parse_program
from everlog.rules.printer import print_rule
from everlog.rules.syntax import Program, Rule

PREFIX = "PREFIX : <http://ex.org/> "


def keyed(text: str) -> list[Rule]:
    rules = [each for rule in name_rules(parse_program(text).rules) for each in keyed_rules(rule)]
    assert not check_program(Program(rules=tuple(rules)))
    return rules


def printed(text: str) -> list[str]:
    return [print_rule(rule).replace("?~key", "K") for rule in keyed(text)]


def test_the_key_stands_before_every_atom() -> None:
    assert printed("p(?x) :- q(?x, ?y), NOT r(?y), NOT EXISTS ?z IN (s(?z), ?z > ?x).") == [
        "r1: p/1(K, ?x) :- q/2(K, ?x, ?y), NOT r/1(K, ?y), NOT EXISTS ?z IN (s/1(K, ?z), ?z > ?x)."
    ]
    assert printed("p() :- q().") == ["r1: p/0(K) :- q/0(K)."]


def test_a_body_without_atoms_holds_for_each_key() -> None:
    assert printed("p(?x) :- BIND(1 AS ?x), NOT q().") == ["r1: p/1(K, ?x) :- /keys(K), BIND(1 AS ?x), NOT q/0(K)."]


def test_the_key_is_one_of_the_group() -> None:
    assert printed("p(?x, ?n) :- AGGREGATE(q(?x, ?y) ON ?x BIND COUNT(?y) AS ?n).") == [
        "r1: p/2(K, ?x, ?n) :- AGGREGATE(q/2(K, ?x, ?y) ON K ?x BIND COUNT(?y) AS ?n)."
    ]
    assert printed("p(?n) :- AGGREGATE(q(?y) BIND MAX(?y) AS ?n).") == [
        "r1: p/1(K, ?n) :- AGGREGATE(q/1(K, ?y) ON K BIND MAX(?y) AS ?n)."
    ]


def test_counting_nothing_gives_a_row_for_each_key() -> None:
    assert printed("p(?n) :- AGGREGATE(q(?y) BIND COUNT(?y) AS ?n).") == [
        "r1: p/1(K, ?n) :- r1/group1(K, ?n).",
        "r1/group1: r1/group1(K, ?n) :- AGGREGATE(q/1(K, ?y) ON K BIND COUNT(?y) AS ?n).",
        "r1/group1/nothing: r1/group1(K, 0) :- /keys(K), NOT r1/some1(K).",
        "r1/some1: r1/some1(K) :- q/1(K, ?y).",
    ]


def test_a_constraint_tells_of_its_key() -> None:
    [rule] = keyed("@constraint c : p(?x), ?x < 0.")
    assert [arg.name for arg in rule.heads[0].args] == ["~key", "x"] and rule.heads[0].relation == "c~constraint"


def test_triples_stay_in_components_as_small_as_before() -> None:
    text = PREFIX + " ".join(f"[?x, :p{n + 1}, ?y] :- [?x, :p{n}, ?y]." for n in range(5))
    text += " [?x, :p0, ?z] :- [?x, :p0, ?y], [?y, :p0, ?z]. [?x, a, :C] :- [?x, ?p, :c]."
    plain = maintenance_components(name_rules(parse_program(text).rules), body_atoms)
    assert len(maintenance_components(keyed(text), body_atoms)) == len(plain) == 7
