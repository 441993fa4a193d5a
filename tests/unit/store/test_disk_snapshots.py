"""Does a knowledge base that is opened from a snapshot know all that it knew, and does it go on as if never closed?"""

from __future__ import annotations

import math
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st
from tests.properties.following import ORDERS, QUICK, expected
from tests.properties.test_sparql_views import data_of, difference, shown, told
from tests.reproductions import differences, script
from tests.sparql_oracle.terms import Beyond
from tests.sparql_strategies import ViewStory, view_stories
from tests.strategies import Story, graph_rule_stories, rule_stories
from tests.subjects import EngineSubject, OracleSubject, keys

import everlog
from everlog import IRI, BlankNode, KnowledgeBase, Literal, OutputError, UsageError
from everlog.errors import ConstraintError, FormatError, HistoryError, SparqlError
from everlog.store.history import HistoryLimits
from everlog.store.snapshots import OpenedSnapshot

EXAMPLES = {"any": 8, "graph": 12, "views": 6} if QUICK else {"any": 500, "graph": 1500, "views": 500}
PLACES = st.lists(st.sampled_from(["snapshot", "reopen", "both", "on", "on"]), min_size=9, max_size=9)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kb"


class FolderSubject(EngineSubject):
    """A knowledge base in a folder, closed and opened again now and then."""

    def __init__(self, engine: str, folder: Path, **options: Any) -> None:
        super().__init__(engine)
        self._open = lambda: everlog.open(folder, engine=engine, **options)
        self.kb = self._open()

    def happens(self, what: str) -> None:
        if what in ("snapshot", "both"):
            self.kb.compact()
        if what in ("reopen", "both"):
            self.kb.close()
            self.kb = self._open()


def explicit_facts(kb: KnowledgeBase) -> dict[str, set[Any]]:
    state = kb.state()
    key, reader = state.dictionary.key, state.facts.reader()
    found = {relation.name: reader.collect(relation.name, explicit=True).facts() for relation in kb.relations()}
    facts = {name: {tuple(map(key, fact)) for fact, _ in rows} for name, rows in found.items()}
    return {name: rows for name, rows in facts.items() if rows}


def reads_back(kb: KnowledgeBase) -> dict[str, Any]:
    """All that can be seen of a knowledge base, in an order of its own."""
    return {
        "version": kb.version,
        "relations": sorted(kb.relations(), key=lambda relation: relation.name),
        "facts": {relation.name: kb.facts(relation.name).sorted() for relation in kb.relations()},
        "explicit": explicit_facts(kb),
        "program": kb.program,
        "views": {view.name: (view.text, list(view.rows())) for view in kb.views()},
    }


# --- any stream of updates --------------------------------------------------------------------------------------------


def follow(engine: str, story: Story, order: Sequence[str], places: Sequence[str], **options: Any) -> None:
    steps = expected(story)
    oracle = OracleSubject()
    folder = Path(tempfile.mkdtemp(prefix="snapshots"))
    updates = []
    try:
        subject = FolderSubject(engine, folder / "kb", **options)
        for step, strategy, place in zip(steps, cycle(order), cycle(places), strict=False):
            updates.append(step[0])
            repeat = script(engine, updates, options={"strategy": strategy}) + f"\n# strategies {order}, then {places}"
            oracle.update(step[0])
            try:
                gained, lost = subject.update(step[0], strategy=strategy)
                subject.happens(place)
            except Exception as error:
                error.add_note(repeat)
                raise
            wrong = [
                *differences("facts", subject.state(), step[1]),
                *differences("gained", gained, step[2]),
                *differences("lost", lost, step[3]),
                *differences("explicit", explicit_facts(subject.kb), {r: f for r, f in oracle.explicit.items() if f}),
            ]
            assert not wrong, "\n".join([repeat, *wrong])
            verified = subject.kb.verify()
            assert verified, f"{repeat}\n{verified}"
        history = [change.version for change in subject.kb.changes(0)]
        assert history == list(range(1, subject.kb.version + 1))
        for version, step in enumerate(steps, 1):
            with subject.kb.at(version) as then:
                past = {r: set(map(keys, then.facts(r))) for r in subject.relations if r in then.state().arities}
            wrong = differences(f"at {version}", {r: facts for r, facts in past.items() if facts}, step[1])
            assert not wrong, "\n".join([repeat, *wrong])
        subject.kb.close()
    finally:
        shutil.rmtree(folder)


@pytest.mark.slow
@settings(max_examples=EXAMPLES["any"])
@given(story=rule_stories(), order=ORDERS, places=PLACES)
def test_oracle_reopened_programs(engine: str, story: Story, order: list[str], places: list[str]) -> None:
    follow(engine, story, order, places)


@pytest.mark.slow
@settings(max_examples=EXAMPLES["graph"])
@given(story=graph_rule_stories(), order=ORDERS, places=PLACES, rewrites=st.booleans())
def test_oracle_reopened_recursions(
    engine: str, story: Story, order: list[str], places: list[str], rewrites: bool
) -> None:
    follow(engine, story, order, places, rewrites=rewrites)


@pytest.mark.slow
@settings(max_examples=EXAMPLES["views"])
@given(story=view_stories(), places=PLACES)
def test_oracle_reopened_views(engine: str, story: ViewStory, places: list[str]) -> None:
    """Views, bags and cut ones too, show what the oracle does and say what changed, wherever it was opened again."""
    note(script(engine, story.updates, options={"strategy": story.strategy}))
    folder = Path(tempfile.mkdtemp(prefix="snapshots"))
    try:
        _follow_views(engine, story, places, folder / "kb")
    except Beyond:
        assume(False)
    except SparqlError as error:
        assume("can be combined in more than" not in str(error))
        raise
    finally:
        shutil.rmtree(folder)


def _follow_views(engine: str, story: ViewStory, places: Sequence[str], folder: Path) -> None:
    subject, oracle = FolderSubject(engine, folder), OracleSubject()
    answers: dict[str, list[Any]] = {}
    for number, (update, place) in enumerate(zip(story.updates, cycle(places), strict=False)):
        if number == story.made:
            for each, text in enumerate(story.views):
                answers[f"view{each}"] = shown(subject.kb.view(f"view{each}", text), data_of(oracle.state()))
        if number == story.dropped:
            subject.kb.drop_view(answers.popitem()[0])
        version = subject.kb.version
        subject.update(update, strategy=story.strategy)
        oracle.update(update)
        note(f"update {number}, then {place}")
        subject.happens(place)
        for name in answers:
            view = subject.kb.view(name)
            before, answers[name] = answers[name], shown(view, data_of(oracle.state()))
            assert told(view, version) == difference(answers[name], before)
        verified = subject.kb.verify()
        assert verified, str(verified)
    subject.kb.close()


# --- what there is to remember ----------------------------------------------------------------------------------------

TERMS = [
    "", "text", "\U0001f600", "\0\n\"'\\", "x" * 10_000,
    0, -1, 2**30 - 1, 2**30 - 2, -(2**30), -(2**30) - 1, 2**31, 2**63, -(2**200), 10**50,
    Decimal("2.50"), Decimal("1E-30"), Decimal("-0.0"), 2.5, 1e300, -0.0, math.inf, True, False,
    IRI("http://e/a"), IRI("http://e/ä"), BlankNode("x"), BlankNode("b0"),
    Literal("chat", language="fr"), Literal("chat", language="en-GB"), Literal("q", "http://e/t"),
    Literal("2024-02-30", "http://www.w3.org/2001/XMLSchema#date"),
    Literal("2024-02-29T10:00:00Z", "http://www.w3.org/2001/XMLSchema#dateTime"),
    Literal("007", "http://www.w3.org/2001/XMLSchema#integer"),
]  # fmt: skip


@pytest.mark.parametrize("way", ["log", "snapshot", "both", "export", "backup"])
def test_terms_of_every_kind_come_back(folder: Path, engine: str, way: str) -> None:
    terms = TERMS
    with everlog.open(folder, engine=engine) as kb:
        kb.insert("term", [(term, number) for number, term in enumerate(terms)])
        kb.add_rules("same(?x, ?y) :- term(?x, ?n), term(?y, ?n).  less(?x) :- term(?x, ?_n), ?x < 5.")
        kb.insert("triple", [(IRI("http://e/s"), IRI("http://e/p"), IRI("http://e/o"))])
        kb.insert("quad", [(IRI("http://e/s"), IRI("http://e/p"), 7, IRI("http://e/g"))])
        if way in ("snapshot", "both"):
            kb.compact()
        if way == "both":
            kb.insert("term", [(f"later {term!r}", 100) for term in TERMS])
        left = reads_back(kb)
        if way == "backup":
            kb.backup(folder.with_name("copy"))
        if way == "export":
            kb.export(folder.with_name("copy"))
    again = folder if way in ("log", "snapshot", "both") else folder.with_name("copy" if way == "backup" else "new")
    with everlog.open(again, engine=engine) as kb:
        if way == "export":
            kb.import_from(folder.with_name("copy"))
            left["version"] = 1
        assert reads_back(kb) == left
        kb.delete("term", [(term, number) for number, term in enumerate(terms)])  # found under the same ids
        assert not [row for row in kb.facts("term") if not str(row[0]).startswith("later")]
        assert kb.verify()


def test_relations_without_arguments_and_without_facts_come_back(folder: Path, engine: str) -> None:
    with everlog.open(folder, engine=engine) as kb:
        kb.add_rules("ready() :- flag(), NOT stop().  p(?x, ?y, ?z, ?u) :- q(?x), r(?y, ?z, ?u).")
        kb.insert("flag", [()])
        kb.insert("gone", [(1, 2)])
        kb.delete("gone", [(1, 2)])
        kb.compact()
        left = reads_back(kb)
    with everlog.open(folder, engine=engine) as kb:
        assert reads_back(kb) == left
        assert list(kb.facts("ready")) == [()] and not len(kb.facts("gone"))
        kb.update(insert={"stop": [()], "q": [(1,)], "r": [(1, 2, 3)]}, strategy="rematerialise")
        kb.insert("gone", [(1, 2, 3)])  # of another arity: everything is derived again
        assert not len(kb.facts("ready")) and list(kb.facts("p")) == [(1, 1, 2, 3)]
        assert kb.verify()


def test_an_empty_relation_is_there_for_all_that_looks_at_it(folder: Path, engine: str) -> None:
    """Also for what derives everything again, and compares."""
    with everlog.open(folder, engine=engine) as kb:
        kb.add_rules("p(?x) :- q(?x).")
        kb.compact()
    with everlog.open(folder, engine=engine) as kb:
        change = kb.insert("q", [(1,)])
        assert change.gained("p") == [(1,)] and kb.changes(1)[0].gained("q") == [(1,)]
        assert kb.verify()


def test_a_large_relation_grows_after_it_was_opened(folder: Path) -> None:
    with everlog.open(folder) as kb:
        kb.add_rules("two(?x, ?z) :- edge(?x, ?y), edge(?y, ?z).")
        kb.insert("edge", [(n, n + 1) for n in range(20_000)])
        kb.compact()
    for begin in (100_000, 200_000):
        with everlog.open(folder) as kb:
            before = len(kb.facts("two"))
            kb.insert("edge", [(begin + n, begin + n + 1) for n in range(15_000)])
            kb.delete("edge", [(n, n + 1) for n in range(0, 300, 3)])
            assert len(kb.facts("two")) > before + 14_000
            assert kb.query(f"two({begin}, ?z)").sorted() == [(begin + 2,)]
            assert kb.verify()
            kb.compact()
    with everlog.open(folder) as kb:
        assert kb.verify()


def test_bags_and_cut_views_keep_their_rows_and_go_on(folder: Path, engine: str) -> None:
    data = [(IRI(f"http://e/{n % 7}"), IRI("http://e/p"), n % 5) for n in range(40)]
    with everlog.open(folder, engine=engine) as kb:
        kb.insert("triple", data)
        kb.view("bag", "SELECT ?y { ?x <http://e/p> ?y }")
        kb.view("top", "SELECT ?x ?y { ?x <http://e/p> ?y } ORDER BY DESC(?y) ?x LIMIT 3 OFFSET 1")
        kb.view("count", "SELECT ?y (COUNT(*) AS ?n) { ?x <http://e/p> ?y } GROUP BY ?y")
        kb.compact()
        left = reads_back(kb)
    with everlog.open(folder, engine=engine) as kb:
        assert reads_back(kb) == left
        assert max(Counter(kb.view("bag").rows()).values()) > 1
        version = kb.version
        kb.delete("triple", data[:20])
        assert kb.verify()
        rows = kb.view("top").rows()
        with everlog.open(engine=engine) as fresh:
            fresh.insert("triple", [row for row in kb.facts("triple")])
            assert list(rows) == list(fresh.query(kb.view("top").text))
        assert kb.view("top").changes(since=version)
        left = reads_back(kb)
    with everlog.open(folder, engine=engine) as kb:
        assert reads_back(kb) == left


@pytest.mark.parametrize("way", ["log", "at once", "snapshot", "export"])
def test_a_view_means_what_it_meant_when_its_prefixes_mean_something_else(folder: Path, way: str) -> None:
    with everlog.open(folder, engine="reference") as kb:
        kb.add_rules("PREFIX ex: <http://e/> [ex:a, ex:p, 1].")
        kb.view("old", "SELECT ?x { ?x ex:p ?y }")
        kb.add_rules("PREFIX ex: <http://other/> [ex:b, ex:p, 2].")
        kb.view("new", "SELECT ?x { ?x ex:p ?y }")
        rows = {view.name: list(view.rows()) for view in kb.views()}
        assert rows["old"] != rows["new"]
        if way == "snapshot":
            kb.compact()
        if way == "export":
            kb.export(folder.with_name("export"))
    options = {"history": HistoryLimits(updates=1)} if way == "at once" else {}
    with everlog.open(folder if way != "export" else None, engine="reference", **options) as kb:
        if way == "export":
            kb.import_from(folder.with_name("export"))
        assert {view.name: list(view.rows()) for view in kb.views()} == rows


def test_a_view_tells_its_first_change_after_opening_too(folder: Path) -> None:
    def first(kb: KnowledgeBase) -> list[Any]:
        with pytest.raises(HistoryError):
            kb.view("v").changes(since=1)  # it was not there
        return [list(change.gained) for change in kb.view("v").changes(since=2)]

    with everlog.open(folder, engine="reference") as kb:
        kb.insert("triple", [(IRI("http://e/a"), IRI("http://e/p"), 1)])
        kb.view("v", "SELECT ?y { ?x <http://e/p> ?y }")
        kb.insert("triple", [(IRI("http://e/b"), IRI("http://e/p"), 2)])
        before = first(kb)
        assert before == [[(2,)]]
    with everlog.open(folder, engine="reference") as kb:
        assert first(kb) == before


def test_history_across_a_change_of_arity_after_opening(folder: Path) -> None:
    with everlog.open(folder) as kb:
        for number in range(3):  # terms that opening gives other ids than the update before the change had
            kb.insert("noise", [(f"noise {number}",)])
        kb.insert("p", [("a", "b"), ("c", "d")])
        with kb.transaction() as t:
            t.delete("p", [("a", "b"), ("c", "d")])
            t.insert("p", [("only",)])
        kb.compact()
        kb.insert("noise", [("last",)])
        before = [(kb.at(v).facts("p").sorted(), kb.at(v).relations()) for v in (4, 5)]
        assert before[0][0] == [("a", "b"), ("c", "d")] and before[1][0] == [("only",)]
    with everlog.open(folder) as kb:
        assert [(kb.at(v).facts("p").sorted(), kb.at(v).relations()) for v in (4, 5)] == before
        assert kb.at(4).verify() and kb.at(5).verify()


def test_constraints_hold_after_opening(folder: Path, engine: str) -> None:
    with everlog.open(folder, engine=engine) as kb:
        kb.add_rules(
            "path(?x, ?y) :- edge(?x, ?y).  path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)."
            "@constraint acyclic : path(?x, ?x)."
        )
        kb.insert("edge", [(1, 2), (2, 3)])
        kb.compact()
    with everlog.open(folder, engine=engine) as kb:
        with pytest.raises(ConstraintError):
            kb.insert("edge", [(3, 1)])
        kb.insert("edge", [(3, 4)])
        assert kb.verify() and kb.version == 3


@pytest.mark.parametrize("more", [True, False])
def test_a_snapshot_with_other_auxiliary_relations_opens_by_deriving(
    folder: Path, engine: str, more: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with everlog.open(folder, engine=engine) as kb:
        kb.add_rules(
            "path(?x, ?y) :- edge(?x, ?y).  path(?x, ?z) :- path(?x, ?y), path(?y, ?z)."
            "leaf(?x) :- path(?_y, ?x), NOT edge(?x, ?_z).  [?x, <http://e/to>, ?y] :- path(?x, ?y)."
        )
        kb.insert("edge", [(1, 2), (2, 3), (3, 4)])
        kb.insert("path", [(9, 9)])
        kb.view("to", "SELECT ?y { ?x <http://e/to> ?y }")
        kb.compact()
        if more:
            kb.insert("edge", [(4, 5)])
        left = reads_back(kb)
    with monkeypatch.context() as patch:
        patch.setattr(OpenedSnapshot, "has_all", lambda *_: False)
        with everlog.open(folder, engine=engine) as kb:
            found = reads_back(kb)
            found["views"] = {name: (text, Counter(rows)) for name, (text, rows) in found["views"].items()}
            left["views"] = {name: (text, Counter(rows)) for name, (text, rows) in left["views"].items()}
            assert found == left
            for strategy in ("ranked", "counting", "dred"):
                kb.update(delete={"edge": [(2, 3)]}, strategy=strategy)
                kb.update(insert={"edge": [(2, 3)]}, strategy=strategy)
                assert kb.verify()


@pytest.mark.parametrize("first, second", [("reference", "columnar"), ("columnar", "reference")])
def test_one_engine_opens_the_snapshot_of_another(folder: Path, first: str, second: str) -> None:
    with everlog.open(folder, engine=first) as kb:
        kb.add_rules("path(?x, ?y) :- edge(?x, ?y). path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).")
        kb.insert("edge", [(1, 2), (2, 3), (3, 1)])
        kb.compact()
        left = reads_back(kb)
    with everlog.open(folder, engine=second) as kb:
        assert reads_back(kb) == left
        kb.update(delete={"edge": [(3, 1)]}, strategy="ranked")
        assert kb.verify()


# --- history ----------------------------------------------------------------------------------------------------------


def numbers(kb: KnowledgeBase, until: int, compact_every: int = 0) -> None:
    while kb.version < until:
        kb.update(insert={"p": [(kb.version + 1,)]}, delete={"p": [(kb.version - 3,)]})
        if compact_every and kb.version % compact_every == 0:
            kb.compact()


def test_history_goes_back_beyond_openings_and_snapshots(folder: Path, engine: str) -> None:
    for until in (7, 13, 20):
        with everlog.open(folder, engine=engine) as kb:
            numbers(kb, until, compact_every=5)
    with everlog.open(folder, engine=engine) as kb:
        for version in (0, 3, 12, 19, 20):
            changes = kb.changes(version)
            assert [change.version for change in changes] == list(range(version + 1, 21))
            assert all(change.gained("p") == [(change.version,)] for change in changes)
            facts = kb.at(version).state()
            assert facts.version == version
        assert kb.at(12).facts("p").sorted() == [(9,), (10,), (11,), (12,)]
        assert kb.at(12).query("p(?x)").sorted() == kb.at(12).facts("p").sorted()
        with kb.transaction() as transaction:
            transaction.insert("q", [(1,)])
        with everlog.open(folder, engine=engine, read_only=True) as reader, reader.at(2) as then:
            assert then.facts("p").sorted() == [(1,), (2,)]


def test_history_may_be_asked_for_in_a_transaction(folder: Path) -> None:
    with everlog.open(folder, engine="reference") as kb:
        numbers(kb, 4)
        kb.compact()
    with everlog.open(folder, engine="reference") as kb:
        with kb.transaction() as transaction:
            transaction.insert("q", [(1,)])
            assert len(kb.changes(1)) == 3
        assert kb.version == 5


def test_a_short_history_is_as_long_as_it_says(folder: Path) -> None:
    limits = HistoryLimits(updates=5)
    with everlog.open(folder, engine="reference", history=limits) as kb:
        numbers(kb, 20)
        kb.compact()
    with everlog.open(folder, engine="reference", history=limits) as kb:
        assert [change.version for change in kb.changes(16)] == [17, 18, 19, 20]
        with pytest.raises(HistoryError):
            kb.changes(2)


def test_snapshots_bound_the_log_however_often_they_are_written(folder: Path) -> None:
    with everlog.open(folder, engine="reference", history=HistoryLimits(updates=10)) as kb:
        numbers(kb, 60, compact_every=3)
        logs = sorted(path.name for path in folder.glob("updates-*"))
        assert len(list(folder.glob("snapshot-*"))) <= 3
        assert len(logs) <= 10 and logs[0] >= "updates-000000000030.log"
        assert len(kb.changes(50)) == 10
    with everlog.open(folder, engine="reference", history=HistoryLimits(updates=10)) as kb:
        assert len(kb.changes(50)) == 10


def test_a_backup_keeps_its_first_snapshot_while_history_needs_it(folder: Path) -> None:
    with everlog.open(engine="reference") as kb:
        numbers(kb, 20)
        kb.backup(folder)
    with everlog.open(folder, engine="reference") as kb:
        numbers(kb, 25)
        kb.compact()
    with everlog.open(folder, engine="reference") as kb:
        assert [change.version for change in kb.changes(20)] == [21, 22, 23, 24, 25]
    (folder / "snapshot-000000000025").unlink()
    with everlog.open(folder, engine="reference") as kb:
        assert kb.version == 25


# --- copies -----------------------------------------------------------------------------------------------------------


def test_backup_export_and_import_by_commands(folder: Path, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from everlog.cli.main import app

    with everlog.open(folder) as kb:
        kb.add_rules("PREFIX ex: <http://e/> r: [?x, ex:to, ?y] :- edge(?x, ?y).  @constraint loop : edge(?x, ?x).")
        kb.insert("edge", [(IRI("http://e/a"), "\U0001f600"), (IRI("http://e/a"), 3)])
        kb.view("to", "SELECT ?y { ?x ex:to ?y }")
        kb.insert("triple", [(IRI("http://e/a"), IRI("http://e/to"), "given")])
        left = reads_back(kb)
    for command in (["backup", folder, tmp_path / "b"], ["export", folder, tmp_path / "e"]):
        assert CliRunner().invoke(app, [str(each) for each in command]).exit_code == 0
        assert CliRunner().invoke(app, [str(each) for each in command]).exit_code == 2  # there is something already
    assert CliRunner().invoke(app, ["import", str(tmp_path / "i"), str(tmp_path / "e")]).exit_code == 0
    with everlog.open(tmp_path / "b") as kb:
        assert reads_back(kb) == left
    with everlog.open(tmp_path / "i") as kb:
        found = reads_back(kb)
        assert found["facts"] == left["facts"] and found["explicit"] == left["explicit"]
        assert Counter(found["views"]["to"][1]) == Counter(left["views"]["to"][1])
        assert found["program"].rules == left["program"].rules


def test_half_a_surrogate_pair_is_not_exported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("everlog.store.encoding.check_rows", lambda *_: None)  # as it was let in once
    with everlog.open(engine="reference") as kb:
        kb.insert("p", [("whole",), ("\ud800",)])
        with pytest.raises(OutputError, match="half a surrogate pair"):
            kb.export(folder)
        assert not list(folder.iterdir())
        kb.delete("p", [("\ud800",)])
        assert len(kb.export(folder)) == 3


def test_what_is_no_export_is_refused(tmp_path: Path) -> None:
    with everlog.open(engine="reference") as kb:
        with pytest.raises(everlog.NotFoundError):
            kb.import_from(tmp_path)
        kb.insert("p", [(1,)])
        kb.export(tmp_path / "e")
        for views in ("no json", "[1]", '{"v": 1}'):
            (tmp_path / "e/views.json").write_text(views)
            with pytest.raises(FormatError, match="views.json"):
                kb.import_from(tmp_path / "e")
        (tmp_path / "e/program.dl").write_bytes(b"\xff")
        with pytest.raises(FormatError, match="program.dl"):
            kb.import_from(tmp_path / "e")
        assert kb.version == 1
        with pytest.raises(UsageError):
            kb.export(tmp_path / "e")
