"""Which facts does an RDF document hold?

A triple becomes a fact of ``triple`` (subject, predicate, object), a quad of a named graph one of ``quad`` (with the
graph as fourth). pyoxigraph does the parsing: N-Triples, N-Quads, Turtle, TriG, RDF/XML and JSON-LD.

A blank node's label means something inside one document only. So each document has a *scope*, which stands before every
label: ``_:x`` becomes ``f1_x``, and the nodes that a document leaves unnamed become ``f1-0``, ``f1-1``, … in the order
in which they come, so that reading the same document in the same scope gives the same facts.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import pyarrow as pa
import pyoxigraph as ox

from everlog.errors import DataError, FormatError
from everlog.facts.blocks import FactBlock
from everlog.facts.terms import typed_key
from everlog.formats.compression import packed_by_mistake
from everlog.formats.ntriples import line_chunks, plain_triples

FORMATS = {
    "nt": ox.RdfFormat.N_TRIPLES,
    "nq": ox.RdfFormat.N_QUADS,
    "ttl": ox.RdfFormat.TURTLE,
    "trig": ox.RdfFormat.TRIG,
    "rdf": ox.RdfFormat.RDF_XML,
    "jsonld": ox.RdfFormat.JSON_LD,
}

BLOCK_ROWS = 1 << 18  # Python strings are held for a block's terms: about 100 MB at this size

_scopes = itertools.count(1)
_XSD_STRING = ox.NamedNode("http://www.w3.org/2001/XMLSchema#string")
_UNNAMED = re.compile("[0-9a-f]{16,32}")  # the label that the parser gives to an unlabelled node: a random number


def next_scope() -> str:
    """A scope that no other document of this process has."""
    return f"f{next(_scopes)}"


def read_rdf(
    stream: BinaryIO,
    format: str,
    *,
    path: str,
    graph: str | None = None,
    base: str | None = None,
    scope: str | None = None,
) -> Iterator[FactBlock]:
    """The facts of a document, in its order; `path` is what errors call it.

    >>> import io
    >>> [block] = read_rdf(io.BytesIO(b'<x:a> <x:p> 42 .'), "ttl", path="doc")
    >>> block.relation, [column.to_pylist() for column in block.columns]
    ('triple', [['<x:a'], ['<x:p'], ['^integer 42']])
    """
    blank = _blank_labels(scope or next_scope(), explicit=format in ("nt", "nq"))
    key = term_keys(blank, path)
    if format != "nt":
        yield from _blocks(_parse(stream, format, path, base), key, graph)
        return
    lines = 0
    for chunk in line_chunks(stream):
        columns = plain_triples(chunk, blank)
        if columns is None:
            yield from _blocks(_parse(io.BytesIO(chunk), format, path, base, lines), key, graph)
        elif graph is None:
            yield FactBlock("triple", columns, "keys")
        else:
            yield FactBlock("quad", (*columns, pa.repeat("<" + graph, len(columns[0]))), "keys")
        lines += chunk.count(b"\n")


def _blocks(quads: Iterator[Any], key: Callable[[Any], str], graph: str | None) -> Iterator[FactBlock]:
    default_graph = None if graph is None else "<" + graph
    while True:
        triples: list[tuple[str, str, str]] = []
        named: list[tuple[str, str, str, str]] = []
        for subject, predicate, object_, name in itertools.islice(quads, BLOCK_ROWS):
            spo = key(subject), "<" + predicate.value, key(object_)
            if type(name) is not ox.DefaultGraph:
                named.append((*spo, key(name)))
            elif default_graph is not None:
                named.append((*spo, default_graph))
            else:
                triples.append(spo)
        if triples:
            yield FactBlock("triple", _columns(triples), "keys")
        if named:
            yield FactBlock("quad", _columns(named), "keys")
        if len(triples) + len(named) < BLOCK_ROWS:
            return


def _columns(rows: list[Any]) -> tuple[pa.Array, ...]:
    return tuple(pa.array(column, pa.string()) for column in zip(*rows, strict=True))


def _parse(stream: BinaryIO, format: str, path: str, base: str | None, before: int = 0) -> Iterator[Any]:
    start = stream.read(8)
    rest = io.BufferedReader(_Resumed(start, stream))
    if not start:
        return  # an empty document holds no facts, also where the format wants at least a root element
    try:
        yield from ox.parse(rest, format=FORMATS[format], base_iri=base)
    except SyntaxError as error:
        column = f" (column {error.offset})" if error.offset else ""
        message = re.sub(r"^Parser error[^:]*: ", "", error.msg or str(error))
        line = error.lineno + before if error.lineno else None
        raise FormatError(f"{message}{column}", path=path, line=line, hint=packed_by_mistake(start)) from error
    except ValueError as error:
        raise FormatError(str(error), path=path, hint=packed_by_mistake(start)) from error
    except OSError as error:
        raise DataError(f"this document cannot be read ({error})", path=path) from error


class _Resumed(io.RawIOBase):
    """A stream that begins with some bytes that have been read already."""

    def __init__(self, start: bytes, stream: BinaryIO) -> None:
        self._start, self._stream = start, stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data, self._start = self._start or self._stream.read(len(buffer)), b""
        buffer[: len(data)] = data
        return len(data)


def term_keys(blank: Callable[[str], str], path: str) -> Callable[[Any], str]:
    """The function from the parser's terms to keys."""

    def key(term: Any) -> str:
        kind = type(term)
        if kind is ox.NamedNode:
            return "<" + term.value  # type: ignore[no-any-return]
        if kind is ox.Literal:
            datatype = term.datatype
            if datatype == _XSD_STRING:
                return '"' + term.value  # type: ignore[no-any-return]
            language = term.language
            if language is None:
                return typed_key(term.value, datatype.value)
            if getattr(term, "direction", None) is not None:
                raise DataError(
                    f"{term} has a base direction, which Everlog does not know",
                    path=path,
                    hint="leave out --ltr, --rtl",
                )
            return f"@{language.lower()} {term.value}"
        if kind is ox.BlankNode:
            return blank(term.value)
        raise DataError(
            f"{term} is a triple inside a triple, which Everlog does not know",
            path=path,
            hint="use reification instead",
        )

    return key


def _blank_labels(scope: str, *, explicit: bool) -> Callable[[str], str]:
    known: dict[str, str] = {}
    unnamed = itertools.count()

    def key(label: str) -> str:
        found = known.get(label)
        if found is None:
            numbered = not explicit and _UNNAMED.fullmatch(label)
            found = known[label] = f"_{scope}-{next(unnamed)}" if numbered else f"_{scope}_{label}"
        return found

    return key
