"""What must an engine be able to do?

An engine holds facts of relations and evaluates rules whose body atoms each read a labelled set (plans/labels.py).
Algorithms in `maintenance/` speak to engines through these verbs alone. Laws, tested on each engine:

- `load` then `collect` gives back the distinct facts; loading a fact again changes nothing but its explicit bit.
- `derive` never changes what atoms read: conclusions wait until `advance`, which makes those that were not there NEW.
- between `begin` and the end of a phase ALL = OLD + NEW, and no fact is in both.
- `run(phase)` equals first / advance / (loop / advance)* round by round.
- a bag's weight counts the bindings that concluded the fact; a set's facts are there or not.
- `commit` makes what was done the new state; `abort` leaves the state that the last `commit` made.
- `changes` is exactly what differs from that state: for a set 1 for each fact gained and -1 for each lost, for a bag by
  how much each weight has changed.
- a reader of a capture sees the state that was published when it was taken, whatever is done to the engine meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from everlog.facts.weighted import WeightedFacts
from everlog.plans.delta_variants import Variant
from everlog.plans.flat_rules import WholeRule
from everlog.plans.join_order import Statistics
from everlog.plans.sweeps import NO_BOUND, Most, Sweep, SweepReport
from everlog.rules.syntax import Atom

if TYPE_CHECKING:
    from everlog.dictionary.dictionary import Dictionary, Ids
    from everlog.engines.dumps import RelationDump
    from everlog.engines.states import FactStates
    from everlog.limits import Watch


@dataclass(frozen=True)
class Shape:
    """A relation as engines know it. A bag's weights are multiplicities; a set is there or not.

    Maintenance asks for more to be kept: the number of derivations of each fact, or a rank (DESIGN 6).
    """

    name: str
    arity: int
    bag: bool = False
    weighted: bool = False
    ranked: bool = False


class Flow(NamedTuple):
    """How many facts of a relation an update has gained and lost so far."""

    gained: int
    lost: int


@dataclass(frozen=True)
class Capabilities:
    """What an engine can do; what it cannot is refused by name where somebody asks for it."""

    maintains: bool = False  # it can carry an update through, and keeps views
    windows: bool = True  # ORDER BY with LIMIT inside of a query
    durable: bool = True  # it can be kept in a folder
    concurrent: bool = False  # captures may be taken and read while an update is at work
    counts: bool = True  # it says how often rules apply


@dataclass(frozen=True, eq=False)  # a phase that is run again is known by being the same one
class Phase:
    """A fixpoint as data: `first` once over what is there, then `loop` until no relation gains a fact."""

    name: str
    first: tuple[Variant, ...]
    loop: tuple[Variant, ...]
    relations: tuple[str, ...]  # those that the variants define


@dataclass
class PhaseReport:
    """What running a phase took; counts no machine changes."""

    name: str
    rounds: int = 0
    rule_applications: int = 0
    gained: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    def as_data(self) -> dict[str, Any]:
        return {
            "phase": self.name,
            "rounds": self.rounds,
            "rule_applications": self.rule_applications,
            "gained": self.gained,
            "seconds": round(self.seconds, 6),
        }

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.rule_applications:,} rule applications in {self.rounds:,} rounds,"
            f" {1000 * self.seconds:.2f} ms"
        )


class Engine(Protocol):
    """Where facts live and rules are evaluated."""

    name: str
    capabilities: Capabilities
    tick: int  # how many times `commit` was called
    dictionary: Dictionary

    def declare(self, shape: Shape) -> None:
        """Make room for a relation; declaring it again in the same shape changes nothing."""

    def load(self, relation: str, columns: Sequence[Ids], rows: int) -> int:
        """Add explicit facts, a column per argument; returns how many were not there."""

    def restore(self, relation: str, facts: WeightedFacts | None, explicit: WeightedFacts | None) -> None:
        """Take facts of an empty relation as they are, derived ones too; `explicit` says which of them are."""

    def load_dump(self, dump: RelationDump) -> None:
        """Make a relation that is not declared yet what was dumped."""

    def begin(self, relations: Sequence[str]) -> None:
        """Start a phase that defines these relations: ALL is what is there, NEW is empty."""

    def derive(self, variants: Sequence[Variant]) -> int:
        """Evaluate variants for one round; returns the rule applications, 0 from an engine that does not count them.

        Conclusions wait for `advance`.
        """

    def advance(self, relations: Sequence[str]) -> Mapping[str, int]:
        """Conclusions become NEW, NEW becomes OLD; returns the facts gained by relation."""

    def run(self, phase: Phase, watch: Watch) -> PhaseReport | None:
        """Run a phase whole, or return None to have it run round by round."""

    def group(self, rule: WholeRule) -> int:
        """Add the facts of an aggregate over a complete bag; returns how many."""

    def count(self, relation: str, *, explicit: bool = False) -> int:
        """How many facts a relation has, or how many explicit ones."""

    def collect(self, relation: str, *, explicit: bool = False) -> WeightedFacts:
        """The facts of a relation, those of a bag with their weights; only the explicit ones if asked."""

    def contains(self, relation: str, columns: Sequence[Ids], rows: int, *, explicit: bool = False) -> Sequence[bool]:
        """Which of these facts are there, or are explicit?"""

    def statistics(self) -> Statistics:
        """What the planner may know now."""

    def begin_from_scratch(self) -> None:
        """Facts are about to be loaded and phases run, where nothing is derived yet."""

    def changes(self) -> Mapping[str, WeightedFacts]:
        """What was gained and lost by now, by relation; before `commit`."""

    def explicit_changes(self, relations: Iterable[str]) -> Mapping[str, WeightedFacts]:
        """Which facts of these relations have become explicit by now, with 1, or are no longer, with -1."""

    def commit(self, *, publish: bool = True) -> None:
        """What was done becomes the state; with `publish`, also the one that captures are of from now on."""

    def abort(self) -> None:
        """What was done since the last `commit` never was."""

    def publish(self, tick: int) -> None:
        """The state of a tick becomes the one that captures are of."""

    def capture(self, *, latest: bool = False) -> Capture:
        """The published state, to be read by other threads while this engine goes on; or that of the last commit."""


class Capture(Protocol):
    """A state of an engine, for any number of threads."""

    def reader(self) -> Engine:
        """An engine over this state for one query; what the query derives is its own."""

    def dump(self) -> Iterator[RelationDump]:
        """All relations as arrays (engines/dumps.py)."""


class MaintainingEngine(Engine, Protocol):
    """An engine that can also carry an update through.

    An update edits what is explicit, runs sweeps component by component, and ends with `commit` or `abort`. Meanwhile
    each fact it touches carries bits (plans/labels.py). Laws, tested on each such engine:

    - `abort` leaves facts, explicit bits, weights and ranks as they were before the first `edit`.
    - `touched` turns what the last `commit` left into what the next one leaves, in everything that is kept of a fact.
    """

    def touched(self) -> Mapping[str, FactStates]:
        """The facts of which presence, explicit bit, derivations or rank have changed by now; before `commit`."""

    def count_before(self, relation: str) -> int:
        """How many facts a relation had when the update began."""

    def edit(self, relation: str, columns: Sequence[Ids], rows: int, *, explicit: bool) -> int:
        """Make facts explicit, or no longer explicit; returns for how many that was a change."""

    def settle(self, relation: str, heads: Sequence[Atom]) -> Flow:
        """Edited facts that none of these heads may conclude are there if and only if they are explicit."""

    def reaches(self, reads: tuple[Atom, ...], heads: tuple[Atom, ...]) -> bool:
        """Has the update changed a fact that one of `reads` matches, or edited one that one of `heads` may conclude?"""

    def touched_values(self, relation: str, columns: tuple[int, ...], *, edited: bool) -> set[tuple[int, ...]]:
        """What stands in some columns of the facts that the update has changed by now, or of those that it edited."""

    def overdelete(self, heads: tuple[Atom, ...]) -> int:
        """Take away every fact that these heads may conclude, with its weight; returns how many there were."""

    def suspect_derived(self, heads: tuple[Atom, ...]) -> int:
        """Make every fact that these heads may conclude suspect unless it is explicit; a sweep is to take it away."""

    def uncount(self, heads: tuple[Atom, ...]) -> None:
        """Set the weight of every fact that these heads may conclude to zero."""

    def sweep(self, sweep: Sweep, watch: Watch, limit: int = 0, most: Most = NO_BOUND) -> SweepReport:
        """Run a sweep; `limit` is the number of instances per seed for variants that are limited.

        It stops after a round in which it has done more than `most`.
        """

    def finish(self, heads: tuple[Atom, ...], *, counted: bool) -> Mapping[str, Flow]:
        """A component is done: its touched facts lose their private bits.

        If `counted`, they are there if and only if they are explicit or their weight is above zero.
        """

    def lift(self, heads: tuple[Atom, ...], by: int) -> int:
        """Add to the rank of every fact that these heads may conclude; returns the highest rank there is then.

        Only before the first `edit` of an update.
        """

    def regroup(self, rule: WholeRule, *, new: bool = False) -> Flow:
        """Bring the facts of an aggregate in line with the touched rows of its bag; `new`: it has none yet."""

    def forget(self, sweeps: Sequence[Sweep]) -> None:
        """These sweeps will not be run again."""

    def drop(self, relation: str) -> None:
        """Forget a relation that nothing mentions any more, between updates."""

    def record_witnesses(self) -> None:
        """From now on each fact that a sweep with marks derives or proves remembers a fact that it came from."""

    def mark(self, relation: str, columns: Sequence[Ids], rows: int) -> tuple[int, int]:
        """Mark the explicit ones of these facts, and what remembers one of them; returns how many of each."""

    def suspect_marked(self) -> int:
        """Make the derived facts suspect that the previous update has marked; returns how many."""

    def reclaim(self) -> None:
        """Give back the room of facts that are gone, where that is much; between updates, while others may read."""

    def tidy(self) -> None:
        """Drop what past updates left behind: facts that are gone, and the ranks and weights of those that stay.

        Where nothing is derived, before facts are loaded and phases run again: `load` and `derive` know of no fact that
        was there once, and give ranks and weights from none on.
        """
