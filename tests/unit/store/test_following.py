"""Do other processes see what one writes: at once, whole, and whatever happens to files, to them and to the writer?"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.unit.store.killed_writers import check, explicit, step

import everlog
from everlog import KnowledgeBase, NotFoundError, OutputError, UsageError
from everlog.store import following
from everlog.store.history import HistoryLimits

SOON = 20.0  # seconds that anything may take here on a busy machine
TESTS = Path(__file__).parents[3]


def opened(folder: Path, **options: Any) -> KnowledgeBase:
    return everlog.open(folder, **{"engine": "reference", **options})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kb"


def write_steps(folder: Path, until: int, **options: Any) -> None:
    with opened(folder, **options) as kb:
        while kb.version < until:
            step(kb)


def run_python(text: str, *arguments: object) -> subprocess.Popen[str]:
    """A process that runs a text; it finds the tests beside the package."""
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


@contextmanager
def ended_at_last(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    with process:
        try:
            yield process
        finally:
            process.kill()


def told(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def ask(process: subprocess.Popen[str], line: object) -> str:
    assert process.stdin is not None
    print(line, file=process.stdin, flush=True)
    return told(process)


# --- in this process --------------------------------------------------------------------------------------------------


def test_a_follower_is_where_its_writer_is_after_every_update(folder: Path, engine: str) -> None:
    with opened(folder, engine=engine, history=HistoryLimits(updates=3)) as writer:
        step(writer)
        with opened(folder, engine=engine, read_only=True) as reader:
            for number in range(30):
                step(writer)
                if number % 9 == 5:
                    writer.compact()
                if number % 3 == 0:
                    assert reader.refresh() == reader.version == writer.version
                    check(reader)
                    assert reader.facts("path").sorted() == writer.facts("path").sorted()


def test_it_begins_again_with_a_newer_snapshot_when_its_log_is_gone(folder: Path, engine: str) -> None:
    with opened(folder, engine=engine, history=HistoryLimits(updates=1)) as writer:
        step(writer)
        with opened(folder, engine=engine, read_only=True) as reader:
            before = reader.snapshot()
            while (folder / "updates-000000000000.log").exists():
                step(writer)
                step(writer)
                writer.compact()
            step(writer)
            assert reader.refresh() == writer.version
            check(reader)
            assert before.version == 1 and not before.facts("edge").sorted()
            step(writer)
            assert reader.refresh() == writer.version
            check(reader)


def test_who_is_told_of_changes_is_told_of_a_leap_too(folder: Path, engine: str) -> None:
    """Of many updates at once, where their log is gone."""
    with opened(folder, engine=engine, history=HistoryLimits(updates=1)) as writer:
        writer.add_rules("[?x, <http://e/to>, ?y] :- edge(?x, ?y).")
        writer.view("to", "SELECT ?y { ?x <http://e/to> ?y }")
        writer.view("top", "SELECT ?y { ?x <http://e/to> ?y } ORDER BY DESC(?y) LIMIT 2")
        writer.insert("edge", [("a", 1), ("b", 1), ("a", 2)])
        with opened(folder, engine=engine, read_only=True) as reader:
            changes: list[Any] = []
            views: dict[str, list[Any]] = {"to": [], "top": []}
            reader.subscribe(changes.append)
            for name, seen in views.items():
                reader.subscribe(seen.append, view=name)
            for number in range(6):
                writer.insert("new", [(f"term {number}",)])
                writer.compact()
            writer.update(insert={"edge": [("c", 3), ("c", 1)]}, delete={"edge": [("b", 1), ("a", 2)]})
            writer.compact()
            writer.insert("new", [("last",)])
            assert reader.refresh() == 12
            assert [(change.version, change.updates) for change in changes] == [(11, 7), (12, 1)]
            assert sorted(changes[0].gained("edge")) == [("c", 1), ("c", 3)]
            assert sorted(changes[0].lost("edge")) == [("a", 2), ("b", 1)]
            assert len(changes[0].gained("new")) == 6
            ((to,), (top,)) = views["to"], views["top"]
            assert list(to.gained) == [(3,)] and list(to.lost) == [(2,)]
            assert list(top.gained) == [(3,)] and list(top.lost) == [(2,)]


def test_files_that_vanish_while_they_are_opened_are_looked_for_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_steps(folder, 3)
    real, failures = following.read_newest, [FileNotFoundError(2, "gone")] * 3

    def vanishing(*arguments: Any) -> int:
        if failures:
            raise failures.pop()
        return real(*arguments)

    monkeypatch.setattr(following, "read_newest", vanishing)
    with opened(folder, read_only=True) as reader:
        assert reader.version == 3
    failures += [FileNotFoundError(2, "gone")] * 1000
    with pytest.raises(NotFoundError, match="vanish"):
        opened(folder, read_only=True)


def test_a_follower_writes_nothing(folder: Path) -> None:
    write_steps(folder, 3)
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    with opened(folder, read_only=True) as reader:
        for refused in (
            lambda: reader.update(insert={"edge": [(1, 2)]}),
            lambda: reader.add_rules("p(?x) :- edge(?x, ?x)."),
            lambda: reader.view("v", "SELECT * { ?s ?p ?o }"),
            lambda: reader.sparql_update("INSERT DATA { <http://e/a> <http://e/b> 1 }"),
            lambda: list(reader.stream([{"insert": {"edge": [(1, 2)]}}])),
        ):
            with pytest.raises(UsageError, match="opened to be read"):
                refused()
        with pytest.raises(UsageError):
            reader.compact()
        assert len(reader.what_if(insert={"edge": [(77, 78)]}).gained("path")) == 1
        check(reader)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    with opened(folder) as writer, pytest.raises(UsageError, match="follows no other"):
        writer.refresh()


def test_there_is_nothing_to_follow(folder: Path) -> None:
    with pytest.raises(NotFoundError, match="no knowledge base to read"):
        opened(folder, read_only=True)
    folder.mkdir()
    with pytest.raises(NotFoundError, match="no knowledge base to read"):
        opened(folder, read_only=True)


def test_subscriptions_and_views_of_a_follower_get_the_changes(folder: Path, engine: str) -> None:
    with opened(folder, engine=engine) as writer:
        writer.add_rules("[?x, <http://e/to>, ?y] :- edge(?x, ?y).")
        writer.view("to", "SELECT ?y { ?x <http://e/to> ?y }")
        with opened(folder, engine=engine, read_only=True) as reader:
            changes: list[Any] = []
            views: list[Any] = []
            reader.subscribe(changes.append)
            reader.subscribe(views.append, view="to")
            reader.subscribe(lambda _: reader.refresh())  # asking for more while it is told is no harm
            writer.insert("edge", [(1, 2), (3, 2)])
            writer.update(delete={"edge": [(1, 2)]}, insert={"edge": [(1, 4)]})
            assert reader.refresh() == 4
            assert [change.version for change in changes] == [3, 4]
            assert changes[1].gained("edge") == [(1, 4)] and changes[1].lost("edge") == [(1, 2)]
            assert [change.gained.sorted() for change in views] == [
                change.gained.sorted() for change in writer.view("to").changes(since=2)
            ]
            assert reader.view("to").rows().sorted() == writer.view("to").rows().sorted()
            assert [change.version for change in reader.changes(2)] == [3, 4]
            assert reader.at(3).facts("edge").sorted() == [(1, 2), (3, 2)]


def test_an_update_that_a_follower_cannot_make_is_made_later(folder: Path) -> None:
    """A limit of its own stops it; nothing is skipped."""
    with opened(folder) as writer:
        writer.add_rules("path(?x, ?y) :- edge(?x, ?y).  path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).")
        with opened(folder, read_only=True, limits=everlog.Limits(rounds=5), rewrites=False) as reader:
            writer.insert("edge", [(0, 1)])
            writer.insert("edge", [(n, n + 1) for n in range(1, 30)])
            writer.insert("edge", [(100, 101)])
            for _ in range(2):
                with pytest.raises(everlog.RoundLimitError):
                    reader.refresh()
                assert reader.version == 2
            reader.limits = everlog.Limits()
            assert reader.refresh() == 4
            assert reader.facts("path").sorted() == writer.facts("path").sorted()


def test_it_follows_by_itself(folder: Path) -> None:
    with opened(folder) as writer, opened(folder, follow=True) as reader:
        came = threading.Event()
        reader.subscribe(lambda change: came.set() if change.version == 30 else None)
        while writer.version < 30:
            step(writer)
            if writer.version % 10 == 0:
                writer.compact()
        assert came.wait(SOON)
        check(reader)


def test_a_copied_folder_opens_even_while_it_is_written_to(folder: Path, tmp_path: Path) -> None:
    with opened(folder) as writer:
        for number in range(12):
            step(writer)
            if number == 5:
                writer.compact()
        shutil.copytree(folder, tmp_path / "copy")
        with opened(tmp_path / "copy") as copy:
            assert copy.version == 12
            check(copy)
            step(copy)
            check(copy)
        step(writer)
        check(writer)


# --- other processes --------------------------------------------------------------------------------------------------

FOLLOW = """
    import sys, everlog
    from tests.unit.store.killed_writers import check, explicit
    kb = everlog.open(sys.argv[1], engine=sys.argv[2], read_only=True)
    print(kb.version, flush=True)
    for line in sys.stdin:
        version = kb.refresh()
        if line.strip() == "check":
            check(kb)
        print(version, flush=True)
"""


def follow_stream(folder: Path, updates: int, restarts: int, kind: str) -> None:
    """A follower in another process that is asked after each update, and killed and begun again now and then."""
    every = max(1, updates // (restarts + 1))
    with opened(folder, engine=kind, history=HistoryLimits(updates=50)) as writer:
        step(writer)
        while writer.version < updates:
            with ended_at_last(run_python(FOLLOW, folder, kind)) as process:
                version = int(told(process))
                assert version == writer.version
                for number in range(every):
                    step(writer)
                    if writer.version % 97 == 0:
                        writer.compact()
                    wanted = "check" if number == every // 2 else "version"
                    assert int(ask(process, wanted)) == writer.version
                os.kill(process.pid, signal.SIGKILL)
        check(writer)


@pytest.mark.slow
def test_another_process_stays_within_one_update(folder: Path) -> None:
    follow_stream(folder, 500, 5, "columnar")


@pytest.mark.nightly
def test_another_process_stays_within_one_update_for_long(folder: Path) -> None:
    follow_stream(folder, 10_000, 20, "columnar")


@pytest.mark.slow
def test_followers_see_only_whole_versions_while_a_writer_is_at_work(folder: Path) -> None:
    """Nobody waits for anybody: two followers by themselves, one that refreshes, and snapshots all the time."""
    with opened(folder, history=HistoryLimits(updates=5)) as writer:
        step(writer)
        readers = [opened(folder, follow=True), opened(folder, follow=True), opened(folder, read_only=True)]
        stop, wrong = threading.Event(), list[BaseException]()

        def look(reader: KnowledgeBase, refreshes: bool) -> None:
            try:
                while not stop.is_set():
                    if refreshes:
                        reader.refresh()
                    with reader.snapshot() as seen:
                        check(seen)  # type: ignore[arg-type]
            except BaseException as error:
                wrong.append(error)

        def compact() -> None:
            while not stop.wait(0.005):
                writer.compact()

        threads = [threading.Thread(target=look, args=(reader, reader is readers[2])) for reader in readers]
        threads.append(threading.Thread(target=compact))
        for thread in threads:
            thread.start()
        until = time.monotonic() + 3
        while time.monotonic() < until and not wrong:
            step(writer)
        stop.set()
        for thread in threads:
            thread.join()
        assert not wrong, wrong
        for reader in readers:
            assert reader.refresh() == writer.version
            assert explicit(reader, "edge") == explicit(writer, "edge")
            reader.close()


NOBODY = 65534


@pytest.mark.slow
def test_a_folder_that_may_only_be_read(folder: Path) -> None:
    """By a user who may not write there; root may always, so another user looks."""
    if os.getuid() != 0 and not os.access(folder.parent, os.W_OK):
        pytest.skip("needs a folder of its own")
    write_steps(folder, 6)
    text = """
        import os, sys, everlog
        from everlog.errors import OutputError
        everlog.open(sys.argv[1], engine="reference", read_only=True).verify()  # imports all
        if os.getuid() == 0:
            os.setgid(65534), os.setuid(65534)
        kb = everlog.open(sys.argv[1], engine="reference", read_only=True)
        print(kb.version, len(kb.facts("edge")), bool(kb.verify()), kb.refresh(), flush=True)
        try:
            everlog.open(sys.argv[1], engine="reference")
        except OutputError as error:
            print("read_only=True" in str(error), flush=True)
    """
    for path in (folder, *folder.parents):
        if path == Path("/tmp") or path == Path("/"):
            break
        path.chmod(0o755)
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    with opened(folder.parent / "copy") as writer:
        while writer.version < 6:
            step(writer)
        edges = len(writer.facts("edge"))
    with ended_at_last(run_python(text, folder)) as process:
        assert told(process) == f"6 {edges} True 6"
        assert told(process) == "True"
    folder.chmod(0o755)


@pytest.mark.slow
def test_commands_read_while_another_process_writes(folder: Path, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from everlog.cli.main import app

    text = """
        import sys, everlog
        kb = everlog.open(sys.argv[1])
        kb.add_rules("path: path(?x, ?y) :- edge(?x, ?y).")
        kb.insert("edge", [("a", "b")])
        print("ready", flush=True)
        for line in sys.stdin:
            print(kb.insert("edge", [("a", line.strip())]).version, flush=True)
    """

    def run(*arguments: object) -> str:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == 0, result.output
        return result.stdout

    with ended_at_last(run_python(text, folder)) as process:
        assert told(process) == "ready"
        assert run("facts", folder, "path") == "a\tb\n"
        assert ask(process, "c") == "3"
        assert run("query", folder, "path(a, ?y)") == "b\nc\n"
        assert "as derived from scratch" in run("verify", folder)
        assert "path(?x, ?y) :- edge(?x, ?y)." in run("rules", "list", folder)
        assert "version 3" in run("backup", folder, tmp_path / "backup")
        run("export", folder, tmp_path / "export")
        assert CliRunner().invoke(app, ["compact", str(folder)]).exit_code == 10  # StoreInUseError
        assert ask(process, "d") == "4"
    with everlog.open(tmp_path / "backup") as kb:
        assert kb.version == 3 and kb.facts("path").sorted() == [("a", "b"), ("a", "c")]
    with everlog.open() as kb:
        kb.import_from(tmp_path / "export")
        assert kb.facts("path").sorted() == [("a", "b"), ("a", "c")]


def test_a_follower_of_a_writer_that_gave_up_a_half_written_update(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.unit.store.test_durable import FailsOnce

    from everlog.store import log as log_module

    with opened(folder) as writer, opened(folder, read_only=True) as reader:
        step(writer)
        with monkeypatch.context() as patch:
            patch.setattr(log_module.os, "pwrite", FailsOnce("pwrite"))
            with pytest.raises(OutputError):
                writer.insert("edge", [(5, 6)])
        assert reader.refresh() == 1
        step(writer)
        assert reader.refresh() == 2
        check(reader)
