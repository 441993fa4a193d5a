"""Which rules does an OWL ontology stand for? One for each axiom, over triples with constant predicates and classes.

What Datalog can say of it, as in the description logic programs of Grosof et al. (WWW 2003): hierarchies of classes and
properties, domains, ranges, inverse and transitive properties, and intersections whose parts are classes or "some value
of a property is in a class", read both ways as far as they make no new things.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from everlog.facts.terms import RDF, RDF_TYPE
from everlog.formats.reading import read_facts

RDFS, OWL = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2002/07/owl#"


def ontology_rules(path: Path) -> str:
    """The rules of an ontology's file, as text."""
    return "\n".join(dict.fromkeys(_Ontology(path).rules()))


class _Ontology:
    """Its triples, by predicate, as pairs of terms the way rules write them: `<iri>`, or `_label` for what has none."""

    def __init__(self, path: Path) -> None:
        self._pairs: dict[str, list[tuple[str, str]]] = {}
        for block in read_facts(path):
            for s, p, o in zip(*(column.to_pylist() for column in block.columns), strict=True):
                self._pairs.setdefault(p[1:], []).append((_written(s), _written(o)))

    def rules(self) -> Iterator[str]:
        for axiom, rule in _AXIOMS.items():
            for subject, object_ in self._named(axiom):
                yield rule(subject, object_)
                if axiom == OWL + "inverseOf":
                    yield rule(object_, subject)
        for subject, kind in self._named(RDF_TYPE):
            if kind == f"<{OWL}TransitiveProperty>":
                yield f"{_has(subject, '?x', '?z')} :- {_has(subject)}, {_has(subject, '?y', '?z')}."
        for whole, first in self._pairs.get(OWL + "intersectionOf", ()):
            yield from self._intersection(whole, list(self._members(first)))

    def _named(self, predicate: str) -> Iterator[tuple[str, str]]:
        return ((s, o) for s, o in self._pairs.get(predicate, ()) if s.startswith("<") and o.startswith("<"))

    def _intersection(self, whole: str, parts: list[str]) -> Iterator[str]:
        body = []
        for number, part in enumerate(parts):
            if part.startswith("<"):
                body.append(_is_a("?x", part))
                yield f"{_is_a('?x', part)} :- {_is_a('?x', whole)}."
            else:
                value = f"?y{number}"
                of, some = self._one(part, OWL + "onProperty"), self._one(part, OWL + "someValuesFrom")
                body += [_has(of, "?x", value), _is_a(value, some)]
        yield f"{_is_a('?x', whole)} :- {', '.join(body)}."

    def _members(self, node: str) -> Iterator[str]:
        while node != f"<{RDF}nil>":
            yield self._one(node, RDF + "first")
            node = self._one(node, RDF + "rest")

    def _one(self, subject: str, predicate: str) -> str:
        return next(o for s, o in self._pairs[predicate] if s == subject)


def _written(key: str) -> str:
    return f"{key}>" if key.startswith("<") else key


def _is_a(thing: str, kind: str) -> str:
    return f"[{thing}, <{RDF_TYPE}>, {kind}]"


def _has(property_: str, thing: str = "?x", value: str = "?y") -> str:
    return f"[{thing}, {property_}, {value}]"


_AXIOMS: dict[str, Callable[[str, str], str]] = {
    RDFS + "subClassOf": lambda lower, upper: f"{_is_a('?x', upper)} :- {_is_a('?x', lower)}.",
    RDFS + "subPropertyOf": lambda lower, upper: f"{_has(upper)} :- {_has(lower)}.",
    RDFS + "domain": lambda property_, kind: f"{_is_a('?x', kind)} :- {_has(property_)}.",
    RDFS + "range": lambda property_, kind: f"{_is_a('?y', kind)} :- {_has(property_)}.",
    OWL + "inverseOf": lambda one, other: f"{_has(other, '?y', '?x')} :- {_has(one)}.",
}
