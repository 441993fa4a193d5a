"""Does a durable knowledge base open as it was left, and is nothing lost, skipped or half done?"""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import everlog
from everlog import IRI, BlankNode, DamagedLogError, KnowledgeBase, Literal, OutputError, StoreInUseError, UsageError
from everlog.store import log as log_module
from everlog.store.log import HEADER_BYTES

PATHS = "path(?x, ?y) :- edge(?x, ?y).  path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)."


def opened(folder: Path, **options: Any) -> KnowledgeBase:
    return everlog.open(folder, engine="reference", **options)


def state(kb: KnowledgeBase) -> dict[str, Any]:
    """All that can be seen of a knowledge base."""
    return {
        "version": kb.version,
        "relations": sorted(kb.relations(), key=lambda relation: relation.name),
        "facts": {relation.name: kb.facts(relation.name).sorted() for relation in kb.relations()},
        "program": kb.program,
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kb"


def fill(kb: KnowledgeBase) -> None:
    kb.add_rules("PREFIX ex: <http://e/> " + PATHS + ' named: [?x, ex:to, "b"] :- path(?x, b), NOT gone(?x).')
    kb.insert("edge", [("a", "b"), ("b", "c")])
    kb.update(insert={"edge": [("c", 1)], "flag": [()]}, delete={"edge": [("b", "c"), ("not", "there")]})
    kb.insert("terms", [(IRI("http://e/a"), BlankNode("x"), Decimal("2.50"), 2.5, True, Literal("q", "http://e/t"))])
    kb.update(remove_rules=["r1"], add_rules="PREFIX f: <http://f/> path(?y, ?x) :- edge(?x, ?y).")
    kb.delete("flag", [()])


@pytest.mark.parametrize("times", [1, 2])
def test_it_opens_as_it_was_left(folder: Path, times: int) -> None:
    for _ in range(times):
        with opened(folder) as kb:
            fill(kb) if kb.version == 0 else kb.insert("edge", [("again", "again")])
            left = state(kb)
    with opened(folder) as kb:
        assert state(kb) == left
        assert kb.query("[?x, ex:to, ?y]") is not None  # prefixes are kept, too
        assert kb.verify()


def test_the_columnar_engine_reads_the_same_log(folder: Path) -> None:
    with opened(folder) as kb:
        fill(kb)
        left = state(kb)
    with everlog.open(folder) as kb:
        assert state(kb) == left


def test_a_relation_may_have_changed_its_arity(folder: Path) -> None:
    with opened(folder) as kb:
        kb.insert("p", [(1,)])
        kb.delete("p", [(1,)])
        kb.insert("p", [(1, 2)])
        left = state(kb)
    with opened(folder) as kb:
        assert state(kb) == left
        assert kb.facts("p").sorted() == [(1, 2)]


def test_a_rule_replaced_by_one_of_its_name(folder: Path) -> None:
    with opened(folder) as kb:
        kb.add_rules("r: p(?x) :- a(?x).  s: q(?x) :- a(?x).")
        kb.update(remove_rules=["r"], add_rules="r: p(?x) :- b(?x).")
        left = state(kb)
    with opened(folder) as kb:
        assert state(kb) == left and [rule.name for rule in kb.program.rules] == ["s", "r"]


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from(["p", "q"]), st.integers(0, 3), st.integers(0, 2)), max_size=30)
)
def test_replay_equals_the_updates_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[bool, str, int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("replay") / "kb"
    with opened(folder) as kb:
        for inserted, relation, x, y in steps:
            (kb.insert if inserted else kb.delete)(relation, [(x, y), (x, 9)])
        left = state(kb)
    with opened(folder) as kb:
        assert state(kb) == left


def test_coalesced_updates_keep_their_version(folder: Path) -> None:
    with opened(folder) as kb:
        list(kb.stream([{"insert": [["p", n]]} for n in range(7)], coalesce=True))
    with opened(folder) as kb:
        assert kb.version == 7 and len(kb.facts("p")) == 7


# --- crashes and damage -----------------------------------------------------------------------------------------------


def test_cut_anywhere_in_the_last_record_it_opens_at_the_update_before(folder: Path) -> None:
    with opened(folder) as kb:
        fill(kb)
        before, size = state(kb), (folder / "updates-000000000000.log").stat().st_size
        kb.insert("edge", [("last", "one")])
    whole = (folder / "updates-000000000000.log").read_bytes()
    for length in range(size, len(whole)):
        (folder / "updates-000000000000.log").write_bytes(whole[:length])
        with opened(folder) as kb:
            assert state(kb) == before
        assert (folder / "updates-000000000000.log").stat().st_size == size
    (folder / "updates-000000000000.log").write_bytes(whole[:-1])
    with opened(folder) as kb:
        kb.insert("edge", [("other", "one")])  # goes where the incomplete record was
        left = state(kb)
    with opened(folder) as kb:
        assert state(kb) == left


def test_any_flipped_bit_is_reported(folder: Path) -> None:
    with opened(folder) as kb:
        kb.insert("edge", [("a", "b")])
        first = (folder / "updates-000000000000.log").stat().st_size
        kb.insert("edge", [("b", "c")])
    whole = (folder / "updates-000000000000.log").read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << (place % 8)
        (folder / "updates-000000000000.log").write_bytes(damaged)
        with pytest.raises(DamagedLogError) as caught:
            opened(folder)
        record = 0 if place < HEADER_BYTES else HEADER_BYTES if place < first else first
        assert caught.value.offset in (record, 8), place  # 8: the place of the format
        assert "updates-000000000000.log" in str(caught.value)
        assert (folder / "updates-000000000000.log").read_bytes() == damaged  # looked at, not touched


def test_a_log_shorter_than_its_header_is_damaged(folder: Path) -> None:
    opened(folder).close()
    for length in range(HEADER_BYTES):
        (folder / "updates-000000000000.log").write_bytes((folder / "updates-000000000000.log").read_bytes()[:length])
        with pytest.raises(DamagedLogError):
            opened(folder)


def test_a_record_of_another_kind_is_reported(folder: Path) -> None:
    opened(folder).close()
    log = log_module.UpdateLog(folder / "updates-000000000000.log")
    assert list(log.read()) == []
    log.append(b"\x02\0\0\0\0\0\0\0{}")
    log.close()
    with pytest.raises(
        DamagedLogError, match=f"updates-000000000000.log: byte {HEADER_BYTES}: a record that says no update"
    ):
        opened(folder)


def test_a_record_that_was_taken_out_or_moved_is_noticed(folder: Path) -> None:
    ends = [HEADER_BYTES]
    with opened(folder) as kb:
        for number in range(3):
            kb.insert("p", [(number,)])
            ends.append((folder / "updates-000000000000.log").stat().st_size)
    whole = (folder / "updates-000000000000.log").read_bytes()
    header, first, second, third = whole[:HEADER_BYTES], *(whole[a:b] for a, b in pairwise(ends))
    for records in ([second, third], [first, third], [first, third, second], [first, first, second, third]):
        (folder / "updates-000000000000.log").write_bytes(header + b"".join(records))
        with pytest.raises(DamagedLogError):
            opened(folder)


def test_a_later_format_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "FORMAT", 2)
    opened(folder).close()
    monkeypatch.undo()
    with pytest.raises(DamagedLogError, match="format 2"):
        opened(folder)


# --- updates that fail ------------------------------------------------------------------------------------------------


def test_a_failed_update_is_not_logged(folder: Path) -> None:
    with opened(folder) as kb:
        fill(kb)
        before, size = state(kb), (folder / "updates-000000000000.log").stat().st_size
        with pytest.raises(everlog.DataError):
            kb.insert("edge", [("a",)])
        with pytest.raises(everlog.RoundLimitError):
            kb.limits = everlog.Limits(rounds=5)
            kb.add_rules("n(0).  n(?y) :- n(?x), BIND(?x + 1 AS ?y).")
        assert state(kb) == before
        assert (folder / "updates-000000000000.log").stat().st_size == size
    with opened(folder) as kb:
        assert state(kb) == before


class FailsOnce:
    """A call of the system that finds no room the first time."""

    def __init__(self, call: str) -> None:
        self.call, self.real, self.called = call, getattr(os, call), False

    def __call__(self, *arguments: Any) -> Any:
        if self.called:
            return self.real(*arguments)
        self.called = True
        if self.call == "pwrite":  # the beginning is written
            self.real(arguments[0], bytes(arguments[1])[:20], arguments[2])
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_rolls_the_update_back(folder: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    with everlog.open(folder, engine=engine) as kb:
        kb.insert(
            "edge", [("a", "b")]
        )  # without rules facts are added in place; with them, everything is derived again
        for _ in range(2):
            before = state(kb)
            with monkeypatch.context() as patch:
                patch.setattr(log_module.os, "pwrite", FailsOnce("pwrite"))
                with pytest.raises(OutputError, match="No space left"):
                    kb.insert("edge", [("b", "c"), ("d", "e")])
            assert state(kb) == before
            kb.add_rules(PATHS)
            assert kb.verify()
        left = state(kb)
    with opened(folder) as kb:
        assert state(kb) == left


def test_a_disk_that_stays_bad_takes_no_more_updates(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Any:
        raise OSError(errno.EIO, "Input/output error")

    kb = opened(folder)
    kb.insert("p", [(1,)])
    with monkeypatch.context() as patch:
        patch.setattr(log_module.os, "fdatasync", fails)
        with pytest.raises(OutputError, match="Input/output"):
            kb.insert("p", [(2,)])
    assert kb.version == 1 and kb.facts("p").sorted() == [(1,)]  # nobody sees what may not last
    with pytest.raises(OutputError, match="see to the disk"):
        kb.insert("p", [(3,)])
    kb.close()
    with opened(folder) as kb:
        assert kb.facts("p").sorted() in ([(1,)], [(1,), (2,)])


def test_an_interrupt_while_an_update_is_logged_waits_for_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fdatasync

    def interrupted(file: int) -> None:
        real(file)
        signal.raise_signal(signal.SIGINT)

    with opened(folder) as kb:
        kb.add_rules(PATHS)
        with monkeypatch.context() as patch:
            patch.setattr(log_module.os, "fdatasync", interrupted)
            with pytest.raises(KeyboardInterrupt):
                kb.insert("edge", [("a", "b")])
        assert kb.version == 2 and len(kb.facts("path")) == 1  # complete, in memory and on disk
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        left = state(kb)
    with opened(folder) as kb:
        assert state(kb) == left


def test_killed_while_it_writes_it_opens_at_an_acknowledged_update(folder: Path) -> None:
    program = (
        "import sys, everlog\n"
        f"kb = everlog.open({str(folder)!r}, engine='reference')\n"
        "while True:\n"
        "    print(kb.insert('p', [(kb.version,)]).version, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(20)]
        process.kill()
        said += process.stdout.readlines()
    acknowledged = max(int(line) for line in said if line.endswith("\n"))
    with opened(folder) as kb:  # the lock went with the process
        assert kb.version in (acknowledged, acknowledged + 1)
        assert kb.facts("p").sorted() == [(number,) for number in range(kb.version)]


# --- one writer -------------------------------------------------------------------------------------------------------


def test_one_writer_at_a_time(folder: Path) -> None:
    with opened(folder):
        with pytest.raises(StoreInUseError, match="is open in this process"):
            opened(folder)
        program = f"import everlog; everlog.open({str(folder)!r}, engine='reference')"
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert f"is open in process {os.getpid()}" in ended.stderr
    opened(folder).close()


def test_a_closed_one_takes_no_updates(folder: Path) -> None:
    kb = opened(folder)
    kb.insert("p", [(1,)])
    kb.close()
    kb.close()
    with pytest.raises(UsageError, match="closed"):
        kb.insert("p", [(2,)])
    assert kb.facts("p").sorted() == [(1,)]


def test_folders_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError):
        opened(tmp_path / "file")
    with pytest.raises(UsageError, match="other files"):
        opened(tmp_path)


@pytest.mark.parametrize("strategy", ["choose", "counting", "bf", "bf-counting", "ranked", "dred", "rematerialise"])
def test_every_strategy_leaves_what_opening_derives(folder: Path, engine: str, strategy: str) -> None:
    steps = random.Random(strategy)

    def edges(number: int) -> list[tuple[int, int]]:
        return [(steps.randrange(8), steps.randrange(8)) for _ in range(number)]

    with everlog.open(folder, engine=engine, strategy=strategy) as kb:
        kb.add_rules(PATHS + " fan(?x, ?n) :- AGGREGATE(path(?x, ?y) ON ?x BIND COUNT(?y) AS ?n).")
        for _ in kb.stream([{"insert": {"edge": edges(3)}, "delete": {"edge": edges(9)}} for _ in range(12)]):
            found = kb.verify()
            assert found, str(found)
        left = state(kb)
    with everlog.open(folder, engine=engine) as kb:
        assert state(kb) == left
