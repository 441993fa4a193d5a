"""What can be done for the next update while this one is at work?

If it has come, the facts that it takes away are marked, and what is derived from them meanwhile is marked too: the
next update then begins with these facts and need not look for them (Illich and Glimm, B/F with Marking). A mark is a
hint. It changes the order of work and never the result, so a next update that turns out to be wrong does no harm
here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from everlog.engines.interface import MaintainingEngine
from everlog.errors import EverlogError
from everlog.facts.missing import MissingValues
from everlog.store.changes import Report
from everlog.store.encoding import Batch, FactEncoder
from everlog.store.given_facts import ColumnNames
from everlog.store.updates import Update


class Lookout:
    """Looks for the next update of a stream until it has come, and marks what it takes away, once per update."""

    def __init__(self, peek: Callable[[], Update | None], *, witnesses: bool) -> None:
        """`witnesses`: derived facts remember what they came from, and share its mark."""
        self._peek, self._witnesses = peek, witnesses
        self.encoded: tuple[Update, dict[str, Batch]] | None = None  # the next update, with what it deletes
        self.arities: Mapping[str, int] = {}  # that facts must keep to, set before each update
        self.names: ColumnNames = {}  # of declared columns, likewise
        self.waits = True  # the first facts of all are taken in before the next update is looked at, as the paper does

    def over(self, engine: MaintainingEngine, report: Report) -> Callable[[], None]:
        """What to call between two sweeps of an update."""
        if self._witnesses:
            engine.record_witnesses()
        seen = False

        def look() -> None:
            nonlocal seen
            if not seen and not self.waits and (update := self._peek()) is not None:
                seen = True
                self._mark(engine, update, report)

        return look

    def _mark(self, engine: MaintainingEngine, update: Update, report: Report) -> None:
        try:
            deleted = FactEncoder(engine.dictionary, self.arities, self.names)
            deleted.add(update.delete, MissingValues(update.nulls))
        except (EverlogError, TypeError, ValueError):
            return  # it will be told when it is its turn
        self.encoded = update, deleted.batches
        for batch in deleted.batches.values():
            if self.arities.get(batch.relation) == batch.arity:
                explicit, derived = engine.mark(batch.relation, batch.columns(), batch.rows)
                report.marked_explicit += explicit
                report.marked_implicit += derived
