"""What changes in an answer, solution by solution?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Ids
from everlog.plans.windows import Fact, Weighted


@dataclass(frozen=True)
class Delta:
    """Facts of an answer, and how many times each was gained or, if negative, lost."""

    names: tuple[str, ...]
    columns: tuple[Ids, ...]
    weights: npt.NDArray[np.int64]

    @classmethod
    def of(cls, names: tuple[str, ...], counts: Mapping[Fact, int]) -> Delta:
        changed = [(fact, count) for fact, count in counts.items() if count]
        columns = zip(*(fact for fact, _ in changed), strict=True) if changed else [()] * len(names)
        weights = np.array([count for _, count in changed], np.int64)
        return cls(names, tuple(np.array(column, np.int32) for column in columns), weights)

    def facts(self) -> list[Weighted]:
        return weighted(self.columns, self.weights.tolist())


def weighted(columns: Sequence[Any], weights: Sequence[int]) -> list[Weighted]:
    """Columns as facts with their weights."""
    rows = zip(*(column.tolist() for column in columns), strict=True) if columns else [()] * len(weights)
    return list(zip(rows, (int(weight) for weight in weights), strict=True))
