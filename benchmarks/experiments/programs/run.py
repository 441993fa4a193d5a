"""What does a program of very many rules cost, and an update that reaches three of them?

Chains of three rules with one body atom each, as a hierarchy of classes has them: over triples, and over a relation for
each class. Measured are adding all of them to an empty knowledge base, a fact in and out again at the beginning of a
chain, and one more rule in and out again. Beside that a program that people wrote, where it is at hand: the 1,337 rules
of Claros-LE.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import everlog
from benchmarks.datasets.shared_data import DataMissing, shared_data
from benchmarks.reporting.results import Record, Says, new_results, write_results
from everlog.facts.terms import IRI, RDF_TYPE

SIZES = (3, 1_000, 10_000, 100_000)
QUICK = (3, 300)
TIMES = 30


class Kind(NamedTuple):
    """How classes are written: rules of a chain's number and place, and a fact of what a chain begins with."""

    name: str
    prefix: str
    rule: Callable[[int, int], str]
    fact: Callable[[str], tuple[str, tuple[Any, ...]]]


KINDS = (
    Kind(
        "triples",
        "PREFIX : <urn:>\n",
        lambda chain, place: f":C{chain}_{place + 1}[?x] :- :C{chain}_{place}[?x].",
        lambda thing: ("triple", (IRI(f"urn:{thing}"), IRI(RDF_TYPE), IRI("urn:C0_0"))),
    ),
    Kind(
        "relations",
        "",
        lambda chain, place: f"c{chain}_{place + 1}(?x) :- c{chain}_{place}(?x).",
        lambda thing: ("c0_0", (thing,)),
    ),
)


def bench_programs(folder: Path, says: Says, *, quick: bool) -> Record:
    """Measure and write the results; returns what programs.json then holds."""
    from benchmarks.experiments.programs.report import draw, page

    results = new_results(quick=quick, times=TIMES)
    results["lines"] = [measured(kind, size, says) for kind in KINDS for size in (QUICK if quick else SIZES)]
    results["claros"] = claros(says)
    write_results(folder, "programs", results, page, draw)
    return results


def measured(kind: Kind, size: int, says: Says) -> Record:
    """What a program of so many rules costs."""
    text = kind.prefix + "\n".join(kind.rule(number // 3, number % 3) for number in range(size))
    kb = everlog.open()
    started = time.perf_counter()
    kb.add_rules(text)
    line: Record = {"kind": kind.name, "rules": size, "add": time.perf_counter() - started}
    relation, row = kind.fact("first")
    kb.insert(relation, [row])
    steps: dict[str, list[float]] = {"insert": [], "delete": [], "rule in": [], "rule out": []}
    for number in range(TIMES):
        _, row = kind.fact(f"x{number}")
        changed = _timed(steps["insert"], lambda row=row: kb.insert(relation, [row]))
        assert len(changed.report.phases) == 3
        _timed(steps["delete"], lambda row=row: kb.delete(relation, [row]))
    for number in range(3):
        _timed(steps["rule in"], lambda number=number: kb.add_rules(f"{kind.prefix}one: {kind.rule(size + number, 0)}"))
        _timed(steps["rule out"], lambda: kb.remove_rules("one"))
    line |= {name: median(times) for name, times in steps.items()}
    says(f"{size:,} rules over {kind.name}: {line['add']:.2f} s, an update {1e3 * line['insert']:.2f} ms")
    return line


def claros(says: Says) -> Record | None:
    """The rules of Claros-LE, over no data."""
    try:
        text = gzip.decompress(shared_data("ontologies", "claros.dlog.gz").read_bytes()).decode()
    except DataMissing:
        return None
    kb = everlog.open()
    started = time.perf_counter()
    kb.add_rules(text)
    seconds = time.perf_counter() - started
    says(f"Claros: {seconds:.2f} s")
    return {"rules": len(kb.program.rules), "seconds": seconds}


def _timed(times: list[float], do: Callable[[], Any]) -> Any:
    started = time.perf_counter()
    done = do()
    times.append(time.perf_counter() - started)
    return done
