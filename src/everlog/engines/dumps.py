"""In which form does a relation leave an engine, to come back as it was without being derived?

As arrays that every engine can read: facts, which of them are explicit, and weights and ranks where they are kept. An
engine may add arrays of its own, such as a hash table, which it finds again under their names; others skip them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from everlog.engines.interface import Shape

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class RelationDump:
    """A relation as arrays."""

    shape: Shape
    facts: Array  # a row of ids per fact; one column of zeros for a relation without arguments
    explicit: npt.NDArray[np.bool_]
    weights: npt.NDArray[np.int64] | None = None
    ranks: Array | None = None
    own: Mapping[str, Array] = field(default_factory=dict)  # what only the engine that made it understands
    about: Mapping[str, Any] = field(default_factory=dict)  # the same, as JSON
