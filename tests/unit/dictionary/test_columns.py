"""Do columns become the ids that single terms become, and ids columns again?"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlog.dictionary.columns import decode_column, decode_columns, encode_block, encode_column, keys_of
from everlog.dictionary.dictionary import UNBOUND, Dictionary
from everlog.facts.blocks import FactBlock
from everlog.facts.terms import IRI, BlankNode, Literal, Term, key_of

EDGE = 2**30  # beyond it an integer needs a row of the dictionary


@pytest.mark.parametrize(
    "terms",
    [
        ["a", "b", "a", ""],
        [1, -1, 1, EDGE - 1, EDGE, -EDGE, -EDGE - 1, 2**62],
        [0.0, -0.0, float("nan"), 1.5, 1.5],
        [True, False, True],
        [Decimal("1.50"), Decimal("2.00")],
        [dt.date(2024, 5, 31)],
        [dt.datetime(2024, 5, 31, 12, tzinfo=dt.UTC)],
        [dt.time(12, 30)],
    ],
)
def test_values_have_the_ids_of_their_terms(terms: list[Term]) -> None:
    dictionary = Dictionary()
    expected = [dictionary.encode(term) for term in terms]
    column = pa.array(terms)
    assert encode_column(dictionary, column).tolist() == expected
    assert encode_column(dictionary, pa.chunked_array([column[:1], column[1:]])).tolist() == expected
    assert encode_column(dictionary, column.dictionary_encode()).tolist() == expected
    assert encode_column(dictionary, column[1:]).tolist() == expected[1:]


terms = st.one_of(
    st.text(max_size=3),
    st.integers(),
    st.integers(-3, 3),
    st.floats(),
    st.booleans(),
    st.sampled_from([IRI("x:a"), BlankNode("b"), Literal("007", "http://www.w3.org/2001/XMLSchema#integer")]),
)


@given(st.lists(terms))
def test_keys_there_and_back(values: list[Term]) -> None:
    dictionary = Dictionary()
    keys = [key_of(value) for value in values]
    [ids] = encode_block(dictionary, FactBlock("r", (pa.array(keys, pa.string()),), "keys"))
    assert ids.dtype == np.int32
    assert ids.tolist() == [dictionary.encode(value) for value in values]
    assert keys_of(dictionary, ids) == keys


def test_unsigned_integers() -> None:
    dictionary = Dictionary()
    ids = encode_column(dictionary, pa.array([2**64 - 1, 5, 2**63], pa.uint64()))
    assert dictionary.decode_many(ids) == [2**64 - 1, 5, 2**63]


def test_nulls_have_no_ids() -> None:
    with pytest.raises(ValueError, match="nulls"):
        encode_column(Dictionary(), pa.array(["a", None]))


@pytest.mark.parametrize(
    ("terms", "type_", "expected"),
    [
        ([], pa.string(), []),
        (["a", "b"], pa.string(), ["a", "b"]),
        ([1, 2**40], pa.int64(), [1, 2**40]),
        ([1, 2], pa.int64(), [1, 2]),
        ([2**70], pa.string(), [str(2**70)]),
        ([1.5], pa.float64(), [1.5]),
        ([True, False], pa.bool_(), [True, False]),
        ([1, "a"], pa.string(), ["1", "a"]),
        ([1, 1.5], pa.string(), ["1", "1.5E0"]),
        ([IRI("x:a"), BlankNode("b"), Literal("c", language="en")], pa.string(), ["x:a", "_:b", "c"]),
        ([Literal("007", "http://www.w3.org/2001/XMLSchema#integer"), 7], pa.string(), ["007", "7"]),
        ([Decimal("2.5"), Decimal("3")], pa.decimal128(2, 1), [Decimal("2.5"), Decimal("3.0")]),
    ],
)
def test_decoding(terms: list[Term], type_: pa.DataType, expected: list[object]) -> None:
    dictionary = Dictionary()
    ids = np.array([dictionary.encode(term) for term in terms], np.int32)
    column = decode_column(dictionary, ids)
    assert column.type == type_
    assert column.to_pylist() == expected
    assert [found.to_pylist() for found in decode_columns(dictionary, [ids, ids])] == [expected, expected]


def test_unbound_is_null() -> None:
    dictionary = Dictionary()
    ids = np.array([dictionary.encode(1.5), UNBOUND, dictionary.encode(7)], np.int32)
    assert decode_column(dictionary, ids[:2]).to_pylist() == [1.5, None]
    assert decode_column(dictionary, ids[1:]).to_pylist() == [None, 7]
