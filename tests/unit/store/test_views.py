"""Does a view keep the answer to its query true, and say what changed?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everlog
from everlog.errors import NotFoundError, SparqlError, UsageError
from everlog.facts.terms import IRI, Term
from everlog.sparql.solutions import Truth

PREFIX = "PREFIX : <http://e/> "
QUERIES = (
    "SELECT ?x { ?x :p ?y }",
    "SELECT DISTINCT ?x { ?x :p ?y }",
    "SELECT ?x ?n { ?x :p ?y OPTIONAL { ?x :name ?n } }",
    "SELECT ?x ?n { ?x :p ?y OPTIONAL { ?y :age ?n FILTER(?n > 3) } }",
    "SELECT ?x ?z { { ?x :p ?y } UNION { ?x :q ?z } }",
    "SELECT ?x { { ?x :p ?y } UNION { ?x :p ?z } }",
    "SELECT ?x { { ?x :p ?y } UNION { ?x :p ?y } }",
    "SELECT ?x ?c ?d { ?x :age ?a BIND(?x AS ?c) BIND(?c AS ?d) }",
    "SELECT ?x { ?x :p ?y MINUS { ?x :name ?n } }",
    "SELECT ?x { ?x :p ?y FILTER NOT EXISTS { ?y :p ?z } }",
    "SELECT ?x (COUNT(?y) AS ?n) (MAX(?y) AS ?m) { ?x :p ?y } GROUP BY ?x HAVING (COUNT(*) > 1)",
    "SELECT (SUM(?a) AS ?s) (MAX(?b) AS ?m) { ?x :age ?a OPTIONAL { ?x :q ?b } }",
    "SELECT ?x ?b { ?x :age ?a BIND(10 / (?a - 3) AS ?b) }",
    "SELECT ?y { :a :p* ?y }",
    "SELECT ?x ?y { ?x :p+ ?y }",
    "SELECT ?x ?y { ?x (:p/:p)|^:q ?y }",
    "SELECT ?x ?a { ?x :age ?a } ORDER BY DESC(?a) ?x LIMIT 3",
    "SELECT DISTINCT ?x { ?x :p ?y } ORDER BY ?y LIMIT 2",
    "SELECT ?x { ?x :age ?a } ORDER BY DESC(?a)",
    "SELECT ?x ?y { ?x :p ?y } ORDER BY EXISTS { ?y :p ?x } ?x ?y LIMIT 2",
    "SELECT ?x { { SELECT DISTINCT ?x { ?x :p ?y } ORDER BY ?x OFFSET 1 } ?x :p ?y }",
    "SELECT ?x ?a ?y { { SELECT ?x ?a { ?x :age ?a } ORDER BY DESC(?a) LIMIT 2 } ?x :p ?y }",
    "ASK { ?x :p ?x }",
    "CONSTRUCT { ?y :r ?x } { ?x :p ?y }",
    "SELECT * { { SELECT ?x (SUM(?y) AS ?b) { ?x :age ?y } GROUP BY ?x }"
    " { SELECT ?x (SUM(?y) AS ?c) { ?x :age ?y } GROUP BY ?x } }",
    "SELECT ?x ?c { ?x :p ?y { SELECT ?y (COUNT(*) AS ?c) { ?y :p ?z } GROUP BY ?y } }",
)
RULES = PREFIX + "closed: [?x, :p, ?z] :- [?x, :p, ?y], [?y, :q, ?z].  turned: [?x, :q, ?y] :- [?y, :q, ?x]."

Triple = tuple[Term, Term, Term]


def iri(name: str) -> IRI:
    return IRI(f"http://e/{name}")


def triples() -> st.SearchStrategy[Triple]:
    node = st.sampled_from([iri(name) for name in "abcd"])
    return st.one_of(
        st.tuples(node, st.sampled_from([iri("p"), iri("p"), iri("q")]), node),
        st.tuples(node, st.just(iri("name")), st.sampled_from(["A", "B"])),
        st.tuples(node, st.just(iri("age")), st.integers(1, 6)),
    )


def updates() -> st.SearchStrategy[list[tuple[list[Triple], list[Triple]]]]:
    some = st.lists(triples(), max_size=5)
    return st.lists(st.tuples(some, some), min_size=1, max_size=5)


def shown(kb: everlog.KnowledgeBase, query: str) -> object:
    answer = kb.query(query)
    return bool(answer) if isinstance(answer, Truth) else answer.sorted()


@settings(max_examples=max(8, settings().max_examples // 4))
@given(st.lists(st.sampled_from(QUERIES), min_size=1, max_size=4, unique=True), updates(), st.booleans())
def test_view_equals_query(
    engine: str, queries: list[str], stream: list[tuple[list[Triple], list[Triple]]], rules: bool
) -> None:
    kb = everlog.open(engine=engine)
    views = [kb.view(f"v{number}", PREFIX + query) for number, query in enumerate(queries)]
    if rules:
        kb.add_rules(RULES)
    for insert, delete in stream:
        version = kb.version
        before = [Counter(view.rows()) if view.query.form == "select" else None for view in views]
        kb.update(insert={"triple": insert}, delete={"triple": delete})
        for view, counts in zip(views, before, strict=True):
            rows = view.rows()
            assert (bool(rows) if isinstance(rows, Truth) else rows.sorted()) == shown(kb, view.text)
            if counts is not None:
                for change in view.changes(since=version):
                    counts.update(change.gained)
                    counts.subtract(change.lost)
                assert +counts == Counter(rows)


@pytest.fixture
def kb() -> Iterator[everlog.KnowledgeBase]:
    kb = everlog.open()
    kb.update(insert={"triple": [(iri("a"), iri("p"), iri("b")), (iri("b"), iri("p"), iri("c"))]})
    yield kb


def test_callback_and_order_of_changes(kb: everlog.KnowledgeBase) -> None:
    view, seen = kb.view("reached", PREFIX + "SELECT ?y { :a :p+ ?y }"), []
    view.on_change(seen.append)
    kb.delete("triple", [(iri("b"), iri("p"), iri("c"))])
    kb.insert("triple", [(iri("c"), iri("p"), iri("d"))])  # concerns no solution
    kb.insert("triple", [(iri("b"), iri("p"), iri("c"))])
    changed = [(set(change.gained), set(change.lost)) for change in seen]
    assert changed == [(set(), {(iri("c"),)}), ({(iri("c"),), (iri("d"),)}, set())]
    [last] = view.changes(since=seen[0].version)
    assert (last.version, last.gained.sorted()) == (seen[1].version, seen[1].gained.sorted())


def test_dropped_with_what_only_it_needed(kb: everlog.KnowledgeBase) -> None:
    before = set(kb.state().facts.engine._relations)  # type: ignore[attr-defined]
    one = kb.view("one", PREFIX + "SELECT ?x { ?x :p ?y FILTER NOT EXISTS { ?y :p ?z } }")
    kept = set(kb.state().facts.engine._relations)  # type: ignore[attr-defined]
    two = kb.view("two", PREFIX + "SELECT ?x ?y { ?x :p ?y FILTER NOT EXISTS { ?y :p ?z } }")
    shared = set(kb.state().facts.engine._relations) - kept  # type: ignore[attr-defined]
    assert shared == {"two~answer"}, "what both negate is there once"
    one.drop()
    assert list(two.rows()) == [(iri("b"), iri("c"))]
    two.drop()
    assert set(kb.state().facts.engine._relations) == before  # type: ignore[attr-defined]
    with pytest.raises(NotFoundError, match="no view 'one'"):
        one.rows()


def test_what_cannot_be_kept(kb: everlog.KnowledgeBase) -> None:
    with pytest.raises(SparqlError, match="the view now cannot be kept true: NOW"):
        kb.view("now", "SELECT (NOW() AS ?n) {}")
    with pytest.raises(SparqlError, match="DESCRIBE"):
        kb.view("about", "DESCRIBE <http://e/a>")
    kb.view("same", "SELECT ?x { ?x ?p ?y }")
    with pytest.raises(UsageError, match="a view same already"):
        kb.view("same", "SELECT ?x { ?x ?p ?y }")
    assert [view.name for view in kb.views()] == ["same"]


def test_views_outlive_the_process(tmp_path: Path) -> None:
    with everlog.open(tmp_path / "kb") as kb:
        kb.insert("triple", [(iri("a"), iri("p"), iri("b"))])
        kb.view("all", "SELECT ?x ?y { ?x <http://e/p> ?y }")
        kb.view("none", "SELECT ?x { ?x <http://e/q> ?y }")
        kb.drop_view("none")
    with everlog.open(tmp_path / "kb") as kb:
        assert [view.name for view in kb.views()] == ["all"]
        kb.insert("triple", [(iri("b"), iri("p"), iri("c"))])
        assert len(kb.view("all").rows()) == 2
