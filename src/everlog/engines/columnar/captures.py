"""What is the state of an engine at a tick, for those who read it while updates go on? See readers.py."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from everlog.engines.columnar import layout as at
from everlog.engines.columnar.relations import Index, Journal, Relation, Undo

if TYPE_CHECKING:
    from everlog.engines.columnar.engine import ColumnarEngine
    from everlog.engines.columnar.readers import ColumnarReader
    from everlog.engines.dumps import RelationDump

Array = npt.NDArray[Any]


class Captures:
    """Those that somebody holds, of one engine."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: list[weakref.ref[Capture]] = []
        self._offered: list[Offer] = []
        self.published = 0  # the tick that new captures are of

    def __bool__(self) -> bool:
        return any(held() is not None for held in self._held)

    def take(self, engine: ColumnarEngine, latest: bool) -> Capture:
        """A capture of the published tick, or of the last."""
        with self._lock:
            capture = Capture(engine, engine.tick if latest else self.published)
            self._held = [held for held in self._held if held() is not None]
            self._held.append(weakref.ref(capture))
        return capture

    @property
    def closing(self) -> threading.Lock:
        """Held while an update clears away what tells readers of the state before it.

        Who wants a capture meanwhile waits for that, so it is to be short.
        """
        return self._lock

    def live(self) -> list[Capture]:
        return [capture for held in self._held if (capture := held()) is not None]

    def oldest_needed(self) -> int:
        """The oldest tick that somebody reads, or may begin to read now."""
        return min([self.published, *(capture.tick for capture in self.live())])

    def before_moving(self, relation: Relation) -> None:
        """Rows are about to get new numbers: whoever may still want the relation takes it as it is."""
        for capture in self.live():
            capture.relation(relation.name)

    def offer(self, offer: Offer) -> None:
        self._offered.append(offer)

    def adopt(self, engine: ColumnarEngine) -> None:
        """Take over the indexes that readers have built; by the thread that may update."""
        while self._offered:
            self._offered.pop().adopt(engine)


class Offer:
    """An index that a reader has built, over the rows that it saw."""

    def __init__(self, relation: Relation, index: Index, used: int) -> None:
        self._relation, self._moved, self._rows = relation.origin, relation.moved, relation.committed
        self._index, self._used = index, used

    def adopt(self, engine: ColumnarEngine) -> None:
        relation = self._relation
        if relation is None or engine.known(relation.name) is not relation:
            return  # it was dropped
        if relation.moved != self._moved or self._index.columns in relation.indexes:
            return  # too late
        relation.adopt(self._index, self._used, self._rows, engine.tables)


class Capture:
    """An engine's relations at a tick; for any number of threads."""

    def __init__(self, engine: ColumnarEngine, tick: int) -> None:
        self.tick = tick
        self.plans, self.outcomes = engine.plans_by_phase, engine.outcomes
        self._dictionary, self._tables, self._captures = engine.dictionary, engine.tables, engine.captures
        self._live = engine.relations_now()
        self._taken: dict[str, Relation] = {}
        self._lock = threading.Lock()

    def reader(self) -> ColumnarReader:
        """An engine to evaluate one query with."""
        from everlog.engines.columnar.readers import ColumnarReader

        return ColumnarReader(self, self._dictionary)

    def names(self) -> list[str]:
        """The relations that there were."""
        return list(self._live)

    def dump(self) -> Iterator[RelationDump]:
        """The relations as arrays, to be loaded into another engine."""
        from everlog.engines.columnar.dumps import dump

        return dump(self)

    def relation(self, name: str) -> Relation | None:
        """A relation as it was, its arrays taken when it is first asked for."""
        taken = self._taken.get(name)
        if taken is None:
            live = self._live.get(name)
            if live is None:
                return None
            with self._lock:
                taken = self._taken.get(name)
                if taken is None:
                    taken = self._taken[name] = self._take(live)
        return taken

    def _take(self, live: Relation) -> Relation:
        with self._tables.replacing:
            live.shared = True
            taken = copy(live)
            taken.indexes = {columns: copy(index) for columns, index in live.indexes.items()}
        taken.origin, taken.journal, taken.is_read_only = live, Journal(), True
        if self.tick < taken.filled_at:
            taken.committed = taken.dead = 0
        untouched = not taken.dead and taken.changed_at <= self.tick and not taken.writes % 2
        taken.tick = None if untouched or taken.lives is None else self.tick
        return taken

    def offer(self, relation: Relation, index: Index, used: int) -> None:
        """A reader has built an index: others of this capture have it too, and the engine may take it over."""
        with self._lock:
            taken = self._taken[relation.name]
            taken.indexes = {**taken.indexes, index.columns: copy(index)}
        self._captures.offer(Offer(relation, copy(index), used))

    # --- what updates change in place ---------------------------------------------------------------------------------

    def masks(self, taken: Relation) -> Array:
        """The label bits of rows as they were at the tick."""
        return self._as_it_was(taken, taken.masks, lambda undo: undo.masks)

    def weights(self, taken: Relation) -> Array:
        return self._as_it_was(taken, taken.weights, lambda undo: undo.weights)

    def ranks(self, taken: Relation) -> Array:
        return self._as_it_was(taken, taken.ranks, lambda undo: undo.ranks)

    def _as_it_was(self, taken: Relation, now: Array, part: Callable[[Undo], Array | None]) -> Array:
        """The rows now, and then what they were before each update since: the newest first."""
        live, values = taken.origin, now[: taken.committed].copy()
        assert live is not None
        while True:  # until no update began or ended meanwhile
            writes = live.writes
            undone = list(taken.undo)
            if writes % 2 and live.undo is taken.undo:  # else rows have got new numbers since then
                entries = int(self._tables.relations[live.number, at.R_JOURNAL_SIZE])
                undone.append(live.journaled(entries, self.tick + 1))
            if live.writes == writes:
                break
        for undo in reversed(undone):
            before = part(undo)
            if undo.tick > self.tick and before is not None:
                here = undo.rows < len(values)
                values[undo.rows[here]] = before[here]
        return values
