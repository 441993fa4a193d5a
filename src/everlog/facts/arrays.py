"""Which Arrow array, or which texts, represent a column of term keys?

A column whose terms are all of one type that Arrow has too takes that type; any other holds the texts of its terms.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from everlog.facts.terms import Literal, key_of, term_of


def text_of_key(key: str) -> str:
    """A term as plain text: an IRI without brackets, a literal without its type or language.

    >>> text_of_key("^integer 42"), text_of_key("<http://ex.org/a"), text_of_key("_b0")
    ('42', 'http://ex.org/a', '_:b0')
    """
    kind = key[0]
    if kind in '"<':
        return key[1:]
    if kind == "_":
        return "_:" + key[1:]
    return key.partition(" ")[2]


def keys_of_values(column: pa.Array) -> pa.Array:
    """The keys of a column of values, as blocks of facts hold them."""
    if pa.types.is_string(column.type):
        return pc.binary_join_element_wise('"', column, "")
    if pa.types.is_integer(column.type):
        return pc.binary_join_element_wise("^integer ", column.cast(pa.string()), "")
    distinct = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return pa.array([key_of(value) for value in distinct.dictionary.to_pylist()], pa.string()).take(distinct.indices)


def array_of_keys(keys: Sequence[str]) -> pa.Array:
    """The terms of the keys as one Arrow array: typed where all are of one type that Arrow has, else their texts.

    >>> array_of_keys(["^boolean true", "^boolean false"]).type, array_of_keys(["^integer 1", '"a']).to_pylist()
    (DataType(bool), ['1', 'a'])
    """
    kinds = {key[: key.index(" ") + 1] if key[0] == "^" else key[0] for key in keys if key}
    if len(kinds) == 1:
        as_type = _ARROW_TYPES.get(next(iter(kinds)))
        # A literal that is not canonical (007) has no corresponding Arrow value.
        terms = [term_of(key) if key else None for key in keys] if as_type else []
        if as_type and not any(isinstance(term, Literal) for term in terms):
            for type_ in as_type:
                try:
                    array = pa.array(terms, type_)
                except (pa.ArrowException, OverflowError):
                    continue
                # Arrow drops the zone of a time silently.
                if [key_of(term) if term is not None else "" for term in array.to_pylist()] == list(keys):
                    return array
    return pa.array([text_of_key(key) if key else None for key in keys], pa.string())


def empty_array(type_: str | None) -> pa.Array:
    """No values, of the type that a column is declared to have."""
    known = _ARROW_TYPES.get(f"^{type_} ", (None,))[0] or (pa.decimal128(38, 10) if type_ == "decimal" else pa.string())
    return pa.array([], known)


# By how a key begins, the Arrow types that may hold such terms: the first that holds all of them exactly is taken.
_ARROW_TYPES: dict[str, tuple[pa.DataType | None, ...]] = {
    "^integer ": (pa.int64(),),
    "^double ": (pa.float64(),),
    "^boolean ": (pa.bool_(),),
    "^decimal ": (None,),  # as many digits as are needed
    "^date ": (pa.date32(),),
    "^dateTime ": (pa.timestamp("us"), pa.timestamp("us", "UTC")),
    "^time ": (pa.time64("us"),),
}
