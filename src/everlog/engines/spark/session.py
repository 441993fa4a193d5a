"""With which settings does Spark run?

An existing session (a notebook's, spark-submit's) is used as it is. Otherwise one is started in this
process, with Java found or brought (java.py), on all cores unless a master is named. What a user sets wins over what is
set here; every setting here has its reason beside it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.engines.spark.java import java_home
from everlog.errors import UsageError

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


def spark_session(
    settings: Mapping[str, str] | None = None, master: str | None = None, app_name: str = "everlog"
) -> SparkSession:
    """The running session, or a new one.

    Args:
        settings: Spark's own settings, by their names; they win over ours. On a session that runs already, those that
            can still be changed are, and the others are left.
        master: where to run: "local[2]", "spark://host:7077", "yarn", …; all cores of this machine by default.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise UsageError("PySpark is not installed", hint="pip install everlog[spark]") from error
    given = {name: str(value) for name, value in (settings or {}).items()}
    running = SparkSession.getActiveSession()
    if running is not None:
        _apply(running, given)
        return running
    # Workers must be this very Python, with these packages, not whichever python3 comes first on the PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    wanted = {**EVERYWHERE, **given}
    master = master or given.get("spark.master")
    level = given.get("spark.log.level", "ERROR")  # Spark's warnings are for its developers
    if master is None and not _submitted():
        master = "local[*]"
    if not _submitted():
        os.environ["JAVA_HOME"] = str(java_home())
    if master is not None and master.startswith("local"):
        wanted = {
            **EVERYWHERE,
            **LOCALLY,
            **_scratch(level),
            "spark.sql.shuffle.partitions": _partitions(master),
            **given,
        }
    builder = SparkSession.builder.appName(app_name)
    if master is not None:
        builder = builder.master(master)
    for name, value in wanted.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel(level)
    return session


def _submitted() -> bool:
    """Whether spark-submit or a shell started this process, or PYSPARK_SUBMIT_ARGS names a master."""
    return "PYSPARK_GATEWAY_PORT" in os.environ or "--master" in os.environ.get("PYSPARK_SUBMIT_ARGS", "")


def _partitions(master: str) -> str:
    """Twice as many as cores: enough to even out, few enough that small rounds are not all overhead."""
    inside = master.partition("[")[2].partition("]")[0].split(",")[0]
    cores = int(inside) if inside.isdigit() else (1 if inside == "" else os.cpu_count() or 2)
    return str(2 * cores)


def _scratch(level: str) -> dict[str, str]:
    """A folder for tables without a place and for a quiet log, gone when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="everlog-spark-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    log = folder / "log4j2.properties"
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
        "appender.stderr.layout.pattern = %p %c{1}: %m%n%ex\n",
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
