"""Does a version stay what it was, for whoever holds or asks for it, while updates go on?

Snapshots are taken along random streams of updates of facts, rules and views. Some are read at once, some are read for
the first time at the end; some are let go on the way. Each must be what the oracle had at its version, and so must
`kb.at` of any version; the changes since any version must lead to the newest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import cycle
from random import Random

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from tests.closure_strategies import closure_stories
from tests.properties.following import ORDERS, QUICK, expected
from tests.properties.past_states import Record, check_changes, check_record
from tests.properties.test_sparql_views import data_of, shown
from tests.reproductions import script
from tests.sparql_opinions import comparable, everlog_rows
from tests.sparql_oracle.patterns import select
from tests.sparql_oracle.terms import Beyond
from tests.sparql_strategies import ViewStory, view_stories
from tests.strategies import Story, graph_rule_stories, rule_stories
from tests.subjects import EngineSubject, OracleSubject, Update

import everlog
from everlog.engines.columnar import updates as columnar_updates
from everlog.errors import HistoryError, NotFoundError, SparqlError
from everlog.store.history import HistoryLimits
from everlog.store.reading import ReadOnlyKnowledgeBase

EXAMPLES = {"graph": 12, "any": 5, "closure": 5, "views": 6} if QUICK else dict.fromkeys(
    ("graph", "any", "closure", "views"), 1000
)  # fmt: skip
COMPACT = st.sampled_from([0, 1 << 13])  # dead rows from which the columnar engine drops them
PATHS = "path(?x, ?y) :- edge(?x, ?y). path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)."


@pytest.fixture(autouse=True)
def _compacting() -> Iterator[None]:
    kept = columnar_updates._COMPACT_FROM
    yield
    columnar_updates._COMPACT_FROM = kept


def follow(engine: str, story: Story, order: Sequence[str], compact_from: int, seed: int) -> None:
    columnar_updates._COMPACT_FROM = compact_from
    updates = [update for update, *_ in expected(story)]
    note(script(engine, updates, options={}) + f"\n# strategies in turn: {', '.join(order)}")
    random, subject, oracle = Random(seed), EngineSubject(engine), OracleSubject()
    records = [Record.of(subject.kb, oracle, hold=True)]
    for update, strategy in zip(updates, cycle(order), strict=False):
        subject.update(update, strategy=strategy)
        oracle.update(update)
        records.append(Record.of(subject.kb, oracle, hold=random.random() < 0.7))
        for record in records:
            if record.snapshot is not None and random.random() < 0.25:
                check_record(record, record.snapshot)
            if random.random() < 0.15:
                record.snapshot = None
    for record in records:
        if record.snapshot is not None:
            check_record(record, record.snapshot)
            assert record.snapshot.verify(), str(record.snapshot.verify())
        past = subject.kb.at(record.version)
        check_record(record, past)
        assert past.verify(), str(past.verify())
    check_changes(subject.kb, records)


@pytest.mark.slow
@settings(max_examples=EXAMPLES["graph"])
@given(story=graph_rule_stories(), order=ORDERS, compact_from=COMPACT, seed=st.integers(0, 99))
def test_oracle_snapshots_of_graphs(engine: str, story: Story, order: list[str], compact_from: int, seed: int) -> None:
    follow(engine, story, order, compact_from, seed)


@pytest.mark.slow
@settings(max_examples=EXAMPLES["any"])
@given(story=rule_stories(), order=ORDERS, compact_from=COMPACT, seed=st.integers(0, 99))
def test_oracle_snapshots(engine: str, story: Story, order: list[str], compact_from: int, seed: int) -> None:
    follow(engine, story, order, compact_from, seed)


@pytest.mark.slow
@settings(max_examples=EXAMPLES["closure"])
@given(story=closure_stories(), order=ORDERS, compact_from=COMPACT, seed=st.integers(0, 99))
def test_oracle_snapshots_of_closures(
    engine: str, story: Story, order: list[str], compact_from: int, seed: int
) -> None:
    follow(engine, story, order, compact_from, seed)


@pytest.mark.slow
@settings(max_examples=EXAMPLES["views"])
@given(story=view_stories(), compact_from=COMPACT)
def test_oracle_snapshots_of_views(engine: str, story: ViewStory, compact_from: int) -> None:
    columnar_updates._COMPACT_FROM = compact_from
    note(script(engine, story.updates, options={"strategy": story.strategy}))
    try:
        _follow_views(engine, story)
    except (Beyond, SparqlError) as error:
        if isinstance(error, SparqlError) and "can be combined in more than" not in str(error):
            raise


def _follow_views(engine: str, story: ViewStory) -> None:
    subject, oracle = EngineSubject(engine), OracleSubject()
    kept: list[tuple[ReadOnlyKnowledgeBase, list[str], Record]] = []
    names: list[str] = []
    for number, update in enumerate(story.updates):
        if number == story.made:
            names = [subject.kb.view(f"view{n}", text).name for n, text in enumerate(story.views)]
        if number == story.dropped:
            subject.kb.drop_view(names.pop())
        kept.append((subject.kb.snapshot(), list(names), Record.of(subject.kb, oracle, hold=False)))
        subject.update(update, strategy=story.strategy)
        oracle.update(update)
    for snapshot, there, record in kept:
        for seen in (snapshot, subject.kb.at(record.version)):
            note(f"version {record.version}, {'held' if seen is snapshot else 'found again'}")
            assert [view.name for view in seen.views()] == there
            data = data_of(record.facts)
            for name in there:
                rows = shown(seen.view(name), data)
                if "LIMIT" not in seen.view(name).text:
                    asked = comparable(everlog_rows(seen.query(seen.view(name).text)))
                    assert Counter(asked) == Counter(rows) == Counter(comparable(select(seen.view(name).text, data)))


# --- one by one -------------------------------------------------------------------------------------------------------


def edges(*pairs: str) -> list[tuple[str, str]]:
    return [(pair[0], pair[1]) for pair in pairs]


@pytest.mark.parametrize("compact_from", [0, pytest.param(1 << 13, marks=pytest.mark.slow)])
def test_a_fact_that_comes_and_goes(compact_from: int) -> None:
    """A fact that returns while somebody still sees it gone, and there, and gone."""
    columnar_updates._COMPACT_FROM = compact_from
    random, kb = Random(7), everlog.open()
    kb.add_rules(PATHS + "both(?x, ?y, ?n) :- edge(?x, ?y), AGGREGATE(path(?x, ?z) ON ?x BIND COUNT(?z) AS ?n).")
    kb.insert("edge", edges("ab", "bc", "cd"))
    held = []
    for number in range(20):
        if number % 2:
            kb.insert("edge", edges("bc", *["xy"] * (number % 3)))
        else:
            kb.delete("edge", edges("bc", *["xy"] * (number % 5)))
        if random.random() < 0.4:
            held.append((kb.snapshot(), number))
        if len(held) > 4:
            del held[random.randrange(len(held))]
        for snapshot, when in held:
            there = when % 2 == 1
            assert (("b", "c") in set(snapshot.facts("edge"))) == there
            assert sorted(snapshot.query("path(a, ?y)")) == [("b",), ("c",), ("d",)][: 3 if there else 1]
            assert sorted(snapshot.query("edge(b, ?y)")) == [("c",)][: 1 if there else 0]
            assert sorted(snapshot.query("edge(a, ?y), NOT edge(?y, c)")) == [("b",)][: 0 if there else 1]
            assert sorted(snapshot.query("both(?x, b, ?n)")) == [("a", 3 if there else 1)]
    for snapshot, _ in held:
        assert snapshot.verify()
    assert kb.verify()


def test_a_snapshot_of_relations_that_grow_many_times_over() -> None:
    """Arrays and tables are replaced under a snapshot that has been read, and one that has not."""
    kb = everlog.open()
    kb.add_rules(PATHS)
    kb.insert("edge", [(0, 1), (1, 2)])
    read, unread = kb.snapshot(), kb.snapshot()
    assert len(read.query("edge(?x, ?y), path(?y, ?z)")) == 1
    for step in range(1, 9):
        kb.insert("edge", [(100 * 2**n + step, 101 * 2**n + step) for n in range(14)])
        kb.insert("wide", [(n, n % 7, n % 3) for n in range(300 * 4**step // 4**3)])
        early = kb.snapshot()
        assert len(early.query("edge(1, ?y)")) >= 1
    kb.delete("edge", [(1, 2)])
    for snapshot in (read, unread):
        assert sorted(snapshot.query("edge(?x, ?y), path(?y, ?z)")) == [(0, 1, 2)]
        assert sorted(snapshot.query("path(0, ?y)")) == [(1,), (2,)]
        assert snapshot.verify()


def test_indexes_that_readers_build_are_the_writers_too() -> None:
    kb = everlog.open()
    kb.insert("r", [(n, n % 5) for n in range(100)])
    before = kb.snapshot()
    assert len(before.query("r(?x, 3)")) == 20
    kb.insert("r", [(n, n % 5) for n in range(100, 200)])
    relation = kb.state().facts.engine._relations["r"]  # type: ignore[attr-defined]
    assert (1,) in relation.indexes
    assert len(kb.query("r(?x, 3)")) == 40
    assert len(before.query("r(?x, 3)")) == 20
    late = kb.snapshot()
    assert len(late.query("r(7, ?y)")) == 1
    kb.delete("r", [(n, n % 5) for n in range(200)])  # the index that `late` has built is of these rows …
    kb.insert("r", [(7, 7, 7)])  # … and not of the relation of that name which is there now
    kb.insert("r", [(8, 8, 8)])
    assert sorted(kb.query("r(7, ?y, ?z)")) == [(7, 7)]
    assert len(late.query("r(7, ?y)")) == 1


def test_an_empty_relation_that_is_full_by_the_time_it_is_read(engine: str) -> None:
    kb = everlog.open(engine=engine)
    kb.insert("edge", edges("ab"))
    kb.delete("edge", edges("ab"))
    empty = kb.snapshot()
    kb.insert("edge", edges("ab", "bc", "cd"))
    kb.delete("edge", edges("ab"))
    assert list(empty.query("edge(?x, ?y), edge(?y, ?z)")) == []
    assert list(empty.query("edge(b, ?z), ?z != a")) == []


def test_views_and_relations_that_are_gone(engine: str) -> None:
    kb = everlog.open(engine=engine)
    kb.sparql_update("INSERT DATA { <a:1> <a:p> 1, 2, 3 . <a:2> <a:p> 3 }")
    texts = {
        "bag": "SELECT ?y { ?x <a:p> ?y }",
        "first": "SELECT ?x ?y { ?x <a:p> ?y } ORDER BY DESC(?y) ?x LIMIT 2",
        "graph": "CONSTRUCT { ?x <a:q> ?y } WHERE { ?x <a:p> ?y }",
        "any": "ASK { <a:2> <a:p> 3 }",
    }
    for name, text in texts.items():
        kb.view(name, text)
    answers = {name: _answer(kb, name) for name in texts}
    assert [len(answers[name]) for name in ("bag", "first", "graph")] == [4, 2, 4]
    held, version = kb.snapshot(), kb.version
    kb.sparql_update("DELETE WHERE { <a:2> ?p ?o }")
    assert _answer(kb, "any") == [False] != answers["any"]
    for name in texts:
        kb.drop_view(name)
    kb.view("bag", "SELECT ?x { ?x <a:p> 1 }")  # another one of that name
    for seen in (held, kb.at(version)):
        assert {name: _answer(seen, name) for name in texts} == answers
        assert seen.verify()
    assert [view.name for view in kb.views()] == ["bag"]
    with pytest.raises(NotFoundError):
        kb.view("first")


def _answer(seen: ReadOnlyKnowledgeBase, name: str) -> list[object]:
    rows = seen.view(name).rows()
    return [bool(rows)] if type(rows).__name__ == "Truth" else sorted(map(str, rows))  # type: ignore[union-attr]


def test_a_view_by_the_name_of_what_queries_make_for_themselves(engine: str) -> None:
    kb = everlog.open(engine=engine)
    kb.sparql_update("INSERT DATA { <a:1> <a:p> <a:2> . <a:2> <a:p> <a:3> }")
    text = "SELECT ?x ?y { ?x <a:p> ?y OPTIONAL { ?y <a:p> ?z } }"
    for name in ("query", "answer"):
        kb.view(name, text)
    kb.add_rules("query: far(?x, ?n) :- AGGREGATE([?x, ?p, ?y] ON ?x BIND COUNT(?y) AS ?n).")
    assert len(kb.query(text)) == len(kb.query("SELECT ?x { ?x <a:p> ?y }")) == 2
    assert len(kb.query("far(?x, ?n), AGGREGATE([?x, ?p, ?y] ON ?x BIND COUNT(?y) AS ?m)")) == 2
    assert len(kb.view("query").rows()) == len(kb.view("answer").rows()) == 2


# --- history ----------------------------------------------------------------------------------------------------------


def test_versions_are_remembered_up_to_the_limits(engine: str) -> None:
    kb = everlog.open(engine=engine, history=HistoryLimits(updates=5))
    kb.add_rules(PATHS)
    for number in range(9):
        kb.insert("edge", [(number, number + 1)])
    for version in range(5, 11):
        assert len(kb.at(version).facts("edge")) == version - 1
        assert [change.version for change in kb.changes(version)] == list(range(version + 1, 11))
    for version in (4, 0, 11):
        with pytest.raises(HistoryError):
            kb.at(version)
        with pytest.raises(HistoryError):
            kb.changes(version)
    assert len(kb.at(7).at(6).facts("edge")) == 5


def test_history_holds_so_many_facts(engine: str) -> None:
    kb = everlog.open(engine=engine, history=HistoryLimits(facts=5))
    for number in range(6):
        kb.insert("edge", [(number, n) for n in range(2)])
    assert len(kb.at(4).facts("edge")) == 8
    with pytest.raises(HistoryError, match="the oldest version there is: 4"):
        kb.at(3)


def test_a_view_remembers_from_when_it_was_made(engine: str) -> None:
    kb = everlog.open(engine=engine)
    kb.sparql_update("INSERT DATA { <a:1> <a:p> 1 }")
    view = kb.view("view", "SELECT ?y { ?x <a:p> ?y }")
    made = kb.version
    with pytest.raises(HistoryError):
        view.changes(made - 1)
    kb.sparql_update("INSERT DATA { <a:2> <a:p> 1 }; DELETE DATA { <a:1> <a:p> 1 }; INSERT DATA { <a:1> <a:p> 2 }")
    kb.insert("edge", edges("ab"))
    (change,) = view.changes(made)
    assert change.version == made + 1
    assert (list(change.gained), list(change.lost)) == ([(2,)], [])
    assert view.changes(made + 1) == []


def test_updates_that_were_applied_at_once_have_no_versions_between_them(engine: str) -> None:
    kb = everlog.open(engine=engine)
    kb.insert("r", [(0,)])
    (change,) = kb.stream([{"insert": [["r", n]]} for n in range(1, 4)], coalesce=True)
    if change.version == 4:
        assert len(kb.at(1).facts("r")) == 1
        with pytest.raises(HistoryError):
            kb.at(2)


def test_facts_of_a_relation_that_has_another_arity_now(engine: str) -> None:
    kb = everlog.open(engine=engine)
    kb.insert("r", [(1, 2), (3, 4)])
    with kb.transaction() as transaction:
        transaction.delete("r", [(1, 2), (3, 4)])
        transaction.insert("r", [(1, 2, 3)])
    (change,) = kb.changes(1)
    assert change.lost("r") == [(1, 2), (3, 4)]
    assert change.gained("r") == [(1, 2, 3)]
    before = kb.at(1)
    assert sorted(before.facts("r")) == [(1, 2), (3, 4)]
    assert before.relations()[0].explicit == 2
    assert before.verify()


def test_a_story_of_one_update_and_its_opposite(engine: str) -> None:
    """What the random streams do, small enough to read."""
    subject, oracle = EngineSubject(engine), OracleSubject()
    records = []
    for update in (
        Update(insert={"edge": edges("ab", "bc")}, add_rules="base: path(?x, ?y) :- edge(?x, ?y)."),
        Update(delete={"edge": edges("ab")}, insert={"open": [("a",)]}),
        Update(insert={"edge": edges("ab")}, remove_rules=("base",)),
    ):
        subject.update(update)
        oracle.update(update)
        records.append(Record.of(subject.kb, oracle, hold=True))
    for record in records:
        assert record.snapshot is not None
        check_record(record, record.snapshot)
        check_record(record, subject.kb.at(record.version))
    check_changes(subject.kb, records)
