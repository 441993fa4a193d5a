"""Are the things that users hold shown shortly, as tables in a notebook, and with all text escaped?"""

from __future__ import annotations

from typing import Any

import pytest

import everlog
from everlog.answers.html import LONGEST, MOST_ROWS

EVIL = '<script>alert("x")</script> & more'


@pytest.fixture
def kb() -> everlog.KnowledgeBase:
    kb = everlog.open(engine="reference")
    kb.add_rules("one: path(?x, ?y) :- edge(?x, ?y).   more: path(?x, ?z) :- edge(?x, ?y), path(?y, ?z).")
    kb.insert("edge", [("a", "b"), ("b", EVIL)])
    return kb


def shown(thing: Any) -> str:
    html = str(thing._repr_html_())
    assert "<script" not in html and html.count("<td") == html.count("</td>")
    return html


def test_a_knowledge_base(kb: everlog.KnowledgeBase) -> None:
    assert repr(kb) == "<knowledge base at version 2: 2 relations, 5 facts, 2 rules>"
    assert repr(kb.snapshot()) == "<snapshot of a knowledge base at version 2: 2 relations, 5 facts, 2 rules>"
    assert repr(everlog.open()) == "<knowledge base at version 0: 0 relations, 0 facts, 0 rules>"
    assert "path" in shown(kb) and shown(kb) == shown(kb.snapshot())
    view = kb.view("v", "SELECT * { ?x ?y ?z FILTER(?x != <http://e/&>) }")
    assert "1 view" in repr(kb) and "http://e/&amp;" in shown(kb)
    assert repr(view).startswith("<view v: SELECT * {") and "http://e/&amp;" in shown(view)


def test_facts_and_answers(kb: everlog.KnowledgeBase) -> None:
    assert repr(kb.facts("path")) == "<3 rows of (c1, c2)>"
    assert "&lt;script&gt;" in shown(kb.facts("path"))
    kb.insert("many", [(n, 1.5, "x" * 1000) for n in range(50_000)])
    page = shown(kb.facts("many"))
    assert page.count("<tr>") == MOST_ROWS + 1 and f"… {50_000 - MOST_ROWS:,} more" in page and len(page) < 20_000
    assert "x" * LONGEST + "…" in page and "x" * (LONGEST + 1) not in page
    assert 'text-align:right">0</td>' in shown(kb.query("many(?n, ?y, ?z), ?n < 5"))


def test_answers_to_sparql(kb: everlog.KnowledgeBase) -> None:
    kb.sparql_update(f"INSERT DATA {{ <http://e/a> <http://e/b> 1, 2, 3, '{EVIL}' }}")
    ordered = shown(kb.query("SELECT ?o { ?s ?p ?o } ORDER BY DESC(?o) LIMIT 3"))
    assert ordered.index("&lt;script") < ordered.index(">3<") < ordered.index(">2<")
    assert "&lt;http://e/a&gt;" in shown(kb.query("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"))
    assert "<p>" not in shown(kb.query("SELECT ?none { ?none <http://e/none> ?o }"))


def test_changes_and_reports(kb: everlog.KnowledgeBase) -> None:
    view = kb.view("v", "SELECT ?o { ?s ?p ?o }")
    told: list[Any] = []
    view.on_change(told.append)
    change = kb.update(
        delete={"edge": [("b", EVIL)]},
        insert={"triple": [(everlog.IRI("http://e/a"), everlog.IRI("http://e/b"), EVIL)]},
    )
    assert repr(change) == "<Change to version 4: edge +0 -1, path +0 -2, triple +1 -0>"
    assert "− (b, &lt;script" in shown(change) and "+ (" in shown(change)
    assert repr(change.report).startswith("<choose: 1 facts inserted") and "ranked" in shown(change.report)
    assert "&lt;script" in shown(told[0]) and "v at version 4" in shown(told[0])
    assert "nothing" in shown(kb.insert("edge", [("a", "b")]))
    many = kb.insert("many", [(n,) for n in range(30_000)])
    assert "29,997 more" in shown(many) and len(shown(many)) < 2000


def test_plans_pictures_and_checks(kb: everlog.KnowledgeBase) -> None:
    kb.add_rules(f"odd(?x) :- edge(?x, {EVIL!r}).".replace("'", '"').replace('alert("x")', "alert(1)"))
    assert "component 1" in kb.plan() and repr(kb.plan()) == kb.plan() and shown(kb.plan()).startswith("<pre>")
    graph = kb.rule_graph()
    assert repr(graph) == "<graph of 3 rules in 3 components>" and "<svg" in shown(graph)
    assert "path" in str(graph) and graph.html().startswith("<!") and graph.svg() in shown(graph)
    planned = kb.rule_graph(if_adding="back(?y, ?x) :- path(?x, ?y).", if_removing=["more"])
    assert "back" in planned.svg() and len(kb.program.rules) == 3
    checked = kb.verify()
    assert repr(checked).startswith("<as derived from scratch: ") and "as derived" in shown(checked)
