"""Does the page of SPARQL views say which operators took the time, what is missing, and what was asked for?"""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks.experiments.sparql.adhoc import LUBM
from benchmarks.experiments.sparql.report import page
from benchmarks.experiments.sparql.systems.view_operators import operators
from benchmarks.experiments.sparql.targets import targets

import everlog

GRAPH = "http://ex.org/"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("{ ?x :p ?y FILTER (?y > 1) }", ["BGP, Filter, Project"]),
        ("{ { ?x :p ?y } UNION { ?x :q ?y } }", ["BGP, Union, Project"]),
        ("{ ?x :p ?y OPTIONAL { ?y :q ?z } }", ["LeftJoin: its right side", "BGP, LeftJoin, Project"]),
        ("{ ?x :p ?y MINUS { ?y :q ?z } }", ["Minus: its right side", "BGP, Minus, Project"]),
        ("{ ?x :p+ ?y }", ["Path", "BGP, Project"]),
    ],
)
def test_operators_of_the_relations_of_a_view(pattern: str, expected: list[str]) -> None:
    text = f"PREFIX : <{GRAPH}> SELECT ?x ?y WHERE {pattern}"
    called = operators(text, "seen")
    assert list(called.values()) == expected
    kb = everlog.open()
    view = kb.view("seen", text)
    assert set(called) == {head.relation for rule in view.query.rules for head in rule.heads}


def test_operators_of_a_sum() -> None:
    text = f"PREFIX : <{GRAPH}> SELECT ?x (SUM(?y) AS ?all) WHERE {{ ?x :p ?y }} GROUP BY ?x"
    assert list(operators(text, "seen").values()) == ["BGP, below Group", "Group", "Extend, Project"]


def test_an_update_says_what_each_relation_took() -> None:
    kb = everlog.open()
    text = f"PREFIX : <{GRAPH}> SELECT ?x ?y WHERE {{ ?x :p ?y MINUS {{ ?y :q ?z }} }}"
    kb.view("seen", text)
    change = kb.sparql_update(f"PREFIX : <{GRAPH}> INSERT DATA {{ :a :p :b . :b :q :c }}")[0]
    assert {report.name for report in change.report.phases} == set(operators(text, "seen"))
    assert all(report.seconds > 0 for report in change.report.phases)


def test_a_peer_that_was_stopped_is_told_of() -> None:
    text = page(_results([_hops(100, 2e-3, counting=False)]))
    assert "| 9 | 9.00 ms | 2.00 ms | 70.0 ms | – | – | 600 ms |" in text
    assert "– is not measured: three hops, p = 1/100, DuckDB: stopped at 12 GiB of memory." in text


def test_demands_and_what_was_measured() -> None:
    adhoc = [{"data": LUBM, "everlog": 3e-3 * factor, "oxigraph": 2e-3} for factor in (1, 1, 4)]
    rows = targets(_results([_hops(100, 2e-3), _hops(50, 30e-3)], adhoc)).splitlines()
    by_name = {row.split(" | ")[0].strip("| "): row for row in rows}
    assert by_name["three hops, p = 1/100"].endswith("| yes |")
    assert by_name["three hops, p = 1/50"].endswith("| **no** |")
    assert by_name["three hops, p = 1/50: memory"].endswith("51.0 MB: 1.0 the data, 50.0 the view | yes |")
    assert by_name[f"queries asked once: {LUBM}"].endswith("| 1.50 times, of 3 over 1 ms | yes |")
    assert by_name["SUM over 100 numbers"].endswith("| not measured | **no** |")


def _hops(one_in: int, seconds: float, *, counting: bool = True) -> dict[str, Any]:
    name, edit = f"three hops, p = 1/{one_in}", "25 out, 25 in"
    ours = {"seconds": seconds, "again": 70e-3, "triples": 50, "answers": 9, "alone": 1e-3, "operators": {}}
    systems: dict[str, Any] = {
        "everlog": {"edits": {edit: ours}, "first": 9e-3, "memory": 50_000_000, "kept": {"view~answer": 9}},
        "oxigraph": {"edits": {edit: {"again": 0.6}}},
    }
    if counting:
        theirs = {"edits": {edit: {"seconds": 0.1, "again": 0.08}}, "memory": 10**8, "kept": {"BGP_0": 99}}
        systems["counting"] = theirs
    return {
        "section": "hops",
        "workload": name,
        "one_in": one_in,
        "data": {"everlog": 1_000_000, "counting": None, "oxigraph": 2_000_000},
        "tasks": [{"task": name, "systems": systems}],
        "stopped": {} if counting else {"counting": "stopped at 12 GiB of memory"},
    }


def _results(views: list[dict[str, Any]], adhoc: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    machine = {"cpu": "a processor", "cores": 2, "memory": 1 << 34, "system": "Linux", "python": "3.11"}
    conditions = {"quick": False}
    known = {"machine": machine, "versions": {}, "conditions": conditions}
    return known | {"views": views, "adhoc": adhoc or [], "ended_early": {}}
