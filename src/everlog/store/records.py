"""What does a record of the log say?

Everything that an update does, in terms, not in ids, so that a record can be read without those before it:

    u64 length of the JSON text · JSON text · the facts' columns, one after the other, as u32 places in "keys"

    {"version": 7, "keys": ["\\"a", "\\"b"], "insert": [["edge", 2, 1]], "delete": [], …}

`insert` and `delete` list relation, arity and number of rows; `relations` has the arity of each relation that became
known or changed its arity; `prefixes`, `remove_rules` (names), `add_rules` (texts by name) and `views` (texts by name,
null for those that go) are there if they say anything. Integers are keys like all others. Facts are those that were
asked for, also those that had no effect.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from everlog.dictionary.dictionary import Dictionary, Ids
from everlog.store.encoding import EncodedFacts

_LENGTH = struct.Struct("<Q")
_PLACES = np.dtype("<u4")

# What reading may raise where a record is whole but says no update: written by another program, or another version.
UNREADABLE = (struct.error, ValueError, KeyError, TypeError, IndexError)


@dataclass(frozen=True)
class Record:
    """An update as the log keeps it."""

    version: int
    insert: Sequence[EncodedFacts] = ()
    delete: Sequence[EncodedFacts] = ()
    relations: Mapping[str, int] = field(default_factory=dict)
    prefixes: Mapping[str, str] = field(default_factory=dict)
    remove_rules: Sequence[str] = ()
    add_rules: Mapping[str, str] = field(default_factory=dict)  # texts by name
    views: Mapping[str, str | None] = field(default_factory=dict)  # the same; None for those that go


def encode_record(record: Record, dictionary: Dictionary) -> bytes:
    """The payload of a record."""
    columns = [column for facts in (*record.insert, *record.delete) for column in facts.columns]
    ids = np.concatenate(columns) if columns else np.empty(0, dictionary.dtype)
    distinct, places = np.unique(ids, return_inverse=True)
    said: dict[str, Any] = {
        "version": record.version,
        "keys": [dictionary.key(id_) for id_ in distinct.tolist()],
        "insert": _lengths(record.insert),
        "delete": _lengths(record.delete),
    }
    for part in ("relations", "prefixes", "remove_rules", "add_rules", "views"):
        if value := getattr(record, part):
            said[part] = value
    text = json.dumps(said, separators=(",", ":")).encode()  # ASCII: also half a surrogate pair comes back as it was
    return _LENGTH.pack(len(text)) + text + places.astype(_PLACES).tobytes()


def decode_record(payload: bytes, dictionary: Dictionary) -> Record:
    """The record in a payload, or an UNREADABLE; ids are made for terms that the dictionary does not know."""
    (length,) = _LENGTH.unpack_from(payload)
    said = json.loads(payload[_LENGTH.size : _LENGTH.size + length])
    places = np.frombuffer(payload, _PLACES, offset=_LENGTH.size + length)
    ids = dictionary.encode_keys(said["keys"])[places]
    inserted = sum(arity * rows for _, arity, rows in said["insert"])
    return Record(
        said["version"],
        _facts(said["insert"], ids[:inserted]),
        _facts(said["delete"], ids[inserted:]),
        said.get("relations", {}),
        said.get("prefixes", {}),
        said.get("remove_rules", ()),
        said.get("add_rules", {}),
        said.get("views", {}),
    )


def _lengths(facts: Iterable[EncodedFacts]) -> list[tuple[str, int, int]]:
    return [(each.relation, each.arity, each.rows) for each in facts]


def _facts(lengths: Iterable[tuple[str, int, int]], ids: Ids) -> list[EncodedFacts]:
    found, start = [], 0
    for relation, arity, rows in lengths:
        columns = [ids[start + rows * column : start + rows * (column + 1)] for column in range(arity)]
        found.append(EncodedFacts(relation, columns, rows))
        start += rows * arity
    return found
