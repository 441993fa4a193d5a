"""DuckDB with hand-written SQL (`WITH RECURSIVE … UNION`). Option: the number of threads (`duckdb:2`).

Strings become integers before loading, so that DuckDB joins on what our engine joins on. In a workload's SQL, `given`
is the schema of the tables that came in, and `{text}` the integer of a string. Results are tables: as in the other
systems, they are there to be read when the run ends.
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

    def __init__(self, threads: int) -> None:
        self.connection = duckdb.connect()
        self.connection.execute(f"SET threads = {threads}")
        self.connection.execute("CREATE SCHEMA given")

    def prepare(self, workload: Workload, tables: Tables) -> None:
        if not workload.sql:
            raise Unsupported(workload.why_no_sql or "no SQL for this workload")
        terms: dict[str, int] = {}
        self.tables = {name: encoded(table, terms) for name, table in tables.items()}
        self.sql = [re.sub(r"\{(.+?)\}", lambda m: str(terms.setdefault(m[1], len(terms))), text)
                    for text in workload.sql]

    def load(self) -> None:
        for name, table in self.tables.items():
            self.connection.register("arriving", table)
            self.connection.execute(f'CREATE TABLE given."{name}" AS SELECT * FROM arriving')
            self.connection.unregister("arriving")

    def reason(self) -> None:
        for statement in self.sql:
            self.connection.execute(statement)

    def count(self, relations: Iterable[str]) -> dict[str, int]:
        def rows(relation: str) -> int:
            found = self.connection.execute(f'SELECT count(*) FROM main."{relation}"').fetchone()
            return int(found[0]) if found else 0

        return {relation: rows(relation) for relation in relations}

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
    return DuckDB(int(option or 1))
