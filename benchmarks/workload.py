"""What is a workload? Rules, data to run them on, what must come out, and the same question for other systems.

Rules live in `programs/NAME.dl`, so that `everlog run` takes them too; a workload strips the `@import` lines and hands
over tables instead. A table is an Arrow table of one relation. The relation `triple` is RDF: its three columns hold
terms as N-Triples writes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = Path(__file__).resolve().parent / "programs"

Tables = dict[str, pa.Table]


@dataclass(frozen=True)
class Target:
    """What was asked of us: at most so many seconds, or at least so many derivations a second, or bytes a fact."""

    seconds: float | None = None
    derivations_per_second: float | None = None
    bytes_per_fact: float | None = None
    no_slower_than: tuple[str, ...] = ()  # systems


@dataclass(frozen=True)
class Workload:
    """One question, answered by several systems.

    `data(scale)` gives the tables; scale 1 is the size of the table in README.md, and `scales` says whether ten times
    that is ten times the work. `counts` are facts per relation at scale 1, `derivations` the rule instances there that
    semi-naive evaluation has to look at: both are the same on every machine.
    """

    name: str
    title: str
    data: Callable[[float], Tables]
    counts: Mapping[str, int]
    derivations: int | None = None
    sql: tuple[str, ...] = ()
    sql_rewritten: bool = False  # the SQL does less work than the rules as written ask for
    asp: str | None = None
    scales: bool = False
    tiny: float | None = None  # the scale at which tests run it; None: only at full size
    target: Target = field(default_factory=Target)
    program: str = ""  # the stem of its file in programs/, where it is not the name
    why_no_sql: str = ""
    why_no_asp: str = ""

    @property
    def rules(self) -> str:
        """Its rules, without `@import` lines."""
        return rules_of(self.program or self.name)


def rules_of(program: str) -> str:
    """The text of `programs/PROGRAM.dl` without its imports and leading comments."""
    text = (PROGRAMS / f"{program}.dl").read_text(encoding="utf-8")
    return re.sub(r"^(@import .*|%.*)\n", "", text, flags=re.MULTILINE)


def as_asp(rules: str) -> str:
    """Plain rules (capital variables, no triples) as clingo reads them: no rule names, one head each.

    >>> as_asp("r1: p(X), q(X) :- r(X, Y).")
    'p(X) :- r(X, Y).\\nq(X) :- r(X, Y).'
    """
    unnamed = re.sub(r"^\w+:\s", "", rules, flags=re.MULTILINE)
    statements = [" ".join(part.split()) for part in re.split(r"\.\s*$", unnamed, flags=re.MULTILINE) if part.strip()]
    out = []
    for statement in statements:
        head, body = statement.split(":-")
        out += [f"{one.strip()} :- {body.strip()}." for one in re.split(r"(?<=\)),", head)]
    return "\n".join(out)


def closure_sql(base: str, result: str, guard: str = "") -> str:
    """`result` becomes the transitive closure of the query or table `base` (columns x and y)."""
    where = f" WHERE {guard}" if guard else ""
    return f"""CREATE TABLE {result} AS
        WITH RECURSIVE base(x, y) AS MATERIALIZED ({base}), closure(x, y) AS (
            SELECT x, y FROM base UNION SELECT c.x, b.y FROM closure c JOIN base b ON c.y = b.x{where})
        SELECT x, y FROM closure"""
