"""How long do pipelines take that run one after the other in one Spark session?

    python -m everlog.benches.pipeline_session first.toml second.toml

prints a list of their reports as JSON. A process of its own, so that the memory of one measurement is not that of the
one before it.
"""

from __future__ import annotations

import json
import sys

from everlog.engines.spark.session import spark_session
from everlog.pipeline.job import run_pipeline
from everlog.pipeline.settings import read_settings


def main(files: list[str]) -> None:
    pipelines = [read_settings(file) for file in files]
    spark = spark_session(pipelines[0].spark, pipelines[0].master)
    try:
        reports = [run_pipeline(each, spark, lambda line: None).as_data() for each in pipelines]
    finally:
        spark.stop()
    json.dump(reports, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
