"""What can stand where a class or a property stands, and how is it read from triples?"""

from __future__ import annotations

from dataclasses import dataclass

from everlog.facts.terms import XSD, term_of
from everlog.ontologies.graph import Key, OntologyGraph
from everlog.ontologies.vocabulary import (
    LITERAL,
    NOTHING,
    RDFS_DATATYPE,
    RESOURCE,
    THING,
    owl,
)

DEEPEST = 100  # brackets of a class expression; more than that is a graph that goes round in circles


class Unreadable(Exception):
    """An expression that is no expression of OWL 2; the text says why."""


@dataclass(frozen=True)
class Property:
    """A property, or the inverse of one."""

    key: Key
    inverse: bool = False

    def inverted(self) -> Property:
        return Property(self.key, not self.inverse)


@dataclass(frozen=True)
class Named:
    """A class by its name."""

    key: Key


@dataclass(frozen=True)
class Everything:
    """owl:Thing."""


@dataclass(frozen=True)
class Empty:
    """owl:Nothing."""


@dataclass(frozen=True)
class Datatype:
    """A datatype, or any other range of values."""

    key: Key


@dataclass(frozen=True)
class AllOf:
    """What is in each of several classes (owl:intersectionOf)."""

    of: tuple[Expression, ...]


@dataclass(frozen=True)
class AnyOf:
    """What is in one of several classes (owl:unionOf)."""

    of: tuple[Expression, ...]


@dataclass(frozen=True)
class Not:
    """What is not in a class."""

    of: Expression


@dataclass(frozen=True)
class OneOf:
    """Things by their names."""

    members: tuple[Key, ...]


@dataclass(frozen=True)
class Some:
    """What a property leads from to something of a class."""

    property: Property
    of: Expression


@dataclass(frozen=True)
class Only:
    """What a property leads from to nothing outside of a class (owl:allValuesFrom)."""

    property: Property
    of: Expression


@dataclass(frozen=True)
class Value:
    """What has a value of a property."""

    property: Property
    value: Key


@dataclass(frozen=True)
class Itself:
    """What a property leads from to itself."""

    property: Property


@dataclass(frozen=True)
class AtMost:
    """What a property leads from to so many things of a class, and no more."""

    number: int
    property: Property
    of: Expression


@dataclass(frozen=True)
class AtLeast:
    """What a property leads from to so many things of a class."""

    number: int
    property: Property
    of: Expression


Expression = (
    Named
    | Everything
    | Empty
    | Datatype
    | AllOf
    | AnyOf
    | Not
    | OneOf
    | Some
    | Only
    | Value
    | Itself
    | AtMost
    | AtLeast
)


class ExpressionReader:
    """Reads class and property expressions of a graph."""

    def __init__(self, graph: OntologyGraph) -> None:
        self._graph = graph

    def property(self, key: Key) -> Property:
        """A property by its name, or a blank node that stands for an inverse."""
        if key.startswith("<"):
            return Property(key)
        of = self._graph.object(key, owl("inverseOf"))
        if of is None or not of.startswith("<"):
            raise Unreadable("a property without a name that is no inverse of one")
        return Property(of, inverse=True)

    def expression(self, key: Key, depth: int = 0) -> Expression:
        """A class or a range of values.

        Raises:
            Unreadable: the triples say nothing that OWL 2 knows.
        """
        if key in (THING, RESOURCE):
            return Everything()
        if key == NOTHING:
            return Empty()
        if self._is_datatype(key):
            return Datatype(key)
        if key.startswith("<"):
            return Named(key)
        if not key.startswith("_"):
            raise Unreadable("a literal in the place of a class")
        if depth == DEEPEST:
            raise Unreadable("a class that contains itself")
        return self._anonymous(key, depth + 1)

    def definitions(self, key: Key, word: Key) -> list[Expression]:
        """What a named class is said to be by a word such as owl:unionOf on itself."""
        return [self._boolean(word.rpartition("#")[2], object_, 1) for object_ in self._graph.objects(key, word)]

    def _is_datatype(self, key: Key) -> bool:
        return key == LITERAL or key.startswith(f"<{XSD}") or RDFS_DATATYPE in self._graph.types.get(key, ())

    def _anonymous(self, key: Key, depth: int) -> Expression:
        graph = self._graph
        for name in ("intersectionOf", "unionOf", "complementOf", "oneOf"):
            object_ = graph.object(key, owl(name))
            if object_ is not None:
                return self._boolean(name, object_, depth)
        on = graph.object(key, owl("onProperty"))
        if on is not None:
            return self._restriction(key, self.property(on), depth)
        if graph.object(key, owl("onDatatype")) or graph.object(key, owl("datatypeComplementOf")):
            return Datatype(key)
        raise Unreadable("a class without a name that says nothing")

    def _boolean(self, name: str, object_: Key, depth: int) -> Expression:
        if name == "complementOf":
            return Not(self.expression(object_, depth))
        members = self._graph.list(object_)
        if members is None:
            raise Unreadable(f"owl:{name} without a list that ends")
        if name == "oneOf":
            return OneOf(tuple(members))
        of = tuple(self.expression(each, depth) for each in members)
        return AllOf(of) if name == "intersectionOf" else AnyOf(of)

    def _restriction(self, key: Key, on: Property, depth: int) -> Expression:
        graph = self._graph
        value = graph.object(key, owl("hasValue"))
        if value is not None:
            return Value(on, value)
        some, only = graph.object(key, owl("someValuesFrom")), graph.object(key, owl("allValuesFrom"))
        if some is not None:
            return Some(on, self.expression(some, depth))
        if only is not None:
            return Only(on, self.expression(only, depth))
        if graph.object(key, owl("hasSelf")) == "^boolean true":
            return Itself(on)
        filler = graph.object(key, owl("onClass")) or graph.object(key, owl("onDataRange"))
        of = self.expression(filler, depth) if filler is not None else Everything()
        for name, kind in (("min", AtLeast), ("max", AtMost), ("", None)):
            for word in (f"{name}Cardinality", f"{name}QualifiedCardinality"):
                number = graph.object(key, owl(word[0].lower() + word[1:]))
                if number is None:
                    continue
                count = _number(number)
                if kind is not None:
                    return kind(count, on, of)
                return AllOf((AtLeast(count, on, of), AtMost(count, on, of)))
        raise Unreadable("a restriction that restricts nothing")


def _number(key: Key) -> int:
    value = term_of(key)
    text = str(getattr(value, "lexical", value))
    if not text.isdigit():
        raise Unreadable(f"{text!r} where a number of things should stand")
    return int(text)
