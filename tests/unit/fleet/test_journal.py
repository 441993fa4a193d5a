"""Does a fleet go on from what is kept of it, whatever a process has in memory?"""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest

from everlog.errors import UsageError
from everlog.fleet import journal
from everlog.fleet.changes import FleetChange
from everlog.fleet.fleet import Fleet
from everlog.fleet.journal import Head, Journal
from everlog.store.updates import Update, update_of

RULES = "path(?x, ?y) :- edge(?x, ?y).   path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)."
VIEWS = {"all": "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"}


class Texts:
    """A shelf in memory; a copy of it is what a checkpoint has."""

    def __init__(self) -> None:
        self.kept: dict[object, object] = {}
        self.read: list[object] = []

    def head(self) -> Head | None:
        return self.kept.get("head")  # type: ignore[return-value]

    def put_head(self, head: Head) -> None:
        self.kept["head"] = head

    def entry(self, number: int) -> str:
        self.read.append(number)
        return str(self.kept["entry", number])

    def put_entry(self, number: int, text: str) -> None:
        self.kept["entry", number] = text

    def drop_entry(self, number: int) -> None:
        del self.kept["entry", number]

    def chunk(self, number: int) -> str:
        self.read.append(("chunk", number))
        return str(self.kept["chunk", number])

    def put_chunk(self, number: int, text: str) -> None:
        self.kept["chunk", number] = text

    def drop_chunk(self, number: int) -> None:
        del self.kept["chunk", number]


@pytest.fixture(autouse=True)
def forgetting() -> Iterator[None]:
    journal._held.clear()
    yield
    journal._held.clear()


def begin() -> Fleet:
    return Fleet(RULES, VIEWS, engine="reference")


def edge(key: str | None, x: int, y: int) -> tuple[str | None, Update]:
    return key, update_of({"insert": [["edge", x, y]]})


def make(texts: Texts, *updates: tuple[str | None, Update | None]) -> list[FleetChange]:
    return list(Journal(texts, begin, "program").apply(updates))


def test_what_is_in_memory_is_used() -> None:
    texts = Texts()
    make(texts, edge("a", 1, 2))
    [change] = make(texts, edge("a", 2, 3), edge("b", 2, 3))
    assert change["a"].gained("path") == [(1, 3), (2, 3)]
    assert change.versions == {"a": 2, "b": 1}
    assert texts.read == []


def test_another_process_reads_what_is_kept() -> None:
    texts = Texts()
    make(texts, edge("a", 1, 2))
    make(texts, (None, Update(add_rules="own: back(?y, ?x) :- path(?x, ?y).")), ("b", Update()))
    journal._held.clear()
    [change] = make(texts, edge("a", 2, 3), edge("b", 5, 6))
    assert change["a"].gained("back") == [(3, 1), (3, 2)]
    assert change["b"].gained("back") == [(6, 5)]
    assert texts.read == [1, 2]


def test_a_process_that_was_away_makes_what_it_missed() -> None:
    texts = Texts()
    make(texts, edge("a", 1, 2))
    away = dict(journal._held)
    make(texts, edge("a", 2, 3))
    journal._held.clear()
    fresh = begin()
    list(fresh.stream([edge("a", 1, 2)]))
    journal._held.update({name: held._replace(fleet=fresh) for name, held in away.items()})
    [change] = make(texts, edge("a", 3, 4))
    assert change["a"].gained("path") == [(1, 4), (2, 4), (3, 4)]
    assert set(texts.read) == {1, 2}


def test_what_was_refused_is_kept_and_refused_again() -> None:
    texts = Texts()
    bad = "pod", update_of({"insert": [["triple", "no subject", "p", "o"]]})
    [change] = make(texts, bad)
    assert set(change.refused) == {"pod"}
    journal._held.clear()  # another process
    [change] = make(texts, edge("pod", 1, 2))
    assert change.versions == {"pod": 1}


def test_a_run_that_never_counted_is_forgotten() -> None:
    texts = Texts()
    make(texts, edge("a", 1, 2))
    checkpoint = copy.deepcopy(texts.kept)
    make(texts, edge("a", 7, 8))  # its task failed afterwards
    texts.kept = checkpoint
    [change] = make(texts, edge("a", 2, 3))
    assert change["a"].gained("path") == [(1, 3), (2, 3)]
    assert change["a"].version == 2


def test_an_update_that_fails_half_way_leaves_nothing_in_memory() -> None:
    texts = Texts()
    make(texts, edge("a", 1, 2))
    changes = Journal(texts, begin, "program").apply([edge("a", 2, 3), edge("a", 3, 4)])
    next(changes)
    changes.close()
    [change] = make(texts, edge("a", 3, 4))
    assert change["a"].gained("path") == [(3, 4)]


def test_a_long_log_becomes_a_base(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "_LEAST_BEFORE_A_BASE", 600)
    monkeypatch.setattr(journal, "_CHUNK", 100)
    texts = Texts()
    make(texts, ("own", Update(add_rules="own: back(?y, ?x) :- path(?x, ?y). edge(7, 8).")))
    for number in range(20):
        make(texts, edge("a", number, number + 1), edge("b", -number, number))
    head = texts.head()
    assert head is not None and head.base > 0 and head.chunks > 1
    assert all(("entry", number) not in texts.kept for number in range(head.base + 1))
    journal._held.clear()
    [change] = make(texts, edge("a", 20, 21), edge("own", 8, 9), ("b", None))
    assert len(change["a"].gained("path")) == 21
    assert change["a"].version == 21
    assert change["own"].gained("back") == [(9, 7), (9, 8)]
    assert len(change["b"].lost("edge")) == 20


def test_another_program_is_refused() -> None:
    texts = Texts()
    make(texts, edge("a", 1, 2))
    with pytest.raises(UsageError, match="other rules or views"):
        Journal(texts, begin, "another")
