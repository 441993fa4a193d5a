"""What must an engine be able to do?

An engine holds facts of relations and evaluates rules whose body atoms each read a labelled set (plans/labels.py).
Algorithms in `maintenance/` speak to engines through these verbs alone. Laws, tested on each engine:

- `load` then `collect` gives back the distinct facts; loading a fact again changes nothing but its explicit bit.
- `derive` never changes what atoms read: conclusions wait until `advance`, which makes those that were not there NEW.
- between `begin` and the end of a phase ALL = OLD + NEW, and no fact is in both.
- `run(phase)` equals first / advance / (loop / advance)* round by round.
- a bag's weight counts the bindings that concluded the fact; a set's facts are there or not.
- `rollback` undoes everything since `savepoint`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from everlog.plans.delta_variants import Variant
from everlog.plans.flat_rules import WholeRule
from everlog.plans.join_order import Statistics
from everlog.plans.sweeps import NO_BOUND, Most, Sweep, SweepReport
from everlog.rules.syntax import Atom

if TYPE_CHECKING:
    from everlog.dictionary.dictionary import Dictionary, Ids
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


class FactColumns(NamedTuple):
    """Facts of one relation, a column of ids per argument; `rows` counts them also where there are no columns."""

    columns: list[Ids]
    rows: int


class Flow(NamedTuple):
    """How many facts of a relation an update has gained and lost so far."""

    gained: int
    lost: int


class Changed(NamedTuple):
    """What an update has done to a relation."""

    gained: FactColumns
    lost: FactColumns


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
    dictionary: Dictionary

    def declare(self, shape: Shape) -> None:
        """Make room for a relation; declaring it again in the same shape changes nothing."""

    def load(self, relation: str, columns: Sequence[Ids], rows: int) -> int:
        """Add explicit facts, a column per argument; returns how many were not there."""

    def begin(self, relations: Sequence[str]) -> None:
        """Start a phase that defines these relations: ALL is what is there, NEW is empty."""

    def derive(self, variants: Sequence[Variant]) -> int:
        """Evaluate variants for one round; returns the rule applications. Conclusions wait for `advance`."""

    def advance(self, relations: Sequence[str]) -> Mapping[str, int]:
        """Conclusions become NEW, NEW becomes OLD; returns the facts gained by relation."""

    def run(self, phase: Phase, watch: Watch) -> PhaseReport | None:
        """Run a phase whole, or return None to have it run round by round."""

    def group(self, rule: WholeRule) -> int:
        """Add the facts of an aggregate over a complete bag; returns how many."""

    def count(self, relation: str, *, explicit: bool = False) -> int:
        """How many facts a relation has, or how many explicit ones."""

    def collect(self, relation: str, *, explicit: bool = False) -> FactColumns:
        """The facts of a relation; only the explicit ones if asked."""

    def weights(self, relation: str) -> Sequence[int]:
        """The weights of a bag's facts, in the order of `collect`."""

    def contains(self, relation: str, columns: Sequence[Ids], rows: int, *, explicit: bool = False) -> Sequence[bool]:
        """Which of these facts are there, or are explicit?"""

    def statistics(self) -> Statistics:
        """What the planner may know now."""

    def savepoint(self) -> Any:
        """Remember the state, to return to it if an update fails."""

    def rollback(self, savepoint: Any) -> None:
        """Return to a savepoint."""

    def since(self, savepoint: Any, relation: str) -> FactColumns:
        """The facts of a relation that came after a savepoint."""


class MaintainingEngine(Engine, Protocol):
    """An engine that can also carry an update through.

    An update edits what is explicit, runs sweeps component by component, and ends with `commit` or `abort`. Meanwhile
    each fact it touches carries bits (plans/labels.py). Laws, tested on each such engine:

    - `abort` leaves facts, explicit bits, weights and ranks as they were before the first `edit`.
    - `commit` returns exactly the facts that are there now and were not before, and those that were and are not.
    """

    def count_before(self, relation: str) -> int:
        """How many facts a relation had when the update began."""

    def edit(self, relation: str, columns: Sequence[Ids], rows: int, *, explicit: bool) -> int:
        """Make facts explicit, or no longer explicit; returns for how many that was a change."""

    def settle(self, relation: str, heads: Sequence[Atom]) -> Flow:
        """Edited facts that none of these heads may conclude are there if and only if they are explicit."""

    def reaches(self, reads: tuple[Atom, ...], heads: tuple[Atom, ...]) -> bool:
        """Has the update changed a fact that one of `reads` matches, or edited one that one of `heads` may conclude?"""

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

    def tidy(self) -> None:
        """Drop what past updates left behind: facts that are gone, and the ranks and weights of those that stay.

        Where nothing is derived, before facts are loaded and phases run again: `load` and `derive` know of no fact that
        was there once, and give ranks and weights from none on.
        """

    def weight_changes(self, relation: str) -> tuple[FactColumns, Sequence[int]]:
        """The facts of a relation whose weight the update has changed so far, and by how much; before `commit`."""

    def commit(self) -> Mapping[str, Changed]:
        """The update is complete; returns what it changed."""

    def abort(self) -> None:
        """Undo the update."""
