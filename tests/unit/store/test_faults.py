"""Is nothing lost and nothing made up when processes are killed, files are damaged, disks are full, folders move?"""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.unit.store import killed_writers
from tests.unit.store.killed_writers import check, step

import everlog
from everlog import DamagedLogError, KnowledgeBase, NotFoundError, OutputError, StoreInUseError, UsageError
from everlog.errors import DamagedSnapshotError, HistoryError
from everlog.store import log as log_module
from everlog.store import snapshot_files
from everlog.store.history import HistoryLimits
from everlog.store.log import HEADER_BYTES, RECORD_BYTES


def opened(folder: Path, **options: Any) -> KnowledgeBase:
    return everlog.open(folder, **{"engine": "reference", **options})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kb"


def make_steps(folder: Path, *, until: int, compact_at: tuple[int, ...] = (), **options: Any) -> None:
    """Updates up to a version, and snapshots at some."""
    with opened(folder, **options) as kb:
        while kb.version < until:
            step(kb)
            if kb.version in compact_at:
                kb.compact()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"}


# --- killed processes -------------------------------------------------------------------------------------------------


def kill_writers(folder: Path, kills: int, seed: int) -> None:
    script = [sys.executable, killed_writers.__file__, str(folder), str(kills), str(seed)]
    ended = subprocess.run(script, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
def test_writers_killed_at_any_moment_lose_nothing(folder: Path) -> None:
    kill_writers(folder, 25, seed=1)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(5))
def test_many_writers_killed_at_any_moment_lose_nothing(folder: Path, seed: int) -> None:
    kill_writers(folder, 100, seed=seed)


# --- damaged logs -----------------------------------------------------------------------------------------------------


def record_ends(log: bytes) -> list[int]:
    """Where the header and each record end."""
    ends = [HEADER_BYTES]
    while ends[-1] < len(log):
        (length,) = struct.unpack_from("<Q", log, ends[-1])
        ends.append(ends[-1] + RECORD_BYTES + length)
    return ends


@pytest.mark.slow
def test_a_log_cut_anywhere_in_its_last_records_opens_at_the_last_whole_one(folder: Path) -> None:
    with opened(folder) as kb:
        for number in range(6):
            kb.insert("p", [(number, "text")])
            if number == 2:
                kb.compact()
    log = folder / "updates-000000000003.log"
    whole = log.read_bytes()
    ends = record_ends(whole)
    for length in range(ends[-3], len(whole) + 1):
        log.write_bytes(whole[:length])
        with opened(folder) as kb:
            assert kb.version == 3 + sum(end <= length for end in ends[1:])
            assert kb.facts("p").sorted() == [(number, "text") for number in range(kb.version)]


def test_a_log_flipped_anywhere_opens_nowhere(folder: Path) -> None:
    make_steps(folder, until=9, compact_at=(4,))
    log = folder / "updates-000000000004.log"
    whole = log.read_bytes()
    ends = record_ends(whole)
    draw = random.Random(1)
    places = [draw.randrange(HEADER_BYTES) for _ in range(4)]
    for start, end in pairwise(ends):
        places += [start + draw.randrange(RECORD_BYTES) for _ in range(2)] + [
            draw.randrange(start, end) for _ in range(2)
        ]
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << draw.randrange(8)
        log.write_bytes(damaged)
        for options in ({}, {"read_only": True}):
            with pytest.raises(DamagedLogError) as caught:
                opened(folder, **options)
            assert caught.value.path == str(log) and caught.value.offset is not None
            assert caught.value.offset <= place and f"byte {caught.value.offset:,}: " in str(caught.value)
            assert log.read_bytes() == damaged


@pytest.fixture
def three_logs(folder: Path) -> Path:
    """Logs from the versions 0, 4, 8 on, snapshots of 4 and 8; version 12."""
    make_steps(folder, until=12, compact_at=(4, 8))
    assert sorted(contents(folder)) == [
        "snapshot-000000000004",
        "snapshot-000000000008",
        "updates-000000000000.log",
        "updates-000000000004.log",
        "updates-000000000008.log",
    ]
    return folder


def says_damage(folder: Path, *words: str, **options: Any) -> None:
    """Neither writers nor readers open it, and nothing is changed by the attempt."""
    before = contents(folder)
    for each in ({}, {"read_only": True}):
        with pytest.raises(DamagedLogError) as caught:
            opened(folder, **each, **options)
        assert all(word in str(caught.value) for word in words), str(caught.value)
        assert caught.value.path is not None and caught.value.offset is not None
    assert contents(folder) == before


def test_a_missing_log_is_noticed(three_logs: Path) -> None:
    (three_logs / "updates-000000000008.log").unlink()
    says_damage(three_logs, "updates-000000000008.log", "after version 8 is missing", "restore it")


def test_a_missing_log_before_the_last_is_noticed(three_logs: Path) -> None:
    for snapshot in three_logs.glob("snapshot-*"):
        snapshot.unlink()
    (three_logs / "updates-000000000004.log").unlink()
    says_damage(three_logs, "version 4")
    (three_logs / "updates-000000000000.log").unlink()
    says_damage(three_logs, "missing")


def test_an_older_log_that_is_not_needed_may_be_missing(three_logs: Path) -> None:
    (three_logs / "updates-000000000000.log").unlink()
    with opened(three_logs) as kb:
        check(kb)
        assert kb.version == 12
        with pytest.raises(HistoryError):
            kb.changes(1)


def test_logs_that_are_swapped_are_noticed(three_logs: Path) -> None:
    first, second = three_logs / "updates-000000000004.log", three_logs / "updates-000000000008.log"
    held = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(held)
    says_damage(three_logs, "updates-000000000008.log", "byte 12", "goes on from version 4, not from 8")


def test_an_older_log_that_was_cut_is_noticed(three_logs: Path) -> None:
    for snapshot in three_logs.glob("snapshot-*"):
        snapshot.unlink()
    log = three_logs / "updates-000000000004.log"
    whole = log.read_bytes()
    for length in (record_ends(whole)[-2], len(whole) - 1, HEADER_BYTES):
        log.write_bytes(whole[:length])
        says_damage(three_logs, "updates-000000000004.log", "cut")


def test_a_later_version_in_the_midst_of_a_log_is_noticed(folder: Path) -> None:
    """As if a log had been put together from two."""
    make_steps(folder, until=4)
    log = log_module.UpdateLog(folder / "updates-000000000000.log")
    list(log.read())
    text = json.dumps({"version": 9, "keys": [], "insert": [], "delete": []}).encode()
    log.append(struct.pack("<Q", len(text)) + text)
    log.close()
    says_damage(folder, "an update of version 8 comes after version 4")


def test_files_that_are_not_ours_are_left_alone(folder: Path) -> None:
    make_steps(folder, until=3)
    for name in ("updates-copy.log", "snapshot-old", "updates-000000000000.log.bak", "notes.txt"):
        (folder / name).write_text("mine")
    make_steps(folder, until=5, compact_at=(4,))
    with opened(folder) as kb:
        assert kb.version == 5
    assert (folder / "snapshot-old").read_text() == "mine"


# --- damaged snapshots ------------------------------------------------------------------------------------------------


def layout(snapshot: bytes) -> list[tuple[str, int, int]]:
    """Name, offset and bytes of each array."""
    (length,) = struct.unpack_from("<Q", snapshot, 12)
    listed = json.loads(snapshot[24 : 24 + length])["arrays"]
    sizes = {name: int(dtype[2:]) for name, dtype, *_ in listed}
    counts = {name: (shape[0] * shape[1] if len(shape) == 2 else shape[0]) for name, _, shape, *_ in listed}
    return [(name, offset, counts[name] * sizes[name]) for name, _, _, offset, _ in listed]


@pytest.mark.parametrize("kind", ["reference", pytest.param("columnar", marks=pytest.mark.slow)])
def test_a_snapshot_flipped_or_cut_is_reported_and_what_the_hint_says_helps(folder: Path, kind: str) -> None:
    make_steps(folder, until=9, compact_at=(4, 7), engine=kind)
    snapshot = folder / "snapshot-000000000007"
    whole = snapshot.read_bytes()
    arrays = [each for each in layout(whole) if each[2]]
    draw = random.Random(1)
    flips = [(draw.randrange(24), None) for _ in range(10)] + [(24 + draw.randrange(arrays[0][1] // 2), None)]
    flips += [(offset + draw.randrange(size), name) for name, offset, size in arrays]
    flips += [(arrays[-1][1] + arrays[-1][2] - 1, arrays[-1][0])]
    damages = [(_flipped(whole, place), name) for place, name in draw.sample(flips[:-1], 18) + flips[-1:]]
    damages += [(whole[: offset + size // 2], name) for name, offset, size in draw.sample(arrays, 5)]
    damages += [(whole[:length], None) for length in (0, 7, 8, 20, 23, 24, 100, arrays[0][1] - 4096 + 50)]
    for damaged, array in damages:
        snapshot.write_bytes(damaged)
        with pytest.raises(DamagedSnapshotError) as caught:
            opened(folder, engine=kind)
        said = str(caught.value)
        assert caught.value.path == str(snapshot) and f"byte {caught.value.offset:,}" in said
        assert array is None or f" {array} " in said + " " or "the file ends in the midst of" in said, said
        assert f"nothing is lost: remove {snapshot.name}" in said
        assert snapshot.read_bytes() == damaged
    snapshot.unlink()  # as the hint says
    with opened(folder, engine=kind) as kb:
        assert kb.version == 9
        check(kb)


def _flipped(whole: bytes, place: int) -> bytes:
    damaged = bytearray(whole)
    damaged[place] ^= 0x10
    return bytes(damaged)


def test_a_snapshot_without_the_logs_before_it_says_so(folder: Path) -> None:
    make_steps(folder, until=9, compact_at=(7,))
    (folder / "updates-000000000000.log").unlink()
    snapshot = folder / "snapshot-000000000007"
    snapshot.write_bytes(_flipped(snapshot.read_bytes(), 30))
    says_damage(folder, "restore it from a copy", "everlog backup")


def test_a_snapshot_of_another_version_is_noticed(folder: Path) -> None:
    make_steps(folder, until=9, compact_at=(4, 7))
    shutil.copy(folder / "snapshot-000000000004", folder / "snapshot-000000000007")
    says_damage(folder, "is of version 4, and its name says 7", "nothing is lost")


def test_newer_formats_ask_for_a_newer_everlog(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_steps(folder, until=3)
    with monkeypatch.context() as patch:
        patch.setattr(snapshot_files, "FORMAT", 2)
        with opened(folder) as kb:
            kb.compact()
    says_damage(folder, "snapshot has format 2", "use a newer Everlog")
    (folder / "snapshot-000000000003").unlink()
    log = folder / "updates-000000000003.log"
    header = struct.pack("<8sIQ", b"EVERLOG\n", 2, 3)
    log.write_bytes(header + struct.pack("<I", zlib.crc32(header)))
    says_damage(folder, "log has format 2", "use a newer Everlog")


def test_what_was_not_finished_is_removed(folder: Path) -> None:
    make_steps(folder, until=4)
    for name in ("snapshot-000000000004.new", "updates-000000000004.new"):
        (folder / name).write_bytes(b"half")
    with opened(folder, read_only=True) as kb:
        check(kb)
    assert (folder / "snapshot-000000000004.new").exists()  # a reader changes nothing
    make_steps(folder, until=5)
    assert not list(folder.glob("*.new"))


# --- disks ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "disk"
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(path)], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a small disk is not permitted here")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


def test_a_full_disk_stops_updates_and_snapshots_until_there_is_room(small_disk: Path, engine: str) -> None:
    folder, ballast = small_disk / "kb", small_disk / "ballast"
    with opened(folder, engine=engine) as kb:
        for _ in range(4):
            step(kb)
        with open(ballast, "wb") as file:
            file.write(bytes(900_000))
        kept = 0
        with pytest.raises(OutputError, match="No space left"):
            while kept < 20:
                kb.insert("large", [(f"{kept} {'x' * 100_000}",)])
                kept += 1
        version = kb.version
        with pytest.raises(OutputError, match="No space left"):
            kb.insert("large", [("x" * 500_000,)])
        with pytest.raises(OutputError, match="nothing is lost|cannot be opened"):
            kb.compact()
        assert kb.version == version and kb.verify()
        assert not list(folder.glob("*.new"))
    with opened(folder, engine=engine) as kb:  # also while the disk is full
        assert kb.version == version and kb.verify()
        assert len(kb.facts("large")) == kept
        ballast.unlink()
        kb.insert("more", [(1,)])
        if engine == "reference":
            kb.compact()
        kb.insert("more", [(2,)])
    with opened(folder, engine=engine) as kb:
        assert kb.version == version + 2 and kb.verify()


def test_no_room_for_the_next_log_leaves_the_old_one_in_use(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    with opened(folder) as kb:
        for _ in range(4):
            step(kb)
        for call in ("fsync", "replace", "pwrite"):
            with monkeypatch.context() as patch:
                patch.setattr(log_module.os, call, fails)
                with pytest.raises(OutputError, match="No space left"):
                    kb.compact()
            step(kb)
        with monkeypatch.context() as patch:  # the log is there, and yet it failed
            patch.setattr(log_module, "sync", fails)
            with pytest.raises(OutputError, match="No space left"):
                kb.compact()
        kb.compact()
        for _ in range(4):
            step(kb)
    with opened(folder) as kb:
        assert kb.version == 11
        check(kb)


def test_after_a_failed_sync_nothing_counts_until_it_is_opened_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    def fails(*_: Any) -> Any:
        raise OSError(errno.EIO, "Input/output error")

    told: list[int] = []
    kb = opened(folder, engine=engine)
    kb.subscribe(lambda change: told.append(change.version))
    for _ in range(4):
        step(kb)
    with monkeypatch.context() as patch:
        patch.setattr(log_module.os, "fdatasync", fails)
        with pytest.raises(OutputError, match="Input/output"):
            step(kb)
    for refused in (lambda: step(kb), kb.compact, lambda: kb.insert("edge", [(1, 1)])):
        with pytest.raises(OutputError, match="see to the disk"):
            refused()
    assert kb.version == 4 and told == [1, 2, 3, 4]
    check(kb)
    kb.close()
    assert kb.version == 4 and told == [1, 2, 3, 4]
    with opened(folder, engine=engine) as kb:
        assert kb.version in (4, 5)
        check(kb)


def test_an_update_is_not_acknowledged_unsynced_when_another_thread_closes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    syncing, go_on = threading.Event(), threading.Event()
    real = os.fdatasync
    synced: list[int] = []

    def slow(file: int) -> None:
        syncing.set()
        assert go_on.wait(10)
        real(file)
        synced.append(file)

    kb = opened(folder)
    step(kb)
    monkeypatch.setattr(log_module.os, "fdatasync", slow)
    updating = threading.Thread(target=step, args=(kb,))
    updating.start()
    assert syncing.wait(10)
    closing = threading.Thread(target=kb.close)
    closing.start()
    closing.join(0.1)
    assert closing.is_alive()  # the file is in use
    go_on.set()
    updating.join()
    closing.join()
    assert synced and kb.version == 2
    make_steps(folder, until=3)


def test_what_many_threads_were_told_is_safe_when_it_is_closed_in_their_midst(folder: Path, engine: str) -> None:
    with opened(folder, engine=engine) as kb:
        safe: list[tuple[int, int]] = []

        def insert(thread: int) -> None:
            for number in range(10_000):
                try:
                    kb.insert("p", [(thread, number)])
                except UsageError:
                    return  # it is closed
                safe.append((thread, number))

        threads = [threading.Thread(target=insert, args=(thread,)) for thread in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(5):
            kb.compact()
        kb.close()
        for thread in threads:
            thread.join()
    with opened(folder, engine=engine) as kb:
        found = kb.facts("p").sorted()
        assert found == sorted(safe) and kb.version == len(safe)


# --- folders that move ------------------------------------------------------------------------------------------------


def test_a_folder_moved_away_from_its_writer(folder: Path, engine: str) -> None:
    away = folder.with_name("away")
    kb = opened(folder, engine=engine)
    for _ in range(4):
        step(kb)
    folder.rename(away)
    for refused in (lambda: step(kb), kb.compact):
        with pytest.raises(OutputError, match="gone, or it is another one"):
            refused()
    assert kb.version == 4
    check(kb)
    with pytest.raises(StoreInUseError):
        opened(away)
    away.rename(folder)  # back again, it goes on
    step(kb)
    kb.compact()
    step(kb)
    folder.rename(away)
    kb.close()
    with opened(away, engine=engine) as kb:
        assert kb.version == 6
        check(kb)


def test_a_folder_removed_under_its_writer(folder: Path) -> None:
    kb = opened(folder)
    for _ in range(4):
        step(kb)
    shutil.rmtree(folder)
    with pytest.raises(OutputError, match="gone, or it is another one"):
        step(kb)
    with opened(folder) as other:  # another one in its place is not written to
        step(other)
        with pytest.raises(OutputError, match="gone, or it is another one"):
            step(kb)
        assert other.version == 1
    assert kb.version == 4
    check(kb)
    kb.close()


def test_a_folder_moved_away_from_its_follower(folder: Path) -> None:
    make_steps(folder, until=4)
    with opened(folder, read_only=True) as kb:
        folder.rename(folder.with_name("away"))
        with pytest.raises(NotFoundError, match="cannot be read"):
            kb.refresh()
        check(kb)
        folder.with_name("away").rename(folder)
        make_steps(folder, until=6)
        assert kb.refresh() == 6
        check(kb)
        shutil.rmtree(folder)
        make_steps(folder, until=2)
        with pytest.raises(DamagedLogError):
            kb.refresh()  # another knowledge base is there now
        assert kb.version == 6


# --- one writer -------------------------------------------------------------------------------------------------------


def test_a_removed_lock_lets_nobody_else_write(folder: Path) -> None:
    with opened(folder) as kb:
        step(kb)
        with pytest.raises(StoreInUseError):
            opened(folder)
        (folder / "lock").unlink()
        with pytest.raises(StoreInUseError):
            opened(folder)
        kb.compact()
        with pytest.raises(StoreInUseError):
            opened(folder)
        step(kb)
    make_steps(folder, until=3)


def test_a_failed_opening_lets_go_of_the_folder(folder: Path) -> None:
    make_steps(folder, until=4)
    log = folder / "updates-000000000000.log"
    whole = log.read_bytes()
    log.write_bytes(_flipped(whole, len(whole) - 1))
    with pytest.raises(DamagedLogError):
        opened(folder)
    log.write_bytes(whole)
    make_steps(folder, until=5)


def test_closing_in_a_transaction_is_refused(folder: Path) -> None:
    with opened(folder) as kb:
        with kb.transaction() as transaction, pytest.raises(UsageError, match="under way"):
            transaction.insert("p", [(1,)])
            kb.close()
        assert kb.version == 1


def test_closed_by_a_subscriber_while_a_snapshot_is_written(folder: Path) -> None:
    kb = opened(folder)
    kb.subscribe(lambda _: kb.close())
    step(kb)
    with pytest.raises(UsageError, match="closed"):
        kb.compact()
    with opened(folder, history=HistoryLimits(updates=1)) as kb:
        check(kb)
