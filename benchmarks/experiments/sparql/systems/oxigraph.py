"""How long does pyoxigraph take to answer again? It keeps no views."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyoxigraph as ox

from benchmarks.experiments.sparql.measures import FEW, digest, quickest, within_patience
from benchmarks.experiments.sparql.triples import Triple, ntriples, plain
from benchmarks.experiments.sparql.workload import Task, Workload
from benchmarks.measuring.memory import held
from benchmarks.reporting.results import Record


def run_oxigraph(workload: Workload) -> Iterator[Record]:
    """The query asked again in pyoxigraph; its updates are not counted."""
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


def _quad(triple: Triple) -> Any:
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
