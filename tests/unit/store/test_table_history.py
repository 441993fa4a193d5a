"""Is history that tables keep read as what it was, after they were opened again?"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from tests.strategies import Story, rule_stories
from tests.subjects import EngineSubject, Update

import everlog
from everlog.errors import HistoryError
from everlog.tables.table_store import TableStore

EX = "http://ex.org/"
VIEWS = {
    "all": f"SELECT ?y WHERE {{ ?x <{EX}p> ?y }}",
    "top": f"SELECT ?y WHERE {{ ?x <{EX}p> ?y }} ORDER BY DESC(?y) LIMIT 2",
    "any": f"ASK {{ ?x <{EX}p> 3 }}",
}


def triple(subject: str, value: int) -> tuple[Any, ...]:
    return everlog.IRI(EX + subject), everlog.IRI(EX + "p"), value


def told(kb: everlog.KnowledgeBase, since: int) -> list[Any]:
    """What each update after a version changed, in relations and views."""
    found: list[Any] = [
        (
            change.version,
            change.updates,
            {name: (sorted(map(str, change.gained(name))), sorted(map(str, change.lost(name)))) for name in names},
        )
        for change in kb.changes(since)
        for names in [sorted(change.counts())]
    ]
    for view in kb.views():
        try:
            changes = view.changes(since)
        except HistoryError:
            continue
        found += [(view.name, c.version, sorted(map(str, c.gained)), sorted(map(str, c.lost))) for c in changes]
    return found


def states(kb: everlog.KnowledgeBase, versions: list[int]) -> list[Any]:
    """Facts, what is explicit, and views, as they were."""
    found = []
    for version in versions:
        then = kb.at(version)
        relations = {
            each.name: (each.facts, each.explicit, sorted(map(str, then.facts(each.name)))) for each in then.relations()
        }
        views = {}
        for view in then.views():
            rows = view.rows()
            views[view.name] = bool(rows) if view.query.form == "ask" else sorted(map(str, rows))
        found.append((version, {name: about for name, about in relations.items() if about[0]}, views))
    return found


@pytest.mark.parametrize("opened_by", ["columnar", "paged"])
def test_changes_and_states_are_read_from_tables(tmp_path: Path, opened_by: str) -> None:
    tables = tmp_path / "tables"
    everlog.open().export(tables, format="tables")
    with everlog.open(tables) as kb:
        kb.add_rules("path(?x, ?y) :- edge(?x, ?y).  path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).")
        for name, text in VIEWS.items():
            kb.view(name, text)
        begin = kb.version
        kb.insert("edge", [("a", "b"), ("b", "c")])
        kb.update(insert={"triple": [triple("a", 1), triple("b", 2)], "path": [("a", "c")], "flag": [()]})
        kb.delete("edge", [("b", "c")])  # path(a, c) stays, since it is explicit
        kb.compact()
        kb.update(insert={"triple": [triple("c", 3), triple("d", 2)]}, delete={"path": [("a", "c")], "flag": [()]})
        kb.add_rules("two(?x) :- path(?x, ?_y), edge(?x, ?_z).")
        kb.insert("edge", [("c", "a")])
        versions = list(range(begin, kb.version + 1))
        expected = told(kb, begin), states(kb, versions)
    with everlog.open(tables, engine=opened_by) as again:
        assert told(again, begin) == expected[0]
        again.insert("edge", [("z", "z")])
        assert len(again.changes(begin)) == len(versions)
        assert states(again, versions) == expected[1]
        assert states(again, versions) == expected[1]
        with pytest.raises(HistoryError):
            again.changes(again.version + 1)
    TableStore(tables).vacuum(2)
    with everlog.open(tables, engine=opened_by) as again, pytest.raises(HistoryError):
        again.changes(begin)


@pytest.mark.slow
@settings(max_examples=max(5, settings().max_examples // 8))
@given(story=rule_stories(), opened_by=st.sampled_from(["columnar", "paged"]), compacted=st.booleans())
def test_oracle_history_of_tables(story: Story, opened_by: str, compacted: bool) -> None:
    note(story.text)
    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder) / "tables"
        subject = EngineSubject("columnar")
        subject.update(Update(insert=story.facts, add_rules=story.text))
        subject.kb.export(tables, format="tables")
        subject.kb = everlog.open(tables)
        begin = subject.kb.version
        for update in story.updates:
            note(str(update))
            subject.update(update)
        if compacted:
            subject.kb.compact()
        versions = list(range(begin, subject.kb.version + 1))
        expected = told(subject.kb, begin), states(subject.kb, versions)
        subject.kb.close()
        with everlog.open(tables, engine=opened_by, read_only=True) as again:
            assert told(again, begin) == expected[0]
            assert states(again, versions) == expected[1]
