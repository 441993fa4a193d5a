"""What has been read of the runs so far?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass
class Counters:
    """Look-ups and what they read; counts that no machine changes."""

    lookups: int = 0  # each of many keys at a time
    keys: int = 0
    rows: int = 0  # facts fetched
    pages: int = 0  # read for the first time since the files were opened
    bytes: int = 0  # of those pages

    def copy(self) -> Counters:
        return replace(self)

    def since(self, before: Counters) -> Counters:
        """What came since a copy was made."""
        return Counters(**{name: value - getattr(before, name) for name, value in vars(self).items()})

    def as_data(self) -> dict[str, Any]:
        return dict(vars(self))

    def __str__(self) -> str:
        return (
            f"{self.lookups:,} look-ups of {self.keys:,} keys fetched {self.rows:,} rows"
            f" ({self.pages:,} new pages, {self.bytes / 1e6:.2f} MB)"
        )
