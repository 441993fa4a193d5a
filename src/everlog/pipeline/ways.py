"""By which way are the tables kept true?

resident    the tables are opened in this process, once per run or stream, and updates are applied there with
            everything that maintenance can do; the fastest by far while the facts fit
paged       the same, but facts stay in sorted files beside the tables, and only what an update looks at is read: for
            small changes of facts that do not fit; what would read a large part of them goes to bulk
bulk        everything is derived on Spark, and the difference is appended: the first load, and large changes
"""

from __future__ import annotations

from typing import NamedTuple

from everlog.limits import available_memory
from everlog.pipeline.settings_parts import MaintainSettings
from everlog.tables.commits import Commit

RESIDENT, PAGED, BULK = "resident", "paged", "bulk"

_BYTES_A_FACT, _BYTES_A_TERM = 130, 160  # of this process, with indexes and what an update needs
_LARGE_SHARE, _LARGE_ROWS = 0.25, 200_000  # a change of more than both is large
_LARGE_FOR_PAGES = 50_000  # as a paged engine takes some hundred microseconds a fact, and Spark some seconds a job
_SHARE_OF_MEMORY = 0.5


class Way(NamedTuple):
    """A way, and why it is taken."""

    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.name}: {self.why}"


def choose_way(settings: MaintainSettings, base: Commit, changed: int, *, known: bool) -> Way:
    """The way for a change of so many explicit facts; `known`: the tables say which program they follow."""
    if not base.version:
        return Way(BULK, "the first load")
    if not known:
        return Way(BULK, "the tables do not say which program they follow from")
    if settings.way in (RESIDENT, PAGED, BULK):
        return Way(settings.way, "as the settings say")
    way = way_in_process(settings, base)
    facts = _facts(base)
    if changed > (_LARGE_FOR_PAGES if way.name == PAGED else max(_LARGE_ROWS, _LARGE_SHARE * facts)):
        return Way(BULK, f"{changed:,} changes of {facts:,} facts")
    return way


def way_in_process(settings: MaintainSettings, base: Commit) -> Way:
    """The way for small changes, such as those of a stream: by what this process can hold."""
    if settings.way in (RESIDENT, PAGED):
        return Way(settings.way, "as the settings say")
    facts = _facts(base)
    terms = base.tables["dictionary"].rows if "dictionary" in base.tables else 0
    needed = facts * _BYTES_A_FACT + terms * _BYTES_A_TERM
    budget = settings.memory if settings.memory is not None else int(available_memory() * _SHARE_OF_MEMORY)
    if needed <= budget:
        return Way(RESIDENT, f"{facts:,} facts fit")
    return Way(PAGED, f"{facts:,} facts would take {needed >> 20:,} MB of this process, and {budget >> 20:,} are there")


def _facts(base: Commit) -> int:
    return sum(state.facts for state in base.tables.values())
