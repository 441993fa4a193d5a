"""Which engine goes by which name? Engines are imported when asked for, so that `import everlog` stays light."""

from __future__ import annotations

from everlog.dictionary.dictionary import Dictionary
from everlog.engines.interface import Engine
from everlog.errors import UsageError
from everlog.extras import check_extra

ENGINES = ("columnar", "reference", "spark")


def make_dictionary(name: str) -> Dictionary:
    """The dictionary that an engine's ids come from."""
    if name == "spark":
        check_extra("pyspark", "the engine spark")
        check_extra("xxhash", "the engine spark")
        from everlog.dictionary.hash_dictionary import HashDictionary

        return HashDictionary()
    return Dictionary()


def rewrites_pay(name: str) -> bool:
    """Is it worth having fewer rule instances in more rounds? Linear recursion goes one step a round, where the rule as
    written doubles: in process a round is microseconds, on Spark it is a job."""
    return name != "spark"


def make_engine(name: str, dictionary: Dictionary) -> Engine:
    """An empty engine."""
    if name == "reference":
        from everlog.engines.reference.engine import ReferenceEngine

        return ReferenceEngine(dictionary)
    if name == "columnar":
        from everlog.engines.columnar.engine import ColumnarEngine

        return ColumnarEngine(dictionary)
    if name == "paged":  # empty, and its files vanish with it; whoever has runs makes one over them
        from everlog.engines.paged.engine import PagedEngine

        return PagedEngine(dictionary)
    if name == "spark":
        from everlog.dictionary.hash_dictionary import HashDictionary
        from everlog.engines.spark.engine import SparkEngine
        from everlog.engines.spark.session import spark_session

        assert isinstance(dictionary, HashDictionary), "Spark's ids are hashes"
        return SparkEngine(spark_session(), dictionary)
    raise UsageError(f"there is no engine {name!r}", hint=f"engines: {', '.join(ENGINES)}")


def refuse_windows(engine: Engine) -> None:
    """Say that an engine has no ORDER BY with LIMIT inside of a query, if that is so."""
    if not engine.capabilities.windows:
        raise UsageError(
            f"LIMIT inside a subquery is not there on the engine {engine.name}", hint="use the columnar engine"
        )


def refuse_views(engine: Engine) -> None:
    """Say that an engine keeps no views, if that is so."""
    if not engine.capabilities.maintains:
        raise UsageError(f"the engine {engine.name} keeps no views", hint="use columnar")
