"""How is a state of the paged engine read while the engine goes on?

Runs are never changed, only replaced, and rows of held facts are only added: a capture copies bits, weights and ranks
of what is held and shares the rest. It is taken between updates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from everlog.engines.dumps import RelationDump
from everlog.plans.labels import Bit

if TYPE_CHECKING:
    from everlog.engines.paged.engine import PagedEngine


class PagedCapture:
    """The facts of an engine as they were when this was made."""

    def __init__(self, engine: PagedEngine) -> None:
        self._dictionary, self._runs = engine.dictionary, engine.runs
        self._relations = {name: relation.frozen() for name, relation in engine.relations().items()}

    def reader(self) -> PagedEngine:
        from everlog.engines.paged.engine import PagedEngine
        from everlog.engines.paged.folder import RunFolder

        reader = PagedEngine(self._dictionary, RunFolder.scratch(self._dictionary.dtype, self._runs.sizes))
        reader.adopt(self._relations, self._runs)
        return reader

    def dump(self) -> Iterator[RelationDump]:
        for relation in self._relations.values():
            found = relation.all_present()
            explicit = (found.masks & int(Bit.EXPLICIT)) != 0
            facts = np.stack(found.columns, axis=1)
            yield RelationDump(relation.shape, facts, explicit, found.weights, found.ranks.astype(np.int32))
