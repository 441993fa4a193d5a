"""Which columns does a table have?

A relation's table is a log of what happened to its facts. Each row is a fact as a version left it:

    c1 … cn       the ids of its terms
    weight        what that version did to it: 1 gained, -1 lost, 0 neither; in a bag, how many more it became
    explicit      whether it is explicit
    derivations   how many derivations it has, where they are counted; in a bag, how many times it is there
    rank          its rank, where there is recursion (DESIGN 6); the last three let maintenance go on from a table
    version

So the last row of a fact says everything about it, and the sum of its weights whether it is there. Other tables, such
as the dictionary, have columns of their own and `version`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

WEIGHT, EXPLICIT, DERIVATIONS, RANK, VERSION = "weight", "explicit", "derivations", "rank", "version"
STATE = {WEIGHT: "bigint", EXPLICIT: "boolean", DERIVATIONS: "bigint", RANK: "int", VERSION: "bigint"}

SET, BAG, PLAIN = "set", "bag", "plain"  # kinds of tables

# Spark's names of types, and Delta's.
DELTA_TYPES = {
    "bigint": "long",
    "int": "integer",
    "string": "string",
    "double": "double",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamp",
    "binary": "binary",
}


def fact_columns(arity: int) -> dict[str, str]:
    """The columns of a relation's arguments, with their types."""
    return {f"c{place}": "bigint" for place in range(1, arity + 1)}


def all_columns(columns: Mapping[str, str], kind: str) -> dict[str, str]:
    """Every column of a table."""
    return {**columns, VERSION: "bigint"} if kind == PLAIN else {**columns, **STATE}


def arrow_schema(types: Mapping[str, str]) -> pa.Schema:
    import pyarrow as pa

    known = {"bigint": pa.int64(), "int": pa.int32(), "string": pa.string(), "boolean": pa.bool_()}
    return pa.schema([(name, known[type_]) for name, type_ in types.items()])
