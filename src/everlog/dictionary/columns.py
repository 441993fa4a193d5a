"""How do whole columns become ids, and ids columns?

Work is done once for each distinct value: Arrow finds those, the dictionary encodes them, NumPy spreads the ids over
the rows. Integers that fit into an id need not even that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from everlog.dictionary.dictionary import INLINE_OFFSET, Dictionary, Ids
from everlog.facts.arrays import array_of_keys
from everlog.facts.blocks import FactBlock
from everlog.facts.terms import key_of


def encode_block(dictionary: Dictionary, block: FactBlock) -> list[Ids]:
    """The ids of a block's columns.

    >>> d = Dictionary()
    >>> a, b = encode_block(d, FactBlock("edge", (pa.array(["x", "y", "x"]), pa.array([7, 8, 7]))))
    >>> a.tolist(), d.decode_many(b)
    ([1, 2, 1], [7, 8, 7])
    """
    return [encode_column(dictionary, column, keys=block.form == "keys") for column in block.columns]


def encode_column(dictionary: Dictionary, column: pa.Array | pa.ChunkedArray, *, keys: bool = False) -> Ids:
    """The ids of one column, of values or of term keys."""
    if isinstance(column, pa.ChunkedArray):
        return np.concatenate(
            [np.empty(0, dictionary.dtype), *(encode_column(dictionary, c, keys=keys) for c in column.chunks)]
        )
    if column.null_count:
        raise ValueError("a column with nulls has no ids")
    if pa.types.is_integer(column.type) and not keys:
        return dictionary.encode_integers(column.to_numpy(zero_copy_only=False))
    distinct, places = _distinct(column)
    if keys:
        found = dictionary.encode_keys(distinct.to_pylist())
    elif pa.types.is_string(distinct.type) or pa.types.is_large_string(distinct.type):
        found = dictionary.encode_keys(['"' + text for text in distinct.to_pylist()])
    else:
        found = dictionary.encode_keys([key_of(value) for value in distinct.to_pylist()])
    ids: Ids = found[places]
    return ids


def _distinct(column: pa.Array) -> tuple[pa.Array, npt.NDArray[np.int32]]:
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    values, places = column.dictionary, column.indices.to_numpy(zero_copy_only=False)
    if len(values) > len(places):  # a few rows of many: values that they do not use are no business of ours
        used, places = np.unique(places, return_inverse=True)
        values = values.take(pa.array(used))
    return values, places


def keys_of(dictionary: Dictionary, ids: Ids) -> list[str]:
    """The key of each id."""
    distinct, places = np.unique(ids, return_inverse=True)
    key = dictionary.key
    keys = np.array([key(id_) for id_ in distinct.tolist()], object)
    return keys[places].tolist() if len(keys) else []


def decode_columns(dictionary: Dictionary, columns: Sequence[Ids]) -> list[pa.Array]:
    """A column of values for each column of ids."""
    return [decode_column(dictionary, ids) for ids in columns]


def decode_column(dictionary: Dictionary, ids: Ids) -> pa.Array:
    """The terms of the ids as one Arrow array: of their type where all have one that Arrow knows, otherwise of their
    texts (an IRI without brackets, a literal without its type or language); null where an id is UNBOUND.

    >>> d = Dictionary()
    >>> decode_column(d, np.array([d.encode(7), d.encode(8)], d.dtype)).type
    DataType(int64)
    """
    if len(ids) and dictionary.dtype is Dictionary.dtype and int(ids.max()) < 0:
        return pa.array(ids.astype(np.int64) + INLINE_OFFSET)
    distinct, places = np.unique(ids, return_inverse=True)
    key, unbound = dictionary.key, dictionary.unbound
    return array_of_keys(["" if id_ == unbound else key(id_) for id_ in distinct.tolist()]).take(pa.array(places))
