"""Pipelines on Spark, and what Spark's own programs use of Everlog.

derive, deriving      from DataFrames to DataFrames (derivation.py)
register              makes `spark.read.format("everlog")` known to a session (table_source.py)
run_pipeline          runs what a pipeline.toml says (job.py); read_settings reads one
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everlog.pipeline.derivation import Derived, derive, deriving
    from everlog.pipeline.job import run_pipeline
    from everlog.pipeline.settings import read_settings
    from everlog.pipeline.table_source import register

__all__ = ["Derived", "derive", "deriving", "read_settings", "register", "run_pipeline"]

_HOMES = {
    "Derived": "derivation",
    "derive": "derivation",
    "deriving": "derivation",
    "read_settings": "settings",
    "register": "table_source",
    "run_pipeline": "job",
}


def __getattr__(name: str) -> Any:
    """Names are imported when they are asked for: PySpark takes a while to load, and need not be there."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
