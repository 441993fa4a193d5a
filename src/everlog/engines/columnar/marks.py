"""How does the columnar engine mark the facts that the next update deletes?"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from everlog.dictionary.dictionary import Ids
from everlog.engines.columnar import layout as at
from everlog.engines.columnar.entries import log_witnesses, mark_rows_and_derived, suspect_marked_rows
from everlog.engines.columnar.relations import Relation
from everlog.engines.columnar.reserved import lengthened

if TYPE_CHECKING:
    from everlog.engines.columnar.engine import ColumnarEngine

_SHORTEST_LOG = 1 << 14


class ColumnarMarks:
    """Marked rows by relation, and the log of what came from what."""

    def __init__(self, engine: ColumnarEngine) -> None:
        self._engine = engine
        self._records = False
        self._in_use = False  # something was marked once, so that rows may carry marks
        self._marked: dict[int, list[Ids]] = defaultdict(list)
        self._used = 0
        self._relations, self._rows = np.empty(0, np.int32), np.empty(0, np.int32)
        self._previous = np.empty(0, np.int64)

    def record_witnesses(self) -> None:
        """Record witnesses from now on; the facts already present have none."""
        self._records = self._in_use = True
        engine = self._engine
        for relation in engine.by_number.values():
            relation.record_witnesses(engine.size(relation), engine.tables)

    def mark(self, relation: Relation, rows: Ids) -> tuple[int, int]:
        """Mark the explicit facts of these rows and what came from them; returns how many of each."""
        self._in_use = True
        table = self._engine.tables.relations
        out_relations, out = np.empty(self._used, np.int32), np.empty(self._used, np.int32)
        explicit, derived = mark_rows_and_derived(
            table, relation.number, rows, len(rows), self._relations, self._rows, self._previous, out_relations, out
        )
        self._marked[relation.number].append(rows[rows >= 0])
        for number in set(out_relations[:derived].tolist()):
            self._marked[number].append(out[:derived][out_relations[:derived] == number])
        return int(explicit), int(derived)

    def suspect(self) -> int:
        """Make the derived facts suspect that were marked; none is marked from then on."""
        engine, suspects = self._engine, 0
        for number, parts in self._marked.items():
            rows = np.concatenate(parts)
            relation = engine.by_number[number]
            relation.reserve_journal(int(engine.tables.relations[number, at.R_JOURNAL_SIZE]) + len(rows), engine.tables)
            suspects += int(suspect_marked_rows(engine.tables.relations, number, rows, len(rows)))
        self._marked.clear()
        return suspects

    def relations(self) -> list[Relation]:
        """The relations with marked rows."""
        return [self._engine.by_number[number] for number in self._marked]

    def note_journal(self, relation: Relation) -> None:
        """The update is complete: what it marked is noted, and what it derived is logged."""
        if not self._in_use:
            return
        table = self._engine.tables.relations
        touched = relation.journal.rows[: table[relation.number, at.R_JOURNAL_SIZE]]
        marked = touched[(relation.masks[touched] & (at.MARKED | at.EXPLICIT)) == at.MARKED]
        if len(marked):
            self._marked[relation.number].append(marked.copy())
        if self._records and relation.witnessed:
            self._log(relation, touched)

    def _log(self, relation: Relation, rows: Ids) -> None:
        if self._used + len(rows) > len(self._rows):
            facts = sum(self._engine.size(each) for each in self._engine.by_number.values())
            if self._used > 4 * facts + _SHORTEST_LOG:
                self.forget()
            longer = max(2 * len(self._rows), self._used + len(rows), _SHORTEST_LOG)
            self._relations, self._rows = (lengthened(a, longer, self._used) for a in (self._relations, self._rows))
            self._previous = lengthened(self._previous, longer, self._used)
        self._used = int(
            log_witnesses(
                self._engine.tables.relations,
                relation.number,
                rows,
                len(rows),
                self._relations,
                self._rows,
                self._previous,
                self._used,
            )  # fmt: skip
        )

    def forget(self) -> None:
        """Begin a new log, since rows are renumbered or most entries are out of date. Witnesses are recorded anew."""
        self._used = 0
        for number, parts in self._marked.items():
            self._engine.by_number[number].masks[np.concatenate(parts)] &= np.uint16(0xFFFF ^ at.MARKED)
        self._marked.clear()
        for relation in self._engine.by_number.values():
            if relation.witnessed:
                relation.witnesses[: self._engine.size(relation)] = -1
                relation.derived[: self._engine.size(relation)] = -1
