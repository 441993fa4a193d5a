"""Which term does a piece of rule text stand for?

Words, numbers, strings, IRIs and prefixed names become constants here, for the parser and for the fast path that reads
plain facts without it. What is wrong with a term (an unknown prefix, a bad escape) is a `TermProblem`, which the caller
turns into a diagnostic with a place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from difflib import get_close_matches

from everlog.facts.terms import IRI, RDF, XSD, Term, term_of, typed_key
from everlog.rules.diagnostics import SourceText, Span
from everlog.rules.statements import IRI_REFERENCE, KEYWORDS
from everlog.rules.syntax import Atom, Constant

WELL_KNOWN_PREFIXES = {
    "rdf": RDF,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": XSD,
}

_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.|\Z)", re.DOTALL)
_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", "\\": "\\", '"': '"', "'": "'"}
_PLAIN_STRING = r"\"(?!\"\")[^\"\\\n\r]*+\"(?![@^\"])"
_PLAIN_TERM = rf"[a-z]\w*+(?![:(])|[+-]?\d++(?![.\w])|{_PLAIN_STRING}|{IRI_REFERENCE}|[A-Za-z]*:\w++"
_PLAIN_TERMS = re.compile(_PLAIN_TERM)
_PLAIN_FACT = re.compile(rf"([A-Za-z_]\w*+)\(\s*+((?:(?:{_PLAIN_TERM})\s*+,\s*+)*+(?:{_PLAIN_TERM}))\s*+\)\s*+\.")


class TermProblem(Exception):
    """A term that cannot be read: code, message and, where there is one, a hint."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.hint = code, message, hint


class TermReader:
    """Reads terms in the light of the prefixes and the base declared so far."""

    def __init__(self, prefixes: Mapping[str, str] | None = None) -> None:
        self.declared: dict[str, str] = dict(prefixes or {})  # without the well-known ones
        self._base: str | None = None
        self._plain: dict[str, Constant] = {}

    def declare(self, prefix: str, iri: str) -> None:
        self.declared[prefix] = iri
        self._plain.clear()

    def declare_base(self, iri: str) -> None:
        self._base = iri
        self._plain.clear()

    def plain_fact(self, source: SourceText, position: int) -> tuple[Atom, int] | None:
        """A fact of plain ground terms at a position, and where it ends; None sends the text to the parser."""
        match = _PLAIN_FACT.match(source.text, position)
        if match is None or match[1].lower() in KEYWORDS:
            return None
        known = self._plain
        try:
            args = tuple([known.get(text) or self._learn(text) for text in _PLAIN_TERMS.findall(match[2])])
        except TermProblem:
            return None
        return Atom(match[1], args, span=Span(source, position, match.end() - 1)), match.end()

    def _learn(self, text: str) -> Constant:
        first = text[0]
        term: Term
        if first == '"':
            term = text[1:-1]
        elif first == "<":
            term = IRI(self.iri_reference(text))
        elif ":" in text:
            term = IRI(self.prefixed_name(text))
        elif first.isdigit() or first in "+-":
            term = number(text)
        else:
            term = word(text)
        constant = self._plain[text] = Constant(term)
        return constant

    def iri_reference(self, text: str) -> str:
        """`<http://…>`, joined to the base when it is relative and there is one."""
        value = unescape(text[1:-1]) if "\\" in text else text[1:-1]
        if self._base is not None and not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", value):
            from urllib.parse import urljoin

            return urljoin(self._base, value) + ("#" if value.endswith("#") else "")  # which urljoin drops
        return value

    def prefixed_name(self, text: str) -> str:
        """`ex:name`, in full."""
        prefix, _, local = text.partition(":")
        start = self.declared.get(prefix)
        if start is None:
            start = WELL_KNOWN_PREFIXES.get(prefix)
        if start is None:
            names = sorted({*self.declared, *WELL_KNOWN_PREFIXES})
            close = get_close_matches(prefix, names, n=1)
            prefix = prefix if len(prefix) <= 40 else prefix[:37] + "…"
            hint = f"did you mean {close[0]}:?" if close and prefix else f"declare it: PREFIX {prefix}: <http://…>"
            raise TermProblem("R107", f"the prefix `{prefix}:` is not declared", hint)
        return start + (re.sub(r"\\(.)", r"\1", local) if "\\" in local else local)


def word(text: str) -> Term:
    """A bare word: `true`, `false`, or a string."""
    lower = text.lower()
    return lower == "true" if lower in ("true", "false") else text


def number(text: str) -> Term:
    """`3`, `3.5` and `1e3`: an integer, a decimal and a double."""
    if "e" in text or "E" in text:
        return float(text)
    if "." in text:
        return Decimal(text)
    if len(text) > 4000:  # Python refuses to convert longer ones
        return term_of(typed_key(text, XSD + "integer"))
    return int(text)


def string(text: str) -> str:
    """The content of a quoted string."""
    width = 3 if text[:3] in ('"""', "'''") else 1
    return unescape(text[width:-width])


def unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_unescape_one, text)


def _unescape_one(match: re.Match[str]) -> str:
    found = match[1]
    if len(found) > 1:
        code = int(found[1:], 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise TermProblem("R108", f"`\\{found}` is not a character", "use the code point of a Unicode character")
        return chr(code)
    if found not in _ESCAPES:
        raise TermProblem("R108", f"`\\{found}` is not an escape", r"""escapes are \t \b \n \r \f \" \' \\ \uXXXX""")
    return _ESCAPES[found]


def typed(lexical: str, datatype: str) -> Term:
    """A literal with a datatype: a plain value where its lexical form is the canonical one."""
    return term_of(typed_key(lexical, datatype))


def tagged(lexical: str, language: str) -> Term:
    """A string with a language tag."""
    return term_of(f"@{language.lower()} {lexical}")
