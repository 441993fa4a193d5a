"""How do tests get a cluster, and lose an executor of it?

A standalone cluster on the loopback device, of PySpark's own master and workers: two executors with a core each. The
driver runs in a process of its own, since a process has one Spark session, and tests share another.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyspark

from everlog.engines.spark.java import java_home

ROOT = Path(__file__).parents[2]
_SPARK = Path(pyspark.__file__).parent
_BEGINS = 60.0  # seconds within which a process of the cluster is up, on a busy machine


@dataclass(frozen=True)
class Cluster:
    """A master, and the processes of its workers."""

    master: str
    workers: tuple[int, ...]

    def executors(self) -> list[int]:
        """The processes that run tasks, the oldest first."""
        return sorted(pid for worker in self.workers for pid in _children(worker) if _runs_tasks(pid))

    def kill_an_executor(self) -> int:
        """End an executor as a failing machine would; its worker starts another one."""
        pid = self.executors()[0]
        os.kill(pid, signal.SIGKILL)
        return pid


@contextlib.contextmanager
def standalone_cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A cluster with a core in each worker, and all its files below a folder."""
    with contextlib.ExitStack() as stack:
        _, log = _start(stack, folder, "master", "master.Master", "--port", "0")
        address = _find(log, r"Starting Spark master at (spark://\S+)")
        started = []
        for number in range(workers):
            place = folder / f"worker{number}"
            options = ("--cores", "1", "--memory", "1g", "--work-dir", str(place), address)
            process, log = _start(stack, folder, place.name, "worker.Worker", *options)
            _find(log, r"(Successfully registered with master)")
            started.append(process.pid)
        yield Cluster(address, tuple(started))


def run_driver(program: str, *arguments: str, on_line: Callable[[str], None] | None = None) -> list[str]:
    """Run a program in a process of its own; what it printed. `on_line` sees each line as it comes."""
    lines: list[str] = []
    command = [sys.executable, "-c", program, *arguments]
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=_environment()) as process,
    ):
        assert process.stdout is not None
        try:
            for line in process.stdout:
                lines.append(line.rstrip("\n"))
                if on_line is not None:
                    on_line(lines[-1])
            code = process.wait(60)
        finally:
            process.kill()
        errors.seek(0)
        assert code == 0, "\n".join([*lines, errors.read()[-4000:]])
    return lines


def _environment() -> dict[str, str]:
    """Everything runs this very package, with this very Python."""
    return {
        **os.environ,
        "JAVA_HOME": str(java_home()),
        "SPARK_HOME": str(_SPARK),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
    }


def _start(
    stack: contextlib.ExitStack, folder: Path, name: str, kind: str, *options: str
) -> tuple[subprocess.Popen[bytes], Path]:
    """Start a daemon of Spark, and end it with the stack; its process and its log."""
    log = folder / f"{name}.log"
    command = [str(_SPARK / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}"]
    options = ("--host", "127.0.0.1", "--webui-port", "0", *options)
    output = stack.enter_context(open(log, "wb"))
    process = subprocess.Popen([*command, *options], stdout=output, stderr=output, env=_environment())
    stack.callback(_end, process)
    return process, log


def _end(process: subprocess.Popen[bytes]) -> None:
    for pid in (*_children(process.pid), process.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


def _find(log: Path, pattern: str) -> str:
    """Wait for a line of a log."""
    until = time.monotonic() + _BEGINS
    while time.monotonic() < until:
        found = re.search(pattern, log.read_text(encoding="utf-8", errors="replace"))
        if found:
            return found[1]
        time.sleep(0.2)
    raise AssertionError(f"{log} does not say {pattern!r}:\n{log.read_text(errors='replace')[-2000:]}")


def _children(parent: int) -> list[int]:
    """The processes that a process has started, by whichever of its threads."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{parent}/task").iterdir():
            found += map(int, (thread / "children").read_text().split())
    return found


def _runs_tasks(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False
