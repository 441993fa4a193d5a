"""How many facts will an atom match? Estimated from a sample of the relation's rows."""

from __future__ import annotations

import numpy as np

from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.rules.syntax import Atom, Constant, Variable

_SAMPLE = 2000  # rows looked at: enough to tell a key from a category, and cheap


class SampledStatistics:
    """Live statistics of a columnar engine at one moment."""

    def __init__(self, columns_of: dict[str, list[Ids]], dictionary: Dictionary) -> None:
        self._columns_of = columns_of
        self._dictionary = dictionary
        self._samples: dict[str, list[Ids]] = {}

    def matches(self, atom: Atom, bound: frozenset[int]) -> float:
        columns = self._columns_of.get(atom.relation)
        size = len(columns[0]) if columns else 0
        if not columns or size == 0:
            return 0.0
        sample = self._sample(atom.relation, columns)
        taken = len(sample[0])
        chosen = np.ones(taken, bool)
        for column, arg in enumerate(atom.args):
            if isinstance(arg, Constant):
                id_ = self._dictionary.find(arg.term)
                chosen &= sample[column] == (id_ if id_ is not None else 0)
        matching = int(chosen.sum())
        share = max(matching, 0.5) / taken  # a constant not seen in the sample is rare, not impossible
        keys = [sample[c][chosen] for c in sorted(bound) if isinstance(atom.args[c], Variable)]
        rows = share * size
        if not keys or matching == 0:
            return rows
        together = rows / _distinct(keys, matching, rows)  # if every key asked for is there
        if len(keys) == 1:
            return together
        independent = rows
        for key in keys:  # if the columns have nothing to do with each other
            independent /= _distinct([key], matching, rows)
        return float(np.sqrt(together * independent))  # the truth lies between

    def _sample(self, relation: str, columns: list[Ids]) -> list[Ids]:
        if relation not in self._samples:
            size = len(columns[0])
            step = max(1, size // _SAMPLE)
            self._samples[relation] = [column[::step] for column in columns]
        return self._samples[relation]


def _distinct(keys: list[Ids], taken: int, size: float) -> float:
    """Distinct keys in all, from a sample: those seen once stand for many more (the GEE estimator)."""
    _, counts = np.unique(np.stack(keys), axis=1, return_counts=True)
    once = int((counts == 1).sum())
    return max(1.0, float(np.sqrt(size / taken)) * once + (len(counts) - once))
