"""Which kinds of terms can be in a column?

The kind of a term is in its id (ids.py), so a set of kinds is a few bits. Facts that come in are looked at once. What
rules conclude follows from what they read, without another look at the data: a variable can only have kinds that every
column it is read from has. So it is known before a round whether a comparison may meet terms that ids cannot compare.

>>> may_need_terms("!=", only(STRING), only(STRING)), may_need_terms("<", only(STRING), only(STRING))
(False, True)
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from pyspark.sql import Column
from pyspark.sql import functions as f

from everlog.dictionary.dictionary import Ids
from everlog.engines.spark.ids import OTHER, STRING, id_of_key
from everlog.facts.terms import key_of
from everlog.rules.syntax import Argument, Constant

Kinds = int  # a bit for each kind
NONE, ANY = 0, 0xFF
ORDERS = ("<", "<=", ">", ">=")


def only(kind: int) -> Kinds:
    return 1 << kind


def kinds_of_ids(ids: Ids) -> Kinds:
    return int(np.bitwise_or.reduce(1 << (ids & 7), initial=NONE))


def kinds_column(name: str) -> Column:
    """The aggregate that finds the kinds of a column; null where there are no rows."""
    kind = f.col(name).bitwiseAND(f.lit(7)).cast("int")
    return f.bit_or(f.call_function("shiftleft", f.lit(1), kind))  # f.shiftleft takes a number only


def kinds_of_argument(argument: Argument, known: Mapping[str, Kinds]) -> Kinds:
    if isinstance(argument, Constant):
        return only(id_of_key(key_of(argument.term)) & 7)
    return known.get(argument.name, ANY)


def may_need_terms(comparison: str, left: Kinds, right: Kinds) -> bool:
    """Can a comparison meet two terms whose ids do not say how they compare?"""
    if (left | right) & only(OTHER):
        return True
    return comparison in ORDERS and bool(left & right & only(STRING))
