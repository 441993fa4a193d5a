"""How are facts written as lines of JSON, and read from them?

A fact is a list: the relation, then the terms, ``["edge", "a", 3]``. JSON's strings, numbers and booleans are the terms
they look like: ``3`` an integer, ``3.0`` a double. Everything else is an object:

    {"@id": "http://ex.org/a"}, {"@id": "_:b0"}              an IRI, a blank node
    {"@value": "2.5", "@type": "xsd:decimal"}                a literal of a type: its IRI, or xsd: and a local name
    {"@value": "colour", "@language": "en"}                  a string with a language

The format is Everlog's own: unlike in RDF documents, a blank node's label is the one it has in the knowledge base, so
that facts written out can be read back, or deleted.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO

import pyarrow as pa

from everlog.errors import DataError, FormatError
from everlog.facts.blocks import FactBlock
from everlog.facts.missing import MissingValues
from everlog.facts.terms import XSD, key_of, term_of, typed_key
from everlog.formats.compression import packed_by_mistake

BLOCK_ROWS = 1 << 18

FACT_EXAMPLE = 'a fact is a list of a relation and terms, such as ["edge", "a", 3]'
decode_json = json.JSONDecoder(
    parse_constant=lambda name: _no_constant(name)
).decode  # `loads` would make one for each line
_NO_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')


def read_jsonl(stream: BinaryIO, *, path: str, missing: MissingValues | None = None) -> Iterator[FactBlock]:
    """The facts of a file, a block for each relation among every `BLOCK_ROWS` lines."""
    missing = missing or MissingValues()
    rows: dict[tuple[str, int], list[list[str]]] = {}
    waiting = 0
    for number, line in enumerate(stream, 1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line.strip():
            continue
        relation, keys = _fact(line, path, number, missing)
        if keys is None:
            continue
        rows.setdefault((relation, len(keys)), []).append(keys)
        waiting += 1
        if waiting == BLOCK_ROWS:
            yield from _blocks(rows)
            rows, waiting = {}, 0
    yield from _blocks(rows)


def key_of_json(value: Any) -> str:
    """The key of the term that a JSON value represents; ValueError where it represents none.

    >>> key_of_json(3), key_of_json({"@value": "2.5", "@type": "xsd:decimal"})
    ('^integer 3', '^decimal 2.5')
    """
    kind = type(value)
    if kind is str:
        return '"' + value  # type: ignore[no-any-return]
    if kind is dict:
        return _key_of_object(value)
    if kind in (int, float, bool):
        return key_of(value)
    if value is None:
        raise ValueError("null is no term; leave the fact out, or use a value that stands for nothing")
    raise ValueError("a list is no term; give each value an argument of its own")


def json_of_key(key: str) -> Any:
    """The JSON value of a term; `key_of_json` reads it back.

    >>> json_of_key("<http://ex.org/a"), json_of_key("^integer 7"), json_of_key("^integer 007")
    ({'@id': 'http://ex.org/a'}, 7, {'@value': '007', '@type': 'xsd:integer'})
    """
    kind = key[0]
    if kind == '"':
        return key[1:]
    if kind == "<":
        return {"@id": key[1:]}
    if kind == "_":
        return {"@id": "_:" + key[1:]}
    tag, _, lexical = key[1:].partition(" ")
    if kind == "@":
        return {"@value": lexical, "@language": tag}
    if tag in ("integer", "boolean", "double"):
        term = term_of(key)
        if isinstance(term, bool | int) or (isinstance(term, float) and math.isfinite(term)):
            return term
    return {"@value": lexical, "@type": tag if ":" in tag else "xsd:" + tag}


def jsonl_lines(relation: str, columns: Sequence[Sequence[str]], rows: int) -> Iterator[str]:
    """A line for each fact."""
    start = "[" + json.dumps(relation, ensure_ascii=False)
    texts: dict[str, str] = {}
    facts: Iterable[tuple[str, ...]] = zip(*columns, strict=True) if columns else itertools.repeat((), rows)
    for row in facts:
        for key in row:
            if key not in texts:
                texts[key] = ", " + json.dumps(json_of_key(key), ensure_ascii=False)
        yield start + "".join([texts[key] for key in row]) + "]\n"


def _fact(line: bytes, path: str, number: int, missing: MissingValues) -> tuple[str, list[str] | None]:
    """A fact of a line; no terms where it is to be skipped."""
    try:
        text = line.decode()
        fact = decode_json(text)
    except UnicodeDecodeError as error:
        hint = packed_by_mistake(line) if number == 1 else None
        raise FormatError(f"this is not UTF-8 ({error.reason})", path=path, line=number, hint=hint) from error
    except (ValueError, RecursionError) as error:
        raise FormatError(
            f"this is not JSON ({error}): {text.strip()[:80]}", path=path, line=number, hint=FACT_EXAMPLE
        ) from error
    if not isinstance(fact, list) or not fact or not isinstance(fact[0], str) or not fact[0]:
        raise DataError(f"not a fact: {json.dumps(fact)[:80]}", path=path, line=number, hint=FACT_EXAMPLE)
    if None in fact:
        if missing.refuses:
            raise missing.refusal(f"argument {fact.index(None)}", path, number)
        if missing.skips:
            missing.skipped += 1
            return fact[0], None
        fact = ["" if value is None else value for value in fact]
    try:
        keys = [key_of_json(value) for value in fact[1:]]
        if "\\u" in text:
            "".join([fact[0], *keys]).encode()  # an escape may name half a surrogate pair, which no text can hold
    except UnicodeEncodeError as error:
        raise DataError("half a surrogate pair is not a character", path=path, line=number) from error
    except ValueError:
        raise _wrong_argument(fact, path, number) from None
    return fact[0], keys


def _wrong_argument(fact: list[Any], path: str, number: int) -> DataError:
    for position, value in enumerate(fact[1:], 1):
        try:
            key_of_json(value)
        except ValueError as error:
            message, _, hint = str(error).partition("; ")
            return DataError(f"argument {position}: {message}", path=path, line=number, hint=hint or None)
    raise AssertionError("one of the arguments was wrong before")


@functools.lru_cache(1 << 16)
def _key_of_id(text: str) -> str:
    if text.startswith("_:") and len(text) > 2:
        return "_" + text[2:]
    if ":" not in text or _NO_IRI.search(text):
        raise ValueError(f"{text!r} is not an absolute IRI; write http://… in full, or _: and a label")
    return "<" + text


def _key_of_object(value: dict[str, Any]) -> str:
    if len(value) == 1 and type(value.get("@id")) is str:
        return _key_of_id(value["@id"])
    names = value.keys()
    if not all(isinstance(text, str) for text in value.values()):
        raise ValueError(f"{json.dumps(value)} has a part that is no string; write numbers in it as strings")
    if names == {"@value"}:
        return '"' + value["@value"]  # type: ignore[no-any-return]
    if names == {"@value", "@language"} and re.fullmatch("[A-Za-z]+(-[A-Za-z0-9]+)*", value["@language"]):
        return f"@{value['@language'].lower()} {value['@value']}"
    if names == {"@value", "@type"} and ":" in value["@type"] and not _NO_IRI.search(value["@type"]):
        datatype = value["@type"]
        return typed_key(value["@value"], XSD + datatype[4:] if datatype.startswith("xsd:") else datatype)
    raise ValueError(
        f"{json.dumps(value)[:80]} is no term; "
        'write {"@id": …}, {"@value": …, "@type": …} or {"@value": …, "@language": …}'
    )


def _blocks(rows: dict[tuple[str, int], list[list[str]]]) -> Iterator[FactBlock]:
    for (relation, _), facts in rows.items():
        yield FactBlock(relation, tuple(pa.array(column, pa.string()) for column in zip(*facts, strict=True)), "keys")


def _no_constant(name: str) -> Any:
    raise ValueError(f'{name} is not JSON; write {{"@value": "NaN", "@type": "xsd:double"}}')
