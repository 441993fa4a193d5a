"""How is a frame that is read more than once computed once?

A local checkpoint forgets what made it, so that plans do not grow with rounds; but what an executor held of it is gone
with the executor. Where there are no rounds, `persist` does as well, and Spark makes again what is lost.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame

Keep = Callable[[DataFrame], DataFrame]


def local_checkpoint(frame: DataFrame) -> DataFrame:
    """The frame, filled when it is first read, and with its lineage cut."""
    return frame.localCheckpoint(eager=False)
