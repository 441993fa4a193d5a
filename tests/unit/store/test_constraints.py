"""Are updates that break a constraint refused, whichever way they are carried out, and do others pass?"""

from __future__ import annotations

from pathlib import Path

import pytest

import everlog
from everlog import ConstraintError
from everlog.store import transactions

ACYCLIC = """
    one:  reach(?x, ?y) :- edge(?x, ?y).
    more: reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z).
    @constraint acyclic : reach(?x, ?x).
"""
LOOP = [("c", "a")]


@pytest.fixture
def kb(engine: str) -> everlog.KnowledgeBase:
    kb = everlog.open(engine=engine)
    kb.add_rules(ACYCLIC)
    kb.insert("edge", [("a", "b"), ("b", "c")])
    return kb


def unchanged(kb: everlog.KnowledgeBase, version: int = 2) -> None:
    assert kb.version == version
    assert kb.facts("edge").sorted() == [("a", "b"), ("b", "c")]
    assert len(kb.facts("reach")) == 3
    assert kb.verify()


def test_a_refused_update_leaves_everything(kb: everlog.KnowledgeBase) -> None:
    with pytest.raises(ConstraintError) as refused:
        kb.insert("edge", LOOP)
    assert refused.value.violations == {"acyclic": [("a",), ("b",), ("c",)]}
    assert "the constraint acyclic would be broken by:\n    ?x = a\n    ?x = b\n    ?x = c" in str(refused.value)
    unchanged(kb)
    assert kb.insert("edge", [("c", "d")]).version == 3


def test_ten_matches_are_shown(engine: str) -> None:
    kb = everlog.open(engine=engine)
    kb.add_rules("@constraint small : size(?thing, ?n), ?n > 5.   @constraint none : size(_, 99).")
    with pytest.raises(ConstraintError) as refused:
        kb.insert("size", [(f"t{n:02}", n) for n in range(30)] + [("t99", 99)])
    assert refused.value.violations["small"] == [(f"t{n:02}", n) for n in range(6, 16)]
    assert refused.value.violations["none"] == [()]
    lines = str(refused.value).splitlines()
    assert lines[1] == "    ?thing = t06, ?n = 6" and lines[11] == "    … 15 more"
    assert lines[12:14] == ["the constraint none would be broken by:", "    its body holds"]


@pytest.mark.parametrize("way", ["maintained", "again", "in place"])
def test_each_way_of_carrying_out_an_update(engine: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kb = everlog.open(engine=engine)
    if way == "in place":
        with pytest.raises(ConstraintError):
            kb.update(insert={"edge": [("a", "a")]}, add_rules=ACYCLIC)
        assert kb.version == 0 and not kb.program.rules and not kb.relations()
        kb.update(insert={"edge": [("a", "b"), ("b", "c")]}, add_rules=ACYCLIC)
        unchanged(kb, 1)
        return
    kb.update(insert={"edge": [("a", "b"), ("b", "c")]}, add_rules=ACYCLIC)
    if way == "again":
        monkeypatch.setattr(transactions, "OVERHAUL_FROM", 1)
    more = [(f"n{n}", f"n{n + 1}") for n in range(9)]
    with pytest.raises(ConstraintError):
        kb.update(insert={"edge": [*LOOP, *more]})
    unchanged(kb, 1)
    with kb.transaction() as transaction:
        transaction.insert("edge", [*LOOP, *more])
        transaction.delete("edge", [*LOOP, *more])
    unchanged(kb, 2)
    with pytest.raises(ConstraintError), kb.transaction() as transaction:
        transaction.insert("edge", [*LOOP, *more])
        transaction.delete("edge", more)
    unchanged(kb, 2)


def test_a_transaction_is_checked_at_its_end(kb: everlog.KnowledgeBase) -> None:
    with kb.transaction() as transaction:
        transaction.insert("edge", LOOP)
        assert transaction.query("reach(a, a)")
        transaction.delete("edge", [("b", "c")])
    assert kb.version == 3 and kb.facts("edge").sorted() == [("a", "b"), ("c", "a")]
    with pytest.raises(ConstraintError), kb.transaction() as transaction:
        transaction.insert("edge", [("x", "y")])
        transaction.insert("edge", [("y", "x")])
    assert kb.version == 3 and ("x", "y") not in kb.facts("edge") and kb.verify()


def test_a_constraint_that_goes_and_comes_back_in_a_transaction(kb: everlog.KnowledgeBase) -> None:
    with kb.transaction() as transaction:
        transaction.insert("edge", LOOP)
        transaction.remove_rules("acyclic")
        transaction.delete("edge", LOOP)
        transaction.add_rules("@constraint acyclic : reach(?x, ?x).")
    unchanged(kb, 3)
    with kb.transaction() as transaction:
        transaction.insert("edge", LOOP)
        transaction.remove_rules("acyclic")
    assert kb.version == 4 and ("a", "a") in kb.facts("reach")


def test_what_if(kb: everlog.KnowledgeBase) -> None:
    with pytest.raises(ConstraintError):
        kb.what_if(insert={"edge": LOOP})
    unchanged(kb)


def test_adding_and_removing(kb: everlog.KnowledgeBase) -> None:
    names = [rule.name for rule in kb.program.rules]
    with pytest.raises(ConstraintError):
        kb.add_rules("@constraint rooted : edge(?x, _), NOT edge(_, ?x).   other(?x) :- edge(?x, _).")
    assert [rule.name for rule in kb.program.rules] == names
    unchanged(kb)
    kb.remove_rules("acyclic")
    kb.insert("edge", LOOP)
    kb.add_rules("@constraint rooted : edge(?x, _), NOT edge(_, ?x).")
    with pytest.raises(ConstraintError):
        kb.add_rules("@constraint acyclic : reach(?x, ?x).")
    kb.update(delete={"edge": [("a", "b"), ("b", "c"), ("c", "a")]}, add_rules="@constraint acyclic : reach(?x, ?x).")
    with pytest.raises(ConstraintError) as refused:
        kb.insert("edge", [("a", "b")])
    assert list(refused.value.violations) == ["rooted"]
    kb.remove_rules("@constraint rooted : edge(A, _), NOT edge(_, A).")
    assert kb.insert("edge", [("a", "b")])


def test_a_rule_may_break_one(engine: str) -> None:
    kb = everlog.open(engine=engine)
    kb.update(insert={"n": [(1,), (2,)]}, add_rules="@constraint no_twos : big(?x), ?x = 2.")
    with pytest.raises(ConstraintError):
        kb.add_rules("big(?x) :- n(?x).")
    kb.add_rules("big(?x) :- n(?x), ?x < 2.")
    assert kb.facts("big").sorted() == [(1,)]


def test_nobody_sees_the_relation_of_a_constraint(kb: everlog.KnowledgeBase) -> None:
    assert [relation.name for relation in kb.relations()] == ["reach", "edge"]
    change = kb.insert("edge", [("c", "d")])
    assert set(change.counts()) == {"edge", "reach"}
    with pytest.raises(everlog.NotFoundError):
        kb.facts("acyclic~constraint")
    with pytest.raises(everlog.DataError, match="no name for a relation"):
        kb.insert("acyclic~constraint", [("a",)])


def test_a_rule_called_constraint_is_none(engine: str) -> None:
    kb = everlog.open(engine=engine)
    kb.add_rules("constraint: leaf(?x) :- edge(_, ?x), NOT edge(?x, _), NOT (edge(?x, ?y), edge(?y, _)).")
    kb.insert("edge", [("a", "b")])
    assert kb.facts("leaf").sorted() == [("b",)]


def test_transitive_rules_are_rewritten_beside_constraints(engine: str) -> None:
    kb = everlog.open(engine=engine)
    kb.add_rules("t: near(?x, ?z) :- near(?x, ?y), near(?y, ?z).   @constraint apart : near(?x, ?y), near(?y, ?x).")
    kb.insert("near", [("a", "b"), ("b", "c")])
    assert kb.facts("near").sorted() == [("a", "b"), ("a", "c"), ("b", "c")]
    with pytest.raises(ConstraintError):
        kb.insert("near", [("c", "a")])
    assert kb.verify()


def test_views_stay_true_beside_constraints(kb: everlog.KnowledgeBase) -> None:
    kb.update(
        insert={"triple": [(everlog.IRI("http://ex.org/a"), everlog.IRI("http://ex.org/p"), 1)]},
        add_rules="@constraint positive : [?s, <http://ex.org/p>, ?n], ?n < 0.",
    )
    kb.view("ps", "SELECT ?n { ?s <http://ex.org/p> ?n }")
    with pytest.raises(ConstraintError):
        kb.sparql_update("INSERT DATA { <http://ex.org/b> <http://ex.org/p> -1 }")
    kb.sparql_update("INSERT DATA { <http://ex.org/b> <http://ex.org/p> 2 }")
    assert sorted(kb.view("ps").rows()) == [(1,), (2,)]


def test_a_durable_store_keeps_its_constraints(tmp_path: Path, engine: str) -> None:
    with everlog.open(tmp_path / "kb", engine=engine) as kb:
        kb.add_rules(ACYCLIC + " @constraint no-stray : edge(?x, ?y), NOT node(?x).")
        kb.insert("node", [("a",)])
        with pytest.raises(ConstraintError):
            kb.insert("edge", [("b", "c")])
        kb.insert("edge", [("a", "b")])
        rules = kb.program.rules
    with everlog.open(tmp_path / "kb", engine=engine) as kb:
        assert kb.program.rules == rules and kb.version == 3
        for edge in (("b", "a"), ("c", "d")):
            with pytest.raises(ConstraintError):
                kb.insert("edge", [edge])
        kb.remove_rules("no-stray")
        assert kb.insert("edge", [("c", "d")]).version == 5
    with everlog.open(tmp_path / "kb", engine=engine) as kb:
        assert [rule.name for rule in kb.program.rules] == ["one", "more", "acyclic"]


def test_a_stream_stops_at_the_update_that_breaks_one(kb: everlog.KnowledgeBase) -> None:
    updates = [{"insert": [["edge", "c", "d"]]}, {"insert": [["edge", "d", "a"]]}]
    with pytest.raises(ConstraintError):
        for _ in kb.stream(updates):
            pass
    assert kb.version == 3 and ("c", "d") in kb.facts("edge") and ("d", "a") not in kb.facts("edge")
