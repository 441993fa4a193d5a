"""What is left when something breaks: a full disk, a killed driver, two writers, a place that cannot be written?

Whatever breaks, the versions committed before are whole, the error names the place and what helps, and the next run
continues. Tests that kill run in a process of their own.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.unit.tables.test_table_store import add, put, rows

import everlog
from everlog.errors import OutputError
from everlog.tables.commits import CommitConflictError
from everlog.tables.table_store import TableStore

# Appends to two tables, and kills itself where DIES says: not even `finally` blocks run after os._exit.
WRITER = """
import os, sys
from pathlib import Path
from everlog.tables import commits, delta_log, local_place
from everlog.tables.compaction import compact
from everlog.tables.table_store import TableStore
from tests.unit.tables.test_table_store import put

folder, number, point = Path(sys.argv[1]), int(sys.argv[2]), os.environ.get("DIES", "")

def dies(*arguments, **options):
    os._exit(9)

appended = delta_log.DeltaLogs.add
calls = []
def once(*arguments, **options):
    if calls:
        dies()
    calls.append(1)
    return appended(*arguments, **options)

if point == "files written":
    delta_log.DeltaLogs.add = dies
if point == "some tables committed":
    delta_log.DeltaLogs.add = once
if point == "before the commit file":
    commits.write_commit = dies
if point == "commit file half written":
    local_place.os.link = local_place.os.replace = dies
if point == "after the commit file":
    local_place.sync = lambda path, real=local_place.sync: dies() if path.name == "_commits" else real(path)

store = TableStore(folder / "tables")
if os.environ.get("COMPACTS"):
    compact(store)
    sys.exit()
with store.begin() as transaction:
    put(transaction, "facts_edge", [(number, number, 1)])
    put(transaction, "derived_path", [(number, number + 1, 1)])
    transaction.commit()
"""

ROOT = Path(__file__).parents[2]


def write(folder: Path, number: int, dies: str = "", **about: str) -> int:
    environment = {**os.environ, **about, "DIES": dies, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    return subprocess.run(
        [sys.executable, "-c", WRITER, str(folder), str(number)], env=environment, timeout=60, check=False
    ).returncode


@pytest.mark.slow
@pytest.mark.parametrize(
    "point", ["files written", "some tables committed", "before the commit file", "commit file half written"]
)
@pytest.mark.parametrize("versions", [0, 1])
def test_a_driver_killed_before_its_commit(tmp_path: Path, point: str, versions: int) -> None:
    if versions:
        assert write(tmp_path, 1) == 0
    before = {(1, 1)} if versions else set()
    assert write(tmp_path, 5, dies=point) == 9
    store = TableStore(tmp_path / "tables")
    assert store.versions() == list(range(1, versions + 1))
    if versions:
        assert rows(store, "facts_edge") == before
    assert write(tmp_path, 7) == 0
    assert rows(store, "facts_edge") == before | {(7, 7)}
    assert rows(store, "derived_path") == {(x, x + 1) for x, _ in before | {(7, 7)}}
    store.tidy()
    assert rows(store, "derived_path") == {(x, x + 1) for x, _ in before | {(7, 7)}}
    assert len(list(store.beside.rglob("part-*.parquet"))) == 2 * (versions + 1)


@pytest.mark.slow
def test_a_driver_killed_after_its_commit(tmp_path: Path) -> None:
    assert write(tmp_path, 1, dies="after the commit file") == 9
    store = TableStore(tmp_path / "tables")
    assert store.versions() == [1] and rows(store, "derived_path") == {(1, 2)}
    assert write(tmp_path, 2) == 0
    assert rows(store, "facts_edge") == {(1, 1), (2, 2)}


@pytest.mark.slow
@pytest.mark.parametrize(
    "point", ["files written", "some tables committed", "before the commit file", "commit file half written"]
)
def test_a_driver_killed_while_it_compacts(tmp_path: Path, point: str) -> None:
    """The same version in other files: whatever happens, it stays what it was."""
    for number in (1, 2, 3):
        assert write(tmp_path, number) == 0
    store = TableStore(tmp_path / "tables")
    assert write(tmp_path, 0, dies=point, COMPACTS="1") == 9
    assert store.versions() == [1, 2, 3] and rows(store, "facts_edge") == {(1, 1), (2, 2), (3, 3)}
    assert write(tmp_path, 4) == 0
    assert write(tmp_path, 0, COMPACTS="1") == 0
    store = TableStore(tmp_path / "tables")
    store.tidy()
    assert rows(store, "facts_edge") == {(1, 1), (2, 2), (3, 3), (4, 4)}
    assert rows(store, "derived_path", 2) == {(1, 2), (2, 3)}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a megabyte, where one may be had."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small disk")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_is_really_full(small_disk: Path) -> None:
    kb = everlog.open()
    kb.add_rules("path(?x, ?y) :- edge(?x, ?y).")
    kb.export(small_disk / "tables", format="tables")
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(300_000))
    with everlog.open(small_disk / "tables") as kb:
        done = 0
        with pytest.raises(OutputError, match="No space left") as caught:
            while True:
                kb.insert("edge", [(done * 5000 + row, f"node {row}") for row in range(5000)])
                done += 1
        assert "free some room" in str(caught.value) and str(small_disk) in str(caught.value)
        assert len(kb.facts("edge")) == len(kb.facts("path")) == 5000 * done
        assert len(everlog.open(small_disk / "tables", read_only=True).facts("path")) == 5000 * done
        ballast.unlink()
        kb.insert("edge", [("room", "again")])
    assert len(everlog.open(small_disk / "tables", read_only=True).facts("path")) == 5000 * done + 1


def test_the_disk_is_full_at_the_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = TableStore(tmp_path / "tables")
    add(store, "facts_edge", [(1, 2, 1)])

    def full(*arguments: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for target in ("everlog.tables.local_place.os.fsync", "everlog.tables.local_place.sync"):
        with monkeypatch.context() as patch, pytest.raises(OutputError, match="No space left") as caught:
            with store.begin() as transaction:
                put(transaction, "facts_edge", [(3, 4, 1)])
                patch.setattr(target, full)
                transaction.commit()
        assert str(store.beside) in str(caught.value) and "free some room" in str(caught.value)
        assert store.versions() == [1] and rows(store, "facts_edge") == {(1, 2)}
    add(store, "facts_edge", [(5, 6, 1)])
    assert rows(store, "facts_edge") == {(1, 2), (5, 6)}


def test_an_error_after_the_commit_file_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = TableStore(tmp_path / "tables")

    def fails(path: Path) -> None:
        if path.name == "_commits":
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch, pytest.raises(OutputError), store.begin() as transaction:
        put(transaction, "facts_edge", [(3, 4, 1)])
        patch.setattr("everlog.tables.local_place.sync", fails)
        transaction.commit()
    assert store.versions() == [1] and rows(store, "facts_edge") == {(3, 4)}


def test_two_writers_at_once(tmp_path: Path) -> None:
    store = TableStore(tmp_path / "tables")
    with store.begin() as transaction:
        assert write(tmp_path, 5) == 1  # the other process ends with the error's traceback
        put(transaction, "facts_edge", [(1, 2, 1)])
        transaction.commit()
    assert store.versions() == [1] and rows(store, "facts_edge") == {(1, 2)}


@pytest.mark.slow
def test_the_lock_of_a_killed_writer_is_taken_over(tmp_path: Path) -> None:
    assert write(tmp_path, 1, dies="files written") == 9
    holder = json.loads((tmp_path / "tables" / "_lock").read_text(encoding="utf-8"))
    assert holder["pid"] != os.getpid()
    TableStore(tmp_path / "tables").begin().abort()


def test_a_writer_that_no_lock_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two transactions from one version, as on a file system without locks: the slow one leaves nothing."""
    monkeypatch.setattr("everlog.tables.local_place.fcntl.flock", lambda *arguments: None)
    store = TableStore(tmp_path / "tables")
    add(store, "facts_edge", [(1, 2, 1)])
    with store.begin() as fast, store.begin() as slow:
        put(slow, "facts_edge", [(8, 8, 1)])
        put(fast, "facts_edge", [(3, 4, 1)])
        fast.commit()
        with pytest.raises(CommitConflictError):
            slow.commit()
    assert store.versions() == [1, 2]
    add(store, "facts_edge", [(5, 6, 1)])
    assert rows(store, "facts_edge", 2) == {(1, 2), (3, 4)}
    assert rows(store, "facts_edge") == {(1, 2), (3, 4), (5, 6)}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir(mode=0o500)
    with pytest.raises(OutputError, match="chmod"):
        TableStore(tmp_path / "tables").begin()


def test_tables_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(OutputError, match="cannot be written"):
        TableStore(tmp_path / "file" / "tables").begin()


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_place_where_spark_cannot_write(spark: SparkSession) -> None:
    from everlog.pipeline.delta_files import write as write_files

    with pytest.raises(OutputError, match="cannot be written") as caught:
        write_files(spark.range(3), Path("/proc/nowhere/table"))
    assert "/proc/nowhere" in str(caught.value) and caught.value.hint


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_stage_that_fails_leaves_the_version_before(tmp_path: Path, spark: SparkSession) -> None:
    from everlog.pipeline.job import Stages, run_pipeline
    from everlog.pipeline.settings import read_settings

    (tmp_path / "rules.dl").write_text("p(a).\nq(?x) :- p(?x).\n", encoding="utf-8")
    (tmp_path / "pipeline.toml").write_text('program = "rules.dl"\n', encoding="utf-8")
    settings = read_settings(tmp_path / "pipeline.toml")

    def breaks(*arguments: object, **others: object) -> None:
        raise MemoryError

    for _ in range(2):
        with pytest.raises(MemoryError):
            run_pipeline(settings, spark, lambda line: None, stages=Stages(materialise=breaks))
        store = TableStore(tmp_path / "tables")
        assert store.versions() == [] and not list(store.beside.rglob("*.parquet"))
    report = run_pipeline(settings, spark, lambda line: None)
    assert report.version == 1 and {each.name: each.facts for each in report.relations} == {"p": 1, "q": 1}


@pytest.mark.slow
def test_a_program_error_starts_no_java(tmp_path: Path) -> None:
    (tmp_path / "rules.dl").write_text("path(?x, ?y) :- edge(?x, ?z).\n", encoding="utf-8")
    (tmp_path / "pipeline.toml").write_text('program = "rules.dl"\ntabels = "x"\n', encoding="utf-8")
    program = (
        "import sys\n"
        "from everlog.cli.main import app\n"
        f"try: app(['pipeline', 'run', {str(tmp_path / 'pipeline.toml')!r}])\n"
        "except SystemExit as done: code = done.code\n"
        "assert 'pyspark' not in sys.modules and 'py4j' not in sys.modules\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3, done.stderr
    assert "error[P102]" in done.stderr and "error[R2" in done.stderr and "did you mean tables?" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "tables").exists()


def test_an_unwritable_output_is_found_before_spark_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from everlog.pipeline.job import run_pipeline
    from everlog.pipeline.settings import read_settings

    (tmp_path / "rules.dl").write_text("p(a).\nq(?x) :- p(?x).\n", encoding="utf-8")
    (tmp_path / "file").write_text("x", encoding="utf-8")
    text = 'program = "rules.dl"\n[[output]]\nrelation = "q"\npath = "file/q.csv"\n'
    (tmp_path / "pipeline.toml").write_text(text, encoding="utf-8")
    started = "everlog.engines.spark.session.spark_session"
    monkeypatch.setattr(started, lambda *arguments: pytest.fail("Spark was started"))
    with pytest.raises(OutputError, match=r"file/q\.csv: cannot be written"):
        run_pipeline(read_settings(tmp_path / "pipeline.toml"))
    assert (tmp_path / "file").read_text(encoding="utf-8") == "x"
