"""How are aggregates computed where ids do not say enough?

A group's values come as a list of keys with multiplicities to a Python worker, where everlog.expressions.aggregates
evaluates them, as it does in process. A group whose functions do not all succeed is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from everlog.engines.spark.expressions import with_key
from everlog.engines.spark.ids import UNBOUND_ID
from everlog.expressions.aggregates import aggregate
from everlog.expressions.values import ExpressionError
from everlog.facts.terms import key_of, term_of
from everlog.plans.flat_rules import GroupFunction, GroupRule

WEIGHT = "weight"


def group_columns(rule: GroupRule) -> list[str]:
    return [f"c{position + 1}" for position in range(rule.group)]


def results_by_terms(rule: GroupRule, bag: DataFrame, terms: DataFrame) -> DataFrame:
    """The groups with the keys of their results, r0, r1, …; `terms` is the dictionary, (id, key)."""
    group = group_columns(rule)
    keyed = bag
    for column in sorted({function.column for function in rule.functions if function.column is not None}):
        keyed = with_key(keyed, f"c{column + 1}", f"k{column}", terms)
    collected = [_collected(function).alias(f"v{number}") for number, function in enumerate(rule.functions)]
    grouped = keyed.groupBy(*group).agg(*collected)  # without group columns: one row, also over nothing
    schema = ", ".join(
        [*(f"{name} long" for name in group), *(f"r{number} string" for number in range(len(rule.functions)))]
    )
    return grouped.mapInArrow(_worker(rule.functions, group), schema)


def _collected(function: GroupFunction) -> Column:
    if function.function == "COUNT" and not function.distinct:
        weight = f.col(WEIGHT)
        if function.column is not None:
            weight = f.when(f.col(f"c{function.column + 1}") != UNBOUND_ID, weight).otherwise(0)
        total = f.coalesce(f.sum(weight), f.lit(0)).cast("long")
        return f.array(f.struct(f.lit("^boolean true").alias("key"), total.alias(WEIGHT)))
    key = f.lit("^boolean true") if function.column is None else f.col(f"k{function.column}")
    return f.collect_list(f.struct(key.alias("key"), f.col(WEIGHT).alias(WEIGHT)))


def _worker(
    functions: tuple[GroupFunction, ...], group: list[str]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def evaluate(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        names = [*group, *(f"r{number}" for number in range(len(functions)))]
        for batch in batches:
            lists = [batch.column(len(group) + number).to_pylist() for number in range(len(functions))]
            valued, results = [], []
            for row in range(batch.num_rows):
                try:
                    results.append([_result(fn, values[row]) for fn, values in zip(functions, lists, strict=True)])
                    valued.append(row)
                except ExpressionError:
                    continue
            chosen = batch.take(pa.array(valued, pa.int64()))
            arrays = [chosen.column(number) for number in range(len(group))]
            arrays += [pa.array([row[number] for row in results], pa.string()) for number in range(len(functions))]
            yield pa.RecordBatch.from_arrays(arrays, names)

    return evaluate


def _result(function: GroupFunction, values: list[dict[str, object]]) -> str:
    pairs = [(None if v["key"] is None else term_of(str(v["key"])), int(str(v[WEIGHT]))) for v in values]
    return key_of(aggregate(function.function, function.distinct, [pair for pair in pairs if pair[1]]))
