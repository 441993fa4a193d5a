"""Are those who subscribe told of every change: in order, after it, and without harm to anybody?"""

from __future__ import annotations

import logging
import threading
from typing import Any

import pytest

import everlog
from everlog.errors import NotFoundError, UsageError
from everlog.store.views import ViewChange

INSERT = "INSERT DATA {{ <a:{0}> <a:p> {1} }}"


@pytest.fixture
def kb(engine: str) -> everlog.KnowledgeBase:
    return everlog.open(engine=engine)


def test_every_change_is_told_until_nobody_wants_to_hear(kb: everlog.KnowledgeBase) -> None:
    heard: list[everlog.Change] = []
    unsubscribe = kb.subscribe(heard.append)
    changes = [kb.insert("r", [(1,)]), kb.add_rules("s(?x) :- r(?x)."), kb.delete("r", [(1,)])]
    assert heard == changes
    unsubscribe()
    unsubscribe()
    kb.insert("r", [(2,)])
    assert heard == changes


def test_what_is_no_version_is_not_told(kb: everlog.KnowledgeBase) -> None:
    heard: list[everlog.Change] = []
    kb.subscribe(heard.append)
    kb.what_if(insert={"r": [(1,)]})
    with pytest.raises(ZeroDivisionError), kb.transaction() as transaction:
        transaction.insert("r", [(1,)])
        raise ZeroDivisionError
    with kb.transaction():
        pass
    assert heard == []


def test_a_view_tells_what_came_and_went_of_it(kb: everlog.KnowledgeBase) -> None:
    kb.sparql_update(INSERT.format(1, 1))
    view = kb.view("most", "SELECT ?y { ?x <a:p> ?y } ORDER BY DESC(?y) LIMIT 1")
    heard: list[ViewChange] = []
    unsubscribe = view.on_change(heard.append)
    for number in (2, 0, 3):
        kb.sparql_update(INSERT.format(number, number))
    kb.insert("r", [(1,)])
    assert [(change.version, list(change.gained), list(change.lost)) for change in heard] == [
        (3, [(2,)], [(1,)]),
        (5, [(3,)], [(2,)]),
    ]
    unsubscribe()
    kb.sparql_update(INSERT.format(4, 4))
    assert len(heard) == 2
    with pytest.raises(NotFoundError):
        kb.subscribe(heard.append, view="least")
    with pytest.raises(UsageError):
        kb.snapshot().subscribe(heard.append)


def test_a_callback_may_ask_and_update(kb: everlog.KnowledgeBase) -> None:
    """It runs when the update is complete and nobody is writing."""
    told: list[tuple[int, int, int]] = []

    def follow(change: everlog.Change) -> None:
        told.append((change.version, kb.version, len(kb.facts("r"))))
        if change.version < 3:
            kb.insert("r", [(change.version,)])
        kb.what_if(insert={"r": [(99,)]})

    kb.subscribe(follow)
    kb.insert("r", [(0,)])
    assert told == [(1, 1, 1), (2, 2, 2), (3, 3, 3)]


def test_versions_are_told_in_order_to_all_where_a_callback_updates(kb: everlog.KnowledgeBase) -> None:
    first: list[int] = []
    second: list[int] = []

    def updating(change: everlog.Change) -> None:
        first.append(change.version)
        if change.version < 4:
            kb.insert("r", [(change.version,)])

    kb.subscribe(updating)
    kb.subscribe(lambda change: second.append(change.version))
    kb.insert("r", [(0,)])
    assert first == second == [1, 2, 3, 4]


def test_a_callback_that_fails_disturbs_nobody(kb: everlog.KnowledgeBase, caplog: pytest.LogCaptureFixture) -> None:
    heard: list[int] = []

    def fails(change: everlog.Change) -> None:
        raise ValueError("not today")

    kb.subscribe(fails)
    kb.subscribe(lambda change: heard.append(change.version))
    with caplog.at_level(logging.ERROR, logger="everlog"):
        assert kb.insert("r", [(1,)]).version == 1
        kb.insert("r", [(2,)])
    assert heard == [1, 2]
    assert [record.name for record in caplog.records] == ["everlog", "everlog"]
    assert "version 1" in caplog.records[0].getMessage()
    assert "not today" in str(caplog.records[0].exc_info)


def test_who_unsubscribes_meanwhile_is_not_called_any_more(kb: everlog.KnowledgeBase) -> None:
    heard: list[int] = []
    later: list[Any] = []
    kb.subscribe(lambda change: later[0]())
    later.append(kb.subscribe(lambda change: heard.append(change.version)))
    kb.insert("r", [(1,)])
    assert heard == []


def test_who_subscribes_late_is_not_told_of_what_was_before(kb: everlog.KnowledgeBase) -> None:
    heard: list[int] = []

    def subscribing(change: everlog.Change) -> None:
        if change.version == 1:
            kb.insert("r", [(2,)])
            kb.subscribe(lambda change: heard.append(change.version))
            kb.insert("r", [(3,)])

    kb.subscribe(subscribing)
    kb.insert("r", [(1,)])
    assert heard == [3]


@pytest.mark.parametrize("threads", [2, 8])
def test_versions_are_told_in_order_whoever_makes_them(kb: everlog.KnowledgeBase, threads: int) -> None:
    heard: list[int] = []
    at_once = threading.Lock()

    def hear(change: everlog.Change) -> None:
        assert at_once.acquire(blocking=False)  # one at a time
        heard.append(change.version)
        at_once.release()

    def write(number: int) -> None:
        for row in range(20):
            kb.insert("r", [(number, row)])

    kb.subscribe(hear)
    writers = [threading.Thread(target=write, args=(number,)) for number in range(threads)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert heard == list(range(1, 20 * threads + 1))
    assert len(kb.facts("r")) == 20 * threads
