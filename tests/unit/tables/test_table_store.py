"""Do tables keep every version, and only what was committed?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from everlog.errors import DataError, HistoryError, NotFoundError, UsageError
from everlog.tables.commits import Commit, CommitConflictError, commit_name, write_commit
from everlog.tables.compaction import compact
from everlog.tables.layout import BAG
from everlog.tables.table_store import TableStore
from everlog.tables.writing import TableTransaction

PAIR = {"c1": "bigint", "c2": "bigint"}


def put(transaction: TableTransaction, table: str, rows: list[tuple[int, int, int]]) -> int:
    """Append (c1, c2, weight) rows."""
    return transaction.append(table, facts(rows, transaction.version), PAIR)


def facts(rows: list[tuple[int, int, int]], version: int) -> pa.Table:
    columns = [list(column) for column in zip(*rows, strict=True)] if rows else [[], [], []]
    return pa.table(
        {
            **{name: pa.array(c, pa.int64()) for name, c in zip(("c1", "c2", "weight"), columns, strict=True)},
            "explicit": pa.array([weight >= 0 for *_, weight in rows], pa.bool_()),
            "derivations": pa.array([0] * len(rows), pa.int64()),
            "rank": pa.array([0] * len(rows), pa.int32()),
            "version": pa.array([version] * len(rows), pa.int64()),
        }
    )


def rows(store: TableStore, table: str, version: int | None = None) -> set[tuple[int, int]]:
    """The facts of a version; each stands there once."""
    found = store.rows(table, version)
    listed = list(zip(found["c1"].to_pylist(), found["c2"].to_pylist(), strict=True))
    assert len(listed) == len(set(listed)) and set(found["weight"].to_pylist()) <= {1}
    return set(listed)


@pytest.fixture
def store(tmp_path: Path) -> TableStore:
    return TableStore(tmp_path / "the tables")  # a space, as people have them


def add(store: TableStore, table: str, rows: list[tuple[int, int, int]]) -> Commit:
    with store.begin() as transaction:
        put(transaction, table, rows)
        return transaction.commit()


def test_versions_can_be_read_at_any_time(store: TableStore, tmp_path: Path) -> None:
    add(store, "facts_edge", [(1, 2, 1), (2, 3, 1)])
    add(store, "facts_edge", [(3, 4, 1), (1, 2, -1)])
    assert store.versions() == [1, 2]
    assert rows(store, "facts_edge", 1) == {(1, 2), (2, 3)}
    assert rows(store, "facts_edge") == {(2, 3), (3, 4)}
    state = store.commit().tables["facts_edge"]
    assert (state.rows, state.facts, state.changes, state.gains_only) == (4, 2, 2, False)
    assert store.commit(1).tables["facts_edge"].gains_only


def test_several_tables_appear_at_once(store: TableStore, tmp_path: Path) -> None:
    with store.begin() as transaction:
        put(transaction, "facts_edge", [(1, 2, 1)])
        put(transaction, "derived_path", [(1, 2, 1)])
        assert store.versions() == []
        transaction.commit({"program": "abc", "counts": {"edge": 1}})
    commit = store.commit()
    assert (commit.version, sorted(commit.tables), commit.info["program"]) == (1, ["derived_path", "facts_edge"], "abc")
    assert commit.time


def test_an_exception_leaves_no_trace(store: TableStore, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), store.begin() as transaction:
        put(transaction, "facts_edge", [(1, 2, 1)])
        raise RuntimeError
    assert store.versions() == []
    assert not list(store.beside.rglob("*.parquet"))
    add(store, "facts_edge", [(5, 6, 1)])
    assert rows(store, "facts_edge") == {(5, 6)}


def test_a_table_that_a_version_does_not_touch_stays(store: TableStore, tmp_path: Path) -> None:
    add(store, "facts_a", [(1, 1, 1)])
    add(store, "facts_b", [(2, 2, 1)])
    assert rows(store, "facts_a") == {(1, 1)}
    assert store.commit().tables["facts_a"].delta == 0


def test_no_rows_make_a_table_without_rows(store: TableStore, tmp_path: Path) -> None:
    add(store, "facts_edge", [])
    assert rows(store, "facts_edge") == set()
    add(store, "facts_edge", [(1, 2, 1)])
    assert rows(store, "facts_edge") == {(1, 2)}


def test_delta_versions_that_no_commit_names_are_taken_out(
    store: TableStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, "facts_edge", [(1, 2, 1)])

    def dies(*_: object) -> Commit:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("everlog.tables.commits.write_commit", dies)
        add(store, "facts_edge", [(8, 8, 1)])
    assert rows(store, "facts_edge") == {(1, 2)}
    add(store, "facts_edge", [(3, 4, 1)])
    assert rows(store, "facts_edge") == {(1, 2), (3, 4)}
    assert rows(store, "facts_edge", 1) == {(1, 2)}


def test_tidy_removes_strays_and_nothing_else(store: TableStore, tmp_path: Path) -> None:
    add(store, "facts_edge", [(1, 2, 1)])
    stray = store.beside / "facts_edge" / "0123" / "part-0.parquet"
    unnamed = store.beside / "facts_other" / "4567" / "part-0.parquet"
    for path in (stray, unnamed):
        path.parent.mkdir(parents=True)
        path.write_bytes(b"half a file")
    assert store.tidy() == 2
    assert not stray.parent.exists() and not unnamed.parent.parent.exists()
    assert rows(store, "facts_edge") == {(1, 2)}


def test_tidy_leaves_tables_without_rows_and_older_versions(store: TableStore) -> None:
    with store.begin() as transaction:
        put(transaction, "empty", [])
        put(transaction, "gone", [(1, 1, 1)])
        transaction.commit()
    with store.begin() as transaction:
        transaction.drop("gone")
        put(transaction, "edge", [(1, 2, 1)])
        transaction.commit()
    assert store.tidy() == 0 and store.vacuum(keep=2) == (0, 0)
    assert rows(store, "empty") == set() and rows(store, "gone", 1) == {(1, 1)} and rows(store, "edge") == {(1, 2)}
    assert store.vacuum(keep=1) == (1, 1) and rows(store, "empty") == set()


def test_a_second_writer_is_told_who_the_first_is(store: TableStore) -> None:
    with store.begin(), pytest.raises(CommitConflictError, match=r"being written by process \d+ on "):
        store.begin()
    store.begin().abort()


def test_the_commit_file_is_the_last_defence(store: TableStore, tmp_path: Path) -> None:
    with store.begin() as transaction:
        put(transaction, "facts_edge", [(1, 2, 1)])
        write_commit(store.place, Commit(1))  # a writer that our lock did not reach
        with pytest.raises(CommitConflictError, match="another writer"):
            transaction.commit()
    assert store.commit(1).tables == {}
    add(store, "facts_edge", [(3, 4, 1)])
    assert rows(store, "facts_edge") == {(3, 4)}


def test_a_table_that_somebody_else_appends_to_meanwhile_is_a_conflict(
    store: TableStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import deltalake

    add(store, "facts_edge", [(1, 2, 1)])
    real = deltalake.CommitProperties

    def after_another(**options: Any) -> Any:
        """Made when the table has been looked at and not yet been written to: the moment for a race."""
        monkeypatch.undo()
        table = deltalake.DeltaTable(str(store.beside / "facts_edge"))
        table.create_write_transaction([], "append", table.schema())
        return real(**options)

    with store.begin() as transaction:
        put(transaction, "facts_edge", [(5, 5, 1)])
        monkeypatch.setattr(deltalake, "CommitProperties", after_another)
        with pytest.raises(CommitConflictError, match="another writer changed this table"):
            transaction.commit()
    assert store.versions() == [1]
    add(store, "facts_edge", [(7, 7, 1)])
    assert rows(store, "facts_edge") == {(1, 2), (7, 7)}


def test_other_columns_are_refused(store: TableStore, tmp_path: Path) -> None:
    add(store, "facts_edge", [(1, 2, 1)])
    with store.begin() as transaction, pytest.raises(UsageError, match="c1 bigint, c2 bigint"):
        transaction.append("facts_edge", facts([], 2), {"c1": "bigint"})


def test_what_is_not_there_is_named(store: TableStore, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no version 3"):
        store.commit(3)
    add(store, "facts_edge", [(1, 2, 1)])
    with pytest.raises(NotFoundError, match="did you mean facts_edge"):
        store.files("facts_egde")


def test_a_damaged_commit_is_reported(store: TableStore, tmp_path: Path) -> None:
    add(store, "facts_edge", [(1, 2, 1)])
    add(store, "facts_edge", [(2, 3, 1)])
    path = store.beside / commit_name(2)
    path.write_text(json.dumps({"version": 2}), encoding="utf-8")
    with pytest.raises(DataError, match="commit file cannot be read"):
        store.commit()
    assert rows(store, "facts_edge", 1) == {(1, 2)}


def test_an_iri_as_a_table_name(store: TableStore, tmp_path: Path) -> None:
    add(store, "facts_http://ex.org/p", [(1, 2, 1)])
    add(store, "facts_http://ex.org/p", [(2, 3, 1)])
    assert rows(store, "facts_http://ex.org/p") == {(1, 2), (2, 3)}


def test_what_changed_is_told_version_by_version(store: TableStore) -> None:
    add(store, "edge", [(1, 2, 1), (2, 3, 1)])
    add(store, "edge", [(1, 2, -1), (2, 3, 0)])  # one is lost, of the other something else is known now
    add(store, "edge", [(1, 2, 1)])
    changes = store.changes("edge", since=1)
    assert changes.select(["c1", "c2", "weight", "version"]).to_pylist() == [
        {"c1": 1, "c2": 2, "weight": -1, "version": 2},
        {"c1": 1, "c2": 2, "weight": 1, "version": 3},
    ]
    assert store.changes("edge", since=0, until=1).num_rows == 2
    assert store.commit(2).moved == {"edge": (0, 1)}
    assert rows(store, "edge") == {(1, 2), (2, 3)}


def test_a_new_base_changes_nothing_that_can_be_read(store: TableStore) -> None:
    for number in range(5):
        add(store, "edge", [(number, number, 1), *([(number - 1, number - 1, -1)] if number else [])])
    before = [rows(store, "edge", version) for version in store.versions()]
    assert compact(store) == ["edge"] and compact(store) == []
    state = store.state("edge")
    assert (state.changes, state.change_files, state.rows, state.facts) == (0, 0, 1, 1)
    assert [rows(store, "edge", version) for version in store.versions()] == before
    assert store.changes("edge", since=0).num_rows == 9
    add(store, "edge", [(4, 4, -1)])
    assert rows(store, "edge") == set() and store.state("edge").facts == 0


def test_vacuum_removes_what_only_old_versions_need(store: TableStore) -> None:
    for number in range(4):
        add(store, "edge", [(number, number, 1)])
    compact(store)
    add(store, "edge", [(7, 7, 1)])
    versions, files = store.vacuum(keep=1)
    assert versions == 4 and files == 4
    assert rows(store, "edge") == {(0, 0), (1, 1), (2, 2), (3, 3), (7, 7)}
    with pytest.raises(HistoryError, match="version 3 is no longer remembered"):
        store.changes("edge", since=3)
    assert store.changes("edge", since=5).num_rows == 0


def test_a_bag_is_as_often_there_as_its_last_row_says(store: TableStore) -> None:
    def put_bag(change: int, count: int) -> None:
        with store.begin() as transaction:
            row = {"c1": [1], "weight": [change], "explicit": [False], "derivations": [count], "rank": [0]}
            transaction.append("bag", pa.table({**row, "version": [transaction.version]}), {"c1": "bigint"}, BAG)
            transaction.commit()

    put_bag(2, 2)
    put_bag(3, 5)
    assert store.rows("bag")["derivations"].to_pylist() == [5] and store.state("bag").facts == 5
    compact(store)
    assert store.rows("bag")["weight"].to_pylist() == [5]
    put_bag(-5, 0)
    assert store.rows("bag").num_rows == 0 and store.rows("bag", 1)["derivations"].to_pylist() == [2]
