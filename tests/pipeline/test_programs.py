"""Does Everlog work in the programs that Spark runs: through Connect, by spark-submit, in declarative pipelines?

Each starts a Java of its own, in a process of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pyarrow.parquet as pq
import pyspark
import pytest

from everlog.engines.spark.java import java_home

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "spark_programs"
BIN = Path(pyspark.__file__).parent / "bin"
SECONDS = 240

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

needs_connect = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("grpc", "grpc_status", "google.rpc", "zstandard")),
    reason="Spark Connect needs packages that are not installed: pip install 'everlog[connect]'",
)
needs_pipelines = pytest.mark.skipif(
    find_spec("yaml") is None, reason="declarative pipelines need pyyaml: pip install 'everlog[connect]'"
)


def run(command: list[str], folder: Path) -> str:
    """The output of a program."""
    environment = {
        **os.environ,
        "JAVA_HOME": str(java_home()),
        "SPARK_HOME": str(BIN.parent),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
    }
    ended = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, timeout=SECONDS, check=False
    )
    assert ended.returncode == 0, ended.stderr[-5000:]
    return ended.stdout


@needs_connect
def test_connect(tmp_path: Path) -> None:
    told = run([sys.executable, str(Path(__file__).with_name("connected.py")), str(tmp_path)], tmp_path)
    found = json.loads(told.splitlines()[-1])
    paths = [["a", "b"], ["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"], ["c", "d"]]
    meant = {"path": paths, "fan": [["a", "3", "1.5"], ["b", "2", "1.0"], ["c", "1", "0.5"]]}
    for way in ("pivot", "rounds", "lazy"):
        assert found[way] == meant, way
    assert found["types"] == {
        "path": {"start": "string", "end": "string"},
        "fan": {"x": "string", "n": "bigint", "half": "decimal(2,1)"},
    }
    assert found["version"] == 2 and found["read"] == paths
    assert len((tmp_path / "path.csv").read_text().splitlines()) == 7


def test_spark_submit(tmp_path: Path) -> None:
    (tmp_path / "rules.dl").write_text("path(?x, ?y) :- edge(?x, ?y). path(?x, ?z) :- path(?x, ?y), edge(?y, ?z).")
    (tmp_path / "edge.csv").write_text("a,b\nb,c\n")
    (tmp_path / "pipeline.toml").write_text('program = "rules.dl"\n[[source]]\npath = "edge.csv"\n')
    script, settings = str(EXAMPLES / "submitted.py"), str(tmp_path / "pipeline.toml")
    told = run([str(BIN / "spark-submit"), "--master", "local[2]", script, settings], tmp_path)
    assert "path: 3 facts, 3 gained, 0 lost\nversion 1\n" in told


@pytest.mark.nightly
@needs_connect
@needs_pipelines
def test_declarative_pipelines(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "closure_pipeline", tmp_path / "pipeline")
    spec = tmp_path / "pipeline" / "spark-pipeline.yml"
    spec.write_text(spec.read_text().replace("file:///tmp", tmp_path.as_uri()))
    run([str(BIN / "spark-pipelines"), "run", "--spec", str(spec)], tmp_path / "pipeline")
    table = next((tmp_path / "pipeline").rglob("reachable"))
    assert sorted(map(tuple, pq.read_table(table).to_pandas().values.tolist()))[:2] == [("CPH", "FNC"), ("CPH", "FRA")]
    assert pq.read_table(table).num_rows == 10
