"""What do the functions on terms give: their kind, their text, their datatype, and new terms?

A result must not depend on how Python represents a term, so language tags are in lower case, as in a term's key.

>>> datatype(1), language(Literal("colour", language="en-GB")), text(IRI("http://ex.org/a"))
(IRI(value='http://www.w3.org/2001/XMLSchema#integer'), 'en-gb', 'http://ex.org/a')
"""

from __future__ import annotations

import hashlib
import re
import uuid
from urllib.parse import urljoin

from everlog.expressions.strings import plain_string_of
from everlog.expressions.values import ExpressionError
from everlog.facts.terms import (
    IRI,
    LANG_STRING,
    BlankNode,
    Literal,
    Term,
    key_of,
    lexical_and_datatype,
    term_of,
    typed_key,
)

_NOT_IN_IRIS = re.compile(r"[\x00-\x20<>\"{}|\\^`]")  # not allowed by RFC 3987, and no RDF format could write them
_TAG = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def is_iri(term: Term) -> Term:
    return isinstance(term, IRI)


def is_blank(term: Term) -> Term:
    return isinstance(term, BlankNode)


def is_literal(term: Term) -> Term:
    return not isinstance(term, (IRI, BlankNode))


def same_term(left: Term, right: Term) -> Term:
    return key_of(left) == key_of(right)


def text(term: Term) -> Term:
    """SPARQL's STR: an IRI's text or a literal's lexical form."""
    if isinstance(term, IRI):
        return term.value
    return _literal(term)[0]


def language(term: Term) -> Term:
    """SPARQL's LANG: the tag, or "" for a literal that has none."""
    _literal(term)
    return term.language.lower() if isinstance(term, Literal) and term.language else ""


def datatype(term: Term) -> Term:
    return IRI(_literal(term)[1])


def _literal(term: Term) -> tuple[str, str]:
    if isinstance(term, (IRI, BlankNode)):
        raise ExpressionError("a literal is needed")
    return lexical_and_datatype(term)


def iri(term: Term, base: Term | None = None) -> Term:
    """The IRI with that text; a relative one is resolved against `base`, where one is given."""
    if isinstance(term, IRI):
        return term
    reference = plain_string_of(term)
    if base is not None and not _SCHEME.match(reference):
        reference = urljoin(base.value if isinstance(base, IRI) else plain_string_of(base), reference)
    if _NOT_IN_IRIS.search(reference):
        raise ExpressionError(f"{reference!r} is not an IRI")
    return IRI(reference)


def blank_node(*parts: Term) -> Term:
    """A new blank node; with arguments, one that depends on them alone.

    SPARQL requires BNODE("a") to be the same node within a solution and a different one in the next: pass what
    distinguishes the solutions as further arguments.
    """
    if not parts:
        return BlankNode("b" + uuid.uuid4().hex)
    plain_string_of(parts[0])
    seed = "\0".join(key_of(part) for part in parts)
    return BlankNode("b" + hashlib.sha256(seed.encode(errors="surrogatepass")).hexdigest()[:32])


def with_datatype(lexical: Term, type_: Term) -> Term:
    """SPARQL's STRDT."""
    form = plain_string_of(lexical)
    if not isinstance(type_, IRI) or not _SCHEME.match(type_.value) or _NOT_IN_IRIS.search(type_.value):
        raise ExpressionError("a datatype is an IRI")
    if type_.value == LANG_STRING:
        raise ExpressionError("rdf:langString needs a language: use strlang")
    return term_of(typed_key(form, type_.value))


def with_tag(lexical: Term, tag: Term) -> Term:
    """SPARQL's STRLANG."""
    form, name = plain_string_of(lexical), plain_string_of(tag)
    if not _TAG.fullmatch(name):
        raise ExpressionError(f"{name!r} is not a language tag")
    return Literal(form, LANG_STRING, name.lower())


def new_uuid(*_: Term) -> Term:
    """A new IRI; the arguments only distinguish the calls."""
    return IRI(f"urn:uuid:{uuid.uuid4()}")


def new_uuid_text(*_: Term) -> Term:
    return str(uuid.uuid4())
