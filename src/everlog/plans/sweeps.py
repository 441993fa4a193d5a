"""What does a pass over labelled facts do to the facts it reaches?

The steps of the papers (DR2, checkProvability, saturate, …) have one shape: rule instances that use certain facts are
found, and their heads get or lose a label; heads reached for the first time are worked on in the next round. That shape
is a *sweep*, as data. Engines run sweeps; `maintenance/` strings them together.

    begin      facts touched by the update that meet a condition are relabelled and queued
    first      variants over what the update has changed so far; their effect may queue heads
    rounds     until the queue is empty:
                 enter      the queue (of the lowest rank only, if `by_rank`) becomes the frontier and is relabelled
                 check      variants that look for a reason to spare a frontier fact; one is enough
                 sift       facts for which `survives` holds leave the frontier, the others go on; both are relabelled
                 loop       variants from the frontier to heads
                 done       the frontier is relabelled
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from everlog.plans.flat_rules import FlatRule
from everlog.plans.labels import Bit, Condition, Label, having
from everlog.rules.syntax import Atom

ANYTHING = having()


@dataclass(frozen=True)
class Relabel:
    """Bits to set and to clear."""

    set: Bit = Bit(0)
    clear: Bit = Bit(0)


NO_RELABEL = Relabel()


class Ranks(Enum):
    """What a variant does with ranks (DESIGN 6, ranked deletion); facts of lower components count as -1."""

    IGNORED = 0
    CARRIED = 1  # the largest rank in an instance goes along to its head
    BELOW_SEED = 2  # own facts are read only where their rank is below the seed's


class Marks(Enum):
    """Which facts of an instance pass on a mark, put there for the next update, to its head."""

    NONE = 0
    EXPLICIT = 1  # those that the next update certainly deletes: for B/F, whose deletions are exact
    ANY = 2  # also those that depend on them: for DRed, which overdeletes what depends on a loss


@dataclass(frozen=True)
class Effect:
    """What happens to the head of an instance."""

    require: Condition = ANYTHING  # what the head must meet for the instance to have an effect
    relabel: Relabel = NO_RELABEL
    create: bool = False  # a head without a row gets one, absent before and now
    weigh: int = 0  # added to the head's weight, once per instance
    above: bool = False  # only where the head's rank is above every rank in the instance
    rank: bool = False  # the head's rank becomes one more than the largest in the instance
    queue: Condition | None = ANYTHING  # what the head must meet afterwards to be queued; None: never


@dataclass(frozen=True)
class SweepVariant:
    """A rule with a label for each of its atoms, and the effect of its instances; evaluation starts at `seed`."""

    rule: FlatRule
    labels: tuple[Label, ...]
    seed: int | None
    absent: tuple[Label, ...]
    effect: Effect
    own: tuple[bool, ...]  # atoms that facts of the current component may match
    ranks: Ranks = Ranks.IGNORED
    enough: Bit = Bit(0)  # a seed with this bit needs no more instances
    limited: bool = False  # the caller bounds the instances per seed; beyond that the seed is SATED
    marks: Marks = Marks.NONE


@dataclass(frozen=True)
class Begin:
    """Which touched facts of the component a sweep begins with."""

    where: Condition
    relabel: Relabel = NO_RELABEL
    counted: bool | None = None  # only those whose weight is above zero, or only those whose weight is zero


@dataclass(frozen=True)
class Sweep:
    """A sweep; the fields are described at the top of this file."""

    name: str
    heads: tuple[Atom, ...]  # of the current component: its facts are those that match one of them
    begin: tuple[Begin, ...] = ()
    first: tuple[SweepVariant, ...] = ()
    check: tuple[SweepVariant, ...] = ()
    loop: tuple[SweepVariant, ...] = ()
    enter: Relabel = NO_RELABEL
    survives: Condition | None = None
    survivors: Relabel = NO_RELABEL
    others: Relabel = NO_RELABEL
    done: Relabel = NO_RELABEL
    by_rank: bool = False

    @property
    def relations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(head.relation for head in self.heads))


def with_marks(sweep: Sweep, marks: Marks) -> Sweep:
    """The same sweep, passing marks on."""
    first, check, loop = (
        tuple(replace(variant, marks=marks) for variant in variants)
        for variants in (sweep.first, sweep.check, sweep.loop)
    )
    return replace(sweep, first=first, check=check, loop=loop)


@dataclass(frozen=True)
class Most:
    """How much a sweep may do before it stops; 0 is no bound."""

    facts: int = 0  # worked on
    bindings: int = 0  # made by all steps of all variants


NO_BOUND = Most()


@dataclass
class SweepReport:
    """What a sweep took, in counts that do not depend on the machine."""

    rounds: int = 0
    applications: int = 0  # rule instances found
    effects: int = 0  # rule instances that had an effect
    worked_on: int = 0  # facts that were in the frontier
    marked: int = 0  # facts to which a mark was passed on
    stopped: bool = False  # it exceeded the bound that the caller set, and is not complete
