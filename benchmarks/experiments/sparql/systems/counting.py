"""How does the paper's method keep a view, on DuckDB?

It yields the memory of the data first, then for each task the seconds of each update, the memory, and a digest of the
answer after each, by which systems are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pyarrow as pa

from benchmarks.experiments.sparql.measures import digest, within_patience
from benchmarks.experiments.sparql.systems.counting_sql import CountingSql, make_graph
from benchmarks.experiments.sparql.triples import plain, plain_columns
from benchmarks.experiments.sparql.workload import Task, Workload
from benchmarks.measuring.memory import held
from benchmarks.reporting.results import Record


def run_counting(workload: Workload) -> Iterator[Record]:
    """The paper's method, and one SQL query for the whole pattern after each update."""
    numbers = _Numbers() if workload.numbers else None
    before = held()
    connection = make_graph(numbers=workload.numbers)
    for facts in workload.data:
        columns = [numbers.column(each) for each in plain_columns(facts)] if numbers else plain_columns(facts)
        connection.register("loaded", pa.table(dict(zip("spo", columns, strict=True))))
        connection.execute("INSERT INTO G SELECT s, p, o, 1 FROM loaded")
        connection.unregister("loaded")
    yield {"data": held() - before}
    for task in workload.tasks:
        yield _counting_task(connection, task, numbers)


def _counting_task(connection: duckdb.DuckDBPyConnection, task: Task, numbers: _Numbers | None) -> Record:
    before = held()
    sql = CountingSql(connection, task.pattern, numbers.of if numbers else None)
    sql.fill()
    memory = held() - before
    lines = []
    for cycle, edit in within_patience(task):
        signed = [(triple, -1) for triple in edit.delete] + [(triple, 1) for triple in edit.insert]
        value: Callable[[str], object] = numbers.of if numbers else str
        taken = sql.update([(value(plain(s)), value(plain(p)), value(plain(o)), sign) for (s, p, o), sign in signed])
        memory = max(memory, held() - before)
        line = {"cycle": cycle, "edit": edit.name, "seconds": taken.pop("all"), "again": sql.scratch()}
        text: Callable[[Any], str] = numbers.text if numbers else str
        texts = (tuple(None if value is None else text(value) for value in row) for row in sql.rows())
        lines.append(line | {"operators": taken} | digest(sql.count(), texts))
    kept = sql.sizes()
    sql.drop()
    return {"task": task.name, "lines": lines, "memory": memory, "kept": kept}


class _Numbers:
    """A number for each text."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._texts: list[str] = []

    def of(self, text: str) -> int:
        if text not in self._numbers:
            self._numbers[text] = len(self._texts)
            self._texts.append(text)
        return self._numbers[text]

    def text(self, number: int) -> str:
        return self._texts[number]

    def column(self, texts: pa.Array) -> pa.Array:
        return pa.array([self.of(text) for text in texts.to_pylist()], pa.int64())
