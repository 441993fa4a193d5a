"""How are views read from their tables on Spark, as term keys?

Most views are frames like relations. Those that order, cut or construct (store/view_rows.py) are worked out in this
process, from the rows of their answer relation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from everlog.engines.spark.tagged import id_columns
from everlog.store.view_queries import ViewQuery
from everlog.store.view_rows import Keys, is_row_by_row, shown_names, shown_rows
from everlog.tables.layout import VERSION, WEIGHT

Decode = Callable[[DataFrame], DataFrame]  # ids to keys, whatever else stands beside them


def view_frame(view: ViewQuery, rows: DataFrame, decode: Decode) -> DataFrame:
    """What a view shows, given the rows of its table: keys, null where there is no term."""
    if not is_row_by_row(view):
        there = decode(rows.select(*id_columns(view.arity), WEIGHT)).collect()
        return _frame(rows.sparkSession, view, (tuple(row) for row in shown_rows(view, _weighted(there))))
    columns = id_columns(len(shown_names(view)))
    repeated = rows.select(*columns, f.explode(f.array_repeat(f.lit(0), f.col(WEIGHT).cast("int"))).alias("time"))
    return decode(repeated.select(*columns))


def view_changes(view: ViewQuery, before: DataFrame | None, changes: DataFrame, decode: Decode) -> DataFrame:
    """What came and went of what a view shows: keys, weight and version.

    Args:
        before: the rows of its table before the changes; None if there was no such view.
        changes: the rows of its table that say what happened since.
    """
    names, columns = [WEIGHT, VERSION], id_columns(view.arity)
    if is_row_by_row(view):
        shown = columns[: len(shown_names(view))]
        summed = changes.groupBy(*shown, VERSION).agg(f.sum(WEIGHT).alias(WEIGHT)).where(f.col(WEIGHT) != 0)
        return decode(summed.select(*shown, *names))
    then = decode(before.select(*columns, WEIGHT)).collect() if before is not None else None
    since = decode(changes.select(*columns, *names)).collect()
    return _frame(changes.sparkSession, view, _shown_changes(view, then, since), names)


def _shown_changes(view: ViewQuery, before: Sequence[Any] | None, changes: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """What each version did to what is shown, from what it did to the answer relation."""
    there, shown = Counter(dict(_weighted(before or ()))), Counter[Keys]()
    by_version: dict[int, list[Any]] = {}
    if before is None:
        by_version[view.since] = []  # a view that begins without solutions may show something: ASK does
    else:
        shown.update(shown_rows(view, there.items()))
    for row in changes:
        by_version.setdefault(row[VERSION], []).append(row)
    for version, rows in sorted(by_version.items()):
        for keys, weight in _weighted(rows):
            there[keys] += weight
        now = Counter(shown_rows(view, ((keys, weight) for keys, weight in there.items() if weight)))
        for keys in dict.fromkeys((*now, *shown)):
            if now[keys] != shown[keys]:
                yield *keys, now[keys] - shown[keys], version
        shown = now


def _weighted(rows: Iterable[Any]) -> Iterator[tuple[Keys, int]]:
    for row in rows:
        keys = tuple(row[name] for name in row.__fields__ if name not in (WEIGHT, VERSION))
        yield keys, row[WEIGHT]


def _frame(
    spark: SparkSession, view: ViewQuery, rows: Iterable[tuple[Any, ...]], more: Sequence[str] = ()
) -> DataFrame:
    columns = [f"{name} string" for name in id_columns(len(shown_names(view)))]
    return spark.createDataFrame(list(rows), ", ".join([*columns, *(f"{name} long" for name in more)]))
