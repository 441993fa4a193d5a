"""Everlog, in process, with rules as written. Option: the engine (`everlog:columnar`, `everlog:reference`), or
`everlog:rewrites` for transitive rules evaluated linearly, which is how users get it."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

import everlog
from benchmarks.systems import Unsupported
from benchmarks.workload import Tables, Workload

WARM_UP = """
    warm(X, Y) :- spark(X, Y).
    warm(X, Z) :- warm(X, Y), spark(Y, Z), X != Z.
"""


class Everlog:
    version = version("everlog")

    def __init__(self, engine: str, *, rewrites: bool) -> None:
        self.engine, self.rewrites = engine, rewrites

    def open(self) -> everlog.KnowledgeBase:
        return everlog.open(engine=self.engine, rewrites=self.rewrites)

    def warm_up(self) -> None:
        """Loads the kernels, as a process does once in its life."""
        kb = self.open()
        kb.insert("spark", [(1, 2), (2, 3)])
        kb.add_rules(WARM_UP)

    def prepare(self, workload: Workload, tables: Tables) -> None:
        self.rules = workload.rules
        self.tables = {name: table for name, table in tables.items() if name != "triple" and len(table)}
        self.triples = write_triples(tables["triple"]) if "triple" in tables else None
        self.kb = self.open()

    def load(self) -> None:
        if self.tables:
            self.kb.update(insert=self.tables)
        if self.triples:
            self.kb.load(self.triples)

    def reason(self) -> None:
        self.work = getattr(self.kb.add_rules(self.rules), "report", None)  # the change itself is let go

    def count(self, relations: Iterable[str]) -> dict[str, int]:
        return {relation: len(self.kb.facts(relation)) for relation in relations}

    def report(self) -> dict[str, object]:
        if self.triples:
            self.triples.unlink()
        said: dict[str, object] = {}
        for name in ("rule_applications", "rounds"):
            said[name] = getattr(self.work, name, None)
        memory = getattr(self.kb, "memory", None)
        if memory is not None:
            known = memory()
            is_record = dataclasses.is_dataclass(known) and not isinstance(known, type)
            said["memory"] = dataclasses.asdict(known) if is_record else known
        return {name: value for name, value in said.items() if value is not None}


def write_triples(table: pa.Table) -> Path:
    """The table as a file of N-Triples, the way RDF comes in."""
    lines = pc.binary_join_element_wise(table["s"], table["p"], table["o"], pa.scalar("."), " ")
    with tempfile.NamedTemporaryFile("w", suffix=".nt", encoding="utf-8", delete=False) as file:
        for chunk in lines.chunks:
            file.write("\n".join(chunk.to_pylist()) + "\n")
    return Path(file.name)


def start(option: str) -> Everlog:
    if not hasattr(everlog, "open"):
        raise Unsupported("this everlog has no open()")
    rewrites = option == "rewrites"
    system = Everlog("columnar" if rewrites else option or "columnar", rewrites=rewrites)
    system.warm_up()
    return system
