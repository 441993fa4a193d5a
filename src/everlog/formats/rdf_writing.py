"""How are triples and quads written as RDF?

N-Triples and N-Quads a line each; Turtle and TriG by pyoxigraph, which groups neighbouring facts with the same subject.
A graph that is at hand as a whole can be a document in any format (`rdf_document`), RDF/XML and JSON-LD too.
RDF has no literals as subjects and only IRIs as predicates; rules may derive such facts all the same, and they are
refused here with the first of them named.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyoxigraph as ox

from everlog.errors import OutputError
from everlog.facts.terms import RDF, XSD
from everlog.formats.rdf import FORMATS

DOCUMENT_FORMATS = tuple(FORMATS)

_WIDTHS = {"triple": 3, "quad": 4}
_PREFIXES = {
    "rdf": RDF,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": XSD,
}
_BATCH = 1 << 16  # facts that pyoxigraph writes at a time

_LABEL = re.compile("(?!x_)[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})
_NO_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')


def rdf_lines(format: str, relation: str, columns: Sequence[Sequence[str]]) -> Iterator[str]:
    """The text of a document in pieces, a piece for each fact or for many."""
    if _WIDTHS.get(relation) != len(columns):
        raise OutputError(
            f"{relation}/{len(columns)} holds no RDF: only triple(s, p, o) and quad(s, p, o, g) do",
            hint="write .csv, .jsonl or .parquet instead",
        )
    if relation == "quad" and format in ("nt", "ttl"):
        raise OutputError(f"a .{format} file has no named graphs", hint="write .nq or .trig instead")
    return _statements(columns) if format in ("nt", "nq") else _grouped(format, columns)


def term_text(key: str) -> str:
    """A term as N-Triples writes it.

    >>> term_text("^integer 42"), term_text("@en colour"), term_text('"say "hi"')
    ('"42"^^<http://www.w3.org/2001/XMLSchema#integer>', '"colour"@en', '"say \\\\"hi\\\\""')
    """
    kind, rest = key[0], key[1:]
    if kind == '"':
        return f'"{rest.translate(_ESCAPES)}"'
    if kind == "<":
        return f"<{_NO_IRI.sub(_escaped, rest)}>"
    if kind == "_":
        return "_:" + blank_label(rest)
    tag, _, lexical = rest.partition(" ")
    if kind == "@":
        return f'"{lexical.translate(_ESCAPES)}"@{tag}'
    return f'"{lexical.translate(_ESCAPES)}"^^<{tag if ":" in tag else XSD + tag}>'


def blank_label(label: str) -> str:
    """A label that every RDF reader takes; others are spelt in hexadecimal, so that two never become one."""
    return label if _LABEL.fullmatch(label) else "x_" + label.encode().hex()


def _statements(columns: Sequence[Sequence[str]]) -> Iterator[str]:
    texts: dict[str, str] = {}
    for row in zip(*columns, strict=True):
        _check(row)
        for key in row:
            if key not in texts:
                texts[key] = term_text(key)
        yield " ".join([texts[key] for key in row]) + " .\n"


def rdf_document(format: str, rows: Sequence[tuple[str, ...]]) -> str:
    """A whole document of triples or quads, in any format of RDF."""
    term = _known_terms()
    for row in rows:
        _check(row)
    quads = (ox.Quad(*map(term, row)) for row in rows)
    prefixes = None if format in ("nt", "nq") else _PREFIXES
    try:
        return ox.serialize(quads, format=FORMATS[format], prefixes=prefixes).decode()  # type: ignore[union-attr]
    except ValueError as error:
        raise OutputError(f"the triples cannot be written as {format} ({error})", hint="write ttl or nt") from error


def _grouped(format: str, columns: Sequence[Sequence[str]]) -> Iterator[str]:
    term = _known_terms()
    kind = ox.RdfFormat.TURTLE if format == "ttl" else ox.RdfFormat.TRIG
    facts = iter(zip(*columns, strict=True))
    first = True
    while batch := list(itertools.islice(facts, _BATCH)):
        for row in batch:
            _check(row)
        quads = [ox.Quad(*map(term, row)) for row in batch]
        text = ox.serialize(quads, format=kind, prefixes=_PREFIXES).decode()  # type: ignore[union-attr]
        # Each batch is a document of its own; the prefixes stand once, before the first.
        yield text if first else "".join(line for line in text.splitlines(True) if not line.startswith("@prefix "))
        first = False


def _known_terms() -> Callable[[str], Any]:
    known: dict[str, Any] = {}

    def term(key: str) -> Any:
        found = known.get(key)
        if found is None:
            found = known[key] = _term(key)
        return found

    return term


def _term(key: str) -> Any:
    kind, rest = key[0], key[1:]
    if kind == '"':
        return ox.Literal(rest)
    if kind == "_":
        return ox.BlankNode(blank_label(rest))
    try:
        if kind == "<":
            return ox.NamedNode(rest)
        tag, _, lexical = rest.partition(" ")
        if kind == "@":
            return ox.Literal(lexical, language=tag)
        return ox.Literal(lexical, datatype=ox.NamedNode(tag if ":" in tag else XSD + tag))
    except ValueError as error:
        raise OutputError(f"{rest!r} cannot be written as RDF ({error})", hint="write .jsonl instead") from error


def _check(row: tuple[str, ...]) -> None:
    places = zip(("subject", "predicate", "object", "graph"), ("<_", "<", '<_"@^', "<_"), row, strict=False)
    for place, kinds, key in places:
        if key[0] not in kinds:
            raise OutputError(
                f"{term_text(key)} cannot be the {place} of a triple",
                hint="RDF has IRIs there, or blank nodes as subjects; write .jsonl or .csv instead",
            )


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04X}"
