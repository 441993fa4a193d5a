"""Which Spark session do tests share?

One for the whole run, started by the first test that takes the fixture `spark`, with its scratch folder; a suite makes
it known by importing it in its `conftest.py`. Mark such tests:

    pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

The group keeps them in one process when tests run in several, so that there is one Java only.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from everlog.engines.spark.session import spark_session

SETTINGS = {
    "spark.driver.memory": "2g",  # test data is tiny, and other processes want memory too
    "spark.sql.shuffle.partitions": "2",  # each is a task, and a task costs more than the rows in it
    "spark.default.parallelism": "2",
    "spark.sql.codegen.cache.maxEntries": "1000",  # many small queries, some of them again and again
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",  # so that small data comes in more than one batch
    "spark.python.worker.faulthandler.enabled": "true",  # a worker that dies says where
}


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The one session."""
    scratch = tmp_path_factory.mktemp("spark")
    session = spark_session(
        {
            **SETTINGS,
            "spark.local.dir": str(scratch / "local"),
            "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        },
        master="local[2]",
        app_name="everlog tests",
    )
    yield session
    session.stop()
