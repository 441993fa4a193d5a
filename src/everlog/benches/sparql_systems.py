"""How does each system keep a view, or ask again? Everlog, the paper's method on DuckDB, and pyoxigraph.

Each function takes a workload through all its updates. It yields the memory of the data first, then for each task the
seconds of each update, the memory, and a digest of the answer after each, by which systems are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pyarrow as pa

from everlog.benches.counting_sql import CountingSql, make_graph
from everlog.benches.memory import held
from everlog.benches.results import Record
from everlog.benches.sparql_everlog import run_everlog
from everlog.benches.sparql_measures import FEW, digest, quickest, within_patience
from everlog.benches.sparql_workload import Task, Workload
from everlog.benches.triple_data import Triple, ntriples, plain, plain_columns


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


def run_oxigraph(workload: Workload) -> Iterator[Record]:
    """The query asked again in pyoxigraph; its updates are not counted."""
    import pyoxigraph as ox

    before = held()
    store = ox.Store()
    for facts in workload.data:
        store.bulk_load(input=ntriples(facts), format=ox.RdfFormat.N_TRIPLES)
    yield {"data": held() - before}
    for task in workload.tasks:
        yield _oxigraph_task(store, task)


def _oxigraph_task(store: Any, task: Task) -> Record:
    lines = []
    for cycle, edit in within_patience(task):
        for triple in edit.delete:
            store.remove(_quad(triple))
        store.extend([_quad(triple) for triple in edit.insert])
        count, again = quickest(lambda: sum(1 for _ in store.query(task.text)))
        texts: list[tuple[str | None, ...]] = []
        if count <= FEW:
            rows = store.query(task.comparable)
            texts = [tuple(None if term is None else term.value for term in row) for row in rows]
            count = len(texts)
        lines.append({"cycle": cycle, "edit": edit.name, "again": again} | digest(count, texts))
    return {"task": task.name, "lines": lines}


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


SYSTEMS: dict[str, Callable[[Workload], Iterator[Record]]] = {
    "everlog": run_everlog,
    "counting": run_counting,
    "oxigraph": run_oxigraph,
}


def _quad(triple: Triple) -> Any:
    import pyoxigraph as ox

    subject, predicate, object_ = triple
    text = plain(object_)
    value: Any
    if object_[0] == "<":
        value = ox.NamedNode(text)
    elif object_[0] == "@":
        value = ox.Literal(text, language=object_[1:].split(" ", 1)[0])
    elif object_[0] == "^":
        datatype = object_[1:].split(" ", 1)[0]
        datatype = datatype if ":" in datatype else "http://www.w3.org/2001/XMLSchema#" + datatype
        value = ox.Literal(text, datatype=ox.NamedNode(datatype))
    else:
        value = ox.Literal(text)
    return ox.Quad(ox.NamedNode(plain(subject)), ox.NamedNode(plain(predicate)), value)
