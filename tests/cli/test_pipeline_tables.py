"""Can people see the versions of a pipeline's tables, and what changed?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Everlog

import everlog as package


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    kb = package.open()
    kb.add_rules("path(?x, ?y) :- edge(?x, ?y).  path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).")
    kb.insert("edge", [("a", "b"), ("b", "c")])
    kb.export(tmp_path / "tables", format="tables")
    with package.open(tmp_path / "tables") as kb:
        kb.delete("edge", [("b", "c")])
        kb.insert("edge", [("b", 7)])
    return tmp_path / "tables"


def test_history_and_changes(tables: Path, everlog: Everlog) -> None:
    ran = everlog("pipeline", "history", str(tables), "--json")
    assert [(each["version"], each["gained"], each["lost"]) for each in json.loads(ran.out)] == [
        (2, 5, 0), (3, 0, 3), (4, 3, 0),
    ]  # fmt: skip
    ran = everlog("pipeline", "changes", str(tables), "edge", "--since", "2")
    assert ran.out.splitlines() == ["3\t-1\tb\tc", "4\t+1\tb\t7"]
    ran = everlog("pipeline", "changes", str(tables), "egde")
    assert "did you mean edge?" in ran.err
    ran = everlog("pipeline", "vacuum", str(tables), "--keep", "1")
    assert "2 versions forgotten" in ran.out
    ran = everlog("pipeline", "changes", str(tables), "edge", "--since", "2")
    assert "no longer remembered" in ran.err
    assert package.open(tables, read_only=True).facts("path").sorted() == [("a", 7), ("a", "b"), ("b", 7)]


def test_changes_of_a_view(tmp_path: Path, everlog: Everlog) -> None:
    with package.open() as kb:
        kb.insert("triple", [(package.IRI("http://x/a"), package.IRI("http://x/hot"), 9)])
        kb.view("hot", "SELECT ?n WHERE { ?x <http://x/hot> ?n }")
        kb.export(tmp_path / "tables", format="tables")
    with package.open(tmp_path / "tables") as kb:
        kb.insert("triple", [(package.IRI("http://x/b"), package.IRI("http://x/hot"), 9)])
        kb.delete("triple", [(package.IRI("http://x/a"), package.IRI("http://x/hot"), 9)])
        kb.insert("triple", [(package.IRI("http://x/c"), package.IRI("http://x/hot"), 7)])
        last = kb.version
    ran = everlog("pipeline", "changes", str(tmp_path / "tables"), "hot", "--since", str(last - 3))
    assert ran.out.splitlines() == [f"{last - 2}\t+1\t9", f"{last - 1}\t-1\t9", f"{last}\t+1\t7"]


def test_where_there_are_no_tables(tmp_path: Path, everlog: Everlog) -> None:
    ran = everlog("pipeline", "history", str(tmp_path))
    assert "there are no tables there" in ran.err and "everlog pipeline run" in ran.err


def test_commands_for_knowledge_bases_take_tables_too(tables: Path, tmp_path: Path, everlog: Everlog) -> None:
    ran = everlog("query", tables, "path(a, ?y)")
    assert ran.code == 0 and "b" in ran.out and "7" in ran.out
    (tmp_path / "u.jsonl").write_text('{"insert": [["edge", "x", "y"]]}\n', encoding="utf-8")
    assert everlog("apply", tables, tmp_path / "u.jsonl").code == 0
    assert everlog("verify", tables).code == 0
    assert everlog("compact", tables).out.startswith(f"{tables}: version 5")
    assert everlog("export", tables, tmp_path / "copy", "--tables").code == 0
    assert everlog("facts", tmp_path / "copy", "path").out == everlog("facts", tables, "path").out != ""
