"""clingo, grounding only: on programs without choice the grounder derives everything, and no solving is needed.

Facts are one program part and are grounded when they are loaded; the rules are another. clingo works on one thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import clingo
import pyarrow as pa

from benchmarks.systems import Unsupported
from benchmarks.workload import Tables, Workload


class Clingo:
    version = clingo.__version__

    def __init__(self) -> None:
        # It would warn of relations that nothing defines, such as RS2's p5.
        self.control = clingo.Control(["--warn=none"])

    def prepare(self, workload: Workload, tables: Tables) -> None:
        if workload.asp is None:
            raise Unsupported(workload.why_no_asp or "no ASP for this workload")
        self.facts = "\n".join(fact for name, table in tables.items() for fact in written(name, table))
        self.rules = workload.asp

    def load(self) -> None:
        self.control.add("base", [], self.facts)
        self.control.add("rules", [], self.rules)
        self.control.ground([("base", [])])

    def reason(self) -> None:
        self.control.ground([("rules", [])])

    def count(self, relations: Iterable[str]) -> dict[str, int]:
        atoms = self.control.symbolic_atoms
        arities = {name: arity for name, arity, _ in atoms.signatures}
        return {
            name: sum(1 for _ in atoms.by_signature(name, arities[name])) if name in arities else 0
            for name in relations
        }

    def report(self) -> dict[str, object]:
        return {}


def written(name: str, table: pa.Table) -> Iterator[str]:
    """Facts as text: `edge(1,2).`; strings quoted, with clingo's three escapes."""

    def term(value: object) -> str:
        if isinstance(value, int):
            return str(value)
        return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'

    columns = [[term(value) for value in column.to_pylist()] for column in table.columns]
    for row in zip(*columns, strict=True):
        yield f"{name}({','.join(row)})."


def start(_option: str) -> Clingo:
    return Clingo()
