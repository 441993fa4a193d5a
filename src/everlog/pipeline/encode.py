"""Which ids stand for the terms of facts, and which terms for ids?

An id is a function of its term (engines/spark/ids.py), so facts are encoded where they are, without a join. The
dictionary, a table of (id, key), is needed for decoding only; integers that are stored in their ids are not in it.

Two terms with one id would be a wrong result. While new terms are written, each id is checked to belong to one key,
among the new and against the dictionary; if not, the write fails, and `collisions` turns that into a `DataError` that
names both terms.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as f

from everlog.engines.spark.ids import UNBOUND_ID, id_column, inline_key_column, is_inline_column
from everlog.engines.spark.local_frames import local_frame
from everlog.errors import DataError
from everlog.facts.terms import key_of, term_of
from everlog.pipeline.rejects import from_spark
from everlog.plans.flat_constants import flat_constants
from everlog.rules.constants import program_constants
from everlog.rules.syntax import Program
from everlog.store.view_queries import ViewQuery, view_rules

_COLLISION = "everlog: two terms have one id\n"
_UNKNOWN = "everlog: an id is in no dictionary\n"
_END = "\neverlog: end"


@dataclass(frozen=True)
class Encoded:
    """Facts as ids.

    Attributes:
        facts: for each relation a DataFrame of 64-bit ids in columns c1, c2, …
        new_terms: id and key of each term that the dictionary lacks, once, sorted by id within its partitions. Use it
            inside `with collisions():`.
    """

    facts: dict[str, DataFrame]
    new_terms: DataFrame


def encode(
    facts: Mapping[str, DataFrame],
    dictionary: DataFrame | None = None,
    others: DataFrame | None = None,
    *,
    few: bool = False,
) -> Encoded:
    """The ids of facts given as term keys, and the terms that the dictionary (id, key) lacks.

    Args:
        others: keys of terms that need an id too, though no fact has them.
        few: are there so few facts, and no dictionary yet, that one task finds their terms soonest?
    """
    encoded = {relation: _ids(frame) for relation, frame in facts.items()}
    with_terms = [frame for frame in facts.values() if frame.columns] + ([others] if others is not None else [])
    if not with_terms:
        return Encoded(encoded, local_frame(SparkSession.active(), [], "id long, key string"))
    return Encoded(encoded, _new_terms(with_terms, dictionary, few=few))


def constants_frame(spark: SparkSession, program: Program, views: Mapping[str, ViewQuery]) -> DataFrame | None:
    """The keys of the terms that a program and its views mention; None where they mention none."""
    terms = (*program_constants(program), *flat_constants(view_rules(views)))
    keys = dict.fromkeys((key_of(term),) for term in terms)
    return local_frame(spark, keys, "key string") if keys else None


def decode(facts: DataFrame, dictionary: DataFrame, columns: Sequence[str] | None = None) -> DataFrame:
    """The keys of facts given as ids, whatever the names of their columns; null where there is no term.

    Only some `columns` may be ids; others stay as they are.
    """
    of_facts = facts.columns
    names = of_facts if columns is None else list(columns)
    for place, name in enumerate(names):
        terms = dictionary.select(f.col("id").alias(f"__id{place}"), f.col("key").alias(f"__key{place}"))
        facts = facts.join(terms, facts[name] == terms[f"__id{place}"], "left")
    keys = {}
    for place, name in enumerate(names):
        id_ = f.col(name)
        unknown = f.raise_error(f.concat(f.lit(_UNKNOWN), id_.cast("string"), f.lit(_END)))
        key = f.coalesce(f.col(f"__key{place}"), inline_key_column(id_), unknown)
        keys[name] = f.when(id_ != UNBOUND_ID, key).alias(name)
    return facts.select(*(keys.get(name, f.col(name)) for name in of_facts))


@contextlib.contextmanager
def collisions() -> Iterator[None]:
    """Wraps every action on `new_terms` or on the result of `decode`: turns Spark's failures into our errors."""
    try:
        yield
    except Exception as error:
        text = str(error) if from_spark(error) else ""
        if _COLLISION in text:
            first, second = _told(text, _COLLISION).split("\neverlog: and\n")
            raise DataError(
                f"two terms have the same 64-bit id: {term_of(first)!r} and {term_of(second)!r}",
                hint="nothing was written; rename one of the two",
            ) from error
        if _UNKNOWN in text:
            raise DataError(
                f"the id {_told(text, _UNKNOWN)} is in no dictionary",
                hint="the dictionary is another one than that of these facts, or a part of it is missing",
            ) from error
        raise


def _ids(frame: DataFrame) -> DataFrame:
    return frame.select(*[id_column(f.col(name)).alias(f"c{place}") for place, name in enumerate(frame.columns, 1)])


def _new_terms(frames: list[DataFrame], dictionary: DataFrame | None, *, few: bool) -> DataFrame:
    # All keys of a frame in one scan of it, distinct before anything else is done with them.
    keys = [frame.select(f.explode(f.array(*frame.columns)).alias("key")) for frame in frames]
    terms = functools.reduce(DataFrame.union, keys).where(~is_inline_column(f.col("key")))
    terms = terms.coalesce(1).distinct() if few else terms.distinct()
    terms = terms.select(id_column(f.col("key")).alias("id"), "key")
    # Partitioning by id serves this window, the join below, and readers that look ids up in sorted files.
    terms = terms.withColumn("other", f.lag("key").over(Window.partitionBy("id").orderBy("id")))
    if dictionary is None:
        return terms.where(_checked(f.col("key"), f.col("other"), f.lit(True))).select("id", "key")
    known = dictionary.select(f.col("id").alias("__id"), f.col("key").alias("__key"))
    joined = terms.join(known, terms["id"] == known["__id"], "left")
    is_new = _checked(f.col("key"), f.coalesce("other", "__key"), f.col("__id").isNull())
    return joined.where(is_new).select("id", "key")


def _checked(key: Column, other: Column, condition: Column) -> Column:
    """The condition, unless there is another key: a filter, since Spark would not compute a column that is not used."""
    both = f.concat(f.lit(_COLLISION), key, f.lit("\neverlog: and\n"), other, f.lit(_END))
    return f.when(other.isNull() | (other == key), condition).otherwise(f.raise_error(both).cast("boolean"))


def _told(text: str, start: str) -> str:
    return text.split(start, 1)[1].split(_END, 1)[0]
