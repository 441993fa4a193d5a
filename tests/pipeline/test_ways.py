"""Is the way chosen by sizes, and do tables that are open in this process get over damaged runs?"""

from __future__ import annotations

from pathlib import Path

import pytest

import everlog
from everlog.errors import NeedsBulk
from everlog.limits import Limits
from everlog.pipeline.in_process import OpenedTables
from everlog.pipeline.settings_parts import MaintainSettings
from everlog.pipeline.ways import choose_way, way_in_process
from everlog.store.table_runs import RUNS
from everlog.store.updates import Update
from everlog.tables.commits import Commit, TableState

MB = 1 << 20


def commit(facts: int, version: int = 3) -> Commit:
    tables = {"relation edge": TableState("edge", 0, ("c1",), ("bigint",), facts=facts, rows=facts)}
    return Commit(version, tables)


@pytest.mark.parametrize(
    ("way", "facts", "changed", "memory", "expected"),
    [
        ("auto", 1000, 10, MB, "resident: 1,000 facts fit"),
        ("auto", 1_000_000, 10, MB, "paged: 1,000,000 facts would take 123 MB of this process, and 1 are there"),
        ("auto", 1_000_000, 60_000, MB, "bulk: 60,000 changes of 1,000,000 facts"),
        ("auto", 1_000_000, 60_000, 1000 * MB, "resident: 1,000,000 facts fit"),
        ("auto", 1_000_000, 300_000, 1000 * MB, "bulk: 300,000 changes of 1,000,000 facts"),
        ("paged", 10, 300_000, MB, "paged: as the settings say"),
        ("bulk", 10, 1, MB, "bulk: as the settings say"),
    ],
)
def test_the_way_follows_sizes(way: str, facts: int, changed: int, memory: int, expected: str) -> None:
    settings = MaintainSettings(way, memory)
    assert str(choose_way(settings, commit(facts), changed, known=True)) == expected
    assert way_in_process(settings, commit(facts)).name != "bulk"


def test_the_first_load_and_tables_of_others_are_for_bulk() -> None:
    paged = MaintainSettings("paged")
    assert str(choose_way(paged, commit(0, version=0), 0, known=False)) == "bulk: the first load"
    assert choose_way(paged, commit(10), 1, known=False).name == "bulk"


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    kb = everlog.open()
    kb.add_rules("path(?x, ?y) :- edge(?x, ?y).  path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).")
    kb.insert("edge", [(f"n{n}", f"n{n + 1}") for n in range(40) if n % 8])
    kb.export(tmp_path / "tables", format="tables")
    return tmp_path / "tables"


def test_runs_that_turn_out_to_be_damaged_are_made_again(tables: Path, caplog: pytest.LogCaptureFixture) -> None:
    everlog.open(tables, engine="paged").close()
    for path in (tables / RUNS).glob("*.pages"):
        data = bytearray(path.read_bytes())
        data[3] ^= 0x55  # in the first page: opening does not look there
        path.write_bytes(data)
    with OpenedTables(tables, Limits(), "paged") as opened:
        version = opened.kb.version
        change = opened.apply(Update({"edge": [("n8", "n9")]}, {"edge": [("n1", "n2")]}), {"by": "a test"})
        assert change.version == version + 1 and change.lost("path")
        assert opened.last_info()["by"] == "a test"
        assert opened.kb.verify()
    assert "they are made again" in caplog.text
    assert everlog.open(tables, read_only=True).verify()


def test_tables_without_what_maintenance_knows_are_for_bulk(tables: Path) -> None:
    (last,) = (tables / "_commits").glob("*.json")
    last.write_text(last.read_text(encoding="utf-8").replace('"known"', '"unknown"'), encoding="utf-8")
    with pytest.raises(NeedsBulk, match="does not hold all that maintenance goes on from"):
        OpenedTables(tables, Limits(), "paged")
    assert OpenedTables(tables, Limits(), "resident").kb.verify()
