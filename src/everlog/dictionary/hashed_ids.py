"""Which 64-bit integer stands for which term on Spark and in tables?

Ids are made from the term alone, so that every task, run and machine gives a term the same id without asking anyone:

    bits 63…3   the upper 61 bits of xxhash64 of the term's key (facts/terms.py), or the value of a small integer
    bits 2…0    what kind of term it is

The kind lets most comparisons be decided on ids alone: IRIs, blank nodes and strings are equal only when they are the
same term, and integers below 2**60 are their own value. Two terms with one id would be a wrong result, so encoding
looks for that and stops (pipeline/encode.py); among a hundred million terms the chance of it is about one in five
hundred.

>>> id_of_key("^integer 42") == (42 << 3) | INTEGER, id_of_key("<http://ex.org/a") & 7 == IRI
(True, True)
"""

from __future__ import annotations

import re

import xxhash

IRI, BLANK, STRING, OTHER, INTEGER = 0, 1, 2, 3, 4
UNBOUND_ID = 7  # no term: where an expression inside an aggregate failed

_SEED = 42  # Spark's own: `xxhash64(key)` in SQL gives the same bits
MOST = 1 << 60
_SMALL_INTEGER = re.compile(r"\^integer (0|-?[1-9][0-9]{0,18})")
_KINDS = {"<": IRI, "_": BLANK, '"': STRING}


def id_of_key(key: str) -> int:
    """The id of a term, given its key."""
    match = _SMALL_INTEGER.fullmatch(key)
    if match and -MOST < (value := int(match[1])) < MOST:
        return (value << 3) | INTEGER
    bits = xxhash.xxh64_intdigest(key.encode(), seed=_SEED)
    if bits >= 1 << 63:
        bits -= 1 << 64
    return (bits & ~7) | _KINDS.get(key[0], OTHER)


def integer_of_id(id_: int) -> int | None:
    """The value of an integer that lives in its id."""
    return id_ >> 3 if id_ & 7 == INTEGER else None
