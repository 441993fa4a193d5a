"""Which values do the ids in a table stand for, and which types do they have?

Integers live in their ids. Other terms are looked up in the files of the dictionary: only the row groups that may hold
one of the wanted ids are read, and of those the texts only where one was found. A column has a native type where all
its terms have a value of it, as outputs of a pipeline do (output_types.py); otherwise it holds texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from everlog.dictionary.hashed_ids import BLANK, INTEGER, IRI, OTHER, STRING, UNBOUND_ID
from everlog.errors import DataError
from everlog.facts.arrays import array_of_keys, text_of_key
from everlog.facts.terms import Literal, key_of, term_of
from everlog.tables.places import TablePlace

Ids = npt.NDArray[np.int64]

_TEXTS = {IRI, BLANK, STRING}


class StoredTerms:
    """The terms of a dictionary, as far as somebody asks for them."""

    def __init__(self, place: TablePlace, files: Sequence[str]) -> None:
        self._place, self._files = place, files

    def keys(self, ids: Ids) -> list[str]:
        """The keys of distinct ids, in ascending order, none of which is an integer's."""
        found: dict[int, str] = {}
        for file in self._files if len(ids) else ():
            name, filesystem = self._place.inside(file), self._place.filesystem()
            with self._place.talking(), pq.ParquetFile(name, filesystem=filesystem) as opened:
                for number in range(opened.metadata.num_row_groups):
                    found.update(_found(opened, number, ids))
        missing = next((id_ for id_ in ids.tolist() if id_ not in found), None)
        if missing is not None:
            raise DataError(f"the id {missing} is in no dictionary", hint="a part of the table `dictionary` is missing")
        return [found[id_] for id_ in ids.tolist()]


def _found(file: pq.ParquetFile, number: int, ids: Ids) -> Iterable[tuple[int, str]]:
    about = file.metadata.row_group(number).column(file.schema_arrow.get_field_index("id")).statistics
    if about is not None and about.has_min_max and (ids[-1] < about.min or ids[0] > about.max):
        return ()
    there = file.read_row_group(number, ["id"])["id"].to_numpy()
    places = np.flatnonzero(ids[np.minimum(np.searchsorted(ids, there), len(ids) - 1)] == there)
    if not len(places):
        return ()
    keys = file.read_row_group(number, ["key"])["key"].take(pa.array(places))
    return zip(there[places].tolist(), keys.to_pylist(), strict=True)


def type_of_ids(ids: Ids, terms: StoredTerms) -> str:
    """The name of the Spark type of a column, from its distinct ids."""
    ids = ids[ids != UNBOUND_ID]
    kinds = {int(kind) for kind in np.unique(ids & 7)}
    if kinds == {INTEGER}:
        return "bigint"
    if OTHER not in kinds or kinds & _TEXTS:  # texts, alone or among others
        return "string"
    keys = terms.keys(np.sort(ids[(ids & 7) == OTHER]))
    if INTEGER in kinds and any(not key.startswith("^integer ") for key in keys):
        return "string"
    return _spark_type(array_of_keys(keys).type)


def _spark_type(type_: pa.DataType) -> str:
    if pa.types.is_decimal(type_):
        return f"decimal({type_.precision},{type_.scale})"
    if pa.types.is_timestamp(type_):
        return "timestamp" if type_.tz else "timestamp_ntz"
    names = {pa.int64(): "bigint", pa.float64(): "double", pa.bool_(): "boolean", pa.date32(): "date"}
    return names.get(type_, "string")


class Decoder:
    """Makes the values of columns out of ids."""

    def __init__(self, relation: str, names: Sequence[str], types: Sequence[pa.DataType], terms: StoredTerms) -> None:
        self._relation, self._names, self._types, self._terms = relation, names, types, terms

    def columns(self, ids: Sequence[Ids]) -> list[pa.Array]:
        """The values of all columns; their terms are looked up together."""
        stored = [column[((column & 7) != INTEGER) & (column != UNBOUND_ID)] for column in ids]
        wanted = np.unique(np.concatenate(stored)) if stored else np.empty(0, np.int64)
        keys = dict(zip(wanted.tolist(), self._terms.keys(wanted), strict=True))
        return [
            self._column(name, type_, column, keys)
            for name, type_, column in zip(self._names, self._types, ids, strict=True)
        ]

    def _column(self, name: str, type_: pa.DataType, ids: Ids, keys: dict[int, str]) -> pa.Array:
        if pa.types.is_integer(type_) and bool(((ids & 7) == INTEGER).all()):
            return self._cast(pa.array(ids >> 3), name, type_)
        encoded = pa.array(ids).dictionary_encode()
        distinct = [self._key(id_, keys) for id_ in encoded.dictionary.to_pylist()]
        values = [None if key is None else self._value(key, name, type_) for key in distinct]
        return self._cast(values, name, type_).take(encoded.indices)

    def _key(self, id_: int, keys: dict[int, str]) -> str | None:
        if id_ == UNBOUND_ID:
            return None
        return f"^integer {id_ >> 3}" if id_ & 7 == INTEGER else keys[id_]

    def _value(self, key: str, name: str, type_: pa.DataType) -> Any:
        if pa.types.is_string(type_):
            return text_of_key(key)
        term = term_of(key)
        kind = next((kind for is_type, kind in _KINDS if is_type(type_)), "")
        zoned = pa.types.is_timestamp(type_) and (type_.tz is not None) != key.endswith("Z")
        if not key.startswith(f"^{kind} ") or isinstance(term, Literal) or zoned or key_of(term) != key:
            raise self._unfit(text_of_key(key), name, type_)
        return term

    def _cast(self, values: Any, name: str, type_: pa.DataType) -> pa.Array:
        try:
            return values.cast(type_) if isinstance(values, pa.Array) else pa.array(values, type_)
        except (pa.ArrowException, OverflowError) as error:
            raise self._unfit(str(error).splitlines()[0], name, type_) from error

    def _unfit(self, what: str, name: str, type_: pa.DataType) -> DataError:
        return DataError(
            f"{self._relation}: column {name!r} holds {what}, which is no {type_}",
            hint=f'read it as text: .schema("… {name} string …")',
        )


_KINDS = (
    (pa.types.is_integer, "integer"),
    (pa.types.is_decimal, "decimal"),
    (pa.types.is_floating, "double"),
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_date, "date"),
    (pa.types.is_timestamp, "dateTime"),
    (pa.types.is_time, "time"),
)


def distinct_ids(columns: Iterable[Sequence[pa.ChunkedArray]]) -> list[Ids]:
    """The distinct ids of each column, over parts of a table."""
    found: list[Ids] = []
    for part in columns:
        each = [pc.unique(column).to_numpy() for column in part]
        found = [np.union1d(*both) for both in zip(found, each, strict=True)] if found else each
    return found
