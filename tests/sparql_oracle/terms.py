"""Which terms does the oracle know, and in which order do they stand?

A term is a kind and a value: IRIs, blank nodes, integers, decimals, strings and booleans are all that queries in tests
are made of. 1 and 1.0 are two terms of one value.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import rdflib

import everlog

# SPARQL orders blank nodes before IRIs before literals; the order between kinds of literals is docs/sparql.md's.
KINDS = ("blank", "iri", "number", "string", "boolean")


class Beyond(Exception):
    """The oracle has nothing to say of a query: it has too many solutions, or asks for what is not defined here."""


class Term(NamedTuple):
    """A term; the values of integers are int, those of decimals Fraction."""

    kind: str  # iri, blank, integer, decimal, string or boolean
    value: Any

    def __repr__(self) -> str:
        return f"<{self.value}>" if self.kind == "iri" else f"{self.value!r}"


def iri(text: str) -> Term:
    return Term("iri", text)


def integer(value: int) -> Term:
    return Term("integer", value)


def string(text: str) -> Term:
    return Term("string", text)


def boolean(value: bool) -> Term:
    return Term("boolean", value)


def number(value: int | Fraction) -> Term:
    """The term for the result of a computation: a Fraction stays a decimal, even if it is whole."""
    return Term("integer" if isinstance(value, int) else "decimal", value)


def is_number(term: Term) -> bool:
    return term.kind in ("integer", "decimal")


def order_of(term: Term | None) -> tuple[int, Any, str]:
    """What MIN and MAX sort by, and rows where ORDER BY, which leaves out the last part, has ties; None comes first."""
    if term is None:
        return -1, 0, ""
    return KINDS.index("number" if is_number(term) else term.kind), term.value, term.kind


def term_from(node: Any) -> Term:
    """The term that rdflib has read."""
    if isinstance(node, rdflib.URIRef):
        return iri(str(node))
    if isinstance(node, rdflib.BNode):
        return Term("blank", str(node))
    assert isinstance(node, rdflib.Literal) and not node.language, f"{node!r} is beyond the oracle"
    match node.datatype and str(node.datatype).removeprefix(str(rdflib.XSD)):
        case None | "string":
            return string(str(node))
        case "integer":
            return integer(int(str(node)))
        case "decimal":
            return Term("decimal", Fraction(str(node)))
        case "boolean":
            return boolean(str(node) in ("true", "1"))
    raise AssertionError(f"{node!r} is beyond the oracle")


def to_everlog(term: Term) -> Any:
    match term.kind:
        case "iri":
            return everlog.IRI(term.value)
        case "blank":
            return everlog.BlankNode(term.value)
    return term.value


def from_everlog(term: Any) -> Term | None:
    match term:
        case None:
            return None
        case everlog.IRI():
            return Term("iri", term.value)
        case everlog.BlankNode():
            return Term("blank", term.label)
        case bool():
            return Term("boolean", term)
        case int():
            return Term("integer", term)
        case Decimal():
            return Term("decimal", Fraction(term))
        case str():
            return Term("string", term)
    raise AssertionError(f"{term!r} is beyond the oracle")
