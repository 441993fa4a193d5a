"""In which form do facts of many relations go through one frame?

A *tagged* frame holds facts of any number of relations, of any arity: `relation` says which (an index into a list),
`c1`, `c2`, … are its ids and null beyond its arity. So everything that a program derives is one frame, and goes through
one job. Beside the ids stand

    weight        the multiplicity of a bag's fact; 1 for a set's
    explicit      whether the fact was given
    derivations   how many derivations it has, where its component counts them, else 0; in a bag, its multiplicity
    rank          its rank, where its component is recursive, else 0
    key           of a term that came up: such a row has TERM for its relation, and the term's id in c1

Only frames that need them have the column `key`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import BooleanType, IntegerType, LongType, StringType, StructField, StructType

from everlog.engines.spark.ids import id_of_key
from everlog.rules.syntax import Atom, Constant

TERM = -1
RELATION, WEIGHT, EXPLICIT, DERIVATIONS, RANK, KEY = "relation", "weight", "explicit", "derivations", "rank", "key"


_Pairs = tuple[tuple[int, int], ...]


def id_columns(width: int) -> list[str]:
    return [f"c{number}" for number in range(1, width + 1)]


def tagged_schema(width: int, *, keys: bool = False) -> StructType:
    """The columns of a tagged frame for relations of at most `width` arguments."""
    fields = [StructField(RELATION, IntegerType(), False)]
    fields += [StructField(name, LongType()) for name in id_columns(width)]
    fields += [StructField(WEIGHT, LongType()), StructField(EXPLICIT, BooleanType())]
    fields += [StructField(DERIVATIONS, LongType()), StructField(RANK, IntegerType())]
    if keys:
        fields.append(StructField(KEY, StringType()))
    return StructType(fields)


def tag(
    frame: DataFrame,
    number: int | Column,
    arity: int,
    width: int,
    *,
    explicit: Column | bool,
    weight: Column | None = None,
    derivations: Column | None = None,
    rank: Column | None = None,
) -> DataFrame:
    """Facts of one relation as a tagged frame, or of some whose number a column says."""
    ids = [f.col(name) for name in id_columns(arity)]
    ids += [f.lit(None).cast("long") for _ in range(width - arity)]
    return frame.select(
        (f.lit(number) if isinstance(number, int) else number).cast("int").alias(RELATION),
        *(column.alias(name) for column, name in zip(ids, id_columns(width), strict=True)),
        (f.lit(1) if weight is None else weight).cast("long").alias(WEIGHT),
        (f.lit(explicit) if isinstance(explicit, bool) else explicit).alias(EXPLICIT),
        (f.lit(0) if derivations is None else derivations).cast("long").alias(DERIVATIONS),
        (f.lit(0) if rank is None else rank).cast("int").alias(RANK),
    )


@dataclass(frozen=True)
class TaggedFacts:
    """Facts of many relations that stand in one frame, each fact once: relation, c1, c2, …"""

    frame: DataFrame
    arity: int  # the most arguments that one of them has
    numbers: Mapping[str, int]

    def of(self, wanted: Mapping[str, Sequence[Atom] | None], numbers: Mapping[str, int], width: int) -> DataFrame:
        """The facts of some relations that match one of some atoms, all for None, tagged by other numbers.

        However many relations there are, this is one scan; a union of them would take Spark a second to plan.
        """
        relation = f.col(RELATION)
        conditions = {name: None if atoms is None else matches_any(atoms) for name, atoms in wanted.items()}
        whole = [self.numbers[name] for name, condition in conditions.items() if condition is None]
        chosen = [relation.isin(whole)] if whole else []
        for name, condition in conditions.items():
            if condition is not None:
                chosen.append((relation == self.numbers[name]) & condition)
        others = dict.fromkeys(range(max(self.numbers.values()) + 1), -1)
        others |= {self.numbers[name]: numbers[name] for name in wanted}
        renumbered = f.get(f.array(*map(f.lit, others.values())), relation)
        frame = self.frame.where(reduce(Column.__or__, chosen))
        return tag(frame, renumbered, self.arity, width, explicit=True)


def matches(atom: Atom) -> Column | None:
    """Whether a fact matches an atom, as a condition on c1, c2, …; None where every fact does."""
    return matches_any([atom])


def matches_any(atoms: Sequence[Atom]) -> Column | None:
    """Whether a fact matches one of some atoms; None where every fact does.

    Atoms that differ in their last constant only are one condition: a hundred classes are a list to look into.
    """
    alike: dict[tuple[_Pairs, _Pairs, int], list[int]] = {}
    for atom in atoms:
        equal, constant = _pattern(atom)
        if not equal and not constant:
            return None
        place, id_ = constant[-1] if constant else (0, 0)
        ids = alike.setdefault((equal, constant[:-1], place), [])
        if id_ not in ids:
            ids.append(id_)
    conditions = [_condition(*pattern, ids) for pattern, ids in alike.items()]
    return reduce(Column.__or__, conditions) if conditions else f.lit(False)


def _pattern(atom: Atom) -> tuple[_Pairs, _Pairs]:
    """Which columns are equal to which earlier ones, and which to which ids."""
    equal, constant = [], []
    for place, arg in enumerate(atom.args, 1):
        first = atom.args.index(arg) + 1
        if isinstance(arg, Constant):
            constant.append((place, id_of_key(arg.key)))
        elif first < place:
            equal.append((place, first))
    return tuple(equal), tuple(constant)


def _condition(equal: _Pairs, constant: _Pairs, place: int, ids: Sequence[int]) -> Column:
    found = [f.col(f"c{second}") == f.col(f"c{first}") for second, first in equal]
    found += [f.col(f"c{each}") == f.lit(id_) for each, id_ in constant]
    if place:
        found.append(f.col(f"c{place}").isin(ids) if len(ids) > 1 else f.col(f"c{place}") == f.lit(ids[0]))
    return reduce(Column.__and__, found)
