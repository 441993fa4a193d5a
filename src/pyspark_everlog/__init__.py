"""Where does Spark find the format "everlog"? It looks for this name in packages that are called `pyspark_…`."""

from everlog.pipeline.table_source import EverlogSource as DefaultSource

__all__ = ["DefaultSource"]
