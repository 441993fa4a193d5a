"""How are the triples of INSERT DATA and DELETE DATA read, which may be many?

They are written as in TriG, which the RDF parser reads hundreds of times faster than the SPARQL parser. So a request
that clearly contains only such triples is read as TriG. This file never reports an error: whatever is unusual, or not
allowed in TriG, is left to the SPARQL parser and its error messages.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass

from everlog.errors import EverlogError
from everlog.facts.blocks import FactBlock

_IRI = r'<[^<>"{}|^`\\\x00-\x20]*>'
_REQUEST = re.compile(
    rf"\s*(?P<prologue>(?:(?:PREFIX\s+[^\s:<>#]*:|BASE)\s*{_IRI}\s*)*)"
    r"(?P<verb>INSERT|DELETE)\s+DATA\s*\{(?P<data>.*)\}\s*;?\s*",
    re.IGNORECASE | re.DOTALL,
)
_QUOTED = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""'
    r"|'''(?:[^'\\]|\\.|'(?!''))*'''"
    r'|"(?:[^"\\\r\n]|\\.)*"'
    r"|'(?:[^'\\\r\n]|\\.)*'"
    rf"|{_IRI}|#[^\n]*\n?",
    re.DOTALL,
)
_NAMED_GRAPH = re.compile(r"\bGRAPH\s+(?:_(?!:)|(?!_:)[^\s:{}]*:[^\s{}]*)\s*\{[^{}]*\}", re.IGNORECASE)
# What TriG has and SPARQL does not, or elsewhere: graphs without GRAPH, prefixes among triples, quoted triples.
_OTHERWISE = re.compile(
    r"[{}<>~|]|@(?:prefix|base|version)\b|(?<![\w:@-])(?:PREFIX|BASE|VERSION|GRAPH)(?![\w:-])", re.IGNORECASE
)


@dataclass(frozen=True)
class GroundData:
    """Triples, and quads of named graphs, to insert or to delete."""

    insert: tuple[FactBlock, ...] = ()
    delete: tuple[FactBlock, ...] = ()


def read_ground_data(text: str, base: str | None, prefixes: Mapping[str, str], scope: str) -> GroundData | None:
    """What a request inserts or deletes, or None where that is unclear; `scope` is the prefix of blank node labels."""
    from everlog.formats.rdf import read_rdf

    request = _REQUEST.fullmatch(text)
    bare = _QUOTED.sub(_bare, request["data"]) if request is not None else ""
    if request is None or "#" in bare:  # a comment that extends beyond the last brace
        return None
    deletes = request["verb"].upper() == "DELETE"
    if _OTHERWISE.search(_NAMED_GRAPH.sub(" ", bare)) or (deletes and ("_:" in bare or "[" in bare or "(" in bare)):
        return None
    known = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in prefixes.items())
    document = f"{known}{request['prologue']}\n{request['data']}\n{_end(bare)}"
    try:
        found = tuple(read_rdf(io.BytesIO(document.encode()), "trig", path="<update>", base=base, scope=scope))
    except (EverlogError, UnicodeEncodeError):
        return None
    return GroundData(delete=found) if deletes else GroundData(insert=found)


def _bare(quoted: re.Match[str]) -> str:
    """What replaces a string, so that nothing is searched inside of it."""
    return "_" if not quoted[0].startswith("#") else " " if quoted[0].endswith("\n") else "#"


def _end(bare: str) -> str:
    """The final full stop, which SPARQL allows to be left out."""
    return "" if not bare.strip() or bare.rstrip().endswith((".", "}")) else "."
