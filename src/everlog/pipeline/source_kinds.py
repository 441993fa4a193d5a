"""Of which kind are the sources of a relation: appends, a snapshot, or changes?

A relation has sources of one kind only: what a snapshot does not hold is to go, and that must not be what another
source appends.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from everlog.errors import DataError
from everlog.pipeline.sources import InputSource

HINT = "give one of them another relation, and a rule that brings both together"


@dataclass
class Kinds:
    """What is known so far: for each relation, a source of it."""

    known: dict[str, InputSource] = field(default_factory=dict)

    def add(self, source: InputSource, relations: Iterable[str]) -> None:
        """Add what a source holds, or raise where another one of the same relation is of another kind."""
        for relation in relations:
            problem = self.conflict(source, relation)
            if problem is not None:
                raise DataError(problem, path=source.title, hint=HINT)

    def conflict(self, source: InputSource, relation: str) -> str | None:
        """What is wrong if a source of a relation is added, or None."""
        other = self.known.setdefault(relation, source)
        if other.kind == source.kind:
            return None
        return f"this source of {relation} is of the kind {source.kind}, but {other.title} of the kind {other.kind}"

    def by_relation(self) -> dict[str, str]:
        return {relation: source.kind for relation, source in self.known.items()}
