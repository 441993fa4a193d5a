"""How many facts will an atom match? Estimated from a sample of the relation's rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.rules.syntax import Atom, Constant, Variable

_SAMPLE = 1000  # rows looked at: enough to tell a key from a category, and cheap
# Where they lie, as shares of all rows: multiples of the golden ratio are spread evenly and keep step with nothing.
# Every n-th row would: records of ten triples, read one after the other, have the same predicate at every tenth.
_PLACES = np.sort(np.arange(_SAMPLE) * (np.sqrt(5) - 1) / 2 % 1)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)

Constants = tuple[tuple[int, int], ...]  # columns with the ids they must hold


class SampledStatistics:
    """Live statistics of a columnar engine at one moment."""

    def __init__(self, facts: dict[str, Ids], dictionary: Dictionary) -> None:
        self._facts = facts
        self._dictionary = dictionary
        self._samples: dict[tuple[str, Constants], list[Ids]] = {}
        self._distinct: dict[tuple[str, Constants, tuple[int, ...]], float] = {}

    def matches(self, atom: Atom, bound: frozenset[int]) -> float:
        size = len(self._facts.get(atom.relation, ()))
        if size == 0:
            return 0.0
        constants = tuple(
            (column, self._dictionary.find(arg.term) or 0)
            for column, arg in enumerate(atom.args)
            if isinstance(arg, Constant)
        )
        taken = len(self._sample(atom.relation, ())[0])
        matching = len(self._sample(atom.relation, constants)[0])
        rows = size * max(matching, 0.5) / taken  # a constant not seen in the sample is rare, not impossible
        keys = tuple(column for column in sorted(bound) if isinstance(atom.args[column], Variable))
        if not keys or matching == 0:
            return rows
        together = rows / self._distinct_keys(atom.relation, constants, keys, rows)  # if every key asked for is there
        if len(keys) == 1:
            return together
        independent = rows
        for key in keys:  # if the columns have nothing to do with each other
            independent /= self._distinct_keys(atom.relation, constants, (key,), rows)
        return float(np.sqrt(together * independent))  # the truth lies between

    def _sample(self, relation: str, constants: Constants) -> list[Ids]:
        sample = self._samples.get((relation, constants))
        if sample is None:
            if constants:
                sample = self._sample(relation, ())
                chosen = np.ones(len(sample[0]), bool)
                for column, id_ in constants:
                    chosen &= sample[column] == id_
                sample = [column[chosen] for column in sample]
            else:
                facts = self._facts[relation]
                if len(facts) > _SAMPLE:
                    facts = facts[np.unique((_PLACES * len(facts)).astype(np.int64))]
                sample = list(facts.T)
            self._samples[relation, constants] = sample
        return sample

    def _distinct_keys(self, relation: str, constants: Constants, keys: tuple[int, ...], rows: float) -> float:
        """Distinct keys in all, from a sample: those seen once stand for many more (the GEE estimator)."""
        known = self._distinct.get((relation, constants, keys))
        if known is None:
            sample = self._sample(relation, constants)
            counts = np.unique(_combined([sample[key] for key in keys]), return_counts=True)[1]
            once = int((counts == 1).sum())
            known = max(1.0, float(np.sqrt(max(1.0, rows / len(sample[0])))) * once + (len(counts) - once))
            self._distinct[relation, constants, keys] = known
        return known


def _combined(columns: list[Ids]) -> npt.NDArray[np.uint64]:
    """One number per row, different for different rows but for unlucky ones, which an estimate can bear."""
    combined = columns[0].astype(np.uint64)
    for column in columns[1:]:
        combined = combined * _SPREAD + column.astype(np.uint64)
    return combined
