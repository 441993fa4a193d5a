"""In which words do people say an update? The same to a knowledge base, which makes it, and to a transaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from everlog.limits import Limits
from everlog.rules.syntax import Program, Rule
from everlog.store.changes import Change
from everlog.store.given_facts import FactsArgument
from everlog.store.updates import Update

RulesArgument = str | Program | Sequence[Rule]


class TakesUpdates(ABC):
    """What a knowledge base and a transaction have in common: updates."""

    @abstractmethod
    def apply(self, update: Update, **options: Any) -> Change:
        """Apply an update that was made before."""

    def add_rules(self, rules: RulesArgument, *, name: str = "<rules>", limits: Limits | None = None) -> Change:
        """Add rules (and the facts that stand among them) and derive what follows."""
        return self.update(add_rules=rules, name=name, limits=limits)

    def remove_rules(self, names: Sequence[str] | str, *, limits: Limits | None = None) -> Change:
        """Remove rules by name, or by their text up to the names of variables."""
        return self.update(remove_rules=[names] if isinstance(names, str) else names, limits=limits)

    def insert(self, relation: str, rows: Any, *, nulls: str = "refuse", limits: Limits | None = None) -> Change:
        """Insert explicit facts.

        Args:
            rows: A list of tuples, of dictionaries by column name, or of terms; a pandas or Polars frame, an Arrow
                table, or whatever else gives one; a NumPy array.
            nulls: What becomes of rows in which a value is missing: "refuse", "skip", or read as "" ("empty").
        """
        return self.update(insert={relation: rows}, nulls=nulls, limits=limits)

    def delete(self, relation: str, rows: Any, *, nulls: str = "refuse", limits: Limits | None = None) -> Change:
        """Delete explicit facts, given as for `insert`; what still follows from the rest stays."""
        return self.update(delete={relation: rows}, nulls=nulls, limits=limits)

    def update(
        self,
        *,
        insert: FactsArgument | None = None,
        delete: FactsArgument | None = None,
        add_rules: RulesArgument | None = None,
        remove_rules: Sequence[str] = (),
        name: str = "<rules>",
        strategy: str | None = None,
        nulls: str = "refuse",
        limits: Limits | None = None,
    ) -> Change:
        """Apply one atomic update: facts become (explicit \\ delete) ∪ insert, rules likewise, and all that follows.

        Facts are given by relation, each as for `insert`. A failed update leaves the version before it. Strategy and
        limits are the knowledge base's own unless named.
        """
        update = Update.of(insert, delete, add_rules, remove_rules, nulls)
        return self.apply(update, name=name if update.changes_rules else None, strategy=strategy, limits=limits)
