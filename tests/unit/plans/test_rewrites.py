"""Which rules are rewritten, and into what?"""

from __future__ import annotations

import pytest

import everlog
from everlog.plans.explain import explain_rewrites
from everlog.plans.rewrites import rewrite_rules
from everlog.rules.names import name_rules
from everlog.rules.parser import parse_program


def rewritten(text: str) -> dict[str, list[str]]:
    return explain_rewrites(parse_program("PREFIX : <http://example.org/>\n" + text))


def test_a_transitive_rule_is_linear_over_the_base() -> None:
    found = rewritten("t: p(X, Z) :- p(X, Y), p(Y, Z).  s: p(X, Y) :- p(Y, X).  b: p(X, Y) :- q(X, Y).")
    assert found == {
        "t": ["p(?X, ?Y) :- t~base(?X, ?Y).", "p(?X, ?Z) :- p(?X, ?Y), t~base(?Y, ?Z)."],
        "s": ["t~base(?X, ?Y) :- t~base(?Y, ?X)."],
        "b": ["t~base(?X, ?Y) :- q(?X, ?Y)."],
    }


def test_a_guarded_rule_keeps_its_form_for_terms_of_shared_value() -> None:
    assert rewritten("t: p(X, Z) :- p(X, Y), p(Y, Z), X != Z.")["t"] == [
        "p(?X, ?Y) :- t~base(?X, ?Y).",
        "p(?X, ?Z) :- p(?X, ?Y), t~base(?Y, ?Z), ?X != ?Z.",
        "t~shared() :- t~base(?X, ?Y), FILTER(~shares_value(?X)).",
        "t~shared() :- t~base(?X, ?Y), FILTER(~shares_value(?Y)).",
        "p(?X, ?Z) :- t~shared(), p(?X, ?Y), p(?Y, ?Z), ?X != ?Z.",
    ]


def test_one_predicate_of_triples_is_split() -> None:
    found = rewritten("t: :in[?x, ?z] :- :in[?x, ?y], :in[?y, ?z].  o: :on[?x, ?y] :- :in[?x, ?y].")
    assert found == {
        "t": ["[?x, :in, ?y] :- t~base(?x, :in, ?y).", "[?x, :in, ?z] :- [?x, :in, ?y], t~base(?y, :in, ?z)."]
    }


@pytest.mark.parametrize(
    "rule",
    [
        "t: p(X, Z) :- p(Y, Z), p(X, Y).",
        "t: p(X, Z) :- p(X, Y), p(Y, Z), COMP(Z, !=, X).",
        "t: p(G, X, Z) :- p(G, X, Y), p(G, Y, Z).",
        "t: p(X, G, Z, H) :- p(X, G, Y, H), p(Y, G, Z, H).",
        "t: p(a, X, Z) :- p(a, X, Y), p(a, Y, Z).  u: p(b, X, Y) :- q(X, Y).",
    ],
)
def test_what_is_transitive(rule: str) -> None:
    assert list(rewritten(rule)) == ["t"]


@pytest.mark.parametrize(
    "rule",
    [
        "p(X, Z) :- p(X, Y), p(Z, Y).",
        "p(X, Z) :- p(X, Y), q(Y, Z).",
        "p(X, Z) :- p(X, Y), p(Y, Z), r(Y).",
        "p(X, Z) :- p(X, Y), p(Y, Z), X != Y.",
        "p(X, Z) :- p(X, Y), p(Y, Z), X < Z.",
        "p(X, Z) :- p(X, Y), p(Y, Z), NOT p2(X, Z).",
        "p(X, Z) :- p(X, Y), p(Y, Z), X != Z, Y != Z.",
        "p(X, Z), q(X) :- p(X, Y), p(Y, Z).",
        "p(X, X) :- p(X, Y), p(Y, X).",
        "p(a, Z) :- p(a, Y), p(Y, Z).",
        "p(G, G, X, Z) :- p(G, G, X, Y), p(G, G, Y, Z).",
        "p(G, X, Z) :- p(G, X, Y), p(H, Y, Z).",
        "p(G, X, Z) :- p(G, X, Y), p(X, Y, Z).",
        "p(a, X, Z) :- p(a, X, Y), p(a, Y, Z).  p(G, X, Y) :- q(G, X, Y).",
        ":in[?x, ?z] :- :in[?x, ?y], :in[?y, ?z].  [?x, ?p, ?y] :- q(?x, ?p, ?y).",
    ],
)
def test_what_is_left_alone(rule: str) -> None:
    assert rewritten(rule) == {}


def test_a_relation_is_split_once() -> None:
    rules = name_rules(parse_program("p(X, Z) :- p(X, Y), p(Y, Z).  p(A, C) :- p(A, B), p(B, C), A != C.").rules)
    assert [closure.rule.name for closure in rewrite_rules(rules).closures] == ["r1"]
    assert rewrite_rules(rules, enabled=False).rules == rules


def test_nothing_of_it_shows(engine: str) -> None:
    """Relations, explicit facts, rules and their names are the user's, whatever is evaluated."""
    seen = []
    for rewrites in (True, False):
        kb = everlog.open(engine=engine, rewrites=rewrites)
        kb.insert("p", [("a", "b"), ("b", "c"), ("a", "c")])
        change = kb.add_rules("sym: p(X, Y) :- p(Y, X).  p(X, Z) :- p(X, Y), p(Y, Z), X != Z.")
        lost = kb.delete("p", [("a", "b")])
        assert kb.verify()
        names = [phase.name for phase in change.report.phases]
        assert {name for phase in names for name in phase.split(", ")} == {"sym", "r1"}
        seen.append((change.counts(), lost.counts(), kb.relations(), kb.program, kb.facts("p").sorted()))
    assert seen[0] == seen[1]


def test_a_chain_takes_fewer_rule_applications(engine: str) -> None:
    def applications(rewrites: bool) -> int:
        kb = everlog.open(engine=engine, rewrites=rewrites)
        kb.insert("near", [(n, n + 1) for n in range(20)])
        return kb.add_rules(
            "near(X, Y) :- near(Y, X).  near(X, Z) :- near(X, Y), near(Y, Z), X != Z."
        ).report.rule_applications

    assert applications(rewrites=True) < 3 * 21 * 21
    assert applications(rewrites=False) > 21 * 20 * 19
