"""What did an update change, in which knowledge bases of a fleet?

A row for each fact or solution that came or went: key, relation or view, terms, weight, and the version that its
knowledge base has now. Updates that were refused are told with their reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Literal, NamedTuple

from everlog.errors import EverlogError
from everlog.expressions.ordering import order_key
from everlog.facts.terms import Term, keys_of

Row = tuple[Term | None, ...]
Kind = Literal["relation", "view"]


class Moved(NamedTuple):
    """A fact or solution that came (its weight is above zero) or went."""

    key: str
    kind: Kind
    name: str
    terms: Row
    weight: int


class ChangeRow(NamedTuple):
    """The same, at a version."""

    key: str
    kind: Kind
    name: str
    terms: Row
    weight: int
    version: int


class KeyChange:
    """What changed in one knowledge base."""

    def __init__(self, version: int, rows: Iterable[Moved]) -> None:
        self.version = version
        self._rows = list(rows)

    def relations(self) -> list[str]:
        """The relations that have changed, by name."""
        return sorted({row.name for row in self._rows if row.kind == "relation"})

    def views(self) -> list[str]:
        """The views that have changed, by name."""
        return sorted({row.name for row in self._rows if row.kind == "view"})

    def gained(self, relation: str) -> list[Row]:
        """Facts of a relation that were not there before, in order."""
        return self._sorted("relation", relation, 1)

    def lost(self, relation: str) -> list[Row]:
        """Facts of a relation that are no longer there, in order."""
        return self._sorted("relation", relation, -1)

    def view_gained(self, view: str) -> list[Row]:
        """The solutions that a view has gained, in order; one that came twice stands there twice."""
        return self._sorted("view", view, 1)

    def view_lost(self, view: str) -> list[Row]:
        """The solutions that a view has lost, in order."""
        return self._sorted("view", view, -1)

    def _sorted(self, kind: Kind, name: str, sign: int) -> list[Row]:
        chosen = (row for row in self._rows if row.kind == kind and row.name == name)
        found = [row.terms for row in chosen for _ in range(sign * row.weight)]
        return sorted(found, key=lambda terms: tuple(map(order_key, terms)))

    def __bool__(self) -> bool:
        return bool(self._rows)

    def __repr__(self) -> str:
        counts: dict[str, list[int]] = {}
        for row in self._rows:
            counts.setdefault(row.name, [0, 0])[row.weight < 0] += abs(row.weight)
        parts = [f"{name} +{gained:,} -{lost:,}" for name, (gained, lost) in sorted(counts.items())]
        return f"<change to version {self.version}: {', '.join(parts) or 'nothing'}>"


class FleetChange:
    """What changed in all the knowledge bases that an update reached."""

    def __init__(
        self,
        versions: Mapping[str, int],
        moved: Iterable[Moved] = (),
        refused: Mapping[str, EverlogError] | None = None,
    ) -> None:
        self.versions = dict(versions)  # of every key that the update reached
        self.refused = dict(refused or {})  # updates that were not made, and why
        self._moved = moved

    @cached_property
    def _rows(self) -> list[Moved]:
        """Found when somebody looks: most terms of large updates may never be."""
        return list(self._moved)

    @cached_property
    def _by_key(self) -> dict[str, list[Moved]]:
        found: dict[str, list[Moved]] = {}
        for row in self._rows:
            found.setdefault(row.key, []).append(row)
        return found

    def rows(self) -> Iterator[ChangeRow]:
        """Everything that came or went."""
        return (ChangeRow(*row, self.versions[row.key]) for row in self._rows)

    def keys(self) -> list[str]:
        """The knowledge bases that the update reached."""
        return list(self.versions)

    def __getitem__(self, key: str) -> KeyChange:
        if key not in self.versions:
            raise self.refused.get(key) or KeyError(key)
        return KeyChange(self.versions[key], self._by_key.get(key, ()))

    def __bool__(self) -> bool:
        return bool(self._rows)

    def __repr__(self) -> str:
        refused = f", {len(self.refused):,} refused" if self.refused else ""
        return f"<{len(self._rows):,} changes in {len(self.versions):,} knowledge bases{refused}>"


def net(parts: Iterable[Moved]) -> list[Moved]:
    """What several changes come to, one after the other."""
    counts: Counter[tuple[str, ...]] = Counter()
    first: dict[tuple[str, ...], Moved] = {}
    for row in parts:
        place = (row.key, row.kind, row.name, *keys_of(row.terms))
        first.setdefault(place, row)
        counts[place] += row.weight
    return [first[place]._replace(weight=weight) for place, weight in counts.items() if weight]
