"""What is a term, and which text stands for it?

A term is an RDF term (``IRI``, ``BlankNode``, ``Literal``) or a plain Python value. Plain values *are* the
corresponding RDF literals: ``"a"`` is an ``xsd:string``, ``3`` an ``xsd:integer``, ``Decimal("2.5")`` an
``xsd:decimal``, ``2.5`` an ``xsd:double``, ``True`` an ``xsd:boolean``, and ``datetime``, ``date`` and ``time`` the
XSD types of those names. A NumPy scalar is the plain value that it holds.

Python thinks that ``1 == 1.0 == True``; data must not. So a term is identified by its *key*, a text that begins with
one character for its kind and never needs escapes:

    <http://ex.org/a            an IRI
    _b0                         a blank node
    "New York                   a string
    @en colour                  a string with a language
    ^integer 42                 a literal of an XSD type, by the type's local name
    ^http://ex.org/t 4          a literal of any other type (an IRI always has a colon)

A literal whose lexical form is not the canonical one (``"042"^^xsd:integer``) stays a ``Literal``: another term, though
of equal value. ``term_of(key_of(t))`` gives back ``t``.

>>> key_of(42), key_of(IRI("http://ex.org/a")), key_of("x")
('^integer 42', '<http://ex.org/a', '"x')
>>> term_of("^integer 042")
Literal(lexical='042', datatype='http://www.w3.org/2001/XMLSchema#integer', language=None)
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal

from everlog.facts.numpy_values import is_numpy_scalar, plain_value

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDF_TYPE = RDF + "type"
LANG_STRING = RDF + "langString"


@dataclass(frozen=True, slots=True)
class IRI:
    """An IRI, written out in full.

    Attributes:
        value: The IRI without angle brackets.
    """

    value: str

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class BlankNode:
    """A blank node; its label is meaningful inside one knowledge base only.

    Attributes:
        label: What stands behind `_:`.
    """

    label: str

    def __str__(self) -> str:
        return "_:" + self.label


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal that no plain Python value stands for: another datatype, a language, an unusual lexical form.

    Attributes:
        lexical: The text between the quotes.
        datatype: The IRI of the datatype.
        language: The language tag, if there is one.
    """

    lexical: str
    datatype: str = XSD + "string"
    language: str | None = None

    def __str__(self) -> str:
        return self.lexical


Term = IRI | BlankNode | Literal | str | int | Decimal | float | bool | dt.datetime | dt.date | dt.time
"""What a fact is made of: an RDF term, or a plain Python value for the literals that have one."""


def decimal_text(value: Decimal) -> str:
    """The canonical form of a decimal: no exponent, at least one digit after the point.

    >>> decimal_text(Decimal("25")), decimal_text(Decimal("1.50")), decimal_text(Decimal("-0.0"))
    ('25.0', '1.5', '0.0')
    """
    text = format(value, "f")
    if "." not in text:
        return ("0" if text.lstrip("-").strip("0") == "" else text) + ".0"
    whole, fraction = text.split(".")
    fraction = fraction.rstrip("0") or "0"
    if fraction == "0" and whole.lstrip("-").strip("0") == "":
        whole = "0"
    return f"{whole}.{fraction}"


def double_text(value: float) -> str:
    """The canonical form of a double, as XSD writes it (``1.5E0``, ``INF``, ``NaN``).

    >>> double_text(1500.0), double_text(float("-inf")), double_text(0.1)
    ('1.5E3', '-INF', '1.0E-1')
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "INF" if value > 0 else "-INF"
    digits, exponent = f"{Decimal(repr(value)):E}".split("E") if value else (repr(value), "0")
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return f"{digits if '.' in digits else digits + '.0'}E{int(exponent)}"


def time_text(value: dt.datetime | dt.time) -> str:
    """A date-time or time in canonical form: ``Z`` for UTC, no trailing zeros in the fraction."""
    text = value.isoformat()
    zone = ""
    if value.utcoffset() is not None:
        text, zone = text[:-6], text[-6:]
        zone = "Z" if zone == "+00:00" else zone
    if "." in text:
        text = text.rstrip("0")
    return text + zone


def lexical_and_datatype(term: Term) -> tuple[str, str]:
    """The lexical form and the datatype IRI of a literal, plain or not.

    >>> lexical_and_datatype(True)
    ('true', 'http://www.w3.org/2001/XMLSchema#boolean')
    """
    if isinstance(term, Literal):
        return term.lexical, LANG_STRING if term.language else term.datatype
    if isinstance(term, str):
        return term, XSD + "string"
    local, lexical = _plain(term)
    return lexical, XSD + local


def key_of(term: Term) -> str:
    """The text that identifies a term (see the top of this file)."""
    if isinstance(term, str):
        return '"' + term
    if isinstance(term, IRI):
        return "<" + term.value
    if isinstance(term, BlankNode):
        return "_" + term.label
    if isinstance(term, Literal):
        if term.language:
            return f"@{term.language.lower()} {term.lexical}"
        return typed_key(term.lexical, term.datatype)
    local, lexical = _plain(term)
    return f"^{local} {lexical}"


def keys_of(terms: Iterable[Term | None]) -> tuple[str, ...]:
    """What identifies several terms, the empty text for none; to Python itself 1, 1.0 and True are equal.

    >>> keys_of([1, True, None])
    ('^integer 1', '^boolean true', '')
    """
    return tuple("" if term is None else key_of(term) for term in terms)


def typed_key(lexical: str, datatype: str) -> str:
    """The key of a literal with a datatype."""
    if datatype == XSD + "string":
        return '"' + lexical
    return f"^{datatype.removeprefix(XSD)} {lexical}"


def term_of(key: str) -> Term:
    """The term that a key stands for: a plain Python value where its canonical form is the very same text."""
    kind, rest = key[0], key[1:]
    if kind == '"':
        return rest
    if kind == "<":
        return IRI(rest)
    if kind == "_":
        return BlankNode(rest)
    tag, _, lexical = rest.partition(" ")
    if kind == "@":
        return Literal(lexical, LANG_STRING, tag)
    plain = _READERS.get(tag)
    if plain is not None:
        try:
            value = plain(lexical)
            if key_of(value) == key:
                return value
        except (ValueError, ArithmeticError):
            pass  # not a valid lexical form of its type: it stays a literal
    return Literal(lexical, tag if ":" in tag else XSD + tag)


def _plain(term: Term) -> tuple[str, str]:
    """Local name of the XSD type and canonical lexical form of a plain value that is not a string."""
    if isinstance(term, bool):
        return "boolean", "true" if term else "false"
    if isinstance(term, int):
        return "integer", str(term)
    if isinstance(term, float):
        return "double", double_text(term)
    if isinstance(term, Decimal):
        if not term.is_finite():
            raise ValueError(f"{term} is not an xsd:decimal; use a float for NaN and infinities")
        return "decimal", decimal_text(term)
    if isinstance(term, dt.datetime):
        if term != term:  # pandas' NaT
            raise ValueError("a moment that is missing is no term; leave the fact out")
        return "dateTime", time_text(term)
    if isinstance(term, dt.date):
        return "date", term.isoformat()
    if isinstance(term, dt.time):
        return "time", time_text(term)
    if is_numpy_scalar(term) and (plain := plain_value(term)) is not None and plain is not term:
        return _plain(plain)
    raise TypeError(
        f"{term!r} is not a term: use str, int, float, Decimal, bool, a date or time, IRI, BlankNode or Literal"
    )


def _read_double(text: str) -> float:
    return float(text.replace("INF", "inf"))


def _read_boolean(text: str) -> bool:
    return text == "true"  # "1" and other forms are not canonical, so they stay literals


_READERS: dict[str, Callable[[str], Term]] = {
    "boolean": _read_boolean,
    "integer": int,
    "decimal": Decimal,
    "double": _read_double,
    "dateTime": dt.datetime.fromisoformat,
    "date": dt.date.fromisoformat,
    "time": dt.time.fromisoformat,
}
