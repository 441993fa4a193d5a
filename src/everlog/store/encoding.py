"""How do a caller's facts become columns of ids?

In whichever shape a caller gives them (given_facts.py), they become one batch per relation, with every fact checked
against the relation's arity.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import numpy as np

from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.errors import DataError
from everlog.facts.blocks import FactBlock
from everlog.facts.missing import MissingValues
from everlog.facts.weighted import WeightedFacts
from everlog.limits import Watch
from everlog.plans.flat_rules import AUXILIARY, is_auxiliary
from everlog.rules.syntax import QUAD, TRIPLE, Atom, Constant
from everlog.store.doors import check_block, check_relation_name, check_rows
from everlog.store.given_facts import ColumnNames, EncodedFacts, FactsArgument, Row, given_facts


class Batch:
    """Facts of one relation on their way in, column by column."""

    def __init__(self, relation: str, arity: int) -> None:
        self.relation, self.arity, self.rows = relation, arity, 0
        self._parts: list[list[Ids]] = []

    @classmethod
    def of(cls, relation: str, facts: WeightedFacts) -> Batch:
        """A batch of facts that have ids already."""
        batch = cls(relation, facts.arity)
        batch.add(list(facts.columns), facts.rows)
        return batch

    def add(self, columns: list[Ids], rows: int) -> None:
        self._parts.append(columns)
        self.rows += rows

    def columns(self) -> list[Ids]:
        if len(self._parts) == 1:
            return self._parts[0]
        return [np.concatenate([part[column] for part in self._parts]) for column in range(self.arity)]


def layered(*arities: Mapping[str, int]) -> ChainMap[str, int]:
    """Arities from several places, the first of which counts; not copied, since there may be as many as rules."""
    return ChainMap(*cast("tuple[dict[str, int], ...]", arities))


class FactEncoder:
    """Batches by relation, in the order of first mention."""

    def __init__(
        self,
        dictionary: Dictionary,
        arities: Mapping[str, int],
        names: ColumnNames | None = None,
        *,
        new: bool = False,
    ) -> None:
        """Args:
        names: The columns of relations whose columns are declared.
        new: These facts may not be there yet, and must be such as can be let in (doors.py).
        """
        self._dictionary, self._names, self._new = dictionary, names, new
        self._arities = layered({}, arities, {TRIPLE: 3, QUAD: 4})
        self.batches: dict[str, Batch] = {}

    def add(self, facts: FactsArgument, missing: MissingValues | None = None, watch: Watch | None = None) -> None:
        """Encode facts in any shape, part by part as they come.

        `missing` says what becomes of rows without a value; `watch` stops it when that takes too long, or too much.
        """
        for part in given_facts(facts, self._names, missing):
            if isinstance(part, EncodedFacts):
                self._batch(part.relation, part.arity).add(list(part.facts.columns), part.facts.rows)
            elif isinstance(part, FactBlock):
                self._add_block(part)
            else:
                self._add_rows(part.relation, part.rows)
            if watch is not None:
                watch.check(rounds=0, facts=sum(batch.rows for batch in self.batches.values()))

    def add_atoms(self, atoms: Iterable[Atom]) -> None:
        """Ground atoms of a program."""
        by_relation: dict[str, list[Row]] = {}
        for atom in atoms:
            row = tuple(arg.term for arg in atom.args if isinstance(arg, Constant))
            by_relation.setdefault(atom.relation, []).append(row)
        self.add(by_relation)

    def _add_block(self, block: FactBlock) -> None:
        from everlog.dictionary.columns import encode_block

        if self._new:
            self._check_name(block.relation)
            check_block(block)
        try:
            columns = list(encode_block(self._dictionary, block))
        except (TypeError, ValueError, OverflowError, NotImplementedError) as error:  # Arrow's are among them
            raise DataError(
                f"facts of {block.relation}: {error}",
                hint="leave the column out, or make it strings, numbers, booleans, dates or times",
            ) from error
        self._batch(block.relation, block.arity).add(columns, len(block))

    def _add_rows(self, relation: str, listed: Sequence[Row]) -> None:
        if not listed:
            return
        if self._new:
            self._check_name(relation)
            check_rows(relation, listed)
        arity = self._arities.get(relation, len(listed[0]))
        for number, row in enumerate(listed, start=1):
            if len(row) != arity:
                raise self._arity_error(relation, arity, len(row), f"row {number}: {row!r}: ")
        encode, dtype = self._dictionary.encode, self._dictionary.dtype
        try:
            columns = [np.fromiter((encode(row[c]) for row in listed), dtype, len(listed)) for c in range(arity)]
        except (TypeError, ValueError) as error:
            raise DataError(f"facts of {relation}: {error}") from error
        self._batch(relation, arity).add(columns, len(listed))

    def _check_name(self, relation: str) -> None:
        if relation not in self._arities:
            check_relation_name(relation)

    def _batch(self, relation: str, arity: int) -> Batch:
        if is_auxiliary(relation):
            raise DataError(f"{relation!r} is no name for a relation", hint=f"choose one without {AUXILIARY}")
        known = self._arities.setdefault(relation, arity)
        if known != arity:
            raise self._arity_error(relation, known, arity)
        return self.batches.setdefault(relation, Batch(relation, arity))

    @staticmethod
    def _arity_error(relation: str, known: int, found: int, where: str = "") -> DataError:
        return DataError(
            f"{where}{relation} has {known} argument{'' if known == 1 else 's'}, but here are {found}",
            hint=f"give {known} value{'' if known == 1 else 's'} per fact, or use another relation name",
        )
