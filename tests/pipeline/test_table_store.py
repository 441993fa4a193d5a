"""Do tables keep every version, and only what was committed?"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from everlog.errors import DataError, NotFoundError, UsageError
from everlog.pipeline.commits import Commit, CommitConflictError, commit_path, write_commit
from everlog.pipeline.table_store import TableStore, Transaction

PAIR = {"c1": "bigint", "c2": "bigint"}


def put(transaction: Transaction, folder: Path, table: str, rows: list[tuple[int, int, int]]) -> int:
    """Append (c1, c2, weight) rows without Spark."""
    place = folder / f"rows-{transaction.version}-{len(list(folder.iterdir()))}"
    place.mkdir()
    columns = [list(column) for column in zip(*rows, strict=True)] if rows else [[], [], []]
    names = ["c1", "c2", "weight", "version"]
    arrays = [pa.array(column, pa.int64()) for column in [*columns, [transaction.version] * len(rows)]]
    pq.write_table(pa.table(dict(zip(names, arrays, strict=True))), place / "part-0.parquet")
    return append_files(transaction, table, place, PAIR)


def append_files(transaction: Transaction, table: str, files: Path, types: dict[str, str]) -> int:
    """What `append` does, with a folder of Parquet files that were not written by Spark; the folder is moved."""
    state = transaction._prepare(table, types, weighted=True, fresh=False)
    place = transaction._place(state)
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(files, place)
    return transaction._add(table, state, place)


def rows(store: TableStore, table: str, version: int | None = None) -> set[tuple[int, int]]:
    """The net rows of a version, read without Spark."""
    net: dict[tuple[int, int], int] = {}
    for file in store.files(table, version):
        for row in pq.read_table(file).to_pylist():
            fact = (row["c1"], row["c2"])
            net[fact] = net.get(fact, 0) + row["weight"]
    return {fact for fact, weight in net.items() if weight}


@pytest.fixture
def store(tmp_path: Path) -> TableStore:
    return TableStore(tmp_path / "the tables")  # a space, as people have them


def add(store: TableStore, folder: Path, table: str, facts: list[tuple[int, int, int]]) -> Commit:
    with store.begin() as transaction:
        put(transaction, folder, table, facts)
        return transaction.commit()


def test_versions_can_be_read_at_any_time(store: TableStore, tmp_path: Path) -> None:
    add(store, tmp_path, "facts_edge", [(1, 2, 1), (2, 3, 1)])
    add(store, tmp_path, "facts_edge", [(3, 4, 1), (1, 2, -1)])
    assert store.versions() == [1, 2]
    assert rows(store, "facts_edge", 1) == {(1, 2), (2, 3)}
    assert rows(store, "facts_edge") == {(2, 3), (3, 4)}
    state = store.commit().tables["facts_edge"]
    assert (state.rows, state.facts, state.losses) == (4, 2, True)
    assert not store.commit(1).tables["facts_edge"].losses


def test_several_tables_appear_at_once(store: TableStore, tmp_path: Path) -> None:
    with store.begin() as transaction:
        put(transaction, tmp_path, "facts_edge", [(1, 2, 1)])
        put(transaction, tmp_path, "derived_path", [(1, 2, 1)])
        assert store.versions() == []
        transaction.commit({"program": "abc", "counts": {"edge": 1}})
    commit = store.commit()
    assert (commit.version, sorted(commit.tables), commit.info["program"]) == (1, ["derived_path", "facts_edge"], "abc")
    assert commit.time


def test_an_exception_leaves_no_trace(store: TableStore, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), store.begin() as transaction:
        put(transaction, tmp_path, "facts_edge", [(1, 2, 1)])
        raise RuntimeError
    assert store.versions() == []
    assert not list(store.folder.rglob("*.parquet"))
    add(store, tmp_path, "facts_edge", [(5, 6, 1)])
    assert rows(store, "facts_edge") == {(5, 6)}


def test_a_table_that_a_version_does_not_touch_stays(store: TableStore, tmp_path: Path) -> None:
    add(store, tmp_path, "facts_a", [(1, 1, 1)])
    add(store, tmp_path, "facts_b", [(2, 2, 1)])
    assert rows(store, "facts_a") == {(1, 1)}
    assert store.commit().tables["facts_a"].delta == 0


def test_no_rows_make_a_table_without_rows(store: TableStore, tmp_path: Path) -> None:
    add(store, tmp_path, "facts_edge", [])
    assert rows(store, "facts_edge") == set()
    add(store, tmp_path, "facts_edge", [(1, 2, 1)])
    assert rows(store, "facts_edge") == {(1, 2)}


def test_delta_versions_that_no_commit_names_are_taken_out(
    store: TableStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, tmp_path, "facts_edge", [(1, 2, 1)])

    def dies(folder: Path, commit: Commit) -> Commit:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("everlog.pipeline.commits.write_commit", dies)
        add(store, tmp_path, "facts_edge", [(8, 8, 1)])
    assert rows(store, "facts_edge") == {(1, 2)}
    add(store, tmp_path, "facts_edge", [(3, 4, 1)])
    assert rows(store, "facts_edge") == {(1, 2), (3, 4)}
    assert rows(store, "facts_edge", 1) == {(1, 2)}


def test_tidy_removes_strays_and_nothing_else(store: TableStore, tmp_path: Path) -> None:
    add(store, tmp_path, "facts_edge", [(1, 2, 1)])
    stray = store.folder / "facts_edge" / "0123" / "part-0.parquet"
    unnamed = store.folder / "facts_other" / "4567" / "part-0.parquet"
    for path in (stray, unnamed):
        path.parent.mkdir(parents=True)
        path.write_bytes(b"half a file")
    assert store.tidy() == 2
    assert not stray.parent.exists() and not unnamed.parent.parent.exists()
    assert rows(store, "facts_edge") == {(1, 2)}


def test_a_second_writer_is_told_who_the_first_is(store: TableStore) -> None:
    with store.begin(), pytest.raises(CommitConflictError, match=r"being written by process \d+ on "):
        store.begin()
    store.begin().abort()


def test_the_commit_file_is_the_last_defence(store: TableStore, tmp_path: Path) -> None:
    with store.begin() as transaction:
        put(transaction, tmp_path, "facts_edge", [(1, 2, 1)])
        write_commit(store.folder, Commit(1))  # a writer that our lock did not reach
        with pytest.raises(CommitConflictError, match="another writer"):
            transaction.commit()
    assert store.commit(1).tables == {}
    add(store, tmp_path, "facts_edge", [(3, 4, 1)])
    assert rows(store, "facts_edge") == {(3, 4)}


def test_a_table_that_somebody_else_appends_to_meanwhile_is_a_conflict(
    store: TableStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import deltalake

    add(store, tmp_path, "facts_edge", [(1, 2, 1)])
    real = deltalake.CommitProperties

    def after_another(**options: Any) -> Any:
        """Made when the table has been looked at and not yet been written to: the moment for a race."""
        monkeypatch.undo()
        table = deltalake.DeltaTable(str(store.folder / "facts_edge"))
        table.create_write_transaction([], "append", table.schema())
        return real(**options)

    with store.begin() as transaction:
        put(transaction, tmp_path, "facts_edge", [(5, 5, 1)])
        monkeypatch.setattr(deltalake, "CommitProperties", after_another)
        with pytest.raises(CommitConflictError, match="another writer changed this table"):
            transaction.commit()
    assert store.versions() == [1]
    add(store, tmp_path, "facts_edge", [(7, 7, 1)])
    assert rows(store, "facts_edge") == {(1, 2), (7, 7)}


def test_other_columns_are_refused(store: TableStore, tmp_path: Path) -> None:
    add(store, tmp_path, "facts_edge", [(1, 2, 1)])
    with store.begin() as transaction, pytest.raises(UsageError, match="c1 bigint, c2 bigint"):
        append_files(transaction, "facts_edge", tmp_path, {"c1": "bigint"})


def test_what_is_not_there_is_named(store: TableStore, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no version 3"):
        store.commit(3)
    add(store, tmp_path, "facts_edge", [(1, 2, 1)])
    with pytest.raises(NotFoundError, match="did you mean facts_edge"):
        store.files("facts_egde")


def test_a_damaged_commit_is_reported(store: TableStore, tmp_path: Path) -> None:
    add(store, tmp_path, "facts_edge", [(1, 2, 1)])
    add(store, tmp_path, "facts_edge", [(2, 3, 1)])
    path = commit_path(store.folder, 2)
    path.write_text(json.dumps({"version": 2}), encoding="utf-8")
    with pytest.raises(DataError, match="commit file cannot be read"):
        store.commit()
    assert rows(store, "facts_edge", 1) == {(1, 2)}


def test_an_iri_as_a_table_name(store: TableStore, tmp_path: Path) -> None:
    add(store, tmp_path, "facts_http://ex.org/p", [(1, 2, 1)])
    add(store, tmp_path, "facts_http://ex.org/p", [(2, 3, 1)])
    assert rows(store, "facts_http://ex.org/p") == {(1, 2), (2, 3)}
