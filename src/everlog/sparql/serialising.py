"""How are answers written for others: as SPARQL's JSON, XML, CSV and TSV?

    json, xml   everything (SPARQL 1.1 Query Results JSON Format; SPARQL Query Results XML Format)
    tsv         everything, with terms as Turtle has them; a variable without a value is empty
    csv         the text of terms, without types and languages

A truth value in CSV or TSV, for which there is no standard, is the word.

>>> solutions_text(["x", "y"], [(1, "a"), (IRI("http://ex.org/b"), None)], "csv")
'x,y\\r\\n1,a\\r\\nhttp://ex.org/b,\\r\\n'
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from everlog.errors import OutputError, UsageError
from everlog.facts.arrays import text_of_key
from everlog.facts.terms import IRI, XSD, BlankNode, Literal, Term, key_of, lexical_and_datatype
from everlog.formats.rdf_writing import blank_label, term_text

RESULT_FORMATS = ("json", "xml", "csv", "tsv")

Row = Sequence[Term | None]

_XML_START = '<?xml version="1.0"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#">\n'
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPECIAL_IN_CSV = re.compile('[",\r\n]')
_SHORT = {  # numbers that Turtle writes without quotes and type
    "integer": re.compile(r"[+-]?[0-9]+"),
    "decimal": re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    "double": re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)[eE][+-]?[0-9]+"),
}


def solutions_text(names: Sequence[str], rows: Iterable[Row], format: str) -> str:
    """Solutions in one of the formats of results."""
    return "".join(_SOLUTIONS[check_format(format, RESULT_FORMATS)](names, rows))


def truth_text(value: bool, format: str) -> str:
    """The answer to ASK in one of the formats of results.

    >>> truth_text(True, "json")
    '{"head": {}, "boolean": true}\\n'
    """
    word = "true" if value else "false"
    match check_format(format, RESULT_FORMATS):
        case "json":
            return json.dumps({"head": {}, "boolean": value}) + "\n"
        case "xml":
            return f"{_XML_START}  <head/>\n  <boolean>{word}</boolean>\n</sparql>\n"
        case _:
            return word + "\n"


def check_format(format: str, known: Sequence[str]) -> str:
    """The name of a format, if there is one of that name."""
    name = format.lower().removeprefix(".")
    if name not in known:
        near = get_close_matches(name, known, 1)
        raise UsageError(
            f"there is no format {format!r} for this answer; there are {', '.join(known)}",
            hint=f"did you mean {near[0]!r}?" if near else None,
        )
    return name


# --- JSON -----------------------------------------------------------------------------------------------------------


def _json(names: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """A line for each solution."""
    yield f'{{"head": {{"vars": {json.dumps(list(names), ensure_ascii=False)}}}, "results": {{"bindings": ['
    separator = "\n"
    for row in rows:
        bindings = {name: _json_term(term) for name, term in zip(names, row, strict=True) if term is not None}
        yield separator + json.dumps(bindings, ensure_ascii=False)
        separator = ",\n"
    yield "\n]}}\n"


def _json_term(term: Term) -> dict[str, str]:
    if isinstance(term, IRI):
        return {"type": "uri", "value": term.value}
    if isinstance(term, BlankNode):
        return {"type": "bnode", "value": blank_label(term.label)}
    text, datatype = lexical_and_datatype(term)
    if isinstance(term, Literal) and term.language:
        return {"type": "literal", "value": text, "xml:lang": term.language}
    typed = {} if datatype == XSD + "string" else {"datatype": datatype}
    return {"type": "literal", "value": text, **typed}


# --- XML ------------------------------------------------------------------------------------------------------------


def _xml(names: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    yield _XML_START + "  <head>\n"
    for name in names:
        yield f"    <variable name={quoteattr(name)}/>\n"
    yield "  </head>\n  <results>\n"
    for row in rows:
        yield "    <result>\n"
        for name, term in zip(names, row, strict=True):
            if term is not None:
                yield f"      <binding name={quoteattr(name)}>{_xml_term(term)}</binding>\n"
        yield "    </result>\n"
    yield "  </results>\n</sparql>\n"


def _xml_term(term: Term) -> str:
    if isinstance(term, IRI):
        return f"<uri>{_xml_text(term.value)}</uri>"
    if isinstance(term, BlankNode):
        return f"<bnode>{blank_label(term.label)}</bnode>"
    text, datatype = lexical_and_datatype(term)
    attribute = "" if datatype == XSD + "string" else f" datatype={quoteattr(datatype)}"
    if isinstance(term, Literal) and term.language:
        attribute = f" xml:lang={quoteattr(term.language)}"
    return f"<literal{attribute}>{_xml_text(text)}</literal>"


def _xml_text(text: str) -> str:
    if _NOT_IN_XML.search(text):
        raise OutputError(f"{text[:60]!r} holds a character that XML cannot say", hint="write json instead")
    return escape(text, {"\r": "&#13;"})  # a parser would make a line feed of it


# --- CSV and TSV ----------------------------------------------------------------------------------------------------


def _csv(names: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    yield ",".join(map(_csv_field, names)) + "\r\n"
    for row in rows:
        line = ",".join("" if term is None else _csv_field(text_of_key(key_of(_named(term)))) for term in row)
        # A line without anything would be skipped by most readers.
        yield (line if line or not names else '""') + "\r\n"


def _csv_field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _SPECIAL_IN_CSV.search(text) else text


def _named(term: Term) -> Term:
    return BlankNode(blank_label(term.label)) if isinstance(term, BlankNode) else term


def _tsv(names: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    yield "\t".join(f"?{name}" for name in names) + "\n"
    for row in rows:
        yield "\t".join("" if term is None else _turtle(term) for term in row) + "\n"


def _turtle(term: Term) -> str:
    key = key_of(term)
    if key[0] == "^":
        type_, _, lexical = key[1:].partition(" ")
        if type_ in _SHORT and _SHORT[type_].fullmatch(lexical):
            return lexical
    return term_text(key)


_SOLUTIONS: dict[str, Callable[[Sequence[str], Iterable[Row]], Iterator[Any]]] = {
    "json": _json,
    "xml": _xml,
    "csv": _csv,
    "tsv": _tsv,
}
