"""Relations that no fact, rule or declaration knows."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import everlog
from everlog import IRI, ProgramError, UnknownRelationWarning

EDGES = [("a", "b"), ("b", "c")]


@pytest.fixture
def kb() -> everlog.KnowledgeBase:
    kb = everlog.open()
    kb.insert("edge", EDGES)
    kb.insert("reports", [("ann", "ben")])
    return kb


@pytest.mark.parametrize(
    ("rule", "help"),
    [
        ("path(X, Y) :- egde(X, Y).", "did you mean edge?"),
        ("boss(X) :- reports(_, X), NOT repots(X, _).", "did you mean reports?"),
        ("few(N) :- AGGREGATE(egde(X, Y) BIND COUNT(*) AS N).", "did you mean edge?"),
        ("p(X) :- thing(X).", "insert its facts, or conclude it by a rule"),
    ],
)
def test_a_rule_warns_with_the_nearest(kb: everlog.KnowledgeBase, rule: str, help: str) -> None:
    with pytest.warns(UnknownRelationWarning) as told:
        kb.add_rules(rule)
    (only,) = told
    assert help in str(only.message) and "warning[W301]" in str(only.message)
    assert only.filename == __file__  # it points at the caller


def test_what_is_known_is_not_warned_of() -> None:
    kb = everlog.open()
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnknownRelationWarning)
        kb.add_rules("path(X, Y) :- edge(X, Y).  path(X, Z) :- path(X, Y), edge(Y, Z).")  # rules may come first
        kb.insert("edge", EDGES)
        kb.add_rules(
            "far(X) :- path(X, _), node(X).  node(X) :- edge(X, _).  [X, a, X] :- [X, :p, _].".replace(
                ":p", "<http://ex.org/p>"
            ).replace("[X, a, X]", "kind(X)")
        )
        kb.update(insert={"colour": [("a", "red")]}, add_rules="red(X) :- colour(X, red).")
        kb.delete("colour", [("a", "red")])
        kb.add_rules("blue(X) :- edge(X, _), NOT red(X).")
        assert not kb.query("red(?x)")
        kb.view("class", "SELECT ?x { ?x a <http://ex.org/Nobody> }")


def test_before_there_are_facts_only_misspellings_count() -> None:
    kb = everlog.open()
    with pytest.warns(UnknownRelationWarning, match="did you mean parents"):
        kb.add_rules("parents(X, Y) :- born(Y, X).  elder(X) :- paretns(X, _).")


def test_queries(kb: everlog.KnowledgeBase) -> None:
    with pytest.warns(UnknownRelationWarning, match="did you mean edge"):
        assert not kb.query("egde(a, ?y)")


def test_strict_is_an_error(tmp_path: Path) -> None:
    with everlog.open(tmp_path / "kb", strict=True) as kb:
        kb.insert("edge", EDGES)
        for mistake in (lambda: kb.add_rules("p(X) :- egde(X, _)."), lambda: kb.query("egde(a, ?y)")):
            with pytest.raises(ProgramError, match=r"error\[W301\].*\n(.*\n)*.*did you mean edge"):
                mistake()
        assert not kb.program.rules and kb.version == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with everlog.open(tmp_path / "kb") as kb:  # opening tells nothing again
            assert len(kb.facts("edge")) == 2


def test_opening_does_not_warn_again(tmp_path: Path) -> None:
    with everlog.open(tmp_path / "kb") as kb, pytest.warns(UnknownRelationWarning):
        kb.insert("edge", EDGES)
        kb.add_rules("p(X) :- egde(X, _).")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        everlog.open(tmp_path / "kb").close()


def test_check_rules_points_out_classes_and_relations(kb: everlog.KnowledgeBase) -> None:
    kb.insert("triple", [(IRI("http://ex.org/a"), IRI("http://ex.org/p"), 1)])
    kb.add_rules("PREFIX : <http://ex.org/>  ok(X) :- :p[X, _].  no(X) :- :q[X, _], edge(X, _).  x(X) :- egde(X, _).")
    kb.view("none", "SELECT ?x { ?x a <http://ex.org/Nobody> ; <http://ex.org/p> ?y }")
    messages = [each.message for each in kb.check_rules()]
    assert messages == [
        "rule r2 reads :q, of which there is no fact and which no rule concludes",
        "rule r3 reads egde, of which there is no fact and which no rule concludes",
        "view none reads :Nobody, of which there is no fact and which no rule concludes",
    ]
    assert kb.check_rules()[1].help == "did you mean edge?"
