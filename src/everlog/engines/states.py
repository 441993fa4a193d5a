"""What has an update done to facts, beyond bringing and taking them?

Maintenance keeps more of a fact than its presence: whether it is explicit, the number of its derivations, its rank.
Whoever writes facts down to go on from them later needs all of it, for each fact of which any has changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everlog.facts.weighted import Column

Array = npt.NDArray[Any]


class FactStates(NamedTuple):
    """Facts of one relation, what has changed in their presence, and what is known of them now."""

    columns: tuple[Column, ...]
    change: npt.NDArray[np.int64]  # of a set: 1 gained, -1 lost, 0 neither; of a bag: by how much its weight changed
    explicit: npt.NDArray[np.bool_]
    derivations: npt.NDArray[np.int64]  # of a bag: how many times the fact is there
    ranks: npt.NDArray[np.int32]

    @property
    def rows(self) -> int:
        return len(self.change)

    def chosen(self, which: Array) -> FactStates:
        """Some of the facts, by a mask or by their numbers."""
        return FactStates(
            tuple(column[which] for column in self.columns),
            self.change[which],
            self.explicit[which],
            self.derivations[which],
            self.ranks[which],
        )


def latest(parts: Sequence[FactStates]) -> FactStates:
    """What several updates, one after the other, come to: the last state of each fact, and all changes together."""
    if len(parts) == 1:
        return parts[0]
    total = FactStates(
        tuple(np.concatenate([part.columns[place] for part in parts]) for place in range(len(parts[0].columns))),
        *(np.concatenate([part[field] for part in parts]) for field in range(1, len(FactStates._fields))),
    )
    if not total.rows:
        return total
    order = np.lexsort((np.arange(total.rows), *total.columns[::-1]))
    starts = np.ones(total.rows, bool)
    if total.columns:
        starts[1:] = np.logical_or.reduce([column[order[1:]] != column[order[:-1]] for column in total.columns])
    else:
        starts[1:] = False
    changes = np.add.reduceat(total.change[order], np.flatnonzero(starts))
    return total.chosen(order[np.append(starts[1:], True)])._replace(change=changes)
