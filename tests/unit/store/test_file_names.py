"""Does each relation have a file, a table and a folder to itself?"""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import everlog
from everlog.errors import UsageError
from everlog.rules.parser import parse_program
from everlog.store.file_names import file_names
from everlog.store.program_files import targets, write_targets
from everlog.tables.table_store import folder_name

odd_names = st.text(st.sampled_from("pP_.-/#: é0a"), min_size=1, max_size=4) | st.sampled_from(["", "x" * 300, ".."])


@given(st.lists(odd_names, unique=True))
def test_no_two_relations_share_a_file(relations: list[str]) -> None:
    names = file_names(relations)
    # And a relation may have the name that another one's file got.
    names = file_names([*relations, *(name for name in names.values() if name not in relations)])
    assert len({name.casefold() for name in names.values()}) == len(names)
    assert not any("/" in name or name.startswith((".", "_")) or not name or len(name) > 100 for name in names.values())


@given(st.lists(odd_names, unique=True))
def test_no_two_relations_share_a_table(relations: list[str]) -> None:
    everything = list(dict.fromkeys([*relations, *map(folder_name, relations)]))
    assert len({folder_name(name).lower() for name in everything}) == len(everything)


def test_similar_relations_are_all_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    program = parse_program("p(?x) :- a(?x).  p_(?x) :- a(?x).  P(?x) :- a(?x).")
    kb = everlog.open(engine="reference")
    kb.add_rules(program)
    kb.insert("a", [1])
    with caplog.at_level(logging.WARNING, "everlog"):
        written = write_targets(kb, targets(program, tmp_path, None))
    assert len(set(written)) == 3
    assert all(path.read_text() == "1\n" for path in written)
    assert tmp_path / "p_.csv" in written
    assert "the relation P is written to" in caplog.text and "p_ is written" not in caplog.text


def test_two_exports_to_one_file_are_refused(tmp_path: Path) -> None:
    program = parse_program('p(?x) :- a(?x).  q(?x) :- a(?x).  @export p "x.csv".  @export q "x.csv".')
    for folder in (tmp_path, None):
        with pytest.raises(UsageError, match="p and q would both be written to"):
            targets(program, folder, None)
