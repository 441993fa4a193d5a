"""Do tables in an object store keep what local ones keep, and never two commits of one version?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from tests.object_store import BUCKET, ObjectStore
from tests.strategies import Story, rule_stories
from tests.subjects import EngineSubject, Update, listing
from tests.unit.tables.test_table_store import add, put, rows

import everlog
from everlog.errors import EverlogError, NotFoundError, StorageError, UsageError
from everlog.tables import leftovers
from everlog.tables.commits import CommitConflictError
from everlog.tables.compaction import compact
from everlog.tables.places import table_place
from everlog.tables.table_store import TableStore

RULES = "path(?x, ?y) :- edge(?x, ?y).   path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)."


@pytest.fixture
def exported(object_store: ObjectStore, address: str) -> str:
    kb = everlog.open()
    kb.update(insert={"edge": [("a", "b"), ("b", "c")]}, add_rules=RULES)
    kb.export(address, format="tables", storage=object_store.storage)
    return address


@pytest.fixture
def store(object_store: ObjectStore, address: str) -> TableStore:
    return TableStore(address, object_store.storage)


@pytest.mark.parametrize("kind", ["columnar", "paged"])
def test_a_knowledge_base_goes_on_there(object_store: ObjectStore, exported: str, kind: str) -> None:
    with everlog.open(exported, storage=object_store.storage, engine=kind) as kb:
        assert kb.insert("edge", [("c", "d")]).gained("path") == [("a", "d"), ("b", "d"), ("c", "d")]
        kb.delete("edge", [("a", "b")])
    with everlog.open(exported, storage=object_store.storage, engine=kind) as kb:
        assert kb.facts("path").sorted() == [("b", "c"), ("b", "d"), ("c", "d")]
        assert len(kb.at(2).facts("path")) == 6
        kb.add_rules("end(?y) :- edge(?x, ?y), NOT edge(?y, _).")
        kb.compact()
    with everlog.open(exported, storage=object_store.storage, read_only=True) as kb:
        assert kb.facts("end").sorted() == [("d",)] and kb.verify()


def test_only_tables_are_kept_there(address: str) -> None:
    for write in (everlog.open().export, everlog.open().backup):
        with pytest.raises(UsageError, match="cannot be written there"):
            write(address)


def test_an_export_takes_nobodys_place(object_store: ObjectStore, exported: str) -> None:
    with pytest.raises(UsageError, match="something there already"):
        everlog.open().export(exported, format="tables", storage=object_store.storage)


@pytest.mark.slow
@settings(max_examples=2, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(story=rule_stories(), opened=st.lists(st.sampled_from(["stay", "columnar", "paged"]), min_size=4, max_size=4))
def test_updates_there_and_in_a_folder_are_the_same(
    object_store: ObjectStore, tmp_path: Path, address: str, story: Story, opened: list[str]
) -> None:
    """The law, since local tables keep it (properties/test_oracle_tables.py)."""
    note(story.text)
    name = f"{time.monotonic_ns()}"
    places = ((f"{address}/{name}", object_store.storage), (tmp_path / name, None))
    subjects = [EngineSubject("columnar"), EngineSubject("columnar")]
    for subject, (place, storage) in zip(subjects, places, strict=True):
        subject.update(Update(insert=story.facts, add_rules=story.text))
        subject.kb.export(place, format="tables", storage=storage)
        subject.kb = everlog.open(place, storage=storage)
    for number, update in enumerate(story.updates[:4]):
        for subject, (place, storage) in zip(subjects, places, strict=True):
            if opened[number] != "stay":
                subject.kb.close()
                subject.kb = everlog.open(place, storage=storage, engine=opened[number])
        there, here = (subject.update(update) for subject in subjects)
        assert [listing(each) for each in there] == [listing(each) for each in here]
        assert listing(subjects[0].state()) == listing(subjects[1].state()), f"state after update {number}"
    for subject, (place, storage) in zip(subjects, places, strict=True):
        subject.kb.close()
        subject.kb = everlog.open(place, storage=storage, read_only=True)
    assert listing(subjects[0].state()) == listing(subjects[1].state())
    assert subjects[0].kb.verify()


# --- writers ----------------------------------------------------------------------------------------------------------


def test_of_two_writers_one_commits(store: TableStore, object_store: ObjectStore) -> None:
    add(store, "facts_edge", [(1, 2, 1)])
    other = TableStore(store.place)
    with store.begin() as fast, other.begin() as slow:
        put(slow, "facts_edge", [(8, 8, 1)])
        put(slow, "facts_new", [(8, 8, 1)])
        put(fast, "facts_edge", [(3, 4, 1)])
        put(fast, "facts_new", [(3, 4, 1)])
        fast.commit()
        with pytest.raises(CommitConflictError):
            slow.commit()
    assert store.versions() == [1, 2]
    add(other, "facts_edge", [(5, 6, 1)])
    assert rows(store, "facts_edge", 2) == {(1, 2), (3, 4)} and rows(store, "facts_new") == {(3, 4)}
    assert rows(store, "facts_edge") == {(1, 2), (3, 4), (5, 6)}


def test_racing_writers_lose_nothing(store: TableStore) -> None:
    """Each tries until it has committed: all that was committed is there, once."""
    add(store, "facts_edge", [(0, 0, 1)])

    def write(number: int) -> int:
        mine, tries = TableStore(store.place), 0
        while True:
            tries += 1
            try:
                return add(mine, "facts_edge", [(number, number, 1)]).version
            except CommitConflictError:
                time.sleep(0.02 * number)
                assert tries < 50

    with ThreadPoolExecutor(3) as threads:
        versions = sorted(threads.map(write, (1, 2, 3)))
    assert versions == [2, 3, 4] and store.versions() == [1, 2, 3, 4]
    assert rows(store, "facts_edge") == {(number, number) for number in range(4)}


def test_of_many_puts_of_a_name_one_succeeds(store: TableStore) -> None:
    def puts(number: int) -> bool:
        try:
            store.place.put("_commits/x.json", b"%d" % number)
        except FileExistsError:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        won = list(threads.map(puts, range(8)))
    assert won.count(True) == 1 and store.place.read("_commits/x.json") == b"%d" % won.index(True)
    with pytest.raises(FileExistsError):
        store.place.put("_commits/gone.json", b"", replaces=True)


def test_a_knowledge_base_that_was_overtaken(object_store: ObjectStore, exported: str) -> None:
    with everlog.open(exported, storage=object_store.storage) as one:
        with everlog.open(exported, storage=object_store.storage) as two:
            two.insert("edge", [("x", "y")])
        with pytest.raises(CommitConflictError, match="another writer"):
            one.insert("edge", [("x", "z")])
    with everlog.open(exported, storage=object_store.storage) as kb:
        assert kb.facts("edge").sorted() == [("a", "b"), ("b", "c"), ("x", "y")]


# Appends to a table, and is dead before the commit is put.
KILLED = """
import json, os, sys
from everlog.tables import commits
from everlog.tables.table_store import TableStore
from tests.unit.tables.test_table_store import add

commits.write_commit = lambda *arguments, **options: os._exit(9)
add(TableStore(sys.argv[1], json.loads(os.environ["STORAGE"])), "facts_edge", [(9, 9, 1)])
"""


def test_killed_between_data_and_commit(store: TableStore, object_store: ObjectStore) -> None:
    add(store, "facts_edge", [(1, 2, 1)])
    environment = {**os.environ, "STORAGE": json.dumps(object_store.storage)}
    assert subprocess.run([sys.executable, "-c", KILLED, str(store.place)], env=environment).returncode == 9
    assert store.versions() == [1] and rows(TableStore(store.place), "facts_edge") == {(1, 2)}
    add(TableStore(store.place), "facts_edge", [(3, 4, 1)])
    assert rows(TableStore(store.place), "facts_edge") == {(1, 2), (3, 4)}


# --- what is not needed any more --------------------------------------------------------------------------------------


def test_vacuum_leaves_what_others_may_be_writing(store: TableStore, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        add(store, "facts_edge", [(number, number, 1)])
    with TableStore(store.place).begin() as overtaken:
        put(overtaken, "facts_edge", [(8, 8, 1)])
        compact(store)
        assert store.vacuum(1) == (2, 0)  # everything is younger than a day
        with pytest.raises(CommitConflictError):
            overtaken.commit()  # else it would go on from files that vacuum may have removed
    assert store.versions() == [3, 4] and rows(store, "facts_edge") == {(0, 0), (1, 1), (2, 2)}
    monkeypatch.setattr(leftovers, "_A_WHILE", -10.0)
    versions, files = store.vacuum(1)
    assert versions == 1 and files >= 2
    assert rows(TableStore(store.place), "facts_edge") == {(0, 0), (1, 1), (2, 2)}
    assert store.tidy() == 0


# --- what is refused --------------------------------------------------------------------------------------------------


@contextmanager
def nobody_is_known(store: ObjectStore) -> Iterator[None]:
    """While the block runs the store checks who asks."""

    def free_requests(count: bytes) -> None:
        address, headers = f"{store.endpoint}/moto-api/reset-auth", {"Content-Type": "text/plain"}
        urllib.request.urlopen(urllib.request.Request(address, count, headers)).close()

    free_requests(b"0")
    try:
        yield
    finally:
        free_requests(b"inf")


@pytest.mark.parametrize(
    ("place", "other", "says", "helps"),
    [
        (f"s3://{BUCKET}/none", {}, "there are no tables there", "pipeline"),
        ("s3://no-such-bucket/t", {}, "there is no such bucket", "make it"),
        (f"s3://{BUCKET}/t", {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "cannot be reached", "AWS_ENDPOINT_URL"),
        (f"s3://{BUCKET}/t", {"AWS_FOO": "1"}, "aws_foo", "[storage]"),
        (f"s3://{BUCKET}/t", {"max_retries": "many"}, "max_retries", "number"),
        ("hdfs://node/t", {}, "cannot be kept there", "s3://"),
        ("s3://", {}, "cannot be kept there", "bucket"),
        ("az://container/t", {}, "no credentials", "storage"),
    ],
)
def test_what_is_wrong_is_told_at_once(
    object_store: ObjectStore, place: str, other: dict[str, str], says: str, helps: str
) -> None:
    started = time.monotonic()
    with pytest.raises((StorageError, NotFoundError, UsageError)) as caught:
        everlog.open(place, storage=other if place.startswith("az") else {**object_store.storage, **other})
    assert place in caught.value.message and says in caught.value.message and helps in str(caught.value.hint)
    assert time.monotonic() - started < 20 and "\n" not in caught.value.message


def test_bad_credentials(object_store: ObjectStore, exported: str) -> None:
    with nobody_is_known(object_store), pytest.raises(StorageError, match="access was denied") as caught:
        everlog.open(exported, storage=object_store.storage)
    assert "AWS_ACCESS_KEY_ID" in str(caught.value.hint)


def test_a_store_that_is_gone_in_the_middle(object_store: ObjectStore, exported: str) -> None:
    with everlog.open(exported, storage=object_store.storage) as kb:
        with nobody_is_known(object_store), pytest.raises(EverlogError, match="access was denied"):
            kb.insert("edge", [("c", "d")])
        assert kb.version == 1 and kb.insert("edge", [("c", "e")]).gained("edge") == [("c", "e")]


def test_a_package_that_is_missing(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(UsageError, match="need the package obstore"):
        everlog.open(address)


def test_secrets_are_not_shown(object_store: ObjectStore, address: str) -> None:
    place = table_place(address, object_store.storage)
    assert "secret" not in f"{place} {place!r} {TableStore(place).place!r}"
