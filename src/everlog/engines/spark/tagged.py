"""In which form do facts of many relations go through one frame?

A *tagged* frame holds facts of any number of relations, of any arity: `relation` says which (an index into a list),
`c1`, `c2`, … are its ids and null beyond its arity. So everything that a program derives is one frame, and goes through
one job. Beside the ids stand

    weight        the multiplicity of a bag's fact; 1 for a set's
    explicit      whether the fact was given
    derivations   how many derivations it has, where its component counts them, else 0; of a bag's fact its weight
    rank          its rank, where its component is recursive, else 0
    key           of a term that came up: such a row has TERM for its relation, and the term's id in c1

Only frames that need them have the column `key`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import BooleanType, IntegerType, LongType, StringType, StructField, StructType

from everlog.engines.spark.ids import id_of_key
from everlog.rules.syntax import Atom, Constant

TERM = -1
RELATION, WEIGHT, EXPLICIT, DERIVATIONS, RANK, KEY = "relation", "weight", "explicit", "derivations", "rank", "key"


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
    number: int,
    arity: int,
    width: int,
    *,
    explicit: Column | bool,
    weight: Column | None = None,
    derivations: Column | None = None,
    rank: Column | None = None,
) -> DataFrame:
    """Facts of one relation as a tagged frame."""
    ids = [f.col(name) for name in id_columns(arity)]
    ids += [f.lit(None).cast("long") for _ in range(width - arity)]
    return frame.select(
        f.lit(number).cast("int").alias(RELATION),
        *(column.alias(name) for column, name in zip(ids, id_columns(width), strict=True)),
        (f.lit(1) if weight is None else weight).cast("long").alias(WEIGHT),
        (f.lit(explicit) if isinstance(explicit, bool) else explicit).alias(EXPLICIT),
        (f.lit(0) if derivations is None else derivations).cast("long").alias(DERIVATIONS),
        (f.lit(0) if rank is None else rank).cast("int").alias(RANK),
    )


def matches(atom: Atom) -> Column | None:
    """Whether a fact matches an atom, as a condition on c1, c2, …; None where every fact does."""
    conditions: list[Column] = []
    for position, (name, arg) in enumerate(zip(id_columns(len(atom.args)), atom.args, strict=True)):
        first = atom.args.index(arg)
        if isinstance(arg, Constant):
            conditions.append(f.col(name) == f.lit(id_of_key(arg.key)))
        elif first < position:
            conditions.append(f.col(name) == f.col(f"c{first + 1}"))
    return reduce(Column.__and__, conditions) if conditions else None


def matches_any(atoms: Sequence[Atom]) -> Column | None:
    """Whether a fact matches one of some atoms; None where every fact does."""
    conditions = []
    for atom in atoms:
        condition = matches(atom)
        if condition is None:
            return None
        conditions.append(condition)
    return reduce(Column.__or__, conditions) if conditions else f.lit(False)
