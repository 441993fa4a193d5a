"""How would one pass marks on with nothing but dictionaries?

The explicit facts that the next update deletes are marked, and the mark passes to what rule applications derive from
them meanwhile; where witnesses are recorded, also to facts whose witness is one of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from everlog.engines.reference.entries import Fact
from everlog.plans.labels import Bit
from everlog.plans.sweeps import Marks, SweepVariant

if TYPE_CHECKING:
    from everlog.engines.reference.engine import ReferenceEngine

Place = tuple[str, Fact]


class ReferenceMarks:
    """Marked facts, and the witnesses of derived ones."""

    def __init__(self, engine: ReferenceEngine) -> None:
        self._engine = engine
        self._marked: dict[Place, None] = {}
        self._records = False
        self._witness_of: dict[Place, Place] = {}
        self._derived_from: dict[Place, dict[Place, None]] = defaultdict(dict)

    def record_witnesses(self) -> None:
        self._records = True

    def mark(self, relation: str, facts: Iterable[Fact]) -> tuple[int, int]:
        explicit = derived = 0
        for fact in facts:
            entry = self._engine.entries(relation).get(fact)
            if entry is None or not entry.mask & Bit.EXPLICIT or entry.mask & Bit.MARKED:
                continue
            self._set((relation, fact))
            explicit += 1
            for place in list(self._derived_from.get((relation, fact), ())):
                derived += self._mark_derived(place)
        return explicit, derived

    def _set(self, place: Place) -> None:
        self._engine.entries(place[0])[place[1]].mask |= Bit.MARKED
        self._marked[place] = None

    def _mark_derived(self, place: Place) -> bool:
        entry = self._engine.entries(place[0]).get(place[1])
        if entry is None or not entry.present or entry.mask & (Bit.EXPLICIT | Bit.MARKED):
            return False
        self._set(place)
        return True

    def take(self) -> list[Place]:
        """Return the marked facts, and unmark them."""
        places = list(self._marked)
        self._marked.clear()
        for relation, fact in places:
            entry = self._engine.entries(relation).get(fact)
            if entry is not None:
                entry.mask &= ~Bit.MARKED
        return places

    def witness(self, variant: SweepVariant, body: Sequence[Place]) -> Place | None:
        """A fact of an instance that may pass its mark on, a marked one if there is one."""
        if variant.marks is Marks.NONE:
            return None
        found = None
        for place in body:
            mask = self._engine.entries(place[0])[place[1]].mask
            passes = mask & Bit.EXPLICIT or (variant.marks is Marks.ANY and mask & Bit.MARKED)
            if passes and (found is None or (mask & Bit.MARKED and not self._is_marked(found))):
                found = place
        return found

    def _is_marked(self, place: Place) -> bool:
        return bool(self._engine.entries(place[0])[place[1]].mask & Bit.MARKED)

    def remember(self, place: Place, witness: Place | None) -> bool:
        """Record the witness of a derived or proved fact; returns whether the fact is marked because of it."""
        if witness is None:
            return False
        if self._records:
            before = self._witness_of.get(place)
            if before is not None:
                self._derived_from[before].pop(place, None)
            self._witness_of[place] = witness
            self._derived_from[witness][place] = None
        mask = self._engine.entries(place[0])[place[1]].mask
        if mask & (Bit.EXPLICIT | Bit.MARKED) or not self._is_marked(witness):
            return False
        self._set(place)
        return True
