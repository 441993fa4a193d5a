"""Does `everlog query` answer SPARQL, from files too, in each format?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Ended, Everlog

DATA = """@prefix : <http://e/> .
:a :knows :b ; :age 3 .
:b :age 5 .
"""


@pytest.fixture
def kb(folder: Path, everlog: Everlog) -> str:
    (folder / "data.ttl").write_text(DATA)
    assert everlog("load", "kb", "data.ttl").code == 0
    return "kb"


def ask(everlog: Everlog, kb: str, query: str, *options: str) -> Ended:
    return everlog("query", kb, f"PREFIX : <http://e/> {query}", *options)


def test_solutions(everlog: Everlog, kb: str) -> None:
    assert ask(everlog, kb, "SELECT ?x ?y { ?x :age ?n OPTIONAL { ?x :knows ?y } } ORDER BY DESC(?n)").out == (
        "<http://e/b>\t\n<http://e/a>\t<http://e/b>\n"
    )
    assert ask(everlog, kb, "SELECT ?n { ?x :age ?n }", "--format", "csv").out.splitlines() == ["n", "3", "5"]
    data = json.loads(ask(everlog, kb, "SELECT ?n { ?x :age ?n }", "--format", "json").out)
    assert [each["n"]["value"] for each in data["results"]["bindings"]] == ["3", "5"]


def test_truth_and_graphs(everlog: Everlog, kb: str) -> None:
    assert ask(everlog, kb, "ASK { :a :knows :b }").out == "true\n"
    assert ask(everlog, kb, "CONSTRUCT { ?y :known ?x } { ?x :knows ?y }", "--format", "nt").out == (
        "<http://e/b> <http://e/known> <http://e/a> .\n"
    )
    assert "<http://e/known>" in ask(everlog, kb, "CONSTRUCT { ?y :known ?x } { ?x :knows ?y }").out


def test_json_for_programs(everlog: Everlog, kb: str) -> None:
    queries = ["SELECT ?y { ?x <http://e/age> 5 OPTIONAL { ?x <http://e/knows> ?y } }", "ASK {}", "CONSTRUCT {} {}"]
    answers = json.loads(everlog("query", kb, *queries, "--json").out)["queries"]
    assert [{key: value for key, value in each.items() if key != "query"} for each in answers] == [
        {"variables": ["y"], "rows": [[None]]},
        {"boolean": True},
        {"triples": []},
    ]


def test_files(everlog: Everlog, kb: str, folder: Path) -> None:
    (folder / "q.rq").write_text("SELECT ?x { ?x <http://e/age> 3 }")
    assert everlog("query", kb, "-f", "q.rq").out == "<http://e/a>\n"
    assert everlog("query", kb, "-f", "-", stdin="ASK { ?x ?y 5 }").out == "true\n"
    assert everlog("query", kb, "-f", "none.rq").code == 5


def test_mistakes(everlog: Everlog, kb: str) -> None:
    assert everlog("query", kb).code == 2
    assert everlog("query", kb, "ASK {}", "ASK {}", "--format", "json").code == 2
    ended = everlog("query", kb, "SELECT ?x { ?x :age 3 ")
    assert ended.code == 3 and "error[S000]" in ended.err
    ended = ask(everlog, kb, "ASK {}", "--format", "ttl")
    assert ended.code == 2 and "there are json, xml, csv, tsv" in ended.err


def test_datalog_in_a_format(everlog: Everlog, kb: str) -> None:
    assert everlog("query", kb, "[?x, ?p, 5]", "--format", "tsv").out == "?x\t?p\n<http://e/b>\t<http://e/age>\n"
