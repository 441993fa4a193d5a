"""DuckDB with hand-written SQL (`WITH RECURSIVE … UNION`). Option: the number of threads (`duckdb:2`).

Strings become integers before loading, so that DuckDB joins on what our engine joins on. In a workload's SQL, `given`
is the schema of the tables that came in, and `{text}` the integer of a string. Results are tables: as in the other
systems, they are there to be read when the run ends. `duckdb:2,count` only counts the rows of the last one: the least
DuckDB can do, and about a sixth faster on the closures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import duckdb
import numpy as np
import pyarrow as pa

from benchmarks.systems import Unsupported
from benchmarks.workload import Tables, Workload


class DuckDB:
    version = duckdb.__version__

    def __init__(self, threads: int, only_count: bool = False) -> None:
        self.only_count = only_count
        self.counted: dict[str, int] = {}
        self.connection = duckdb.connect()
        self.connection.execute(f"SET threads = {threads}")
        self.connection.execute("CREATE SCHEMA given")

    def prepare(self, workload: Workload, tables: Tables) -> None:
        if not workload.sql:
            raise Unsupported(workload.why_no_sql or "no SQL for this workload")
        terms: dict[str, int] = {}
        self.tables = {name: encoded(table, terms) for name, table in tables.items()}
        self.sql = [
            re.sub(r"\{(.+?)\}", lambda m: str(terms.setdefault(m[1], len(terms))), text) for text in workload.sql
        ]

    def load(self) -> None:
        for name, table in self.tables.items():
            self.connection.register("arriving", table)
            self.connection.execute(f'CREATE TABLE given."{name}" AS SELECT * FROM arriving')
            self.connection.unregister("arriving")

    def reason(self) -> None:
        *before, last = self.sql
        for statement in before:
            self.connection.execute(statement)
        if not self.only_count:
            self.connection.execute(last)
            return
        relation, query = re.fullmatch(r"CREATE TABLE (\w+) AS(.*)", last, re.DOTALL).groups()  # type: ignore[union-attr]
        self.counted[relation] = self.rows(f"({query})")

    def count(self, relations: Iterable[str]) -> dict[str, int]:
        return {name: self.counted.get(name) or self.rows(f'main."{name}"') for name in relations}

    def rows(self, source: str) -> int:
        found = self.connection.execute(f"SELECT count(*) FROM {source}").fetchone()
        return int(found[0]) if found else 0

    def report(self) -> dict[str, object]:
        return {}


def encoded(table: pa.Table, terms: dict[str, int]) -> pa.Table:
    """The table with each string as its number in `terms`, which grows; numbers stay."""
    columns = []
    for column in table.columns:
        if not pa.types.is_string(column.type):
            columns.append(column)
            continue
        dictionary = column.combine_chunks().dictionary_encode()
        ids = np.array([terms.setdefault(text, len(terms)) for text in dictionary.dictionary.to_pylist()], np.int64)
        columns.append(pa.array(ids[dictionary.indices.to_numpy()] if len(ids) else ids))
    return pa.table(columns, names=table.column_names)


def start(option: str) -> DuckDB:
    threads, _, mode = option.partition(",")
    return DuckDB(int(threads or 1), only_count=mode == "count")
