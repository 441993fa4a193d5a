"""What does a record of the log say?

Everything that an update does, in terms, not in ids, so that a record can be read without those before it:

    u64 length of the JSON text · JSON text · the facts' columns, one after the other, as u32 places in "keys"

    {"version": 7, "keys": ["\\"a", "\\"b"], "insert": [["edge", 2, 1]], "delete": [], …}

`insert` and `delete` list relation, arity and number of rows; `relations` has the arity of each relation that became
known or changed its arity; `prefixes`, `remove_rules` (names), `add_rules` (texts by name), `views` (texts by name,
null for those that go) and `declarations` (texts by relation) are there if they say anything, and so is `updates`,
where there were several; `at` is the time.
Integers are keys like all others. Facts are those that became explicit, or no longer are; where a relation has got
another arity, what is deleted of it may have the one before.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from everlog.dictionary.dictionary import Dictionary
from everlog.facts.weighted import WeightedFacts

_LENGTH = struct.Struct("<Q")
_PLACES = np.dtype("<u4")

# What reading may raise where a record is whole but says no update: written by another program, or another version.
UNREADABLE = (struct.error, ValueError, KeyError, TypeError, IndexError)


@dataclass(frozen=True)
class Record:
    """An update as the log keeps it."""

    version: int
    explicit: Mapping[str, WeightedFacts] = field(default_factory=dict)  # 1: became explicit, -1: no longer is
    reshaped: Mapping[str, WeightedFacts] = field(default_factory=dict)  # no longer explicit, of the arity before
    relations: Mapping[str, int] = field(default_factory=dict)
    prefixes: Mapping[str, str] = field(default_factory=dict)
    remove_rules: Sequence[str] = ()
    add_rules: Mapping[str, str] = field(default_factory=dict)  # texts by name
    views: Mapping[str, str | None] = field(default_factory=dict)  # the same; None for those that go
    updates: int = 1  # how many updates of a stream it is the net effect of
    at: float = 0.0  # seconds since 1970
    declarations: Mapping[str, str] = field(default_factory=dict)  # texts by relation


def encode_record(record: Record, dictionary: Dictionary) -> bytes:
    """The payload of a record."""
    inserted = {name: gained for name, facts in record.explicit.items() if (gained := facts.gained()).rows}
    deleted = [(name, lost) for name, facts in record.explicit.items() if (lost := facts.lost()).rows]
    deleted += [(name, facts.lost()) for name, facts in record.reshaped.items()]
    columns = [c for facts in (*inserted.values(), *(facts for _, facts in deleted)) for c in facts.columns]
    ids = np.concatenate(columns) if columns else np.empty(0, dictionary.dtype)
    distinct, places = np.unique(ids, return_inverse=True)
    said: dict[str, Any] = {
        "version": record.version,
        "at": round(record.at, 3),
        "keys": [dictionary.key(id_) for id_ in distinct.tolist()],
        "insert": [(name, facts.arity, facts.rows) for name, facts in inserted.items()],
        "delete": [(name, facts.arity, facts.rows) for name, facts in deleted],
    }
    for part in ("relations", "prefixes", "remove_rules", "add_rules", "views", "declarations"):
        if value := getattr(record, part):
            said[part] = value
    if record.updates != 1:
        said["updates"] = record.updates
    text = json.dumps(said, separators=(",", ":")).encode()  # ASCII: also half a surrogate pair comes back as it was
    return _LENGTH.pack(len(text)) + text + places.astype(_PLACES).tobytes()


def decode_record(payload: bytes, dictionary: Dictionary) -> Record:
    """The record in a payload, or an UNREADABLE; ids are made for terms that the dictionary does not know."""
    (length,) = _LENGTH.unpack_from(payload)
    said = json.loads(payload[_LENGTH.size : _LENGTH.size + length])
    places = np.frombuffer(payload, _PLACES, offset=_LENGTH.size + length)
    ids = dictionary.encode_keys(said["keys"])[places]
    explicit: dict[str, list[WeightedFacts]] = {}
    reshaped: dict[str, WeightedFacts] = {}
    relations, start = said.get("relations", {}), 0
    for part, weight in (("insert", 1), ("delete", -1)):
        for relation, arity, rows in said[part]:
            columns = [ids[start + rows * column : start + rows * (column + 1)] for column in range(arity)]
            facts = WeightedFacts(columns, np.full(rows, weight, np.int64))
            if relations.get(relation, arity) == arity:
                explicit.setdefault(relation, []).append(facts)
            else:
                reshaped[relation] = facts
            start += rows * arity
    return Record(
        said["version"],
        {name: WeightedFacts.concatenated(parts) for name, parts in explicit.items()},
        reshaped,
        relations,
        said.get("prefixes", {}),
        said.get("remove_rules", ()),
        said.get("add_rules", {}),
        said.get("views", {}),
        said.get("updates", 1),
        said.get("at", 0.0),
        said.get("declarations", {}),
    )
