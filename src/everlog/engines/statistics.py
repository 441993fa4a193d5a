"""How many facts will an atom match? Estimated from a sample of the relation's rows.

A relation keeps its sample until its size has changed a good deal, so that repeated questions do not look at the facts
again. Small relations are sampled whole, so estimates for them are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.rules.syntax import Atom, Constant, Variable

_SAMPLE = 1 << 14  # rows: enough to tell predicates apart that make up a thousandth of the triples
_COUNTED = 1000  # rows of those with certain constants: enough to tell a key from a category, and cheap
_GROWTH = 1.25  # a sample is taken anew when there are so many times more facts, or fewer
_GOLDEN = (5**0.5 - 1) / 2
_SPREAD = np.uint64(0x9E3779B97F4A7C15)

Places = npt.NDArray[np.int64]
Constants = tuple[tuple[int, int], ...]  # columns with the ids they must hold
Pairs = tuple[tuple[int, int], ...]  # columns that must hold the same


class Asked(NamedTuple):
    """What an atom asks of a row, whatever is bound."""

    constants: Constants = ()
    same: Pairs = ()


class Sample:
    """Some rows of a relation, and the estimates made from them so far."""

    def __init__(self, facts: Ids, rows: Ids, size: int) -> None:
        """Of a relation that has `size` facts, those in these rows."""
        self._size = size
        self._columns = list(np.ascontiguousarray(facts[rows].T))
        self._rows: dict[Asked, Places] = {}
        self._distinct: dict[tuple[Asked, tuple[int, ...]], float] = {}

    def still_fits(self, size: int) -> bool:
        """Does the sample still represent a relation that now has so many rows?

        Where more have come than it has rows, something that it has never seen may be as large as a sample.
        """
        about = size <= _GROWTH * self._size and self._size <= _GROWTH * size
        return about and abs(size - self._size) <= _SAMPLE

    def share(self, asked: Asked) -> float:
        """The part of all rows that are as an atom asks.

        Never none: a constant that was not seen is rare, and plans outlive the day on which nothing had it. To an
        estimate of nothing all that comes after it would cost the same.
        """
        return max(len(self._chosen(asked)), 0.5) / max(len(self._columns[0]), 1)

    def distinct(self, asked: Asked, keys: tuple[int, ...], rows: float) -> float:
        """Distinct keys of all rows that an atom asks for; those seen once stand for many more (the GEE estimator)."""
        known = self._distinct.get((asked, keys))
        if known is None:
            chosen = self._chosen(asked)
            looked_at = chosen[:: max(1, len(chosen) // _COUNTED)]
            counts = np.unique(_combined([self._columns[key][looked_at] for key in keys]), return_counts=True)[1]
            once = int((counts == 1).sum())
            scale = float(np.sqrt(max(1.0, rows / max(1, len(looked_at)))))
            known = max(1.0, scale * once + (len(counts) - once))
            self._distinct[asked, keys] = known
        return known

    def _chosen(self, asked: Asked) -> Places:
        """The rows of the sample that are as an atom asks."""
        chosen = self._rows.get(asked)
        if chosen is None:
            holds = np.ones(len(self._columns[0]), bool)
            for column, id_ in asked.constants:
                holds &= self._columns[column] == id_
            for one, other in asked.same:
                holds &= self._columns[one] == self._columns[other]
            chosen = self._rows[asked] = np.flatnonzero(holds)
        return chosen


class SampledStatistics:
    """Live statistics of a columnar engine at one moment; `sample` gives that of a relation, `sizes` their rows."""

    def __init__(self, sizes: Callable[[str], int], sample: Callable[[str], Sample], dictionary: Dictionary) -> None:
        self._size_of, self._sample_of, self._dictionary = sizes, sample, dictionary
        self._sizes: dict[str, int] = {}  # made for every sweep: dictionaries cost less than wrapped functions
        self._samples: dict[str, Sample] = {}

    def _size(self, relation: str) -> int:
        if relation not in self._sizes:
            self._sizes[relation] = self._size_of(relation)
        return self._sizes[relation]

    def _sample(self, relation: str) -> Sample:
        if relation not in self._samples:
            self._samples[relation] = self._sample_of(relation)
        return self._samples[relation]

    def rows(self, atom: Atom) -> float:
        """How many facts an atom matches while nothing is bound."""
        size = self._size(atom.relation)
        return size * self._sample(atom.relation).share(self._asked(atom)) if size else 0.5

    def _asked(self, atom: Atom) -> Asked:
        constants, same = [], []
        first: dict[str, int] = {}
        for column, arg in enumerate(atom.args):
            if isinstance(arg, Constant):
                constants.append((column, self._dictionary.find(arg.term) or 0))
            elif first.setdefault(arg.name, column) != column:
                same.append((first[arg.name], column))
        return Asked(tuple(constants), tuple(same))

    def matches(self, atom: Atom, bound: frozenset[int]) -> float:
        rows = self.rows(atom)
        if not self._size(atom.relation):
            return rows
        asked, sample = self._asked(atom), self._sample(atom.relation)
        repeated = {column for _, column in asked.same}
        keys = tuple(
            column for column in sorted(bound) if isinstance(atom.args[column], Variable) and column not in repeated
        )
        if not keys:
            return rows
        together = rows / sample.distinct(asked, keys, rows)  # if every key asked for is there
        if len(keys) == 1:
            return together
        independent = rows
        for key in keys:  # if the columns have nothing to do with each other
            independent /= sample.distinct(asked, (key,), rows)
        return float(np.sqrt(together * independent))  # the truth lies between


def spread_rows(size: int) -> Places:
    """Which rows to take of so many: one of each of many stretches.

    Not each at the same place: records of ten triples, read one after the other, have the same predicate at every tenth
    row. Multiples of the golden ratio are spread evenly and keep step with nothing.
    """
    if size <= _SAMPLE:
        return np.arange(size)
    stretches = np.arange(_SAMPLE)
    return ((stretches + stretches * _GOLDEN % 1) * (size / _SAMPLE)).astype(np.int64)


def _combined(columns: list[Ids]) -> npt.NDArray[np.uint64]:
    """One number per row, different for different rows but for unlucky ones, which an estimate can bear."""
    combined = columns[0].astype(np.uint64)
    for column in columns[1:]:
        combined = combined * _SPREAD + column.astype(np.uint64)
    return combined
