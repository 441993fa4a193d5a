"""What can be done for the next update while this one is at work?

If it has come, the facts that it takes away are marked, and what is derived from them meanwhile is marked too: the
next update then begins with these facts and need not look for them (Illich and Glimm, B/F with Marking). A mark is a
hint. It changes the order of work and never the result, so a next update that turns out to be wrong does no harm
here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from everlog.engines.interface import MaintainingEngine
from everlog.errors import EverlogError
from everlog.store.changes import Report
from everlog.store.encoding import FactEncoder
from everlog.store.updates import Update

if TYPE_CHECKING:
    from everlog.store.store import KnowledgeBase


def nothing_ahead() -> Update | None:
    """Where no stream is at work, or the next update may not be looked at."""
    return None


class Lookout:
    """Looks for the next update until it has come, and marks what it takes away, once."""

    def __init__(
        self, kb: KnowledgeBase, engine: MaintainingEngine, ahead: Callable[[], Update | None], report: Report
    ) -> None:
        self._kb, self._engine, self._ahead, self._report = kb, engine, ahead, report
        self._seen = False
        if kb._keeps_witnesses:
            engine.record_witnesses()

    def look(self) -> None:
        if self._seen:
            return
        update = self._ahead()
        if update is None:
            return
        self._seen = True
        try:
            deleted = FactEncoder(self._kb._dictionary, self._kb._settled_arities(self._kb._rules))
            deleted.add(update.delete)
        except (EverlogError, TypeError, ValueError):
            return  # it will be told when it is its turn
        self._kb._encoded_ahead = update, deleted.batches
        for batch in deleted.batches.values():
            if self._kb._arities.get(batch.relation) == batch.arity:
                explicit, derived = self._engine.mark(batch.relation, batch.columns(), batch.rows)
                self._report.marked_explicit += explicit
                self._report.marked_implicit += derived
