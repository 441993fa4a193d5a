"""How does each system keep a view, or ask again? Everlog, the paper's method on DuckDB, and pyoxigraph.

Each function takes a workload through all its updates and returns the seconds of each, the memory, and a digest of the
answer after each update, by which systems are compared. The answer of Everlog's view is compared with a fresh query.
"""

from __future__ import annotations

import gc
import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from everlog.benches.counting_sql import CountingSql, make_graph
from everlog.benches.memory import held
from everlog.benches.results import Record
from everlog.benches.sparql_workload import Task, Workload
from everlog.benches.triple_data import Edit, Triple, ntriples, plain, plain_columns, terms
from everlog.errors import EngineError
from everlog.facts.terms import key_of
from everlog.store.opening import open as open_kb
from everlog.store.store import KnowledgeBase

FEW = 10_000  # rows up to which answers of different systems are compared by content; beyond it, by number
OFTEN = 3  # times that a quick query is asked again; the fastest counts
PATIENCE = 20.0  # seconds for one task: a slow system goes through fewer cycles of its updates


def run_everlog(workload: Workload) -> Record:
    """The view kept, and the query asked afresh after each update."""
    before = held()
    kb = open_kb()
    kb.update(insert=workload.data)
    loaded = held()
    return {"data": loaded - before, "tasks": [_everlog_task(kb, task) for task in workload.tasks]}


def _everlog_task(kb: KnowledgeBase, task: Task) -> Record:
    before = held()
    view = kb.view("view", task.text)
    memory = held() - before
    lines: list[Record] = []
    for cycle, edit in _within_patience(task):
        delete, insert = {"triple": terms(edit.delete)}, {"triple": terms(edit.insert)}
        started = time.perf_counter()
        kb.update(delete=delete, insert=insert)
        seconds = time.perf_counter() - started
        if not lines:
            memory = max(memory, held() - before)  # with what the first update adds to it, and no query yet
        fresh, again = _quickest(lambda: kb.query(task.text))
        rows = view.rows()
        if not np.array_equal(_ordered(rows), _ordered(fresh)):
            raise EngineError(f"{task.name}: after {edit.name} the view is not what a fresh query gives")
        compared = kb.query(task.comparable)
        texts = (tuple(None if term is None else plain(key_of(term)) for term in row) for row in compared)
        line = {"cycle": cycle, "edit": edit.name, "seconds": seconds, "again": again, "rows": len(fresh)}
        line |= {"edits": len(edit.delete) + len(edit.insert)}
        lines.append(line | _digest(len(compared), texts))
    view.drop()
    return {"task": task.name, "lines": lines, "memory": memory}


def run_counting(workload: Workload) -> Record:
    """The paper's method, and one SQL query for the whole pattern after each update."""
    numbers = _Numbers() if workload.numbers else None
    before = held()
    connection = make_graph(numbers=workload.numbers)
    for facts in workload.data:
        columns = [numbers.column(each) for each in plain_columns(facts)] if numbers else plain_columns(facts)
        connection.register("loaded", pa.table(dict(zip("spo", columns, strict=True))))
        connection.execute("INSERT INTO G SELECT s, p, o, 1 FROM loaded")
        connection.unregister("loaded")
    loaded = held()
    return {"data": loaded - before, "tasks": [_counting_task(connection, task, numbers) for task in workload.tasks]}


def _counting_task(connection: duckdb.DuckDBPyConnection, task: Task, numbers: _Numbers | None) -> Record:
    before = held()
    sql = CountingSql(connection, task.pattern, numbers.of if numbers else None)
    sql.fill()
    memory = held() - before
    lines = []
    for cycle, edit in _within_patience(task):
        signed = [(triple, -1) for triple in edit.delete] + [(triple, 1) for triple in edit.insert]
        value: Callable[[str], object] = numbers.of if numbers else str
        taken = sql.update([(value(plain(s)), value(plain(p)), value(plain(o)), sign) for (s, p, o), sign in signed])
        memory = max(memory, held() - before)
        line = {"cycle": cycle, "edit": edit.name, "seconds": taken.pop("all"), "again": sql.scratch()}
        text: Callable[[Any], str] = numbers.text if numbers else str
        texts = (tuple(None if value is None else text(value) for value in row) for row in sql.rows())
        lines.append(line | {"operators": taken} | _digest(sql.count(), texts))
    kept = sql.sizes()
    sql.drop()
    return {"task": task.name, "lines": lines, "memory": memory, "kept": kept}


def run_oxigraph(workload: Workload) -> Record:
    """The query asked again in pyoxigraph; its updates are not counted."""
    import pyoxigraph as ox

    before = held()
    store = ox.Store()
    for facts in workload.data:
        store.bulk_load(input=ntriples(facts), format=ox.RdfFormat.N_TRIPLES)
    loaded = held()
    return {"data": loaded - before, "tasks": [_oxigraph_task(store, task) for task in workload.tasks]}


def _oxigraph_task(store: Any, task: Task) -> Record:
    lines = []
    for cycle, edit in _within_patience(task):
        for triple in edit.delete:
            store.remove(_quad(triple))
        store.extend([_quad(triple) for triple in edit.insert])
        count, again = _quickest(lambda: sum(1 for _ in store.query(task.text)))
        texts: list[tuple[str | None, ...]] = []
        if count <= FEW:
            rows = store.query(task.comparable)
            texts = [tuple(None if term is None else term.value for term in row) for row in rows]
            count = len(texts)
        lines.append({"cycle": cycle, "edit": edit.name, "again": again} | _digest(count, texts))
    return {"task": task.name, "lines": lines}


def _within_patience(task: Task) -> Iterator[tuple[int, Edit]]:
    """The updates, in whole cycles, with the number of the cycle."""
    started = time.monotonic()
    for number, cycle in enumerate(task.cycles):
        for edit in cycle:
            gc.collect()  # what was left behind is not the next update's work
            yield number, edit
        if time.monotonic() - started > PATIENCE:
            return


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


SYSTEMS: dict[str, Callable[[Workload], Record]] = {
    "everlog": run_everlog,
    "counting": run_counting,
    "oxigraph": run_oxigraph,
}


def _quickest(action: Callable[[], Any]) -> tuple[Any, float]:
    best = float("inf")
    for _ in range(OFTEN):
        started = time.perf_counter()
        found = action()
        best = min(best, time.perf_counter() - started)
        if best > 0.1:
            break
    return found, best


def _digest(count: int, rows: Iterable[tuple[str | None, ...]]) -> Record:
    """By which the answers of systems are compared: their number, and their content where they are few."""
    if count > FEW:
        return {"answers": count, "digest": None}
    listed = sorted(repr(row) for row in rows)
    return {"answers": count, "digest": hashlib.sha256("\n".join(listed).encode()).hexdigest()[:16]}


def _ordered(solutions: Any) -> npt.NDArray[Any]:
    """Solutions as sorted rows of ids: the same for the same bag."""
    columns = solutions._columns
    if len(columns) == 2:  # one number for each row sorts faster than two
        return np.sort(columns[0].astype(np.int64) << 32 | columns[1].astype(np.int64) & 0xFFFFFFFF)
    rows = np.stack(columns, axis=1) if columns else np.zeros((len(solutions), 0))
    return rows[np.lexsort(rows.T)] if columns and len(rows) else rows


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
