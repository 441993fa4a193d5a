"""Which set of facts does an atom read?

The papers write `B^I`, `B^D`, `B^(I\\O)`: an atom reads a named set. Algorithms are written over these labels once; an
engine knows how to evaluate a rule whose body atoms each name one. The papers' letters and our words:

    here    paper                           what it holds
    ALL     I (semi-naive: all so far)      every fact present when the round began
    NEW     ΔI                              facts gained in the round before
    OLD     I \\ ΔI                          ALL without NEW
"""

from __future__ import annotations

from enum import Enum


class Label(Enum):
    """A named set of facts of a relation, as seen while a round runs."""

    ALL = "all"
    NEW = "new"
    OLD = "old"
