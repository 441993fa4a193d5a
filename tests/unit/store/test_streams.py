"""Are updates applied as they arrive, one change each, whatever the source does?"""

from __future__ import annotations

import queue
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import everlog
from everlog import DataError, KnowledgeBase, NotFoundError, ProgramError, UsageError
from everlog.store.sources import open_source
from everlog.store.updates import Update, net_effect, update_of

PATHS = "path(?x, ?y) :- edge(?x, ?y).  path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)."

UPDATES: list[dict[str, Any]] = [
    {"insert": {"edge": [("a", "b"), ("b", "c")]}},
    {"insert": [["edge", "c", "d"]], "delete": [["edge", "a", "b"]]},
    {},
    {"delete": [["edge", "b", "c"], ["edge", "no", "such"]]},
]


@pytest.fixture
def kb() -> KnowledgeBase:
    kb = everlog.open(engine="reference")
    kb.add_rules(PATHS)
    return kb


def a_queue(updates: list[Any]) -> queue.Queue[Any]:
    filled: queue.Queue[Any] = queue.Queue()
    for update in [*updates, None]:
        filled.put(update)
    return filled


def a_file(updates: list[Any], folder: Path) -> Path:
    path = folder / "updates.jsonl"
    path.write_text(
        '{"insert": [["edge", "a", "b"], ["edge", "b", "c"]]}\n'
        '{"insert": [["edge", "c", "d"]], "delete": [["edge", "a", "b"]]}\n{}\n'
        '{"delete": [["edge", "b", "c"], ["edge", "no", "such"]]}\n'
    )
    return path


def reading_threads() -> int:
    return sum(thread.name == "everlog updates" for thread in threading.enumerate())


def wait_until(condition: Any) -> None:
    for _ in range(500):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it never came to that")


@pytest.mark.parametrize("source", ["list", "iterator", "queue", "file"])
@pytest.mark.parametrize("marking", [False, True])
def test_one_change_per_update(kb: KnowledgeBase, tmp_path: Path, source: str, marking: bool) -> None:
    sources: dict[str, Any] = {
        "list": UPDATES,
        "iterator": iter(UPDATES),
        "queue": a_queue(UPDATES),
        "file": a_file(UPDATES, tmp_path),
    }
    changes = list(kb.stream(sources[source], strategy="bf" if marking else None, marking=marking))
    assert [change.version for change in changes] == [2, 3, 4, 5]
    assert changes[0].gained("path") == [("a", "b"), ("a", "c"), ("b", "c")]
    assert changes[1].lost("path") == [("a", "b"), ("a", "c")]
    assert changes[1].gained("path") == [("b", "d"), ("c", "d")]
    assert not changes[2]
    assert changes[3].lost("path") == [("b", "c"), ("b", "d")] and changes[3].report.not_there == 1
    wait_until(lambda: not reading_threads())


def test_the_next_update_is_never_waited_for(kb: KnowledgeBase) -> None:
    reached: list[int] = []
    go_on = threading.Event()

    def updates() -> Iterator[dict[str, Any]]:
        reached.append(1)
        yield UPDATES[0]
        reached.append(2)
        assert go_on.wait(10)
        yield UPDATES[1]

    stream = kb.stream(updates())
    assert next(stream).version == 2  # though the source does not give the second one yet
    wait_until(lambda: reached == [1, 2])  # it was asked for it, ahead
    go_on.set()
    assert next(stream).version == 3
    assert list(stream) == []


def test_at_most_one_update_is_read_ahead(kb: KnowledgeBase) -> None:
    read: list[int] = []

    def updates() -> Iterator[dict[str, Any]]:
        for number in range(100):
            read.append(number)
            yield {"insert": [["p", number]]}

    stream = kb.stream(updates())
    next(stream)
    wait_until(lambda: len(read) == 2)
    time.sleep(0.05)
    assert len(read) == 2
    next(stream)
    wait_until(lambda: len(read) == 3)
    stream.close()  # type: ignore[attr-defined]
    wait_until(lambda: not reading_threads())
    assert len(read) <= 3


def test_a_source_that_raises(kb: KnowledgeBase) -> None:
    def updates() -> Iterator[dict[str, Any]]:
        yield from UPDATES[:2]
        raise OSError("the line went dead")

    changes = []
    with pytest.raises(OSError, match="the line went dead"):
        for change in kb.stream(updates()):
            changes.append(change.version)
    assert changes == [2, 3] and kb.version == 3
    wait_until(lambda: not reading_threads())


@pytest.mark.parametrize("coalesce", [False, True])
@pytest.mark.parametrize(
    ("bad", "error", "says"),
    [
        ('{"insert": [["edge", "x"]]}', DataError, "u.jsonl:2: row 1: ('x',): edge has 2 arguments"),
        ('{"delete": [["edge", "x"]]}', DataError, "u.jsonl:2: row 1: ('x',): edge has 2 arguments"),
        ('{"remove_rules": ["r9"]}', NotFoundError, "u.jsonl:2: there is no rule 'r9'"),
        ('{"add_rules": "q(?x) :- NOT q(?x)."}', ProgramError, "--> u.jsonl:2:"),
        ("not JSON", DataError, "u.jsonl:2: this is not JSON"),
    ],
)
def test_a_bad_update_names_its_line(
    kb: KnowledgeBase,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    bad: str,
    error: type[Exception],
    says: str,
    coalesce: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("u.jsonl").write_text('{"insert": [["edge", "a", "b"]]}\n' + bad + '\n{"insert": [["edge", "b", "c"]]}\n')
    stream = kb.stream("u.jsonl", coalesce=coalesce)
    assert next(stream).gained("path") == [("a", "b")]
    with pytest.raises(error) as caught:
        next(stream)
    assert says in str(caught.value)
    assert kb.version == 2 and list(kb.facts("edge")) == [("a", "b")]


def test_a_bad_dictionary_says_which(kb: KnowledgeBase) -> None:
    with pytest.raises(DataError, match="<stream>:2: 'inserted' is no part of an update"):
        list(kb.stream([UPDATES[0], {"inserted": []}], strategy="bf", marking=True))
    assert kb.version == 2
    with pytest.raises(UsageError, match="a stream takes many updates"):
        kb.stream(UPDATES[0])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no source of updates"):
        kb.stream(3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="there is no strategy 'best'"):
        kb.stream(UPDATES, strategy="best")


def test_interruption_keeps_the_last_complete_version(kb: KnowledgeBase) -> None:
    stream = kb.stream(iter(UPDATES))
    next(stream)
    before = kb.facts("path").sorted()

    def interrupted(*_: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    kb.on_progress = interrupted  # within the second update, while it derives
    with pytest.raises(KeyboardInterrupt):
        next(stream)
    assert kb.version == 2 and kb.facts("path").sorted() == before
    wait_until(lambda: not reading_threads())
    kb.on_progress = None
    assert kb.delete("edge", [("a", "b")]).version == 3


def test_an_interrupt_while_waiting_for_the_source(kb: KnowledgeBase) -> None:
    empty: queue.Queue[Any] = queue.Queue()
    timer = threading.Timer(0.1, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        next(kb.stream(empty))
    timer.join()


# --- coalescing -----------------------------------------------------------------------------------------------------


def test_waiting_updates_are_applied_at_once(kb: KnowledgeBase) -> None:
    one_by_one = everlog.open(engine="reference")
    one_by_one.add_rules(PATHS)
    list(one_by_one.stream(UPDATES))
    [change] = kb.stream(UPDATES, coalesce=True)
    assert (change.updates, change.version) == (4, 5)
    assert change.gained("path") == [("c", "d")] and change.lost("path") == []
    assert kb.version == one_by_one.version
    assert kb.facts("path").sorted() == one_by_one.facts("path").sorted()


def test_rules_change_one_update_at_a_time(kb: KnowledgeBase) -> None:
    updates = [UPDATES[0], {}, {"add_rules": "back(?y, ?x) :- path(?x, ?y)."}, UPDATES[1], UPDATES[3]]
    assert [change.updates for change in kb.stream(updates, coalesce=True)] == [2, 1, 2]
    assert kb.facts("back").sorted() == [("d", "c")]


def test_the_good_updates_of_a_bad_batch_are_kept(kb: KnowledgeBase) -> None:
    changes = []
    with pytest.raises(DataError, match="<stream>:3: "):
        for change in kb.stream([UPDATES[0], {}, {"insert": [["edge", "x"]]}, {}], coalesce=True):
            changes.append(change.updates)
    assert changes == [1, 1] and kb.version == 3


def test_net_effect_of_every_way_to_give_facts() -> None:
    import pyarrow as pa

    from everlog.facts.blocks import FactBlock

    net = net_effect(
        [
            update_of(Update(insert={"p": iter([(1,), (2,)]), "q": pa.table({"c": ["x", "y"]})})),
            update_of(Update(delete=[FactBlock("q", (pa.array(['"x']),), "keys")], insert={"p": [3]})),
            update_of({"delete": {"p": [(2,)]}, "insert": {"p": [(2,), (1.0,)]}}),
        ]
    )
    assert net.insert == {"p": [(1,), (2,), (3,), (1.0,)], "q": [("y",)]}
    assert net.delete == {"q": [("x",)]}


def test_how_many_wait() -> None:
    source = open_source(UPDATES, ahead=1)
    assert source.waiting() == 4
    source.peek()
    assert source.waiting() == 4
    source.take()
    assert source.waiting() == 3
    waiting = open_source(a_queue(UPDATES), ahead=1)
    waiting.peek()
    assert waiting.waiting() == 5  # the end is an item of the queue, too
