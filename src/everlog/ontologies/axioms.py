"""Which axioms does a graph state, and what follows from each?

One function per kind of axiom. Each yields what the axiom says, for people, and its conclusions (clauses.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

from everlog.ontologies.clauses import (
    Body,
    Conclusions,
    Unusable,
    Variables,
    X,
    concluding,
    constant,
    contradiction,
    identified,
    left,
    linked,
    subsumption,
)
from everlog.ontologies.expressions import (
    AnyOf,
    Everything,
    Expression,
    ExpressionReader,
    Named,
    Not,
    Only,
    Property,
    Some,
    Unreadable,
)
from everlog.ontologies.graph import Key, OntologyGraph
from everlog.ontologies.texts import axiom_text
from everlog.ontologies.vocabulary import CHARACTERISTICS, DOMAIN, RANGE, SUB_CLASS, SUB_PROPERTY, owl
from everlog.rules.syntax import Variable

Y, Z = Variable("y"), Variable("z")


@dataclass(frozen=True)
class Axiom:
    """An axiom of a document."""

    subject: Key
    word: Key  # the predicate, or the type, that states it
    object: Key | None

    def __str__(self) -> str:
        return axiom_text(self.subject, self.word, self.object)


def axioms(graph: OntologyGraph) -> Iterator[tuple[Axiom, Conclusions]]:
    """Every axiom of a graph with what follows from it; what is unreadable follows nothing, and says so."""
    reader = ExpressionReader(graph)
    for word, meaning in _OF_PAIRS.items():
        for subject, object_ in graph.pairs(word):
            yield Axiom(subject, word, object_), _read(meaning, graph, reader, subject, object_)
    for word in ("intersectionOf", "unionOf", "complementOf", "oneOf"):
        for subject, object_ in graph.pairs(owl(word)):
            if subject.startswith("<"):  # without a name it is an expression, read where it is used
                yield Axiom(subject, owl(word), object_), _read(_definition, graph, reader, subject, owl(word))
    for word, meaning in _OF_TYPES.items():
        for subject in graph.instances(word):
            yield Axiom(subject, word, None), _read(meaning, graph, reader, subject, word)


_Meaning = Callable[[OntologyGraph, ExpressionReader, Key, Key], Conclusions]


def _read(meaning: _Meaning, graph: OntologyGraph, reader: ExpressionReader, subject: Key, object_: Key) -> Conclusions:
    try:
        return meaning(graph, reader, subject, object_)
    except (Unreadable, Unusable) as error:
        return Conclusions(unused=(str(error),))


# --- of classes -------------------------------------------------------------------------------------------------------


def _sub_class(_: OntologyGraph, reader: ExpressionReader, sub: Key, super_: Key) -> Conclusions:
    return subsumption(reader.expression(sub), reader.expression(super_))


def _equivalent_class(_: OntologyGraph, reader: ExpressionReader, one: Key, other: Key) -> Conclusions:
    return _equivalent(reader.expression(one), reader.expression(other))


def _definition(_: OntologyGraph, reader: ExpressionReader, class_: Key, word: Key) -> Conclusions:
    found = Conclusions()
    for each in reader.definitions(class_, word):
        found += _equivalent(Named(class_), each)
    return found


def _equivalent(one: Expression, other: Expression) -> Conclusions:
    return subsumption(one, other) + subsumption(other, one)


def _disjoint_with(_: OntologyGraph, reader: ExpressionReader, one: Key, other: Key) -> Conclusions:
    return subsumption(reader.expression(one), Not(reader.expression(other)))


def _all_disjoint_classes(graph: OntologyGraph, reader: ExpressionReader, node: Key, _: Key) -> Conclusions:
    return _pairwise_disjoint([reader.expression(each) for each in _members(graph, node)])


def _disjoint_union(graph: OntologyGraph, reader: ExpressionReader, class_: Key, head: Key) -> Conclusions:
    parts = [reader.expression(each) for each in _listed(graph, head)]
    return _equivalent(Named(class_), AnyOf(tuple(parts))) + _pairwise_disjoint(parts)


def _pairwise_disjoint(classes: list[Expression]) -> Conclusions:
    found = Conclusions()
    for one, other in combinations(classes, 2):
        found += subsumption(one, Not(other))
    return found


def _has_key(graph: OntologyGraph, reader: ExpressionReader, class_: Key, head: Key) -> Conclusions:
    """Two things of the class with the same values of all properties are one."""
    new, found = Variables(), Conclusions()
    expression = reader.expression(class_)
    values = Body()
    for key in _listed(graph, head):
        on, value = reader.property(key), new.new()
        values += Body((linked(on, X, value), linked(on, Y, value)))
    for one in left(expression, X, new):
        for other in left(expression, Y, new):
            found += identified(X, Y, one + other + values, things=True)
    return found


# --- of properties ----------------------------------------------------------------------------------------------------


def _sub_property(_: OntologyGraph, reader: ExpressionReader, sub: Key, super_: Key) -> Conclusions:
    return _within(reader.property(sub), reader.property(super_))


def _equivalent_property(_: OntologyGraph, reader: ExpressionReader, one: Key, other: Key) -> Conclusions:
    first, second = reader.property(one), reader.property(other)
    return _within(first, second) + _within(second, first)


def _within(sub: Property, super_: Property) -> Conclusions:
    return concluding(linked(super_, X, Y), Body((linked(sub, X, Y),)))


def _domain(_: OntologyGraph, reader: ExpressionReader, property_: Key, class_: Key) -> Conclusions:
    return subsumption(Some(reader.property(property_), Everything()), reader.expression(class_))


def _range(_: OntologyGraph, reader: ExpressionReader, property_: Key, class_: Key) -> Conclusions:
    return subsumption(Everything(), Only(reader.property(property_), reader.expression(class_)))


def _inverse(_: OntologyGraph, reader: ExpressionReader, one: Key, other: Key) -> Conclusions:
    if one.startswith("_"):
        return Conclusions()  # an expression, read where it is used
    first, second = reader.property(one), reader.property(other)
    return _within(first, second.inverted()) + _within(second, first.inverted())


def _chain(graph: OntologyGraph, reader: ExpressionReader, property_: Key, head: Key) -> Conclusions:
    new, body, at = Variables(), Body(), X
    for key in _listed(graph, head):
        following = new.new()
        body += Body((linked(reader.property(key), at, following),))
        at = following
    return concluding(linked(reader.property(property_), X, at), body)


def _disjoint_property(_: OntologyGraph, reader: ExpressionReader, one: Key, other: Key) -> Conclusions:
    return contradiction(Body((linked(reader.property(one), X, Y), linked(reader.property(other), X, Y))))


def _all_disjoint_properties(graph: OntologyGraph, reader: ExpressionReader, node: Key, _: Key) -> Conclusions:
    found = Conclusions()
    for one, other in combinations(_members(graph, node), 2):
        found += _disjoint_property(graph, reader, one, other)
    return found


def _characteristic(_: OntologyGraph, reader: ExpressionReader, property_: Key, word: Key) -> Conclusions:
    on = reader.property(property_)
    there, back, on_from_there = linked(on, X, Y), linked(on, Y, X), linked(on, Y, Z)
    match CHARACTERISTICS[word]:
        case "Transitive":
            return concluding(linked(on, X, Z), Body((there, on_from_there)))
        case "Symmetric":
            return concluding(back, Body((there,)))
        case "Asymmetric":
            return contradiction(Body((there, back)))
        case "Irreflexive":
            return contradiction(Body((linked(on, X, X),)))
        case "Functional":
            return identified(Y, Z, Body((there, linked(on, X, Z))))
        case "InverseFunctional":
            return identified(X, Y, Body((linked(on, X, Z), linked(on, Y, Z))), things=True)
        case _:
            return Conclusions(unused=("everything there is would be related to itself",))


# --- of things --------------------------------------------------------------------------------------------------------


def _all_different(graph: OntologyGraph, _: ExpressionReader, node: Key, __: Key) -> Conclusions:
    listed = graph.object(node, owl("members")) or graph.object(node, owl("distinctMembers"))
    if listed is None:
        raise Unreadable("owl:AllDifferent without members")
    found = Conclusions()
    for one, other in combinations(_listed(graph, listed), 2):
        found += concluding(linked(Property(owl("differentFrom")), constant(one), constant(other)), Body())
    return found


def _negative_assertion(graph: OntologyGraph, reader: ExpressionReader, node: Key, _: Key) -> Conclusions:
    start, on = graph.object(node, owl("sourceIndividual")), graph.object(node, owl("assertionProperty"))
    end = graph.object(node, owl("targetIndividual")) or graph.object(node, owl("targetValue"))
    if start is None or on is None or end is None:
        raise Unreadable("a negative assertion that does not say of what")
    return contradiction(Body((linked(reader.property(on), constant(start), constant(end)),)))


def _members(graph: OntologyGraph, node: Key) -> list[Key]:
    head = graph.object(node, owl("members"))
    if head is None:
        raise Unreadable("an axiom without owl:members")
    return _listed(graph, head)


def _listed(graph: OntologyGraph, head: Key) -> list[Key]:
    members = graph.list(head)
    if members is None:
        raise Unreadable("a list that is none, or has no end")
    return members


_OF_PAIRS: dict[Key, _Meaning] = {
    SUB_CLASS: _sub_class,
    owl("equivalentClass"): _equivalent_class,
    owl("disjointWith"): _disjoint_with,
    owl("disjointUnionOf"): _disjoint_union,
    owl("hasKey"): _has_key,
    SUB_PROPERTY: _sub_property,
    owl("equivalentProperty"): _equivalent_property,
    DOMAIN: _domain,
    RANGE: _range,
    owl("inverseOf"): _inverse,
    owl("propertyChainAxiom"): _chain,
    owl("propertyDisjointWith"): _disjoint_property,
}
_OF_TYPES: dict[Key, _Meaning] = {
    **dict.fromkeys(CHARACTERISTICS, _characteristic),
    owl("AllDisjointClasses"): _all_disjoint_classes,
    owl("AllDisjointProperties"): _all_disjoint_properties,
    owl("AllDifferent"): _all_different,
    owl("NegativePropertyAssertion"): _negative_assertion,
}
