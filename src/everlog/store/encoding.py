"""How do a caller's facts become columns of ids?

A caller may give rows of terms, Arrow tables, or blocks as file readers make them. All become one batch per relation,
with every fact checked against the relation's arity.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.errors import DataError
from everlog.facts.blocks import FactBlock
from everlog.facts.weighted import WeightedFacts
from everlog.limits import Watch
from everlog.plans.flat_rules import AUXILIARY, is_auxiliary
from everlog.rules.syntax import QUAD, TRIPLE, Atom, Constant
from everlog.store.doors import check_block, check_relation_name, check_rows

if TYPE_CHECKING:
    import pyarrow as pa

Row = tuple[Any, ...]


@dataclass(frozen=True)
class EncodedFacts:
    """Facts of one relation that have ids already; the way a log is read."""

    relation: str
    facts: WeightedFacts

    @property
    def arity(self) -> int:
        return self.facts.arity


FactsArgument = Mapping[str, "Iterable[Any] | pa.Table"] | Iterable[FactBlock | EncodedFacts]


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

    def __init__(self, dictionary: Dictionary, arities: Mapping[str, int], *, new: bool = False) -> None:
        """`new`: these facts may not be there yet, and must be such as can be let in (doors.py)."""
        self._dictionary, self._new = dictionary, new
        self._arities = layered({}, arities, {TRIPLE: 3, QUAD: 4})
        self.batches: dict[str, Batch] = {}

    def add(self, facts: FactsArgument, watch: Watch | None = None) -> None:
        """Encode facts, block by block as they come; `watch` stops it when that takes too long, or too much."""
        if isinstance(facts, Mapping):
            for relation, rows in facts.items():
                self._add_any(relation, rows)
        else:
            for block in facts:
                if watch is not None:
                    watch.check(rounds=0, facts=sum(batch.rows for batch in self.batches.values()))
                if isinstance(block, EncodedFacts):
                    self._batch(block.relation, block.arity).add(list(block.facts.columns), block.facts.rows)
                else:
                    self._add_block(block)

    def add_atoms(self, atoms: Iterable[Atom]) -> None:
        """Ground atoms of a program."""
        by_relation: dict[str, list[Row]] = {}
        for atom in atoms:
            row = tuple(arg.term for arg in atom.args if isinstance(arg, Constant))
            by_relation.setdefault(atom.relation, []).append(row)
        self.add(by_relation)

    def _add_any(self, relation: str, rows: Any) -> None:
        if isinstance(rows, FactBlock):
            self._add_block(rows)
        elif hasattr(rows, "combine_chunks") and hasattr(rows, "column_names"):  # a pyarrow Table, unimported
            table = rows.combine_chunks()
            arrays = tuple(column.combine_chunks() for column in table.columns)
            self._add_block(FactBlock(relation, arrays))
        else:
            self._add_rows(relation, rows)

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

    def _add_rows(self, relation: str, rows: Iterable[Any]) -> None:
        listed = [row if isinstance(row, tuple) else tuple(row) if isinstance(row, list) else (row,) for row in rows]
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
