"""By which way are the tables kept true?

resident    the tables are opened in this process, once per run or stream, and updates are applied there with
            everything that maintenance can do; the fastest by far while the facts fit
bulk        everything is derived on Spark, and the difference is appended: the first load, large changes, and what
            does not fit the memory of this process
"""

from __future__ import annotations

from typing import NamedTuple

from everlog.limits import available_memory
from everlog.pipeline.settings_parts import MaintainSettings
from everlog.tables.commits import Commit

RESIDENT, BULK = "resident", "bulk"

_BYTES_A_FACT, _BYTES_A_TERM = 130, 160  # of this process, with indexes and what an update needs
_LARGE_SHARE, _LARGE_ROWS = 0.25, 200_000  # a change of more than both is large
_SHARE_OF_MEMORY = 0.5


class Way(NamedTuple):
    """A way, and why it is taken."""

    name: str
    why: str


def choose_way(settings: MaintainSettings, base: Commit, changed: int, *, known: bool) -> Way:
    """The way for a change of so many explicit facts; `known`: the tables say which program they follow."""
    if not base.version:
        return Way(BULK, "the first load")
    if not known:
        return Way(BULK, "the tables do not say which program they follow from")
    if settings.way in (RESIDENT, BULK):
        return Way(settings.way, "as the settings say")
    facts = sum(state.facts for state in base.tables.values())
    terms = base.tables["dictionary"].rows if "dictionary" in base.tables else 0
    needed = facts * _BYTES_A_FACT + terms * _BYTES_A_TERM
    budget = settings.memory if settings.memory is not None else int(available_memory() * _SHARE_OF_MEMORY)
    if needed > budget:
        return Way(
            BULK, f"{facts:,} facts would take {needed >> 20:,} MB of this process, and {budget >> 20:,} are there"
        )
    if changed > max(_LARGE_ROWS, _LARGE_SHARE * facts):
        return Way(BULK, f"{changed:,} changes of {facts:,} facts")
    return Way(RESIDENT, f"{facts:,} facts fit")
