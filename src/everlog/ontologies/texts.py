"""How is an axiom said to people?"""

from __future__ import annotations

from everlog.facts.terms import RDF, XSD
from everlog.ontologies.vocabulary import OWL, RDFS

_PREFIXES = {RDF: "rdf:", RDFS: "rdfs:", OWL: "owl:", XSD: "xsd:"}


def axiom_text(subject: str, word: str, object_: str | None) -> str:
    """
    >>> axiom_text("<http://e/A", f"<{RDFS}subClassOf", "_b1")
    '<http://e/A> rdfs:subClassOf […]'
    """
    if object_ is None:
        return f"{key_text(subject)} a {key_text(word)}"
    return f"{key_text(subject)} {key_text(word)} {key_text(object_)}"


def key_text(key: str) -> str:
    """A term, with the usual prefixes; what has no name is what stands in brackets in a document."""
    if key.startswith("_"):
        return "[…]"
    if not key.startswith("<"):
        return key
    for iri, prefix in _PREFIXES.items():
        if key.startswith(iri, 1):
            return prefix + key[1 + len(iri) :]
    return f"{key}>"
