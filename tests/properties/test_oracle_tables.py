"""Does a knowledge base that is kept in tables follow the law, also when it is opened again at any time?

Everything that maintenance goes on from is in the tables: after each update another knowledge base may be opened from
them, which takes the next one. What the tables say changed is what changed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from tests.strategies import Story, rule_stories
from tests.subjects import EngineSubject, OracleSubject, Update, listing

import everlog
from everlog.engines.paged import sizes as paged_sizes
from everlog.engines.paged.sizes import Sizes
from everlog.store import table_runs
from everlog.store.table_folders import relation_tables, table_of
from everlog.tables.layout import WEIGHT
from everlog.tables.table_store import TableStore

pytestmark = pytest.mark.slow

MOSTLY = st.lists(st.booleans(), min_size=8, max_size=8)


@settings(max_examples=max(5, settings().max_examples // 8))
@given(story=rule_stories(), reopened=MOSTLY, compacted=MOSTLY)
def test_oracle_updates_kept_in_tables(story: Story, reopened: list[bool], compacted: list[bool]) -> None:
    note(story.text)
    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder) / "tables"
        subject, oracle = EngineSubject("columnar"), OracleSubject()
        first = Update(insert=story.facts, add_rules=story.text)
        subject.update(first), oracle.update(first)
        subject.kb.export(tables, format="tables")
        subject.kb = everlog.open(tables)
        for number, update in enumerate(story.updates):
            note(f"update {number}: {update}")
            if reopened[number % 8]:
                subject.kb.close()
                subject.kb = everlog.open(tables)
            change = subject.update(update)
            assert [listing(each) for each in change] == [listing(each) for each in oracle.update(update)]
            assert listing(subject.state()) == listing(oracle.state()), f"state after update {number}"
            if compacted[number % 8]:
                subject.kb.compact()
            check_tables(tables, subject.kb)
        subject.kb.verify()
        subject.kb.close()


OPENINGS = st.lists(st.sampled_from(["stay", "again", "behind", "columnar", "damaged"]), min_size=8, max_size=8)


@settings(max_examples=max(5, settings().max_examples // 8))
@given(story=rule_stories(), openings=OPENINGS, compacted=MOSTLY, held=st.sampled_from([0, 5, 1000]))
def test_oracle_updates_of_tables_by_the_paged_engine(
    story: Story, openings: list[str], compacted: list[bool], held: int
) -> None:
    """The runs beside the tables are used, caught up or made again, as they are found."""
    note(story.text)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(paged_sizes, "DEFAULT", Sizes(page=2, run=20, held=held))
        patch.setattr(table_runs, "_MUCH", 100)
        tables = Path(folder) / "tables"
        subject, oracle = EngineSubject("columnar"), OracleSubject()
        first = Update(insert=story.facts, add_rules=story.text)
        subject.update(first), oracle.update(first)
        subject.kb.export(tables, format="tables")
        subject.kb = everlog.open(tables, engine="paged")
        for number, update in enumerate(story.updates):
            opening = openings[number % 8]
            note(f"update {number}, {opening}: {update}")
            if opening != "stay":
                subject.kb.close()
                if opening == "damaged":
                    damage(tables)
                subject.kb = everlog.open(tables, engine="columnar" if opening in ("columnar", "behind") else "paged")
            change = subject.update(update)
            assert [listing(each) for each in change] == [listing(each) for each in oracle.update(update)]
            assert listing(subject.state()) == listing(oracle.state()), f"state after update {number}"
            if opening == "behind":  # the runs are a version behind the tables, or more
                subject.kb.close()
                subject.kb = everlog.open(tables, engine="paged")
                assert listing(subject.state()) == listing(oracle.state()), f"caught up with update {number}"
            if compacted[number % 8]:
                subject.kb.compact()
            check_tables(tables, subject.kb)
        subject.kb.verify()
        subject.kb.close()


def damage(tables: Path) -> None:
    """Change a byte of the first file of the runs that has some."""
    for path in sorted((tables / table_runs.RUNS).iterdir()):
        data = bytearray(path.read_bytes())
        if data:
            data[len(data) // 2] ^= 0x55
            path.write_bytes(data)
            return


def check_tables(folder: Path, kb: everlog.KnowledgeBase) -> None:
    """The tables hold what another knowledge base opened from them shows, and as many facts as they say."""
    store = TableStore(folder)
    other = everlog.open(folder, read_only=True)
    for name, state in relation_tables(store.commit()).items():
        rows = store.rows(table_of(name))
        assert rows.num_rows == rows.select(list(state.columns)).group_by(list(state.columns)).aggregate(
            []
        ).num_rows or (not state.columns)
        assert state.facts == sum(rows[WEIGHT].to_pylist())
        if "~" not in name:
            assert sorted(map(str, other.facts(name))) == sorted(map(str, kb.facts(name)))
