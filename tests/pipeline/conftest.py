"""What do the tests of the pipeline share? The one Spark session."""

from tests.spark_session import spark

__all__ = ["spark"]
