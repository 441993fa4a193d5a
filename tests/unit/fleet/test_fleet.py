"""What does a fleet say and refuse, key by key?"""

from __future__ import annotations

from decimal import Decimal

import pytest

import everlog
from everlog.errors import ConstraintError, DataError, NotFoundError, ProgramError, SparqlError, UsageError
from everlog.fleet.fleet import Fleet

PATHS = "path(?x, ?y) :- edge(?x, ?y).   path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)."
EX = "http://ex.org/"
A, P = everlog.IRI(EX + "a"), everlog.IRI(EX + "p")


def edges(*pairs: tuple[object, object]) -> dict[str, object]:
    return {"insert": {"edge": list(pairs)}}


@pytest.fixture
def fleet(engine: str) -> Fleet:
    return Fleet(PATHS, engine=engine)


def test_keys_do_not_meet(fleet: Fleet) -> None:
    change = fleet.update({"a": edges((1, 2)), "b": edges((2, 3))})
    assert change["a"].gained("path") == [(1, 2)] and change["b"].gained("path") == [(2, 3)]
    assert fleet.facts("a", "path").sorted() == [(1, 2)]
    assert change.versions == {"a": 1, "b": 1} and fleet.buckets == 1
    assert str(change["a"]) == "<change to version 1: edge +1 -0, path +1 -0>"
    assert not fleet.update({"a": edges((1, 2))})
    assert fleet.version("a") == 2


def test_a_bad_update_is_returned_and_the_others_are_made(fleet: Fleet) -> None:
    updates = {f"k{n}": edges((n, n + 1)) for n in range(20)}
    updates["k3"] = {"insert": {"edge": [(1, 2, 3)]}}
    updates["k7"] = edges((object(), 1))
    updates["k9"] = {"insert": {"edge~": [(1, 2)]}}
    updates["k11"] = {"incert": {}}
    change = fleet.update(updates)
    assert set(change.refused) == {"k3", "k7", "k9", "k11"} and len(fleet) == 16
    assert "edge has 2 arguments, but here are 3" in str(change.refused["k3"])
    assert str(change.refused["k7"]).startswith("facts of edge: <object")
    assert "did you mean 'insert'?" in str(change.refused["k11"])
    with pytest.raises(DataError):
        change["k3"]
    assert fleet.update({"k3": edges((1, 2))}).versions == {"k3": 1}


def test_a_broken_constraint_concerns_its_key_only(fleet: Fleet) -> None:
    fleet.add_rules("@constraint acyclic : path(?x, ?x).")
    updates = {f"k{n}": edges((n, n + 1), (n + 1, n if n % 3 == 0 else n + 2)) for n in range(100)}
    change = fleet.update(updates)
    assert set(change.refused) == {f"k{n}" for n in range(0, 100, 3)}
    for key, error in change.refused.items():
        assert isinstance(error, ConstraintError) and "key" not in error.message
        assert list(error.violations) == ["acyclic"] and key not in fleet
    assert fleet.verify()


def test_a_constraint_that_some_break_already_stays_away_from_them(fleet: Fleet) -> None:
    fleet.update({"good": edges((1, 2)), "bad": edges((1, 1)), "worse": edges((1, 2), (2, 1))})
    change = fleet.add_rules("@constraint acyclic : path(?x, ?x).")
    assert set(change.refused) == {"bad", "worse"} and change.versions == {"good": 2}
    assert fleet.buckets == 2 and not change
    assert {key: len(fleet.program(key).rules) for key in fleet.keys()} == {"good": 3, "bad": 2, "worse": 2}
    assert fleet.update({"new": edges((1, 1))}).refused


def test_keys_with_rules_of_their_own_share_what_they_can(fleet: Fleet) -> None:
    fleet.update({key: edges((1, 2)) for key in "abc"})
    back = "back: back(?y, ?x) :- path(?x, ?y)."
    change = fleet.add_rules(back, key="a")
    assert change["a"].gained("back") == [(2, 1)] and change["a"].relations() == ["back"]
    fleet.add_rules(back, key="b")
    assert fleet.buckets == 2
    assert fleet.remove_rules("back", key="a")["a"].lost("back") == [(2, 1)]
    change = fleet.update({"b": {"remove_rules": ["back"], "add_rules": "b(1).", "insert": [["edge", 2, 3]]}})
    assert change["b"].gained("path") == [(1, 3), (2, 3)] and change["b"].gained("b") == [(1,)]
    assert fleet.buckets == 1
    with pytest.raises(NotFoundError):
        fleet.remove_rules("back", key="a")
    with pytest.raises(ProgramError):
        fleet.add_rules("p(?x) :- q(?y).", key="a")


def test_a_rule_that_all_get_brings_buckets_together(fleet: Fleet) -> None:
    fleet.update({key: edges((1, 2)) for key in "abc"})
    fleet.add_rules("back: back(?y, ?x) :- path(?x, ?y).", key="a")
    change = fleet.add_rules("back: back(?y, ?x) :- path(?x, ?y).")
    assert not change.refused and not change["a"]  # which has it already
    assert change["b"].gained("back") == [(2, 1)]
    assert fleet.buckets == 1 and fleet.facts("a", "back").sorted() == [(2, 1)]


def test_facts_among_the_rules_are_facts_of_each() -> None:
    fleet = Fleet("edge(0, 1). " + PATHS, engine="reference")
    change = fleet.update({"a": edges((1, 2)), "b": {"delete": [["edge", 0, 1]]}})
    assert change["a"].gained("path") == [(0, 1), (0, 2), (1, 2)] and not change["b"]
    fleet.add_rules("edge(2, 3).")
    assert fleet.facts("b", "path").sorted() == [(2, 3)]
    fleet.update({"c": {}})
    assert fleet.facts("c", "edge").sorted() == [(0, 1), (2, 3)]


def test_keys_may_differ_in_how_many_arguments_a_relation_has(fleet: Fleet) -> None:
    fleet.update({"a": {"insert": [["tag", 1]]}, "b": {"insert": [["tag", 1, 2]]}})
    assert fleet.facts("a", "tag").sorted() == [(1,)] and fleet.facts("b", "tag").sorted() == [(1, 2)]
    assert "tag has 1 argument, but" in str(fleet.update({"a": {"insert": [["tag", 3, 4]]}}).refused["a"])
    change = fleet.add_rules("tagged(?x) :- tag(?x, ?y).")
    assert set(change.refused) == {"a"} and change["b"].gained("tagged") == [(1,)]


def test_a_key_that_goes_leaves_nothing(fleet: Fleet) -> None:
    fleet.update({key: edges((1, 2), (2, 3)) for key in "ab"})
    change = fleet.remove("a")
    assert change["a"].lost("path") == [(1, 2), (1, 3), (2, 3)] and fleet.keys() == ["b"]
    with pytest.raises(NotFoundError, match="no knowledge base 'a'"):
        fleet.facts("a", "path")
    assert fleet.update({"a": {}}).versions == {"a": 1} and not len(fleet.facts("a", "path"))
    assert isinstance(fleet.update({"z": None}).refused["z"], NotFoundError)
    assert isinstance(fleet.update({"": {}}).refused[""], UsageError)


def test_views_for_each_key(engine: str) -> None:
    views = {
        "count": "SELECT (COUNT(*) AS ?n) (AVG(?o) AS ?a) (MAX(?o) AS ?m) { ?s ?p ?o }",
        "top": "SELECT ?s ?o { ?s ?p ?o } ORDER BY DESC(?o) LIMIT 1",
        "some": "ASK { ?s ?p 2 }",
        "given": "SELECT ?s ?v { VALUES ?v { 1 2 } ?s ?p ?v }",
        "alone": "SELECT ?v { VALUES ?v { 1 2 } }",
        "turned": f"CONSTRUCT {{ ?o <{EX}q> ?s }} {{ ?o <{EX}p> ?s }}",
    }
    fleet = Fleet("", views, engine=engine)
    change = fleet.update({"a": {"insert": [["triple", A, P, 1], ["triple", A, P, 2]]}, "b": {}})
    assert list(fleet.view("a", "count")) == [(2, Decimal("1.5"), 2)]
    assert list(fleet.view("b", "count")) == [(0, 0, None)]
    assert list(fleet.view("a", "top")) == [(A, 2)] and list(fleet.view("b", "top")) == []
    assert fleet.view("a", "some") == True and fleet.view("b", "some") == False  # noqa: E712
    assert fleet.view("a", "given").sorted() == [(A, 1), (A, 2)]
    assert fleet.view("b", "alone").sorted() == [(1,), (2,)] and change["b"].view_gained("alone") == [(1,), (2,)]
    assert fleet.view("a", "turned").sorted() == [(A, everlog.IRI(EX + "q"), 1), (A, everlog.IRI(EX + "q"), 2)]
    assert change["b"].view_gained("count") == [(0, 0, None)]
    change = fleet.update({"a": {"delete": [["triple", A, P, 2]]}})
    assert change["a"].view_lost("top") == [(A, 2)] and change["a"].view_gained("top") == [(A, 1)]
    assert change["a"].view_lost("given") == [(A, 2)]


def test_a_view_of_one_key(fleet: Fleet) -> None:
    fleet.update({key: {"insert": [["triple", A, P, 1]]} for key in "ab"})
    change = fleet.add_view("all", "SELECT ?o { ?s ?p ?o }", key="a")
    assert change["a"].view_gained("all") == [(1,)] and fleet.buckets == 2
    with pytest.raises(NotFoundError):
        fleet.view("b", "all")
    assert fleet.add_view("every", "SELECT ?o { ?s ?p ?o } ORDER BY ?o LIMIT 5")["b"].view_gained("every") == [(1,)]
    assert fleet.drop_view("every")["b"].view_lost("every") == [(1,)]
    assert fleet.drop_view("all", key="a")["a"].view_lost("all") == [(1,)]
    assert fleet.buckets == 1


def test_what_cannot_have_a_key_is_refused(fleet: Fleet) -> None:
    with pytest.raises(SparqlError, match="LIMIT and OFFSET inside a subquery"):
        fleet.add_view("v", "SELECT ?s { { SELECT ?s { ?s ?p ?o } LIMIT 1 } }")
    with pytest.raises(SparqlError, match="gives another value each time"):
        fleet.add_view("v", "SELECT (RAND() AS ?r) { ?s ?p ?o }")
    with pytest.raises(UsageError, match="read and write no files"):
        fleet.add_rules('@import edge "edge.csv" .')
    with pytest.raises(UsageError, match="no declared columns"):
        fleet.add_rules("@relation edge(start, end) .")
    assert fleet.update({"a": {}}).versions == {"a": 1}


def test_a_stream_goes_in_waves(fleet: Fleet) -> None:
    updates = [("a", edges((1, 2))), ("b", edges((5, 6))), ("a", edges((2, 3))), (None, edges((9, 9)))]
    assert [change.versions for change in fleet.stream(updates)] == [{"a": 1, "b": 1}, {"a": 2}, {"a": 3, "b": 2}]
    [change] = fleet.stream([("a", edges((3, 4))), ("a", {"delete": {"edge": [(3, 4)]}}), ("b", {})], coalesce=True)
    assert not change and change.versions == {"a": 5, "b": 3}


def test_a_fleet_can_be_written_down(fleet: Fleet, engine: str) -> None:
    fleet.update({"a": edges((1, 2), ("x", everlog.IRI(EX))), "b": edges((True, 1.5)), "c": {"insert": [["flag"]]}})
    fleet.add_rules("own: flagged() :- flag().", key="c")
    fleet.add_view("all", "SELECT ?o { ?s ?p ?o }")
    again = Fleet.load(fleet.dump(), engine=engine)
    assert set(again.keys()) == {"a", "b", "c"} and again.buckets == 2
    for key in "abc":
        assert again.version(key) == fleet.version(key)
        assert again.facts(key, "path").sorted() == fleet.facts(key, "path").sorted()
    assert again.facts("c", "flagged").sorted() == [()]
    assert again.remove_rules("own", key="c")["c"].lost("flagged") == [()]
