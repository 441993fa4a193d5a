"""How are expressions evaluated over columns of hashed ids?

What ids alone can decide is a Spark column expression: comparisons of integers that are stored in their ids, and
whether two IRIs, blank nodes or strings are the same. Where a comparison can meet no other kinds of terms (kinds.py),
that is all of it. Otherwise the terms are needed: their distinct combinations are joined with the dictionary, evaluated
by everlog.plans.expressions in Python workers, and joined back. New values get their ids, and are added to the
dictionary later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeGuard

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from everlog.engines.spark.ids import INTEGER, OTHER, STRING, UNBOUND_ID, id_column, inline_key_column
from everlog.engines.spark.keeping import Keep, local_checkpoint
from everlog.engines.spark.kinds import ORDERS, Kinds, kinds_of_argument, may_need_terms
from everlog.expressions.values import ExpressionError, effective_boolean
from everlog.facts.terms import key_of, term_of
from everlog.plans.expressions import compile_expression
from everlog.plans.operators import Compute
from everlog.rules.syntax import Argument, Call, Constant, Expression, expression_variables

_RESULT, _DECIDED = "~result", "~decided"
_COMPARISONS: dict[str, Callable[[Column, Column], Column]] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


class Expressions:
    """FILTER and BIND over DataFrames, with the dictionary to look terms up in."""

    def __init__(
        self, terms: Callable[[], DataFrame], id_of: Callable[[Constant], int], keep: Keep = local_checkpoint
    ) -> None:
        self._terms, self._id_of, self._keep = terms, id_of, keep
        self.new_terms: list[DataFrame] = []  # values computed here, as (id, key); some may be known already

    def condition(self, expression: Expression, known: Mapping[str, Kinds]) -> Column | None:
        """The expression as a column over ids, if ids alone always decide; else None."""
        if not _compares(expression):
            return None
        kinds = [kinds_of_argument(arg, known) for arg in expression.args if isinstance(arg, Argument)]
        return None if may_need_terms(expression.function, *kinds) else self._by_ids(expression)

    def select(self, bindings: DataFrame, expression: Expression) -> DataFrame:
        """The bindings for which an expression is true."""
        if not _compares(expression):
            return self._select_by_terms(bindings, expression)
        marked = bindings.withColumn(_DECIDED, self._by_ids(expression))
        sure = marked.where(f.col(_DECIDED)).drop(_DECIDED)
        unsure = marked.where(f.col(_DECIDED).isNull()).drop(_DECIDED)
        return sure.unionByName(self._select_by_terms(unsure, expression))

    def compute(self, bindings: DataFrame, step: Compute) -> DataFrame:
        """The bindings with one more column; those without a value are dropped, or UNBOUND in an attempt."""
        names = _names(step.expression)
        values = self._keep(self._evaluate(bindings, step.expression, names, truth=False))
        keys = values.where(f.col(_RESULT).isNotNull()).select(f.col(_RESULT).alias("key")).distinct()
        self.new_terms.append(keys.select(id_column(f.col("key")).alias("id"), "key"))
        id_ = f.when(f.col(_RESULT).isNotNull(), id_column(f.col(_RESULT)))  # a hash of null would be a number
        ids = values.select(*map(_quoted, names), id_.alias(step.variable))
        if not names:
            joined = bindings.crossJoin(ids.where(f.col(_quoted(step.variable)).isNotNull() | f.lit(step.attempt)))
        else:
            joined = bindings.join(ids, on=names, how="inner")
        if step.attempt:
            return joined.fillna({step.variable: UNBOUND_ID})
        return joined.where(f.col(_quoted(step.variable)).isNotNull())

    def _by_ids(self, comparison: Call) -> Column:
        """True, false, or null where the ids do not say."""
        a, b = (self._value(arg) for arg in comparison.args if isinstance(arg, Argument))
        kind_a, kind_b = a.bitwiseAND(f.lit(7)), b.bitwiseAND(f.lit(7))
        decided = _COMPARISONS[comparison.function](a, b)
        unsure = (kind_a == OTHER) | (kind_b == OTHER)
        if comparison.function in ORDERS:
            decided = (kind_a == INTEGER) & (kind_b == INTEGER) & decided  # other kinds have no order, or not in ids
            unsure = unsure | ((kind_a == STRING) & (kind_b == STRING))
        return f.when(~unsure, decided)

    def _value(self, arg: Argument) -> Column:
        return f.lit(self._id_of(arg)).cast("long") if isinstance(arg, Constant) else f.col(_quoted(arg.name))

    def _select_by_terms(self, bindings: DataFrame, expression: Expression) -> DataFrame:
        names = _names(expression)
        true = self._evaluate(bindings, expression, names, truth=True).where(f.col(_RESULT) == "true").drop(_RESULT)
        if not names:
            return bindings.crossJoin(true)
        return bindings.join(true, on=names, how="left_semi")

    def _evaluate(self, bindings: DataFrame, expression: Expression, names: Sequence[str], *, truth: bool) -> DataFrame:
        """Distinct inputs with the key of the value, null where there is none; "true" and "false" for conditions."""
        spark = bindings.sparkSession
        # Without inputs there is one row still; it needs a column to cross to Python in.
        inputs = bindings.select(*map(_quoted, names)).distinct() if names else spark.range(1)
        for number, name in enumerate(names):
            inputs = with_key(inputs, name, f"~key{number}", self._terms())
        schema = ", ".join([*(f"`{name}` long" for name in names), f"`{_RESULT}` string"])
        return inputs.mapInArrow(_worker(expression, list(names), truth), schema)


def with_key(frame: DataFrame, id_name: str, key_name: str, terms: DataFrame) -> DataFrame:
    """A frame with the keys of a column of ids; integers in their ids need no look-up, UNBOUND has none."""
    id_ = f.col(_quoted(id_name))
    known = terms.select(f.col("id").alias("~id"), f.col("key").alias("~key"))
    joined = frame.join(known, on=id_ == f.col("~id"), how="left")
    return joined.withColumn(key_name, f.coalesce(inline_key_column(id_), f.col("~key"))).drop("~id", "~key")


def _worker(
    expression: Expression, names: list[str], truth: bool
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a Python worker does with a batch: decode, evaluate, encode."""

    def evaluate(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        compiled = compile_expression(expression, names)
        width = len(names)
        for batch in batches:
            columns = [batch.column(width + number).to_pylist() for number in range(width)]
            results: list[str | None] = []
            for row in range(batch.num_rows):
                keys = [column[row] for column in columns]
                try:
                    value = compiled([None if key is None else term_of(key) for key in keys])
                    results.append(str(effective_boolean(value)).lower() if truth else key_of(value))
                except ExpressionError:
                    results.append(None)
            arrays = [batch.column(number) for number in range(width)]
            yield pa.RecordBatch.from_arrays([*arrays, pa.array(results, pa.string())], [*names, _RESULT])

    return evaluate


def _compares(expression: Expression) -> TypeGuard[Call]:
    """Is this a comparison of two variables or constants?"""
    return (
        isinstance(expression, Call)
        and expression.function in _COMPARISONS
        and all(isinstance(arg, Argument) for arg in expression.args)
    )


def _names(expression: Expression) -> list[str]:
    return sorted({variable.name for variable in expression_variables(expression)})


def _quoted(name: str) -> str:
    return f"`{name}`"
