"""How are N-Triples read fast?

Most files are written by machines, every line ``<s> <p> o .`` with single spaces. Such lines are split by Arrow, and
each *distinct* subject, predicate and object is checked and made a key once. Whatever looks different in any way (a
tab, an escape in an IRI, an error) is left to pyoxigraph, a chunk of lines at a time: this file never decides that
something is wrong, and asks pyoxigraph about what it cannot judge, so both ways accept the same documents.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyoxigraph as ox

from everlog.facts.terms import RDF, typed_key

CHUNK_BYTES = 1 << 24

_BLANK = re.compile(r"_:([A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?)")
_TAGGED = (RDF + "langString", RDF + "dirLangString")  # datatypes that require a language
_LITERAL = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")(?:@([a-zA-Z]+(?:-[a-zA-Z0-9]+)*)|\^\^(<[^<>]+>))?')


class _LeaveIt(Exception):
    """A token that the full parser should look at."""


def line_chunks(stream: BinaryIO) -> Iterator[bytes]:
    """The stream in chunks of whole lines."""
    rest = b""
    while data := stream.read(CHUNK_BYTES):
        end = data.rfind(b"\n") + 1
        if not end:
            rest += data
            continue
        yield rest + data[:end]
        rest = data[end:]
    if rest:
        yield rest


def plain_triples(chunk: bytes, blank: Callable[[str], str]) -> tuple[pa.Array, ...] | None:
    """The triples of plainly written lines as columns of keys, or None where a line is not plain.

    >>> plain_triples(b"<x:a> <x:p> 'no' .\\n", str) is None
    True
    """
    if b"\r" in chunk or not chunk.endswith(b"\n"):
        return None
    lines = _lines(chunk)
    if lines is None:
        return None
    if b"#" in chunk or b"\n\n" in chunk or chunk.startswith(b"\n"):
        lines = lines.filter(pc.invert(pc.or_(pc.starts_with(lines, "#"), pc.equal(lines, ""))))
    if not pc.all(pc.ends_with(lines, " ."), min_count=0).as_py():
        return None
    parts = pc.split_pattern(lines, " ", max_splits=2)
    if not pc.all(pc.equal(pc.list_value_length(parts), 3), min_count=0).as_py():
        return None
    tokens = parts.flatten()
    places = np.arange(0, len(tokens), 3)
    try:
        return (
            _keys(tokens.take(pa.array(places)), lambda token: _subject(token, blank)),
            _keys(tokens.take(pa.array(places + 1)), _iri),
            _keys(tokens.take(pa.array(places + 2)), lambda token: _object(token[:-2], blank)),
        )
    except _LeaveIt:
        return None


def _lines(chunk: bytes) -> pa.Array | None:
    data = np.frombuffer(chunk, np.uint8)
    ends = np.flatnonzero(data == ord("\n")).astype(np.int32) + 1
    offsets = np.concatenate([np.zeros(1, np.int32), ends])
    lines = pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(chunk))
    try:
        lines.validate(full=True)  # that it is UTF-8
    except pa.ArrowInvalid:
        return None
    return pc.utf8_rtrim(lines, "\n")


def _keys(tokens: pa.Array, key: Callable[[str], str]) -> pa.Array:
    distinct = tokens.dictionary_encode()
    keys = [key(token) for token in distinct.dictionary.to_pylist()]
    if len(set(keys)) == len(keys):
        return pa.DictionaryArray.from_arrays(distinct.indices, pa.array(keys, pa.string()))
    return pa.array(keys, pa.string()).take(distinct.indices)  # two spellings of one term


def _iri(token: str) -> str:
    try:
        ox.NamedNode(token[1:-1])  # refuses what the parser refuses, and escapes
    except ValueError:
        raise _LeaveIt from None
    if token[0] != "<" or token[-1] != ">":
        raise _LeaveIt
    return token[:-1]


def _subject(token: str, blank: Callable[[str], str]) -> str:
    if token[:1] == "<":
        return _iri(token)
    found = _BLANK.fullmatch(token)
    if not found:
        raise _LeaveIt
    return blank(found[1])


def _object(token: str, blank: Callable[[str], str]) -> str:
    if token[:1] != '"':
        return _subject(token, blank)
    found = _LITERAL.fullmatch(token)
    if not found:
        raise _LeaveIt
    quoted, language, datatype = found.groups()
    text = quoted[1:-1] if "\\" not in quoted else _unescaped(quoted)
    if language:
        return f"@{_language(language)} {text}"
    if datatype is None:
        return '"' + text
    iri = _iri(datatype)[1:]
    if iri in _TAGGED:
        raise _LeaveIt
    return typed_key(text, iri)


@functools.lru_cache(maxsize=1024)
def _language(tag: str) -> str:
    """A language tag in lower case, if it is valid: pyoxigraph decides, since BCP 47 is too complex for a pattern."""
    try:
        ox.Literal("", language=tag)
    except ValueError:
        raise _LeaveIt from None
    return tag.lower()


def _unescaped(quoted: str) -> str:
    try:
        [quad] = ox.parse(f"<x:s> <x:p> {quoted} .", format=ox.RdfFormat.N_TRIPLES)
        text: str = quad.object.value
    except SyntaxError:
        raise _LeaveIt from None
    return text
