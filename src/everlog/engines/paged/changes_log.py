"""How is what an update has changed written down, in one piece?

A record has a length and a checksum, then JSON that names version, relations and new terms, then the arrays of each
relation one after the other. Records are appended; how much of the file counts is said by the manifest (folder.py), so
what a process that died left behind is overwritten.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from everlog.engines.interface import Shape
from everlog.engines.paged.stored_facts import StoredFacts
from everlog.errors import DamagedRunsError

_HEAD = struct.Struct("<QII")  # bytes of the record, of them those of its JSON; checksum of all of it


class Record(NamedTuple):
    """What is different since the version before."""

    version: int
    relations: dict[str, tuple[Shape, StoredFacts]]
    terms: list[tuple[int, str]]


def write_record(path: Path, at: int, record: Record) -> int:
    """Write a record at a place; returns where it ends."""
    told = {
        "version": record.version,
        "terms": record.terms,
        "relations": [
            [name, shape.arity, shape.bag, shape.weighted, shape.ranked, facts.rows]
            for name, (shape, facts) in record.relations.items()
        ],
    }
    text = json.dumps(told).encode("utf-8", "surrogatepass")
    parts = [text]
    for _, facts in record.relations.values():
        parts += [array.tobytes() for array in (*facts.columns, *facts[1:])]
    body = b"".join(parts)
    with open(path, "r+b" if at else "wb") as file:
        file.seek(at)
        file.write(_HEAD.pack(len(body), len(text), zlib.crc32(body)) + body)
        file.truncate()
        return file.tell()


def read_changes(path: Path, upto: int, dtype: type[np.signedinteger[Any]]) -> Iterator[Record]:
    """The records up to a place, oldest first."""
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise _damaged(path, "the file is missing") from error
    at = 0
    if len(data) < upto:
        raise _damaged(path, "it was cut")
    while at < upto:
        if at + _HEAD.size > upto:
            raise _damaged(path, "it ends within a record")
        length, text, check = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        body = data[at : at + length]
        at += length
        if at > upto or zlib.crc32(body) != check:
            raise _damaged(path, "a record does not fit its checksum")
        yield _record(body, text, dtype)


def _record(body: bytes, text: int, dtype: type[np.signedinteger[Any]]) -> Record:
    told, at = json.loads(body[:text]), text
    relations = {}
    for name, arity, bag, weighted, ranked, rows in told["relations"]:
        arrays: list[Any] = []
        for type_ in (*[dtype] * max(1, arity), np.uint8, np.int64, np.int32):
            arrays.append(np.frombuffer(body, type_, rows, at))
            at += arrays[-1].nbytes
        *columns, states, weights, ranks = arrays
        relations[name] = Shape(name, arity, bag, weighted, ranked), StoredFacts(tuple(columns), states, weights, ranks)
    return Record(told["version"], relations, [(id_, key) for id_, key in told["terms"]])


def _damaged(path: Path, why: str) -> DamagedRunsError:
    return DamagedRunsError(f"damaged: {why}", path=str(path), hint="make the runs again from the tables")
