"""How does a cluster run a pipeline? As a program that is handed to spark-submit.

    spark-submit --master yarn --py-files everlog.zip examples/spark_programs/submitted.py pipeline.toml

spark-submit says where to run and with how much memory, whatever the pipeline.toml says of that. Tables and outputs are
folders that the driver and all executors see.
"""

from __future__ import annotations

import sys

from everlog.errors import EverlogError
from everlog.pipeline import read_settings, run_pipeline


def main(path: str) -> int:
    """Run the pipeline; gives the exit code."""
    try:
        report = run_pipeline(read_settings(path))
    except EverlogError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    for relation in report.relations:
        print(f"{relation.name}: {relation.facts:,} facts, {relation.gained:,} gained, {relation.lost:,} lost")
    print(f"version {report.version}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: spark-submit submitted.py pipeline.toml")
    sys.exit(main(sys.argv[1]))
