"""Is what is kept what would be derived from scratch?

The law (ARCHITECTURE.md), on a user's own data: the explicit facts go into a fresh engine, everything is derived there,
and each relation is compared, bags with their weights. The knowledge base itself is only read.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from everlog.engines.interface import Engine, Shape
from everlog.facts.terms import Term, key_of
from everlog.facts.weighted import WeightedFacts
from everlog.maintenance.materialise import materialise, shapes
from everlog.rules.constraints import is_constraint_relation
from everlog.rules.printer import print_term
from everlog.store.bases import load_bases
from everlog.store.changes import Report
from everlog.store.engines import make_engine
from everlog.store.rematerialise import difference, load_remaining
from everlog.store.rows import Rows, column_names
from everlog.store.state import State

SAMPLES = 5  # facts of each kind that a report shows


@dataclass(frozen=True)
class Difference:
    """What is wrong in one relation."""

    relation: str
    missing: Rows  # derived from scratch, but not kept
    extra: Rows  # kept, but not derived from scratch
    wrong_weights: int = 0  # facts of a bag that are kept with another weight

    def lines(self) -> Iterator[str]:
        for what, rows in (("missing", self.missing), ("extra", self.extra)):
            if len(rows):
                yield f"{self.relation}: {len(rows):,} {what}"
                yield from (f"    {_shown(self.relation, row)}" for row in islice(rows, SAMPLES))
                if len(rows) > SAMPLES:
                    yield f"    … {len(rows) - SAMPLES:,} more"
        if self.wrong_weights:
            yield f"{self.relation}: {self.wrong_weights:,} with a wrong weight"

    def as_data(self) -> dict[str, Any]:
        from everlog.formats.jsonl import json_of_key

        def samples(rows: Rows) -> list[list[Any]]:
            return [[json_of_key(key_of(term)) for term in row] for row in islice(rows, SAMPLES)]

        return {
            "relation": self.relation,
            "missing": len(self.missing),
            "missing_samples": samples(self.missing),
            "extra": len(self.extra),
            "extra_samples": samples(self.extra),
            "wrong_weights": self.wrong_weights,
        }


@dataclass(frozen=True, repr=False)
class Verification:
    """What comparing with a run from scratch showed; true when nothing differs."""

    version: int
    relations: int  # compared
    facts: int  # derived from scratch, explicit ones included
    differences: tuple[Difference, ...]
    seconds: float

    def __bool__(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        what = f"{self.facts:,} facts of {self.relations} relations, version {self.version}, {self.seconds:.2f} s"
        if not self.differences:
            return f"as derived from scratch: {what}"
        lines = [line for each in self.differences for line in each.lines()]
        return "\n".join([f"NOT as derived from scratch: {what}", *lines])

    def __repr__(self) -> str:
        return f"<{str(self).splitlines()[0]}>"

    def _repr_html_(self) -> str:
        from everlog.answers.html import html_text

        return html_text(str(self))

    def as_data(self) -> dict[str, Any]:
        """The result for programs: what `--json` prints."""
        return {
            "equal": bool(self),
            "version": self.version,
            "relations": self.relations,
            "facts": self.facts,
            "differences": [each.as_data() for each in self.differences],
            "seconds": round(self.seconds, 6),
        }


def verify(state: State, engine: str) -> Verification:
    """Derive everything again in a fresh engine of that name, and compare."""
    started = time.perf_counter()
    kept, fresh = state.facts.reader(), make_engine(engine, state.dictionary)
    program, arities = state.definitions.program, state.arities
    for name, arity in arities.items():
        fresh.declare(Shape(name, arity))
    load_remaining(kept, fresh, arities, {}, Report())
    load_bases(fresh, program.rewriting.closures)
    materialise(fresh, program.components, state.limits.watch())
    differences = [_difference(state, Shape(name, arity), kept, fresh) for name, arity in arities.items()]
    views, whole = {view.relation for view in state.views.values()}, state.facts.whole
    others = [
        shape
        for shape in shapes(program.components)
        if shape.name in views or (whole and (shape.bag or is_constraint_relation(shape.name)))
    ]
    differences += [_difference(state, shape, kept, fresh) for shape in others]
    return Verification(
        state.version,
        len(arities),
        sum(fresh.count(name) for name in arities),
        tuple(each for each in differences if len(each.missing) or len(each.extra) or each.wrong_weights),
        time.perf_counter() - started,
    )


def _difference(state: State, shape: Shape, kept: Engine, fresh: Engine) -> Difference:
    def named(facts: WeightedFacts) -> Rows:
        return Rows(fresh.dictionary, column_names(shape.arity), facts.columns, facts.rows)

    missing, extra = named(difference(fresh, kept, shape.name)), named(difference(kept, fresh, shape.name))
    if not shape.bag:
        return Difference(shape.name, missing, extra)
    right = dict(fresh.collect(shape.name).facts())
    wrong = sum(weight != right[fact] for fact, weight in kept.collect(shape.name).facts() if fact in right)
    return Difference(shape.name, missing, extra, wrong)


def _shown(relation: str, row: tuple[Term, ...]) -> str:
    return f"{relation}({', '.join(print_term(term) for term in row)})"
