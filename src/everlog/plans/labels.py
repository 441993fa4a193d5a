"""Which set of facts does an atom read?

The papers write `B^I`, `B^D`, `B^(I\\O)`: an atom reads a named set. Algorithms are written over these labels once; an
engine knows how to evaluate a rule whose body atoms each name one. A label is a condition on the bits that a fact
carries while an update runs: which of the bits it cares about are set. The papers' letters and our words:

    here            paper                   what it holds
    ALL, NEW, OLD   I, ΔI, I \\ ΔI           while everything is derived from scratch: row by row, no bits
    BEFORE          I                       what was there before the update
    NOW             I'                      what is there now: complete for lower components, growing for this one
    RETAINED        I ∩ I'                  there before and now
    LOST, GAINED    I \\ I', I' \\ I          the change of what a component reads
    FRONTIER        N, ΔD, ΔI               the facts that the round works on
    UNDONE          I \\ O                   there before, and not yet worked on as suspect
    UNTOUCHED       I \\ (O ∪ N)             … nor being worked on
    STANDING        (ranked deletion)       there before and now, and not suspended
    SETTLED         I \\ ΔI                  there now, and not in the frontier
    OVERDELETED     D \\ E                   taken away and not explicit: to be derived again, or lost
    UNREFUTED       I \\ S                   there before, and not disproved
    PROVED          V                       checked, and derived from what remains
    PROVED_BEFORE   V \\ N                   … and not in the frontier
"""

from __future__ import annotations

from enum import Enum, IntFlag
from typing import NamedTuple


class Bit(IntFlag):
    """What is known of a fact. No bit: a derived fact, present before and now, that the update has not touched."""

    EXPLICIT = 1
    ABSENT = 2  # not there now
    WAS_ABSENT = 4  # not there before the update
    TOUCHED = 8  # in the journal of this update
    EDITED = 16  # made explicit by this update, or no longer explicit
    FRONTIER = 32  # N: the round works on it
    CHECKED = 64  # C: a candidate for deletion, or needed to prove one
    SUSPECT = 128  # D: to be deleted unless it is proved or derived again
    DONE = 256  # O: its consequences have been looked at
    DISPROVED = 512  # S
    SUPPORTED = 1024  # Y: derived from proved facts; with CHECKED it is P
    EXPANDED = 2048  # V: what follows from its proof has been looked at
    FRESH = 4096  # concluded in this round, and read from the next on
    MARKED = 8192  # the next update deletes it, or a fact it was derived from
    SATED = 16384  # enough of its rule instances have been looked at for now
    ASKED = 32768  # all of its rule instances have been looked at

    # The backward search has no fresh conclusions; there the same bit says that easy proofs were tried.
    TRIED = 4096


PRIVATE = (
    Bit.EDITED | Bit.FRONTIER | Bit.CHECKED | Bit.SUSPECT | Bit.DONE | Bit.DISPROVED | Bit.SUPPORTED | Bit.EXPANDED
    | Bit.FRESH | Bit.SATED | Bit.ASKED
)  # fmt: skip
"""Bits that have a meaning for the current component only."""


class Condition(NamedTuple):
    """Of the bits that matter, exactly `want` are set."""

    care: int  # plain numbers: flags take a microsecond to combine
    want: int

    def holds(self, mask: int) -> bool:
        return mask & self.care == self.want


NO_BITS = Bit(0)


def having(want: Bit = NO_BITS, lacking: Bit = NO_BITS) -> Condition:
    """The condition that some bits are set and others are not."""
    return Condition(int(want | lacking), int(want))


class Label(Enum):
    """A named set of facts of a relation, as seen while a round runs."""

    ALL = "all", having(lacking=Bit.ABSENT)
    NEW = "new", having(lacking=Bit.ABSENT)
    OLD = "old", having(lacking=Bit.ABSENT)
    BEFORE = "before", having(lacking=Bit.WAS_ABSENT)
    NOW = "now", having(lacking=Bit.ABSENT)
    RETAINED = "retained", having(lacking=Bit.WAS_ABSENT | Bit.ABSENT)
    LOST = "lost", having(Bit.ABSENT, lacking=Bit.WAS_ABSENT)
    GAINED = "gained", having(Bit.WAS_ABSENT, lacking=Bit.ABSENT)
    FRONTIER = "frontier", having()
    UNDONE = "undone", having(lacking=Bit.WAS_ABSENT | Bit.DONE)
    UNTOUCHED = "untouched", having(lacking=Bit.WAS_ABSENT | Bit.DONE | Bit.FRONTIER)
    STANDING = "standing", having(lacking=Bit.WAS_ABSENT | Bit.ABSENT | Bit.SUSPECT)
    SETTLED = "settled", having(lacking=Bit.ABSENT | Bit.FRONTIER)
    OVERDELETED = "overdeleted", having(Bit.SUSPECT | Bit.ABSENT, lacking=Bit.FRESH | Bit.EXPLICIT)
    UNREFUTED = "unrefuted", having(lacking=Bit.WAS_ABSENT | Bit.DISPROVED)
    PROVED = "proved", having(Bit.EXPANDED)
    PROVED_BEFORE = "proved before", having(Bit.EXPANDED, lacking=Bit.FRONTIER)
    # Of an atom under NOT, these say when its fact counts as absent.
    NOT_NOW = "not now", having(Bit.ABSENT)
    NOT_BEFORE = "not before", having(Bit.WAS_ABSENT)
    NEVER = "neither before nor now", having(Bit.ABSENT | Bit.WAS_ABSENT)

    @property
    def condition(self) -> Condition:
        condition: Condition = self.value[1]
        return condition


FROM_SCRATCH = (Label.ALL, Label.NEW, Label.OLD)
CHANGED = (Label.LOST, Label.GAINED, Label.OVERDELETED)
"""Labels whose facts are few: those among the facts that the update has touched."""
