"""With which settings does Spark run?

An existing session (a notebook's, spark-submit's, one of Spark Connect) is used as it is, and goes on when we are done.
Otherwise one is started in this process, with Java found or brought (java.py), on all cores unless a master is named.
What a user sets wins over what is set here; every setting here has its reason beside it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from everlog.engines.spark.java import java_home
from everlog.errors import EngineError, UsageError
from everlog.extras import check_extra

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# On any master.
EVERYWHERE = {
    "spark.sql.session.timeZone": "UTC",  # a time without a zone means the same on every machine
    "spark.sql.adaptive.enabled": "true",  # joins are chosen, partitions merged and skew split by what is really there
    "spark.sql.execution.arrow.pyspark.enabled": "true",  # rows cross to Python in columns
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",  # parsers work on chunks; 10,000 lines are a small one
    # What is persisted serves one run and is read a few times: compressing it takes longer than that saves.
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    "spark.ui.showConsoleProgress": "false",  # Everlog shows progress of its own
    # A recursion makes thousands of jobs, and the driver would remember a thousand of them, each with the text of its
    # plan, whether somebody looks or not.
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "1000",
}

# In this process only: a cluster knows better.
LOCALLY = {
    "spark.driver.memory": "4g",  # the default, 1g, spills at a few million facts
    "spark.driver.maxResultSize": "1g",
    "spark.driver.bindAddress": "127.0.0.1",  # machines whose name resolves to nothing (laptops, containers)
    "spark.driver.host": "127.0.0.1",
    # Workers are born with kernels loaded (daemon.py): a first job takes 2 s less, and so does one after a pause.
    "spark.python.daemon.module": "everlog.engines.spark.daemon",
    "spark.ui.enabled": "false",  # saves a second and a port; set it to true to look inside
}


class OpenedSession(NamedTuple):
    """A session, and whether it was started just now: only then is it ours to stop."""

    session: SparkSession
    started: bool


# What these say of a failed task, with pages of Java, is said by the error that it becomes.
_TOLD_BY_US = (
    "org.apache.spark.executor.Executor",
    "org.apache.spark.scheduler.TaskSetManager",
    "org.apache.spark.sql.execution.datasources.FileFormatWriter",
    "org.apache.spark.util.Utils",
    "org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter",
)


def spark_session(
    settings: Mapping[str, str] | None = None, master: str | None = None, app_name: str = "everlog"
) -> SparkSession:
    """The running session, or a new one (see `open_session`)."""
    return open_session(settings, master, app_name).session


@contextlib.contextmanager
def session_for_a_while(
    settings: Mapping[str, str] | None = None, master: str | None = None, app_name: str = "everlog"
) -> Iterator[SparkSession]:
    """The running session, which goes on afterwards, or a new one, which is stopped."""
    opened = open_session(settings, master, app_name)
    try:
        yield opened.session
    finally:
        if opened.started:
            opened.session.stop()


def open_session(
    settings: Mapping[str, str] | None = None, master: str | None = None, app_name: str = "everlog"
) -> OpenedSession:
    """The running session, or a new one, and which of them it is.

    Args:
        settings: Spark's own settings, by their names; they win over ours. On a session that runs already, those that
            can still be changed are, and the others are left.
        master: where to run: "local[2]", "spark://host:7077", "yarn", …; all cores of this machine by default. With
            "sc://host:15002" the session is one of Spark Connect.

    Raises:
        UsageError: PySpark or Java is missing, or the settings or the master make no sense.
        EngineError: Spark does not start.
    """
    check_extra("pyspark.sql", "Spark")
    from pyspark.sql import SparkSession

    given = {name: str(value) for name, value in (settings or {}).items()}
    with _our_errors(master):
        running = _running()
    if running is not None:
        _apply(running, given)
        return OpenedSession(running, False)
    master = master or given.get("spark.master")
    check_settings({**given, **({} if master is None else {"spark.master": master})})
    if master is not None and master.startswith("sc://"):
        if find_spec("grpc") is None:  # asked first: PySpark would end the process
            raise UsageError("Spark Connect needs packages that are missing", hint="pip install 'everlog[connect]'")
        _check_answers(master)
        with _our_errors(master):
            remote = SparkSession.builder.appName(app_name).remote(master).getOrCreate()
            _apply(remote, {**_changeable(EVERYWHERE), **given})
            return OpenedSession(remote, True)
    if master is not None and master.startswith("spark://"):
        _check_answers(master)
    # Workers must be this very Python, with these packages, not whichever python3 comes first on the PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    wanted = {**EVERYWHERE, **given}
    level = given.get("spark.log.level", "ERROR")  # Spark's warnings are for its developers
    if master is None and not _submitted():
        master = "local[*]"
    if not _submitted():
        os.environ["JAVA_HOME"] = str(java_home())
    if master is not None and master.startswith("local"):
        wanted = {
            **EVERYWHERE,
            **LOCALLY,
            **_scratch(level, quiet="spark.log.level" not in given),
            "spark.sql.shuffle.partitions": _partitions(master),
            **given,
        }
    builder = SparkSession.builder.appName(app_name)
    if master is not None:
        builder = builder.master(master)
    for name, value in wanted.items():
        builder = builder.config(name, value)
    with _our_errors(master):
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel(level)
    return OpenedSession(session, True)


def _check_answers(master: str) -> None:
    """Raise if nobody listens where Spark should: it would try for minutes, and print pages."""
    problems = []
    for host, port in _addresses(master):
        try:
            with socket.create_connection((host, int(port)), timeout=10):
                return
        except (OSError, ValueError) as error:
            problems.append(f"{host}:{port}: {getattr(error, 'strerror', None) or error}")
    what, usual = ("server of Spark Connect", 15002) if master.startswith("sc://") else ("master of Spark", 7077)
    raise EngineError(
        f"no {what} answers at {master} ({'; '.join(problems)})",
        hint=f"start it, or name another one: --master, or master in [spark]; the usual port is {usual}",
    )


def _addresses(master: str) -> list[tuple[str, str]]:
    """Hosts and ports: several of a standalone master, which are one and its stand-ins.

    >>> _addresses("spark://a:7077,b:7078"), _addresses("sc://[::1]/;token=x")
    ([('a', '7077'), ('b', '7078')], [('::1', '15002')])
    """
    scheme, _, rest = master.partition("://")
    found = []
    for address in rest.split("/")[0].split(","):
        host, _, port = address.rpartition(":") if not address.endswith("]") else (address, "", "")
        if not host and scheme == "sc":
            host, port = port, ""
        found.append((host.strip("[]"), port or ("15002" if scheme == "sc" else "")))
    return found


def is_connect(session: SparkSession) -> bool:
    """Whether a session is one of Spark Connect, which has no Java of its own to talk to."""
    return any(kind.__module__.startswith("pyspark.sql.connect") for kind in type(session).__mro__)


@contextlib.contextmanager
def session_settings(session: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Settings of a session for a while."""
    before = {name: session.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, old)


def parallelism(session: SparkSession) -> int:
    """How many tasks a session runs at once, as Spark sees it."""
    if not is_connect(session):
        return int(session.sparkContext.defaultParallelism)
    if session not in _parallelism:  # a range is divided for that many; a job of a tenth of a second tells how many
        from pyspark.sql import functions as f

        parts = session.range(1 << 12).select(f.spark_partition_id().alias("part"))
        _parallelism[session] = parts.distinct().count()
    return _parallelism[session]


_parallelism: WeakKeyDictionary[SparkSession, int] = WeakKeyDictionary()


def check_settings(settings: Mapping[str, str]) -> None:
    """Raise for a master that is none, and for sizes of memory with which Java would not start, or only to stop."""
    for name, value in settings.items():
        if name == "spark.master" and not _MASTER.fullmatch(value):
            raise UsageError(
                f"{value!r} is no place where Spark runs",
                hint='write "local[4]", "spark://host:7077", "yarn" or "sc://host:15002"',
            )
        if not (name.endswith((".memory", ".memoryOverhead")) or name == "spark.driver.maxResultSize"):
            continue
        found = re.fullmatch(r"\s*([0-9]+)\s*([kmgtp]?)b?\s*", value, re.IGNORECASE)
        if found is None:
            raise UsageError(f"{name} = {value!r} is no size of memory", hint=f'write it like "{name}" = "2g"')
        # A number alone counts mebibytes where memory is meant, and bytes elsewhere.
        size = int(found[1]) << _UNITS[found[2].lower() or ("" if name.endswith("maxResultSize") else "m")]
        if name in ("spark.driver.memory", "spark.executor.memory") and size < _LEAST_MEMORY:
            raise UsageError(f"{name} = {value!r} is too little for Spark", hint="give it 512m or more")


_MASTER = re.compile(
    r"local(\[(\*|[1-9][0-9]*)(,\s*[0-9]+)?\])?|local-cluster\[.+\]|yarn|(spark|k8s|sc)://.+", re.IGNORECASE
)
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
_LEAST_MEMORY = 471859200  # Spark refuses to start with less


def _running() -> SparkSession | None:
    """The session of this process, whichever thread started it."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is None and SparkContext._active_spark_context is not None:
        active = SparkSession.builder.getOrCreate()
    return active


@contextlib.contextmanager
def _our_errors(master: str | None) -> Iterator[None]:
    """Turn Spark's failure to start into an error of one line."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        raise EngineError(
            f"Spark does not start on {master or 'this machine'} ({_reason(str(error))})",
            hint="see what Spark printed above; check the master and the settings in [spark]",
        ) from error


def _reason(text: str) -> str:
    """What Java said: the last cause, without the places in its code."""
    causes = re.findall(r"(?:Caused by: |: )((?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error)): ?(.*)", text)
    if causes:
        return f"{causes[-1][0].rpartition('.')[2]}: {causes[-1][1][:300]}"
    return text.strip().splitlines()[0][:300] if text.strip() else "no reason given"


def _changeable(settings: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in settings.items() if name.startswith("spark.sql.") and ".ui." not in name}


def _submitted() -> bool:
    """Whether spark-submit or a shell started this process, or PYSPARK_SUBMIT_ARGS names a master."""
    return "PYSPARK_GATEWAY_PORT" in os.environ or "--master" in os.environ.get("PYSPARK_SUBMIT_ARGS", "")


def _partitions(master: str) -> str:
    """Twice as many as cores: enough to even out, few enough that small rounds are not all overhead."""
    inside = master.partition("[")[2].partition("]")[0].split(",")[0]
    cores = int(inside) if inside.isdigit() else (1 if inside == "" else os.cpu_count() or 2)
    return str(2 * cores)


def _scratch(level: str, *, quiet: bool) -> dict[str, str]:
    """A folder for tables without a place and for a log, gone when the process ends; `quiet` is about failed tasks."""
    folder = Path(tempfile.mkdtemp(prefix="everlog-spark-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    log = folder / "log4j2.properties"
    told = enumerate(_TOLD_BY_US)
    log.write_text(
        # At any other level than warn the launcher prints two lines about levels; what is shown is up to the appender.
        "rootLogger.level = warn\n"
        "rootLogger.appenderRef.stderr.ref = stderr\n"
        "appender.stderr.type = Console\n"
        "appender.stderr.name = stderr\n"
        "appender.stderr.target = SYSTEM_ERR\n"
        "appender.stderr.filter.threshold.type = ThresholdFilter\n"
        f"appender.stderr.filter.threshold.level = {level}\n"
        "appender.stderr.layout.type = PatternLayout\n"
        "appender.stderr.layout.pattern = %p %c{1}: %m%n%ex\n"
        + "".join(f"logger.{place}.name = {name}\nlogger.{place}.level = off\n" for place, name in told if quiet),
        encoding="utf-8",
    )
    return {
        "spark.sql.warehouse.dir": str(folder / "warehouse"),  # not a folder in whichever place this is started from
        # Quiet before the level is set; and a collector for throughput, which reads text some 10 % faster.
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={log.as_uri()} -XX:+UseParallelGC",
    }


def _apply(session: SparkSession, settings: Mapping[str, str]) -> None:
    from pyspark.errors import PySparkException

    for name, value in settings.items():
        # A static setting of a running session cannot change any more: it stays what it is.
        with contextlib.suppress(PySparkException):
            if session.conf.isModifiable(name):
                session.conf.set(name, value)
