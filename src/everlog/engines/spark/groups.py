"""How are aggregates computed over a bag in a DataFrame?

A bag keeps each group's values with their multiplicities. There are two ways:

1. *By ids*, in Spark: counts, and functions of integers that are stored in their ids. It works for a *plain* group: no
   value that matters is anything else, and nothing leaves the range in which Spark is exact.
2. *By terms* (groups_by_terms.py): the values of a group as a list in a Python worker, evaluated as in process.

All groups are tried the first way, and those that are not plain go the second. Commonly all are plain; then no term is
looked up and no values are moved.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import StringType

from everlog.engines.spark.groups_by_terms import WEIGHT, group_columns, results_by_terms
from everlog.engines.spark.ids import INTEGER, UNBOUND_ID, id_column
from everlog.engines.spark.keeping import Keep, local_checkpoint
from everlog.expressions.numbers import divide
from everlog.facts.terms import key_of
from everlog.plans.flat_rules import GroupFunction, GroupRule

_PLAIN = "~plain"
_ADDING = ("SUM", "AVG", "MEDIAN")
# Spark's percentile is made of doubles: halves of integers up to here are exact.
_MOST_IN_MEDIAN = 1 << 52


def group_facts(
    rule: GroupRule, bag: DataFrame, terms: Callable[[], DataFrame], keep: Keep = local_checkpoint
) -> tuple[DataFrame, DataFrame]:
    """The aggregate's facts (c1, c2, …), and the terms (id, key) that its results may be.

    `terms` gives the dictionary, should it be needed; `keep` is given what is read twice.
    """
    results = keep(_results(rule, bag, terms, keep))
    names = [f"r{number}" for number in range(len(rule.functions))]
    ids = [id_column(f.col(name)).alias(f"c{rule.group + number + 1}") for number, name in enumerate(names)]
    keys = reduce(DataFrame.unionAll, [results.select(f.col(name).alias("key")) for name in names]).distinct()
    return results.select(*group_columns(rule), *ids), keys.select(id_column(f.col("key")).alias("id"), "key")


def _results(rule: GroupRule, bag: DataFrame, terms: Callable[[], DataFrame], keep: Keep) -> DataFrame:
    """The groups with the keys of their results, r0, r1, …"""
    if not all(map(_works_by_ids, rule.functions)):
        return results_by_terms(rule, bag, terms())
    group = group_columns(rule)
    tried = keep(_try_by_ids(rule, bag))
    plain, others = tried.where(f.col(_PLAIN)).drop(_PLAIN), tried.where(~f.col(_PLAIN)).select(*group)
    if others.isEmpty():
        return plain
    rest = bag.join(others, on=group, how="left_semi") if group else bag
    return plain.unionAll(results_by_terms(rule, rest, terms()))


def _works_by_ids(function: GroupFunction) -> bool:
    return not function.distinct or (function.column is not None and function.function not in _ADDING)


def _try_by_ids(rule: GroupRule, bag: DataFrame) -> DataFrame:
    """Every group with the keys of its results, and whether they can be trusted; they are null or wrong if not."""
    group = group_columns(rule)
    steps = [_by_ids(function) for function in rule.functions]
    plain = f.coalesce(reduce(and_, (trusted for _, trusted in steps)), f.lit(False))  # null: there are no values
    results = [key.alias(f"r{number}") for number, (key, _) in enumerate(steps)]
    return bag.groupBy(*group).agg(*results, plain.alias(_PLAIN))


def _by_ids(function: GroupFunction) -> tuple[Column, Column]:
    """Two aggregates over a group: the key of the function's value, and whether it can be trusted."""
    weight = f.col(WEIGHT)
    if function.column is None:
        return _integer_key(_count(weight)), f.lit(True)
    id_ = f.col(f"c{function.column + 1}")
    value, integers = f.shiftright(id_, 3), f.bool_and(id_.bitwiseAND(f.lit(7)) == INTEGER)
    match function.function:
        case "COUNT":
            succeeded = id_ != UNBOUND_ID
            distinct = f.count_distinct(f.when(succeeded, id_))
            return _integer_key(distinct if function.distinct else _count(f.when(succeeded, weight))), f.lit(True)
        case "MIN" | "SAMPLE":
            return _integer_key(f.min(value)), integers
        case "MAX":
            return _integer_key(f.max(value)), integers
        case "MEDIAN":
            exact = f.bool_and(f.abs(value) <= _MOST_IN_MEDIAN)
            return _median_key(f.percentile(value, 0.5, weight), f.sum(weight)), integers & exact
    product = f.try_multiply(value, weight)  # null beyond 64 bits
    total = f.try_sum(product)
    exact = f.bool_and(product.isNotNull()) & total.isNotNull()
    key = _integer_key(total) if function.function == "SUM" else _quotient_key(total, f.sum(weight))
    return key, integers & exact


def _count(weight: Column) -> Column:
    return f.coalesce(f.sum(weight), f.lit(0))  # a sum of nothing is null


def _integer_key(value: Column) -> Column:
    return f.concat(f.lit("^integer "), value.cast("string"))


def _median_key(middle: Column, size: Column) -> Column:
    """Of an odd number of integers the one in the middle; of an even number a decimal, whole or a half."""
    halves = f.concat(f.lit("^decimal "), middle.cast("decimal(20, 1)").cast("string"))
    return f.when(size % 2 == 1, _integer_key(middle.cast("long"))).otherwise(halves)


@f.udf(returnType=StringType(), useArrow=False)
def _quotient_key(total: int | None, size: int) -> str | None:
    """By Python, once per group: Spark rounds decimals to other digits than we do."""
    return None if total is None else key_of(divide(total, size))
