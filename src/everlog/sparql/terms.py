"""Which of our terms corresponds to one of rdflib's?"""

from __future__ import annotations

from typing import Any

from everlog.facts.terms import IRI, XSD, BlankNode, Term, term_of, typed_key
from everlog.rules.syntax import Argument, Constant, Variable

HIDDEN = "~"  # the prefix of variable names that no query can contain


def term_from(term: Any) -> Term:
    """A ground term."""
    import rdflib

    if isinstance(term, rdflib.Literal):
        if term.language:
            return term_of(f"@{term.language.lower()} {term}")
        return term_of(typed_key(str(term), str(term.datatype or XSD + "string")))
    if isinstance(term, rdflib.URIRef):
        return IRI(str(term))
    assert isinstance(term, rdflib.BNode), f"{term!r} is no ground term"
    return BlankNode(str(term))


def argument_from(term: Any) -> Argument:
    """A term of a pattern; a blank node becomes a hidden variable."""
    import rdflib

    if isinstance(term, rdflib.Variable):
        return Variable(str(term))
    if isinstance(term, rdflib.BNode):
        return Variable(f"{HIDDEN}{term}")
    return Constant(term_from(term))


def is_term(value: Any) -> bool:
    """Is this a term, and not rdflib's marker for no term?"""
    from rdflib.term import Identifier

    return isinstance(value, Identifier)


def is_variable(term: Any) -> bool:
    import rdflib

    return isinstance(term, rdflib.Variable)
